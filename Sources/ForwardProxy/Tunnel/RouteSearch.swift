internal import HTTPDNSPlatform
internal import HTTPDNSResolution

/// A search for a route that may be left. Any thread.
final class RouteSearch: Sendable {
    private struct State {
        var isOver = false
        var lookup: ResolutionHandle?
        var race: PeekRace?
    }

    private let state = Locked(State())

    /// Nobody waits for it any longer: what it has asked for and nobody else wants is given up.
    func leave() {
        let (lookup, race) = state.withLock { state in
            defer { state = State(isOver: true) }
            return (state.lookup, state.race)
        }
        lookup?.cancel()
        race?.leave()
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    func began(_ lookup: ResolutionHandle) {
        let isLate = state.withLock { state in
            if !state.isOver { state.lookup = lookup }
            return state.isOver
        }
        if isLate { lookup.cancel() }
    }

    func began(_ race: PeekRace) {
        let isLate = state.withLock { state in
            if !state.isOver { state.race = race }
            return state.isOver
        }
        if isLate { race.leave() }
    }
}
