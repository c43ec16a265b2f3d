public import HTTPDNSLookup
public import HTTPDNSNames
public import HTTPDNSWire

/// Plain DNS, through c-ares: UDP with TCP for what does not fit, or TCP alone.
///
/// Nothing proves who answered: use it for networks that are trusted, or for comparison. Every
/// question leaves from a random port with a random id, and a reply must match both, the server and
/// the question. Source: RFC 5452 §9.
public struct DatagramBackend: ResolverBackend {
    /// How the question travels first.
    public enum Mode: Sendable, Hashable {
        /// UDP; TCP to the same server and port when the reply says that it was cut.
        case udpThenTCP
        case tcpOnly
    }

    private let plan: DatagramPlan
    private let engine: DatagramEngine

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

    public var label: String { plan.label }
    public var isAuthenticated: Bool { false }
    public var supportedTypes: Set<RecordType>? { nil }

    public func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        try await engine.run(
            DatagramQuery(question: question, plan: plan, deadline: deadline), plan: plan
        ).get()
    }

    /// Because: three sends outlast the loss of two packets. Source: RFC 1536 §1, resolv.conf(5).
    public static let defaultTries = 3

    /// Because: a second is above nearly every round trip, satellites included (600 ms); three tries
    /// then end at 1 + 2 + 4 s.
    public static let defaultFirstTryMilliseconds: Int64 = 1_000
}
