import CHTTPDNSSystem
import HTTPDNS
import HTTPDNSForwardProxy
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTrust
import TestSupport

/// A proxy in this process, in front of servers on loopback, and what it told its observer.
final class ProxyLab: Sendable {
    let proxy: ForwardProxy
    private let told = Locked<[ForwardProxyEvent]>([])

    /// - Parameters:
    ///   - hosts: the addresses that the resolver gives, by name; every other name has none.
    ///   - root: the one root that is trusted.
    ///   - resolver: is asked for all other names.
    init(
        _ hosts: [String: [String]], root: String,
        _ adjust: (inout ForwardProxyConfiguration) -> Void = { _ in },
        trust adjustTrust: (inout TrustPolicy) throws -> Void = { _ in },
        resolver: (any ResolverBackend)? = nil
    ) throws {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.customResolvers = resolver.map { [$0] } ?? []
        configuration.usesHostsFile = false
        for (name, addresses) in hosts {
            configuration.overrides[try HostName(name)] = try addresses.map { try IPAddress($0) }
        }
        configuration.trust.roots = .file(root)
        configuration.trust.profile = .privateAuthority
        try adjustTrust(&configuration.trust)
        var settings = ForwardProxyConfiguration()
        let told = told
        settings.observer = { event in told.withLock { $0.append(event) } }
        adjust(&settings)
        proxy = try ForwardProxy(try HTTPDNS(configuration), settings)
    }

    var url: String { "http://\(proxy.endpoint)" }

    /// The requests that have ended.
    var records: [ForwardProxyRecord] {
        told.withLock { $0 }.compactMap { if case .ended(let record) = $0 { record } else { nil } }
    }

    var opened: [ForwardProxyRecord] {
        told.withLock { $0 }.compactMap { if case .opened(let record) = $0 { record } else { nil } }
    }

    var pauses: Int {
        told.withLock { $0 }.count { if case .acceptingPaused = $0 { true } else { false } }
    }

    /// Runs curl through the proxy.
    func curl(_ arguments: [String], input: [UInt8] = []) async throws -> CommandResult {
        try await run(
            "curl", ["--silent", "--show-error", "--max-time", "60", "--proxy", url] + arguments,
            input: input,
            environment: ["no_proxy": "", "NO_PROXY": "", "CURL_HOME": "/nowhere"])
    }

    /// Waits for the end of so many requests.
    func ended(_ count: Int) async -> [ForwardProxyRecord] {
        _ = await eventually(withinMilliseconds: 20_000) { self.records.count >= count }
        return records
    }
}

/// Why a test cannot go on.
struct ProxyTestError: Error, CustomStringConvertible {
    let description: String
}

/// A plain connection that says exactly what it is told to. Blocks: to be used off the pool.
final class RawClient: Sendable {
    private let socket: Int32

    /// Connects; waits at most twenty seconds for anything.
    init(_ endpoint: Endpoint) throws {
        let octets = endpoint.address.octets
        socket = httpdns_socket_connecting(octets, octets.count, endpoint.port.number)
        guard socket >= 0, RawClient.wait(socket, POLLOUT), httpdns_connect_outcome(socket) == 0
        else {
            // `deinit` closes it: twice would close a descriptor of another test.
            throw ProxyTestError(description: "cannot connect to \(endpoint)")
        }
    }

    deinit { close(socket) }

    private static func wait(_ socket: Int32, _ events: Int32, milliseconds: Int32 = 20_000) -> Bool
    {
        var polled = pollfd(fd: socket, events: Int16(events), revents: 0)
        return poll(&polled, 1, milliseconds) == 1
    }

    /// False when the other side takes no more.
    @discardableResult
    func send(_ octets: [UInt8]) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                httpdns_connected_send(
                    socket, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if httpdns_errno() != EAGAIN || !RawClient.wait(socket, POLLOUT) {
                return false
            }
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// What is there now, without waiting for room.
    func sendWhatFits(_ octets: [UInt8]) -> Int {
        octets.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { max(0, httpdns_connected_send(socket, $0, buffer.count)) } ?? 0
        }
    }

    /// The next octets; empty at the end, nil when it broke or nothing came.
    func read(milliseconds: Int32 = 20_000) -> [UInt8]? {
        guard RawClient.wait(socket, POLLIN, milliseconds: milliseconds) else { return nil }
        var octets = [UInt8](repeating: 0, count: 65_536)
        let count = httpdns_connected_receive(socket, &octets, octets.count)
        return count < 0 ? nil : Array(octets.prefix(count))
    }

    /// Reads up to the end of the connection, or until the text has come.
    func readText(until mark: String? = nil) -> String {
        var octets: [UInt8] = []
        while let more = read(), !more.isEmpty {
            octets += more
            if let mark, String(decoding: octets, as: UTF8.self).contains(mark) { break }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    func endWriting() { shutdown(socket, Int32(SHUT_WR)) }

    func reset() { httpdns_socket_reset_on_close(socket) }
}

extension ForwardProxy {
    /// A new connection.
    func connected() throws -> RawClient { try RawClient(endpoint) }
}

extension NginxServer {
    /// Both names at both of its addresses.
    static let hosts = ["shop.example.test": ["127.0.0.1"], "api.example.test": ["127.0.0.1"]]
}
