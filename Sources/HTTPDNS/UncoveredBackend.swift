internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// A source that is never asked about names which the application gave addresses for.
///
/// Because: the chain goes on after an empty answer (a table without IPv6 addresses gives one) and
/// after a source that takes too long; an overridden name must not leave the process even then.
struct UncoveredBackend: ResolverBackend {
    let source: any ResolverBackend
    let covered: Set<HostName>

    var label: String { source.label }
    var isAuthenticated: Bool { source.isAuthenticated }
    var supportedTypes: Set<RecordType>? { source.supportedTypes }

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        guard !covered.contains(question.name) else { throw .notCovered }
        return try await source.ask(question, deadline: deadline)
    }
}
