public import HTTPDNSLookup
public import HTTPDNSNames
public import HTTPDNSWire

/// Plain DNS: UDP with TCP for what does not fit, or TCP alone.
///
/// Nothing proves who answered: use it for networks that are trusted, or for comparison. Every
/// question leaves from a random port with a random id, and a reply must match both, the server and
/// the question. Source: RFC 5452 §9. Servers that did not answer are asked after those that did.
public struct DatagramBackend: ResolverBackend {
    /// How the question travels first.
    public enum Mode: Sendable, Hashable {
        /// UDP; TCP to the same server and port when the reply says that it was cut.
        case udpThenTCP
        case tcpOnly
    }

    private let plan: DatagramPlan
    private let engine: DatagramEngine
    private var watch: EvidenceWatch?

    /// Makes a back-end; nothing is sent or opened before the first question.
    ///
    /// - Parameters:
    ///   - servers: asked in this order, the next one when one fails or is silent. At least one;
    ///     an IPv6 zone is an interface's name or number.
    ///   - mode: how the question travels first.
    ///   - tries: how often each silent server is asked, 1...10; other values are brought in range.
    ///   - firstTryMilliseconds: how long to wait before the next server or try, 10...60,000;
    ///     doubled with each further try. Other values are brought in range.
    ///   - engine: the thread that does the work.
    public init(
        servers: [Endpoint], mode: Mode = .udpThenTCP, tries: Int = DatagramBackend.defaultTries,
        firstTryMilliseconds: Int64 = DatagramBackend.defaultFirstTryMilliseconds,
        engine: DatagramEngine = .shared
    ) {
        let scheme = mode == .tcpOnly ? "tcp://" : "udp://"
        plan = DatagramPlan(
            label: servers.map { scheme + $0.dnsServerText }.joined(separator: ", "),
            servers: servers, mode: mode, rounds: min(max(tries, 1), 10),
            firstPatienceMilliseconds: min(max(firstTryMilliseconds, 10), 60_000))
        self.engine = engine
    }

    init(plan: DatagramPlan, engine: DatagramEngine) {
        self.plan = plan
        self.engine = engine
    }

    public var label: String { plan.label }
    public var isAuthenticated: Bool { false }
    public var isLocal: Bool {
        !plan.servers.isEmpty && plan.servers.allSatisfy(\.address.isLoopback)
    }
    public var supportedTypes: Set<RecordType>? { nil }

    public func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        try await engine.run(
            DatagramQuery(question: question, plan: plan, deadline: deadline), plan: plan,
            watch: watch
        ).get()
    }

    /// Asks one question without a task.
    ///
    /// - Parameters:
    ///   - question: what to ask.
    ///   - deadline: when to give up.
    ///   - completion: called once, on the engine's thread, or before this returns when the question
    ///     is refused; must return at once.
    @discardableResult
    public func ask(
        _ question: Question, deadline: Monotonic,
        completion: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
    ) -> DatagramTicket {
        let query = DatagramQuery(question: question, plan: plan, deadline: deadline)
        let id = engine.start(query, plan: plan, watch: watch, deliver: completion)
        return DatagramTicket(id: id, engine: engine)
    }

    /// The same back-end, which after each answer over UDP goes on listening for a while and reports
    /// a second answer that says something else. The first answer is not held up. For diagnosis:
    /// each question then holds its socket for that long, and none is used again.
    ///
    /// - Parameters:
    ///   - milliseconds: how long to listen, 1...5,000; other values are brought in range.
    ///   - report: called on the engine's thread for each differing answer; must return at once.
    public func watchingForForgeries(
        milliseconds: Int64 = DatagramBackend.defaultWatchMilliseconds,
        report: @escaping @Sendable (ForgedAnswerEvidence) -> Void
    ) -> DatagramBackend {
        var watching = self
        watching.watch = EvidenceWatch(
            milliseconds: min(max(milliseconds, 1), 5_000), report: report)
        return watching
    }

    /// Because: a forger beside the path is some milliseconds ahead of the server, whose answer then
    /// takes a usual round trip.
    public static let defaultWatchMilliseconds: Int64 = 200

    /// Because: three sends outlast the loss of two packets. Source: RFC 1536 §1, resolv.conf(5).
    public static let defaultTries = 3

    /// Because: a second is above nearly every round trip, satellites included (600 ms); three tries
    /// then end at 1 + 2 + 4 s.
    public static let defaultFirstTryMilliseconds: Int64 = 1_000
}

extension DatagramBackend: TellingBackend {
    package func ask(
        _ question: Question, deadline: Monotonic, telling observer: ReplyObserver?
    ) async throws(QueryFailure) -> Testimony {
        try await engine.run(
            DatagramQuery(question: question, plan: plan, deadline: deadline), plan: plan,
            watch: watch, observer: observer
        ).get()
    }
}

extension DatagramBackend: DirectBackend {
    package func start(
        _ question: Question, deadline: Monotonic,
        completion: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
    ) -> @Sendable () -> Void {
        let ticket = ask(question, deadline: deadline, completion: completion)
        return { ticket.cancel() }
    }
}

/// A question on its way.
public struct DatagramTicket: Sendable {
    let id: DatagramQuestion.ID
    let engine: DatagramEngine

    /// Ends the question as cancelled, unless it has ended already. Any thread, any number of times.
    public func cancel() { engine.cancel(id) }
}
