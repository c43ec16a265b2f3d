internal import CHTTPDNSSystem
public import HTTPDNS
internal import HTTPDNSClient
public import HTTPDNSNames
internal import HTTPDNSPlatform

/// A forward proxy over HTTP/1.1: how programs that are not linked to this library, and web views, reach
/// the addresses that the resolver gives, and only such as have proved the host's name.
///
/// Plain requests go through the library's client. A tunnel (`CONNECT`) is opened only to an address
/// whose certificate proves the name in a handshake of the proxy's own; the client's TLS runs through it
/// untouched, and judges the certificate once more. It begins to serve when it is made, on one thread,
/// and ends with ``stop(grace:)`` or when nobody holds it. See docs/proxy.md.
public final class ForwardProxy: Sendable {
    /// Where it listens.
    public let endpoint: Endpoint
    /// How many connections of clients it has at once; more wait in the system's queue.
    public let maximumConnections: Int
    let desk: ProxyDesk
    private let end: ProxyEnd

    /// Binds the address and begins to serve.
    ///
    /// - Parameters:
    ///   - httpdns: whose resolver, client and trust policy are used. Its cookies and proxies are not.
    ///   - configuration: where and how to serve.
    /// - Throws: ``ForwardProxyFault``.
    public init(
        _ httpdns: HTTPDNS, _ configuration: ForwardProxyConfiguration = ForwardProxyConfiguration()
    ) throws(ForwardProxyFault) {
        try ForwardProxy.check(configuration)
        let octets = configuration.address.octets
        let listener = httpdns_socket_bound(
            1, octets, octets.count, configuration.port?.number ?? 0)
        guard listener >= 0 else {
            throw .cannotListen(
                "\(configuration.address): \(systemWord(httpdns_errno()))")
        }
        guard let poll = EventPoll(), let port = Port(httpdns_socket_port(listener)) else {
            close(listener)
            throw .cannotListen("no descriptor left")
        }
        endpoint = Endpoint(address: configuration.address, port: port)
        maximumConnections = max(
            1,
            configuration.limits.connections
                ?? ForwardProxy.connections(withDescriptors: descriptorLimit()))
        var rules = ProxyRules(via: ForwardProxy.pseudonym())
        rules.token = configuration.token.map { ProxyToken($0) }
        rules.unprovenPorts = configuration.unprovenPorts
        rules.allowsLocalTargets = configuration.allowsLocalTargets
        rules.own = OwnPlace(endpoint)
        desk = ProxyDesk(
            poll: poll, client: httpdns.client, settings: configuration, rules: rules)
        end = ProxyEnd()
        try serve(listener)
    }

    deinit { desk.stop(at: .zero) }

    private func serve(_ listener: Int32) throws(ForwardProxyFault) {
        let (desk, end, most) = (desk, end, maximumConnections)
        let isStarted = DetachedThread.start(named: "httpdns-proxy") {
            ProxyServer(desk, listener: listener, maximumConnections: most).run()
            end.tell()
        }
        guard isStarted else {
            close(listener)
            throw .cannotListen("no thread left")
        }
    }

    /// What it has done so far.
    public var counts: ForwardProxyCounts { desk.currentCounts }

    /// Accepts nothing more, lets what is in flight end by itself for `grace`, and cuts the rest.
    ///
    /// Returns when all has ended. A second call with a shorter grace shortens it.
    public func stop(grace: Duration = .seconds(5)) async {
        desk.stop(at: SystemMonotonicClock().now().adding(grace))
        await end.wait()
    }

    /// Whether a proxy could serve so.
    ///
    /// - Throws: ``ForwardProxyFault``.
    package static func check(
        _ configuration: ForwardProxyConfiguration
    ) throws(ForwardProxyFault) {
        if let token = configuration.token {
            guard !token.revealed.isEmpty,
                token.revealed.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { throw .badToken }
        }
        guard !configuration.address.isLoopback else { return }
        guard configuration.servesOtherMachines else {
            throw .beyondLoopback(configuration.address)
        }
        guard configuration.token != nil else { throw .tokenMissing }
    }

    /// A name that no other proxy in a chain has, so that a loop is told from a second proxy.
    private static func pseudonym() -> String {
        var octets = [UInt8](repeating: 0, count: 8)
        _ = httpdns_random_octets(&octets, octets.count)
        return "httpdns-" + octets.map { String($0, radix: 16) }.joined()
    }

    /// A tunnel takes two; what the rest of the process needs is left to it, half of all at most.
    static func connections(withDescriptors limit: Int) -> Int {
        max(1, (limit - min(reservedDescriptors, limit / 2)) / 2)
    }

    /// Because: 64 handshakes, resolvers, connections of the client, files.
    private static let reservedDescriptors = 96
}

/// The end of the proxy's thread, told to whoever waits for it.
private final class ProxyEnd: Sendable {
    private struct State {
        var isOver = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func tell() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiting.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }
}
