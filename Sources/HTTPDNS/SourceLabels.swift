internal import HTTPDNSExchange
package import HTTPDNSLookup
internal import HTTPDNSWire

/// Gives each source of a resolver a label of its own: rules, health, doubts, metrics and the store know
/// sources by their labels, and a label does not show a token in a URL, or an account.
///
/// Two that look alike are told apart by a number, in the order of the configuration: the same
/// configuration gives the same labels after a restart, so that what is stored is found again.
///
/// Because: labels stand in logs, in metrics and in the store. A digest in them would let whoever reads
/// one try out weak tokens; a number says nothing of them.
package struct SourceLabels: Sendable {
    /// What is asked, and for whom, hidden parts as well: never shown, never written.
    private struct Identity: Sendable, Hashable {
        let kind: ResolverDescription.Kind
        let account: String?
        let secret: Secret?
        let key: Secret?
        let endpoint: HTTPURL?

        init(_ description: ResolverDescription) {
            kind = description.kind
            account = description.account
            secret = description.secret
            key = description.key
            endpoint = description.endpoint
        }
    }

    private struct Entry: Sendable {
        let identity: Identity
        /// The back-end's own.
        let usual: String
        let label: String
    }

    private var entries: [Entry] = []
    private var taken: Set<String> = []

    package init() {}

    /// A back-end of the application's own keeps its label: rules name it by that.
    mutating func take(_ label: String) { taken.insert(label) }

    /// The label of a source that was given one already.
    func known(_ description: ResolverDescription) -> String? {
        let identity = Identity(description)
        return entries.first { $0.identity == identity }?.label
    }

    /// A back-end under a label that no other source has; the same one for the same description.
    package mutating func labelled(
        _ backend: any ResolverBackend, for description: ResolverDescription
    ) -> any ResolverBackend {
        let identity = Identity(description)
        let usual = backend.label
        if let entry = entries.first(where: { $0.identity == identity && $0.usual == usual }) {
            return RelabelledBackend.named(entry.label, backend)
        }
        var label = usual
        var number = 2
        while taken.contains(label) {
            label = "\(usual) (\(number))"
            number += 1
        }
        taken.insert(label)
        entries.append(Entry(identity: identity, usual: usual, label: label))
        return RelabelledBackend.named(label, backend)
    }
}

/// A back-end under another label, also in what it says.
private struct RelabelledBackend: TellingBackend {
    let label: String
    private let backend: any ResolverBackend

    /// The back-end itself where that is its label.
    static func named(_ label: String, _ backend: any ResolverBackend) -> any ResolverBackend {
        label == backend.label ? backend : RelabelledBackend(label: label, backend: backend)
    }

    var isAuthenticated: Bool { backend.isAuthenticated }
    var isLocal: Bool { backend.isLocal }
    var isOfTheSystem: Bool { backend.isOfTheSystem }
    var supportedTypes: Set<RecordType>? { backend.supportedTypes }

    func networkDidChange() { backend.networkDidChange() }

    func ask(
        _ question: Question, deadline: Monotonic, telling observer: ReplyObserver?
    ) async throws(QueryFailure) -> Testimony {
        try await backend.askTelling(question, deadline: deadline, observer).said(by: label)
    }
}
