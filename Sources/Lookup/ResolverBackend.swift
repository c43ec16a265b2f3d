public import HTTPDNSNames
public import HTTPDNSWire

/// One source of DNS truth: a protocol and whom it speaks to.
///
/// Contract (the shared suite in `Tests/Loopback` holds every back-end to it):
/// 1. `ask` returns by `deadline`, or throws ``QueryFailure/timedOut(tries:)``; it never blocks the
///    calling thread.
/// 2. A negative answer (NXDOMAIN, no data, SERVFAIL…) is a ``Testimony``, not an error: an error
///    means that no usable answer arrived.
/// 3. When the calling task is cancelled it throws ``QueryFailure/cancelled`` promptly.
/// 4. Nothing that the peer sends can trap.
public protocol ResolverBackend: Sendable {
    /// Who answers, as shown to people: `https://dns.example/dns-query`, `udp://192.0.2.1:53`.
    var label: String { get }

    /// True when the answer's source proves itself (TLS), so that a middlebox cannot forge it.
    var isAuthenticated: Bool { get }

    /// True when it is reached over loopback: whoever runs it owns this machine, so that loopback
    /// addresses in its answers are no attack. False unless the back-end says otherwise.
    var isLocal: Bool { get }

    /// True when it asks whom this machine's network names: the system's resolver, the servers of
    /// `resolv.conf`. Such a source is left out for hosts that are pinned. False unless the back-end
    /// says otherwise.
    var isOfTheSystem: Bool { get }

    /// The record types it can ask for; nil means any.
    var supportedTypes: Set<RecordType>? { get }

    /// The device is on another network: connections made before are of no use. Does nothing unless the
    /// back-end keeps some.
    func networkDidChange()

    /// Asks one question.
    ///
    /// - Throws: ``QueryFailure`` when no usable answer came.
    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony
}

extension ResolverBackend {
    public var isLocal: Bool { false }

    public var isOfTheSystem: Bool { false }

    public func networkDidChange() {}
}

/// A back-end that can be asked without a task: its own thread tells the result. A resolver asks it so,
/// which costs a look-up half of what a task does.
package protocol DirectBackend: ResolverBackend {
    /// Asks one question as `ask` does.
    ///
    /// - Parameter completion: called once, on a thread of the back-end or, when the question is refused
    ///   at once, on the caller's; it returns at once.
    /// - Returns: ends the question as cancelled unless it has ended; any thread, any number of times.
    func start(
        _ question: Question, deadline: Monotonic,
        completion: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
    ) -> @Sendable () -> Void
}

/// What is asked: a name and a record type, class IN.
public struct Question: Sendable, Hashable {
    public let name: HostName
    public let type: RecordType
    /// Ask for DNSSEC data (the DO bit). Source: RFC 3225.
    public var wantsDNSSEC = false
    /// Ask the server to recurse (the RD bit). Source: RFC 1035 §4.1.1.
    public var wantsRecursion = true
    /// For whom to answer, where the source can be told: the network of the client. It travels to the
    /// source and beyond. Source: RFC 7871, whose §11.1 says what that gives away.
    public var clientSubnet: AddressBlock?
    /// For services whose answers depend on parameters; others ignore them.
    public var serviceParameters = ServiceParameters.none

    public init(name: HostName, type: RecordType) {
        self.name = name
        self.type = type
    }

    /// Because: questions in flight together nearly always differ in these; the rest would double the
    /// cost of each look into a table of them.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(type)
    }
}

/// What one source said in answer to one question.
public struct Testimony: Sendable, Hashable {
    public let question: Question
    public let code: ResponseCode
    /// The answer section in the order received: the alias chain and its end.
    public let answers: [ResourceRecord]
    /// How long "no such name" or "no data" holds; nil when the answer does not say, and then it
    /// must not be cached. Source: RFC 2308 §5: the smaller of the SOA's TTL and its minimum. An
    /// HTTP-DNS service says it in a TTL of the answer.
    public let negativeTTLSeconds: UInt32?
    /// The AD bit. Source: RFC 4035 §3.2.3.
    public var isAuthenticData = false
    /// Why the server answers as it does, where it says so; at most
    /// ``maximumExtendedErrors``. Source: RFC 8914.
    public var extendedErrors: [ExtendedError] = []
    /// A TTL of the answer as it was sent, where that is out of range and counts as 0; the first of
    /// several. Not kept with an answer. Source: RFC 2181 §8.
    package var excessiveTTLSeconds: UInt32?
    public internal(set) var source: Source

    /// Because: an honest server gives one or two reasons.
    public static let maximumExtendedErrors = 8

    public init(
        question: Question, code: ResponseCode, answers: [ResourceRecord],
        negativeTTLSeconds: UInt32? = nil, isAuthenticData: Bool = false, source: Source
    ) {
        self.question = question
        self.code = code
        self.answers = answers
        self.negativeTTLSeconds = negativeTTLSeconds
        self.isAuthenticData = isAuthenticData
        self.source = source
    }

