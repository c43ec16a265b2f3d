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
    typealias Peek = @Sendable (Int, @escaping @Sendable (Bool) -> Void) -> Void

    private let order: Locked<PeekOrder>
    private let peek: Peek
    private let ended: @Sendable (Outcome) -> Void

    /// - Parameters:
    ///   - peek: begins with one address; calls back with whether it has proved itself.
    ///   - ended: called once: which has, or that none has.
    init(count: Int, peek: @escaping Peek, ended: @escaping @Sendable (Outcome) -> Void) {
        order = Locked(PeekOrder(count: count))
        self.peek = peek
        self.ended = ended
    }

    func start() { perform(order.withLock { $0.start() }) }

    private func perform(_ actions: [PeekOrder.Action]) {
        for action in actions {
            switch action {
            case .peek(let index):
                peek(index) { proved in
                    self.perform(
                        self.order.withLock { proved ? $0.proved(index) : $0.failed(index) })
                }
            case .armStagger:
                let due = SystemMonotonicClock().now().adding(
                    milliseconds: PeekRace.staggerMilliseconds)
                _ = AlarmThread.shared.schedule(at: due) {
                    self.perform(self.order.withLock { $0.waited() })
                }
            case .succeed(let index): ended(.success(index))
            case .fail: ended(.failure(PeekRaceLost()))
            }
        }
    }

    /// Source: RFC 8305 §5, "Connection Attempt Delay".
    private static let staggerMilliseconds: Int64 = 250
}

/// No address has proved itself.
struct PeekRaceLost: Error, Hashable {}
