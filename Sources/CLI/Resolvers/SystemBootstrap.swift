package import HTTPDNS
package import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSSystem
internal import HTTPDNSWire

/// Finds the addresses of a resolver that is named by host, and says so.
package enum SystemBootstrap {
    /// The description with addresses; unchanged when it needs none.
    ///
    /// - Throws: ``QueryFailure`` when the system does not know the host.
    package static func addressed(
        _ description: ResolverDescription, deadline: Monotonic, _ console: Console
    ) async throws(QueryFailure) -> ResolverDescription {
        guard let host = description.unresolvedHost else { return description }
        let system = SystemBackend()
        var addresses: [IPAddress] = []
        var failure: QueryFailure?
        for type in [RecordType.a, .aaaa] {
            do throws(QueryFailure) {
                let testimony = try await system.ask(
                    Question(name: host, type: type), deadline: deadline)
                addresses += testimony.answers.compactMap {
                    if case .address(let address) = $0.data { address } else { nil }
                }
            } catch {
                failure = error
            }
        }
        guard !addresses.isEmpty else {
            throw failure
                ?? .unreachable(
                    "the system knows no address of \(host); --bootstrap gives one")
        }
        let list = addresses.map(\.description).joined(separator: ", ")
        console.note(
            "note: \(host) was resolved by the system to \(list); --bootstrap IP avoids that")
        var addressed = description
        addressed.bootstrap = addresses
        return addressed
    }
}
