package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

/// Any back-end, held to a limit of questions.
package struct QuotaBackend: TellingBackend {
    private let backend: any ResolverBackend
    private let quota: QuotaGuard

    package init(_ backend: any ResolverBackend, quota: QuotaGuard) {
        self.backend = backend
        self.quota = quota
    }

    package var label: String { backend.label }
    package var isAuthenticated: Bool { backend.isAuthenticated }
    package var isLocal: Bool { backend.isLocal }
    package var isOfTheSystem: Bool { backend.isOfTheSystem }
    package var supportedTypes: Set<RecordType>? { backend.supportedTypes }

    package func networkDidChange() { backend.networkDidChange() }

    package func ask(
        _ question: Question, deadline: Monotonic, telling observer: ReplyObserver?
    ) async throws(QueryFailure) -> Testimony {
        try quota.take()
        return try await backend.askTelling(question, deadline: deadline, observer)
    }
}
