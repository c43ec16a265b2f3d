internal import HTTPDNSLookup
internal import HTTPDNSPlatform

/// The number under which answers of one chain on one network are kept.
final class NetworkScope: Sendable {
    private struct State {
        var scopes: [String: LookupScope] = [:]
        var text: String
        var current: LookupScope
        var lastNumber: UInt32 = 0
    }

    private let chain: String
    private let state: Locked<State>

    init(chain: String, network: String?) {
        self.chain = chain
        let text = NetworkScope.text(chain, network)
        let first = LookupScope(number: 0)
        state = Locked(State(scopes: [text: first], text: text, current: first))
    }

    var current: LookupScope { state.withLock { $0.current } }

    /// The same, readable and equal after a restart: what the store keeps answers under.
    var text: String { state.withLock { $0.text } }

    func enter(_ network: String?) {
        state.withLock { state in
            state.lastNumber &+= 1
            let new = LookupScope(number: state.lastNumber)
            guard let network else {
                // Never come back to, so it is not remembered; and never the same after a restart.
                state.text = NetworkScope.text(chain, "change \(state.lastNumber)")
                state.current = new
                return
            }
            state.text = NetworkScope.text(chain, network)
            state.current = state.scopes[state.text] ?? new
            state.scopes[state.text] = state.current
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
