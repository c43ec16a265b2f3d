internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Lets several addresses prove themselves, one after the other with a head start each, until one has.
///
/// The machine of it: who begins when. Does no I/O.
struct PeekOrder: Sendable {
    enum Action: Sendable, Hashable {
        case peek(Int)
        /// The next address begins then, unless one has ended before.
        case armStagger
        case succeed(Int)
        case fail
    }

    private let count: Int
    private var next = 0
    private var failed = 0
    private var isOver = false

    init(count: Int) { self.count = count }

    mutating func start() -> [Action] { isOver || count == 0 ? over(.fail) : begin() }

    /// The head start of the last one is over.
    mutating func waited() -> [Action] { isOver || next >= count ? [] : begin() }

    mutating func failed(_ index: Int) -> [Action] {
        guard !isOver else { return [] }
        failed += 1
        if failed == count { return over(.fail) }
        // Others are on their way: their stagger is armed.
        return next < count ? begin() : []
    }

    mutating func proved(_ index: Int) -> [Action] { isOver ? [] : over(.succeed(index)) }

    /// Nobody waits for it any longer.
    mutating func leave() { isOver = true }

    private mutating func begin() -> [Action] {
        next += 1
        return next < count ? [.peek(next - 1), .armStagger] : [.peek(next - 1)]
    }

    private mutating func over(_ action: Action) -> [Action] {
        isOver = true
        return [action]
    }
}

/// Drives ``PeekOrder`` with handshakes and alarms. Any thread.
final class PeekRace: Sendable {
    typealias Outcome = Result<Int, PeekRaceLost>
    typealias Leave = @Sendable () -> Void
    typealias Peek = @Sendable (Int, @escaping @Sendable (Bool) -> Void) -> Leave

    private struct State {
        var order: PeekOrder
        /// How the peeks that were begun are left; nil once the race is over.
        var begun: [Leave]? = []
    }

    private let state: Locked<State>
    private let peek: Peek
    private let ended: @Sendable (Outcome) -> Void

    /// - Parameters:
    ///   - peek: begins with one address; calls back with whether it has proved itself, and returns
    ///     how it is left, which is done with each of them at the end.
    ///   - ended: called once: which has, or that none has.
    init(count: Int, peek: @escaping Peek, ended: @escaping @Sendable (Outcome) -> Void) {
        state = Locked(State(order: PeekOrder(count: count)))
        self.peek = peek
        self.ended = ended
    }

    func start() { perform(state.withLock { $0.order.start() }) }

    /// Nobody waits for it any longer: ``ended`` is not called.
    func leave() {
        let begun = state.withLock { state in
            state.order.leave()
            defer { state.begun = nil }
            return state.begun ?? []
        }
        for leave in begun { leave() }
    }

    private func perform(_ actions: [PeekOrder.Action]) {
        for action in actions {
            switch action {
            case .peek(let index):
                begin(index)
            case .armStagger:
                let due = SystemMonotonicClock().now().adding(
                    milliseconds: PeekRace.staggerMilliseconds)
                _ = AlarmThread.shared.schedule(at: due) {
                    self.perform(self.state.withLock { $0.order.waited() })
                }
            case .succeed(let index):
                leave()
                ended(.success(index))
            case .fail:
                leave()
                ended(.failure(PeekRaceLost()))
            }
        }
    }

    private func begin(_ index: Int) {
        let leave = peek(index) { proved in
            self.perform(
                self.state.withLock { state in
                    proved ? state.order.proved(index) : state.order.failed(index)
                })
        }
        // It may have ended, and the race with it, before this was known.
        let isLate = state.withLock { state in
            state.begun?.append(leave)
            return state.begun == nil
        }
        if isLate { leave() }
    }

    /// Source: RFC 8305 §5, "Connection Attempt Delay".
    private static let staggerMilliseconds: Int64 = 250
}

/// No address has proved itself.
struct PeekRaceLost: Error, Hashable {}
