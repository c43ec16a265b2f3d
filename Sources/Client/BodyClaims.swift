internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// Which exchange sends which streamed body.
///
/// A source is one place in one stream, and all copies of a request share it: what one exchange has read
/// the next one would not send, and two at once would each send a part.
///
/// Rules:
/// 1. An exchange claims the source before its first transfer of it, and gives it back when it ends.
/// 2. A source that another exchange has begun must be rewound before it is read.
/// 3. While one exchange has it, no other gets it.
final class BodyClaims: Sendable {
    /// Those of the process: a source is an object, whichever client sends it.
    static let shared = BodyClaims()

    enum Claim: Sendable, Hashable {
        /// Nobody has read from it.
        case fresh
        /// An earlier exchange has.
        case begun
        /// Another exchange sends it now.
        case taken
    }

    fileprivate struct Entry {
        weak var source: (any RequestBodySource)?
        var isTaken = true
        var isBegun = false
    }

    fileprivate struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// At how many entries those of sources that are gone are looked for.
        var sweepsAt = BodyClaims.fewestToSweep
    }

    private let state = Locked(State())

    func claim(_ source: any RequestBodySource) -> Claim {
        let key = ObjectIdentifier(source)
        // Sources that others let go of meanwhile end when `living` does, outside the lock.
        let (claim, living) = state.withLock { state -> (Claim, [any RequestBodySource]) in
            // An entry without its source is of an earlier object in the same place.
            if var entry = state.entries[key], entry.source != nil {
                guard !entry.isTaken else { return (.taken, []) }
                entry.isTaken = true
                state.entries[key] = entry
                return (entry.isBegun ? .begun : .fresh, [])
            }
            state.entries[key] = Entry(source: source)
            return (.fresh, state.sweep())
        }
        return withExtendedLifetime(living) { claim }
    }

    /// - Parameter isBegun: it stands no longer at its first octet.
    func giveBack(_ source: any RequestBodySource, isBegun: Bool) {
        let key = ObjectIdentifier(source)
        state.withLock { state in
            state.entries[key]?.isTaken = false
            if isBegun { state.entries[key]?.isBegun = true }
        }
    }

    /// Because: below that, to look costs more than the entries do.
    fileprivate static let fewestToSweep = 16
}

extension BodyClaims.State {
    /// Returns the sources that were looked at, to be let go of outside the lock.
    fileprivate mutating func sweep() -> [any RequestBodySource] {
        guard entries.count >= sweepsAt else { return [] }
        let living = entries.compactMapValues { $0.source }
        entries = entries.filter { living[$0.key] != nil }
        sweepsAt = max(BodyClaims.fewestToSweep, 2 * entries.count)
        return Array(living.values)
    }
}

extension RequestBody {
    package var isPresent: Bool {
        switch self {
        case .none: false
        case .bytes(let octets): !octets.isEmpty
        case .stream: true
        }
    }

    var canReplay: Bool {
        switch self {
        case .none, .bytes: true
        case .stream(let source): source.canRewind
        }
    }
}