    /// Who said it and how it travelled.
    public struct Source: Sendable, Hashable {
        /// The back-end's ``ResolverBackend/label``.
        public internal(set) var resolver: String
        public let transport: AnswerTransport
        /// The server that answered: `192.0.2.1:53`; nil when the transport does not say.
        public var server: String?
        /// Our address as the service saw it, where it says.
        public var clientAddress: IPAddress?
        /// What an HTTP-DNS service adds for the application, by the customer's own rules there.
        public var extra: String?
        /// Sends of this question, repeats included; at least 1 for network transports.
        public var tries = 1

        public init(
            resolver: String, transport: AnswerTransport, server: String? = nil,
            clientAddress: IPAddress? = nil, tries: Int = 1
        ) {
            self.resolver = resolver
            self.transport = transport
            self.server = server
            self.clientAddress = clientAddress
            self.tries = tries
        }
    }
}

extension Testimony {
    /// The same under another label of its back-end.
    package func said(by resolver: String) -> Testimony {
        var testimony = self
        testimony.source.resolver = resolver
        return testimony
    }
}

/// How an answer reached us; the raw value is the JSON spelling.
public enum AnswerTransport: String, Sendable, Hashable {
    case udp, tcp, tls, https, httpdns, system, hosts, cache
    /// Answered without asking: an IP literal or `localhost`.
    case literal
}

/// Why no usable answer came from a source.
public enum QueryFailure: Error, Sendable, Hashable {
    /// No reply in time. `tries` is how often we sent.
    case timedOut(tries: Int)
    /// The network says no: refused, unreachable, reset. The text is the system's own word.
    case unreachable(String)
    /// The server's identity was not proven; the text is the trust failure's label and first line.
    case untrusted(String)
    /// The reply is not what the protocol allows; the text says what was wrong and where.
    case malformed(String)
    /// The HTTP status was not a success.
    case httpStatus(Int)
    /// The provider refused the request by a code of its own: `InvalidAccount`, `InvalidSignature`.
    case rejected(code: String)
    /// This back-end cannot ask for that type.
    case unsupportedType(RecordType)
    /// The configuration is unusable; the text says what to change.
    case misconfigured(String)
    case cancelled
    /// Asking now would go beyond the limit set for the account; a token is there again after so many
    /// milliseconds.
    case overQuota(retryAfterMilliseconds: Int64)
    /// It answered with addresses that cannot be right for a public name; the text lists them.
    case refusedAddresses(String)
    /// It has failed so often that it is left alone for so many milliseconds more.
    case resting(milliseconds: Int64)
    /// This source does not know the name and does not claim that it does not exist (a hosts file, a
    /// table): the next source is asked.
    case notCovered
    /// The host is pinned, and this source asks whom the network names: whom pins are against.
    case withheld
    /// A fault of ours: a bug to report. The text names the place.
    case unexpected(String)

    /// A bounded label, safe in metrics and JSON.
    public var label: String {
        switch self {
        case .timedOut: "timed_out"
        case .unreachable: "unreachable"
        case .untrusted: "untrusted"
        case .malformed: "malformed"
        case .httpStatus: "http_status"
        case .rejected: "rejected"
        case .unsupportedType: "unsupported_type"
        case .misconfigured: "misconfigured"
        case .cancelled: "cancelled"
        case .notCovered: "not_covered"
        case .overQuota: "over_quota"
        case .refusedAddresses: "refused_addresses"
        case .resting: "resting"
        case .withheld: "withheld"
        case .unexpected: "unexpected"
        }
    }
}

extension QueryFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .timedOut(let tries): "no reply in time (\(tries) \(tries == 1 ? "try" : "tries"))"
        case .unreachable(let why): "unreachable: \(why)"
        case .untrusted(let why): "its identity was not proven: \(why)"
        case .malformed(let why): "its answer is malformed: \(why)"
        case .httpStatus(let status): "it answered with HTTP status \(status)"
        case .rejected(let code): "it rejected the request: \(code)"
        case .unsupportedType(let type): "it cannot be asked for type \(type.name)"
        case .misconfigured(let why): "its configuration is unusable: \(why)"
        case .cancelled: "cancelled"
        case .notCovered: "it does not cover that name"
        case .overQuota(let milliseconds):
            "its quota is used up; the next question may go out in \(milliseconds) ms"
        case .refusedAddresses(let addresses):
            "it answered with what cannot be right for a public name: \(addresses)"
        case .resting(let milliseconds):
            "not asked: it failed several times, and is left alone for \(milliseconds) ms more"
        case .withheld:
            "not asked: the host is pinned, and the network itself may have named this source"
        case .unexpected(let why): "an internal fault, please report it: \(why)"
        }
    }
}
