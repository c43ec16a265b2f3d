internal import HTTPDNSLookup
internal import HTTPDNSPlatform
internal import Synchronization

/// The number under which answers of one chain on one network are kept.
final class NetworkScope: Sendable {
    private struct State {
        var scopes: [String: LookupScope] = [:]
        var text: String
        var lastNumber: UInt32 = 0
    }

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

    /// The same, readable and equal after a restart: what the store keeps answers under.
    var text: String { state.withLock { $0.text } }

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
    var scopeText: String { network.text }

    func enter(network name: String?) { network.enter(name) }
}
