internal import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// Gives out kept bodies, a piece of each in turn, on one thread of its own: a disk that is slow to
/// write to is in no reader's way.
final class BodyPump: Sendable {
    struct Queue: Sendable {
        var bodies: [KeptBodyFile] = []
        var isServed = false
        var isStopped = false
    }

    private let queue: ConditionLocked<Queue>

    init() { queue = ConditionLocked(Queue()) }

    deinit { queue.withLockSignalling { $0.isStopped = true } }

    /// Lets a body have its turn.
    func serve(_ body: KeptBodyFile) {
        let needsThread = queue.withLockSignalling { queue in
            queue.bodies.append(body)
            defer { queue.isServed = true }
            return !queue.isServed
        }
        guard needsThread else { return }
        let queue = queue
        let isStarted = DetachedThread.start(named: "httpdns-kept") { BodyPump.run(queue) }
        guard !isStarted else { return }
        let lost = queue.withLockSignalling { queue in
            defer { queue.bodies = [] }
            queue.isServed = false
            return queue.bodies
        }
        for body in lost { body.fail("the system gives no thread") }
    }

    private static func run(_ queue: ConditionLocked<Queue>) {
        var piece = [UInt8](repeating: 0, count: pieceOctets)
        while true {
            let next = queue.waitAndTake { queue, _ -> [KeptBodyFile?] in
                guard queue.bodies.isEmpty else { return [queue.bodies.removeFirst()] }
                return queue.isStopped ? [nil] : []
            } until: { _ in
                nil
            }
            guard case let body?? = next.first else { return }
            let goesOn = piece.withUnsafeMutableBytes { body.giveOut(through: $0) }
            if goesOn { queue.withLockSignalling { $0.bodies.append(body) } }
        }
    }

    /// Because: as much as a read of a cached file gives in some ten microseconds, a fair turn.
    private static let pieceOctets = 65_536
}

/// A kept body, open. See ``BodyPump``.
final class KeptBodyFile: KeptBody {
    private struct State {
        var take: (@Sendable (UnsafeRawBufferPointer) -> Flow)?
        var end: (@Sendable (PourEnd) -> Void)?
        var offset: Int64 = 0
        var isPaused = false
        var isCancelled = false
        /// It has a turn, or waits for one.
        var isQueued = false
    }

    private let file: PrivateBodyReader?
    private let octets: Int64
    private let pump: BodyPump
    private let state = Locked(State())

    /// - Parameter file: nil for a body without octets.
    init(_ file: PrivateBodyReader?, octets: Int64, pump: BodyPump) {
        self.file = file
        self.octets = octets
        self.pump = pump
    }

    func pour(
        _ take: @escaping @Sendable (UnsafeRawBufferPointer) -> Flow,
        _ end: @escaping @Sendable (PourEnd) -> Void
    ) {
        state.withLock { state in
            state.take = take
            state.end = end
        }
        queue()
    }

    func resume() {
        state.withLock { $0.isPaused = false }
        queue()
    }

    func cancel() {
        state.withLock { $0.isCancelled = true }
        queue()
    }

    func fail(_ why: String) { finish(.broken(why)) }

    private func queue() {
        let isDue = state.withLock { state in
            guard state.end != nil, !state.isQueued, !state.isPaused || state.isCancelled else {
                return false
            }
            state.isQueued = true
            return true
        }
        if isDue { pump.serve(self) }
    }

    /// On the pump's thread; true when it wants another turn.
    func giveOut(through piece: UnsafeMutableRawBufferPointer) -> Bool {
        let (take, offset, isCancelled) = state.withLock { state in
            // Before the piece is handed over: whoever takes it may call for more before it
            // returns.
            state.isPaused = true
            return (state.take, state.offset, state.isCancelled)
        }
        guard let take else { return false }
        if isCancelled { return finish(.cancelled) }
        let left = octets - offset
        guard left > 0 else { return finish(.whole) }
        let room = UnsafeMutableRawBufferPointer(
            rebasing: piece.prefix(Int(min(Int64(piece.count), left))))
        guard let count = file?.read(at: offset, into: room), count > 0 else {
            return finish(.broken("its file ended \(left) octets early"))
        }
        let flow = take(UnsafeRawBufferPointer(rebasing: room.prefix(count)))
        return state.withLock { state in
            state.offset += Int64(count)
            if flow == .more { state.isPaused = false }
            state.isQueued = !state.isPaused || state.isCancelled
            return state.isQueued
        }
    }

    @discardableResult
    private func finish(_ how: PourEnd) -> Bool {
        let end = state.withLock { state in
            defer {
                state.take = nil
                state.end = nil
            }
            return state.end
        }
        end?(how)
        return false
    }
}
