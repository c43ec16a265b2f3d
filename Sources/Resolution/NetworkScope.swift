internal import HTTPDNSLookup
internal import HTTPDNSPlatform
internal import Synchronization

/// The number under which answers of one chain on one network are kept.
final class NetworkScope: Sendable {
    private struct State {
        var scopes: [String: LookupScope] = [:]
        var text: String
        var lastNumber: UInt32 = 0

        /// Forgets the network that was met first; the one that is entered comes after.
        mutating func makeRoom() {
            guard scopes.count >= NetworkScope.maximumNetworks,
                let first = scopes.min(by: { $0.value.number < $1.value.number })
            else { return }
            scopes[first.key] = nil
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
        state = Locked(State(scopes: [text: LookupScope(number: 0)], text: text))
    }

    var current: LookupScope { LookupScope(number: number.load(ordering: .acquiring)) }

    /// The same, readable and equal after a restart: what the store keeps answers under. Nil for a
    /// network that was left and is never come back to.
    func text(of scope: LookupScope) -> String? {
        state.withLock { state in
            if scope == current { return state.text }
            return state.scopes.first { $0.value == scope }?.key
        }
    }

    func enter(_ network: String?) {
        state.withLock { state in
            state.lastNumber &+= 1
            let new = LookupScope(number: state.lastNumber)
            guard let network else {
                // Never come back to, so it is not remembered; and never the same after a restart.
                state.text = NetworkScope.text(chain, "change \(state.lastNumber)")
                number.store(new.number, ordering: .releasing)
                return
            }
            state.text = NetworkScope.text(chain, network)
            let scope = state.scopes[state.text] ?? new
            if state.scopes[state.text] == nil { state.makeRoom() }
            state.scopes[state.text] = scope
            number.store(scope.number, ordering: .releasing)
        }
    }

    private static func text(_ chain: String, _ network: String?) -> String {
        network.map { "\(chain) @ \($0)" } ?? chain
    }
}

extension Resolver {
    var currentScope: LookupScope { network.current }

    /// What the store keeps a key's answers under; nil: they are not to be kept.
    func scopeText(of key: LookupKey) -> String? { network.text(of: key.scope) }

    func enter(network name: String?) { network.enter(name) }
}
