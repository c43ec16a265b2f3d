public import HTTPDNSLookup
public import HTTPDNSNames
internal import HTTPDNSPlatform
public import HTTPDNSWire

/// The system's own resolver, through getaddrinfo: hosts file, nsswitch and all.
///
/// It sees what other programs on this machine see, less the search list of resolv.conf: the address
/// of another name is not an answer, and trying suffixes tells them the name. Addresses only. It gives
/// no TTL, no alias chain and no server, and nothing proves who answered.
public struct SystemBackend: ResolverBackend {
    /// What is said in place of the TTL that getaddrinfo does not give.
    ///
    /// Because: short enough that a moved host is found again, long enough to spare the resolver.
    /// Source: Chromium keeps addresses of the system resolver for the same 60 s.
    public static let defaultTTLSeconds: UInt32 = 60

    private let ttlSeconds: UInt32
    private let threads: SystemThreads
    private let lookUp: SystemLookup.Call

    /// - Parameters:
    ///   - ttlSeconds: given to every address, 0...2^31-1; a larger value becomes 0, as on the wire
    ///     (RFC 2181 §8).
    ///   - appliesSearchList: whether a name that is not found is also looked for under the domains
    ///     of resolv.conf's `search`.
    public init(
        ttlSeconds: UInt32 = SystemBackend.defaultTTLSeconds, appliesSearchList: Bool = false
    ) {
        self.init(
            ttlSeconds: ttlSeconds, threads: .shared,
            lookUp: appliesSearchList ? SystemLookup.searchedAddresses : SystemLookup.addresses)
    }

    /// With another look-up in getaddrinfo's place: for tests.
    package init(
        ttlSeconds: UInt32, threads: SystemThreads, lookUp: @escaping SystemLookup.Call
    ) {
        self.ttlSeconds = ttlSeconds > UInt32(Int32.max) ? 0 : ttlSeconds
        self.threads = threads
        self.lookUp = lookUp
    }

    public var label: String { "system" }
    public var isAuthenticated: Bool { false }
    public var isOfTheSystem: Bool { true }
    public var supportedTypes: Set<RecordType>? { [.a, .aaaa] }

    public func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        let family: IPAddress.Family
        switch question.type {
        case .a: family = .ipv4
        case .aaaa: family = .ipv6
        default: throw .unsupportedType(question.type)
        }
        guard !question.name.isRoot else {
            throw .misconfigured("the system finds hosts, and the root is none: ask a server")
        }
        guard SystemMonotonicClock().now() < deadline else { throw .timedOut(tries: 0) }
        let call = SystemCall(name: question.name, family: family, lookUp: lookUp)
        switch await threads.run(call, deadline: deadline) {
        case .addresses(let addresses): return testimony(question, .noError, addresses)
        case .noSuchName: return testimony(question, .noSuchName, [])
        case .failed(let failure): throw failure
        }
    }

    private func testimony(
        _ question: Question, _ code: ResponseCode, _ addresses: [IPAddress]
    ) -> Testimony {
        Testimony(
            question: question, code: code,
            answers: addresses.map { address in
                ResourceRecord(
                    name: WireName(question.name), type: question.type, ttlSeconds: ttlSeconds,
                    data: .address(address))
            },
            source: Testimony.Source(resolver: label, transport: .system))
    }
}
