public import HTTPDNSLookup
public import HTTPDNSNames
public import HTTPDNSWire

/// The servers that this machine's `resolv.conf` names, asked directly, with its options.
///
/// Unlike the system's own resolver it gives TTLs and every record type, and reads no hosts file.
/// The file is looked at again when a lookup starts, at most once a second. The search list is not
/// applied: ``ResolvConf/searchList`` is for those who ask for it.
public struct ResolvConfBackend: ResolverBackend {
    private let current: @Sendable () -> ResolvConf
    private let engine: DatagramEngine

    /// Reads nothing yet.
    public init(
        watcher: ResolvConfWatcher = ResolvConfWatcher(), engine: DatagramEngine = .shared
    ) {
        self.init(engine: engine) { watcher.current() }
    }

    /// With what `current` says, called when a lookup starts.
    package init(engine: DatagramEngine, current: @escaping @Sendable () -> ResolvConf) {
        self.current = current
        self.engine = engine
    }

    public var label: String { "resolv.conf" }
    public var isAuthenticated: Bool { false }
    public var isOfTheSystem: Bool { true }
    public var isLocal: Bool {
        let servers = current().servers
        return !servers.isEmpty && servers.allSatisfy(\.address.isLoopback)
    }
    public var supportedTypes: Set<RecordType>? { nil }

    public func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        let conf = current()
        let source = Testimony.Source(resolver: label, transport: .system)
        if question.type == .aaaa, conf.options.contains(.noAAAA) {
            return Testimony(
                question: question, code: .noError, answers: [],
                negativeTTLSeconds: Self.noAAAASeconds, source: source)
        }
        let backend = DatagramBackend(plan: ResolvConfBackend.plan(conf, label), engine: engine)
        var testimony = try await backend.ask(question, deadline: deadline)
        // Between us and the server anyone may have set it. Source: resolv.conf(5), trust-ad.
        if !conf.options.contains(.trustAD) { testimony.isAuthenticData = false }
        return testimony
    }

    /// What the text's options mean for the engine.
    static func plan(_ conf: ResolvConf, _ label: String) -> DatagramPlan {
        var plan = DatagramPlan(
            label: label, servers: conf.servers,
            mode: conf.options.contains(.useTCP) ? .tcpOnly : .udpThenTCP, rounds: conf.attempts,
            firstPatienceMilliseconds: Int64(conf.timeoutSeconds) * 1_000)
        plan.order = conf.options.contains(.rotate) ? .rotate : .asGiven
        plan.asksForAD = conf.options.contains(.trustAD)
        return plan
    }

    /// Because: the file says it, and may say otherwise a minute later.
    private static let noAAAASeconds: UInt32 = 60
}
