public import HTTPDNSNames
internal import HTTPDNSPlatform

/// An HTTP-DNS service on a free loopback port: truthful as its table, or failing as told.
///
/// One table answers in every form of ``LabServiceForm``:
///
/// | Path | Form |
/// | --- | --- |
/// | `/{account}/d`, `sign_d`, `resolve`, `sign_resolve`, `/{account}/ss` | Aliyun |
/// | `/v2/d` | Aliyun's second interface, plain or encrypted |
/// | `/d?dn=`, `/conf` | Tencent: free, encrypted, or with a token over TLS |
/// | `/resolve?domain=&timestamp=`, `/resolve?domain=&t=` | Volcengine, Qiniu |
/// | `/v4/resolve`, `/v3/resolve` | Baidu |
/// | `/{account}/resolve?app_id=`, `/{account}/service` | UCloud |
/// | `/?host=` | Yunaq |
/// | `/v1/httpdns/clouddns` | Wangsu |
/// | `/resolve?name=`, `/dns-query?name=` | DNS in JSON, see ``LabJSONShape``; AliDNS's with a key |
/// | `/dns-query?dns=`, POST `/dns-query` | DNS messages. Source: RFC 8484 |
///
/// Signatures are checked, and what is encrypted is decrypted, by code that shares nothing with the
/// library's codecs. Faults hold until told otherwise, or step by step:
///
///     service.misbehave([.captivePortal], first: 2)        // two requests, then well
///     service.play([[.gzips], [.ttl(.zero)], []], then: [.denies])
public final class LabHTTPDNSServer: Sendable {
    /// The server below: its address, port and record.
    public let server: LabServer
    private let state: Locked<State>
    private let identities: LabIdentities?

    /// Takes a free port.
    ///
    /// - Parameters:
    ///   - address: 127.0.0.0/8 or ::1.
    ///   - security: Plain HTTP, or TLS with which identity.
    ///   - table: What it tells.
    ///   - account: Who may ask.
    ///   - shape: Whose JSON `/resolve` speaks.
    /// - Throws: ``LabError``.
    public convenience init(
        address: IPAddress = LabAddress.ipv4, security: LabSecurity = .plain, table: LabTable,
        account: LabAccount = LabAccount("100000", secret: "lab-secret"),
        shape: LabJSONShape = .google
    ) throws(LabError) {
        var settings = LabServiceSettings(table: table)
        settings.accounts = [account]
        settings.shape = shape
        try self.init(address: address, security: security, settings: settings)
    }

    /// Takes a free port.
    ///
    /// - Throws: ``LabError``.
    public convenience init(
        address: IPAddress = LabAddress.ipv4, security: LabSecurity = .plain,
        settings: LabServiceSettings
    ) throws(LabError) {
        try self.init(address, security, settings, identities: nil)
    }

    /// Takes a free port, for TLS with a certificate for these names and with those that
    /// ``LabServiceFault/certificate(_:)`` shows.
    ///
    /// - Throws: ``LabError``.
    public convenience init(
        address: IPAddress = LabAddress.ipv4, names: [TestName], authority: TestAuthority,
        settings: LabServiceSettings
    ) throws(LabError) {
        let identities = try LabIdentities(names, authority)
        try self.init(address, .tls(identities.right), settings, identities: identities)
    }

    private init(
        _ address: IPAddress, _ security: LabSecurity, _ settings: LabServiceSettings,
        identities: LabIdentities?
    ) throws(LabError) {
        let state = Locked(State(settings: settings))
        self.state = state
        self.identities = identities
        // The handler needs the server's own port, which is known once the server is made.
        let place = Locked<(IPAddress, Port)?>(nil)
        server = try LabServer(address: address, security: security) { request in
            guard let place = place.withLock({ $0 }) else { return .never }
            return LabHTTPDNSServer.respond(to: request, at: place, state)
        }
        let taken = (server.address, server.port)
        place.withLock { $0 = taken }
        guard let identities else { return }
        server.chooseIdentity { _ in
            state.withLock { $0.script.nextCertificate() }.flatMap(identities.context)
        }
    }

    /// Begins to answer.
    ///
    /// - Throws: ``LabError`` when no thread can be started.
    public func start() throws(LabError) { try server.start() }

    /// Ends, and returns when the last thread has ended.
    public func stop() { server.stop() }

    /// The port of the service.
    public var port: Port { server.port }

    /// What it has seen until now.
    public var record: LabRecord { server.record }

    /// The questions until now, in order.
    public var events: [LabServiceEvent] { state.withLock { $0.events } }

    /// Forgets the questions until now, here and in ``server``, so that a long test does not fill the
    /// memory.
    public func forget() {
        state.withLock { $0.events = [] }
        server.forget()
    }

    /// What it knows. A change holds from the next request on; of two threads that change something
    /// at the same time, one may lose its change.
    public var settings: LabServiceSettings {
        get { state.withLock { $0.settings } }
        set { state.withLock { $0.settings = newValue } }
    }

    /// Fails in this way from now on.
    public func misbehave(_ fault: LabServiceFault) { play([], then: [fault]) }

    /// Fails in these ways from now on, or for so many requests, after which it behaves.
    ///
    /// - Parameters:
    ///   - faults: All of them hold for each request.
    ///   - count: How many requests fail; nil for all.
    ///   - forms: Which forms fail, and are counted; nil for all.
    public func misbehave(
        _ faults: Set<LabServiceFault>, first count: Int? = nil,
        only forms: Set<LabServiceForm>? = nil
    ) {
        guard let count else { return play([], then: faults, only: forms) }
        play([Set<LabServiceFault>](repeating: faults, count: max(0, count)), only: forms)
    }

    /// Fails each of the next requests in the ways of its step, and then those that follow in the
    /// ways of `rest`. Steps of before are forgotten.
    public func play(
        _ steps: [Set<LabServiceFault>], then rest: Set<LabServiceFault> = [],
        only forms: Set<LabServiceForm>? = nil
    ) {
        state.withLock { $0.script = FaultScript(steps, then: rest, only: forms) }
    }

    /// Whether this server can fail in that way: bad certificates are for one that was made with an
    /// authority.
    public func canFail(_ fault: LabServiceFault) -> Bool {
        if case .certificate = fault { identities != nil } else { true }
    }

    /// Whether this machine's OpenSSL has DES, which is in its legacy provider. Without it Tencent's
    /// questions with `alg=des` end in status 501.
    public static var speaksDES: Bool {
        LabCipher(.des, key: [UInt8](repeating: 0, count: 8))?.isAvailable ?? false
    }

    /// Tells this from now on.
    public func tell(_ table: LabTable) { state.withLock { $0.settings.table = table } }

    private struct State: Sendable {
        var settings: LabServiceSettings
        var script = FaultScript()
        var events: [LabServiceEvent] = []
        var schedulesTold = 0
    }

    private static func respond(
        to request: LabRequest, at place: (IPAddress, Port), _ state: Locked<State>
    ) -> LabResponse {
        var (exchange, form) = state.withLock { state in
            let form = ServiceRoutes(spoken: state.settings.forms).form(of: request)
            let exchange = ServiceExchange(
                request, state.settings,
                faults: state.script.next(form).filter { $0 != .none },
                place: (place.0, place.1), schedulesTold: state.schedulesTold)
            if form == .aliyunSchedule { state.schedulesTold += 1 }
            return (exchange, form)
        }
        let answer = exchange.answer(form)
        let event = exchange.event
        state.withLock { $0.events.append(event) }
        return answer.delivered(exchange.faults)
    }
}
