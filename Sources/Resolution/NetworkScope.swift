internal import HTTPDNSLookup
internal import HTTPDNSPlatform
internal import Synchronization

/// The number under which answers of one chain on one network are kept.
final class NetworkScope: Sendable {
    private struct State {
        /// By the text of the network.
        var scopes: [String: LookupScope]
        var texts: [LookupScope: String]
        var lastNumber: UInt32 = 0

        /// Forgets the network that was met first; the one that is entered comes after.
        mutating func makeRoom() {
            guard scopes.count >= NetworkScope.maximumNetworks,
                let first = scopes.min(by: { $0.value.number < $1.value.number })
            else { return }
            scopes[first.key] = nil
            texts[first.value] = nil
        }
    }

    /// Networks that are remembered.
    ///
    /// Because: a person's places are tens; a monitor whose names never repeat must not fill the memory.
    private static let maximumNetworks = 64

    private let chain: String
    private let state: Locked<State>
    /// Read at every look into the cache, by any thread: no lock.
    private let number = Atomic<UInt32>(0)

    init(chain: String, network: String?) {
        self.chain = chain
        let text = NetworkScope.text(chain, network)
        let first = LookupScope(number: 0)
        state = Locked(State(scopes: [text: first], texts: [first: text]))
    }

    var current: LookupScope { LookupScope(number: number.load(ordering: .acquiring)) }

    /// A scope's name, equal after a restart: what the store keeps its answers under. Nil for a network
    /// that was entered without a name: no other may find what was learnt there, after a restart
    /// neither.
    func text(of scope: LookupScope) -> String? { state.withLock { $0.texts[scope] } }

    func enter(_ network: String?) {
        state.withLock { state in
            state.lastNumber &+= 1
            let new = LookupScope(number: state.lastNumber)
            guard let network else {
                // Never come back to, so it is not remembered.
                number.store(new.number, ordering: .releasing)
                return
            }
            let text = NetworkScope.text(chain, network)
            if state.scopes[text] == nil { state.makeRoom() }
            let scope = state.scopes[text] ?? new
            state.scopes[text] = scope
            state.texts[scope] = text
            number.store(scope.number, ordering: .releasing)
        }
    }

    private static func text(_ chain: String, _ network: String?) -> String {
        network.map { "\(chain) @ \($0)" } ?? chain
    }
}

extension Resolver {
    var currentScope: LookupScope { network.current }

    /// What the store keeps a lookup's answers under: its own scope, which may not be the current one
    /// any longer, and who was asked, where a rule says so. Nil: the store has no part in it.
    func storeScope(_ key: LookupKey) -> String? {
        guard let text = network.text(of: key.scope) else { return nil }
        switch options.routes.target(for: key.question.name) {
        case .fixed?, nil: return text
        case let target?: return "\(text) by \(target)"
        }
    }

    func enter(network name: String?) { network.enter(name) }
}
