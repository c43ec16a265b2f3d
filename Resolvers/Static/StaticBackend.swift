public import HTTPDNSLookup
public import HTTPDNSNames
public import HTTPDNSWire

/// A table of names and addresses: given in code, or read from text in hosts-file syntax.
///
/// A name in the table is answered from it alone: no address of the family asked for means "no
/// data". A name that is not in the table is ``QueryFailure/notCovered``: a table does not know what
/// exists elsewhere.
public struct StaticBackend: ResolverBackend {
    public let label: String
    private let table: [HostName: [IPAddress]]
    private let ttlSeconds: UInt32

    /// - Parameters:
    ///   - table: the addresses of each name, in the order they are to be given.
    ///   - label: how the table is shown to people: `table`, `/etc/hosts`.
    ///   - ttlSeconds: given to every address, 0...2^31-1; a larger value becomes 0, as on the wire
    ///     (RFC 2181 §8). 0 by default: asking again costs nothing.
    public init(_ table: [HostName: [IPAddress]], label: String = "table", ttlSeconds: UInt32 = 0) {
        self.table = table
        self.label = label
        self.ttlSeconds = ttlSeconds > UInt32(Int32.max) ? 0 : ttlSeconds
    }

    public init(_ file: HostsFile, label: String = "hosts", ttlSeconds: UInt32 = 0) {
        self.init(file.table, label: label, ttlSeconds: ttlSeconds)
    }

    /// True: the table is the caller's own, and no network lies between.
    public var isAuthenticated: Bool { true }
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
        guard !Task.isCancelled else { throw .cancelled }
        guard let addresses = table[question.name] else { throw .notCovered }
        return Testimony(
            question: question, code: .noError,
            answers: addresses.filter { $0.family == family }.map { address in
                ResourceRecord(
                    name: WireName(question.name), type: question.type, ttlSeconds: ttlSeconds,
                    data: .address(address))
            },
            // "No data" that stands, as if it had an SOA: the lookup must not go on and ask others.
            negativeTTLSeconds: addresses.contains { $0.family == family } ? nil : ttlSeconds,
            source: Testimony.Source(resolver: label, transport: .hosts))
    }
}
