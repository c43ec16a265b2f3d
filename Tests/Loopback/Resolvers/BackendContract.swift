import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import TestSupport
import Testing

/// One back-end as the contract suite sees it: how to open it against a server of
/// ``ContractZone``, and what its protocol can say.
struct ContractSubject: Sendable, CustomTestStringConvertible {
    /// What a protocol may lack; a back-end is held to all that its own has.
    enum Ability: Sendable, CaseIterable {
        /// Alias records come with the addresses.
        case aliases
        /// "No such name" is stated. A table states nothing about other names.
        case noSuchName
        /// The SOA comes with a negative answer.
        case negativeTTL
        /// The server's own TTL arrives.
        case ttl
        /// SERVFAIL and REFUSED arrive as such.
        case responseCodes
        /// There is a server that may be silent.
        case silence
        /// The server's octets are read by us.
        case octets
    }

    let testDescription: String
    let abilities: Set<Ability>
    /// Starts what it needs; it ends with the opened value.
    let open: @Sendable () throws -> OpenedSubject

    init(
        _ name: String, without missing: Set<Ability> = [],
        open: @escaping @Sendable () throws -> OpenedSubject
    ) {
        testDescription = name
        abilities = Set(Ability.allCases).subtracting(missing)
        self.open = open
    }
}

/// A back-end and the server that it asks, which lives as long.
struct OpenedSubject: ResolverBackend {
    private let backend: any ResolverBackend
    private let server: (any Sendable)?

    init(_ backend: any ResolverBackend, keeping server: (any Sendable)? = nil) {
        self.backend = backend
        self.server = server
    }

    var label: String { backend.label }
    var isAuthenticated: Bool { backend.isAuthenticated }
    var supportedTypes: Set<RecordType>? { backend.supportedTypes }

    func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        try await backend.ask(question, deadline: deadline)
    }
}
