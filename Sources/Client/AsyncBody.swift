public import HTTPDNSExchange
internal import HTTPDNSPlatform

extension RequestBody {
    /// A body made of the chunks of a sequence, pulled as the network takes them.
    ///
    /// The sequence is read by a task of its own, at most 256 KiB ahead of the network, which is
    /// cancelled when the exchange ends; where nothing of it was sent and it cannot be repeated,
    /// what was read waits for another try of the request, until the body is let go of. An error
    /// of the sequence fails the exchange as ``ExchangeFailure/Cause/bodySourceFailed(_:)``, with
    /// the error's description.
    ///
    /// - Parameters:
    ///   - chunks: the octets in order; empty chunks are passed over.
    ///   - length: octets in all, where known: more or fewer fail the exchange. Nil: HTTP/1.1 sends
    ///     them chunked.
    ///   - canRepeat: the sequence gives the same octets again to a second reader, so that a redirect,
    ///     a second attempt or another exchange may send the body anew.
    public static func chunks<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64? = nil, canRepeat: Bool = false
    ) -> RequestBody where Chunks.Element == [UInt8] {
        .stream(AsyncBody(chunks, length: length, canRepeat: canRepeat))
    }
}

/// Feeds an async sequence to the transport without ever blocking its thread.
///
/// Rules:
/// 1. One task reads at a time; one that was replaced by ``rewind()`` adds nothing any more.
/// 2. It reads on only while fewer than ``highWaterOctets`` wait to be sent.
/// 3. It is cancelled when the exchange has ended, or when nobody holds the body.
final class AsyncBody<Chunks: AsyncSequence & Sendable>: RequestBodySource
where Chunks.Element == [UInt8] {
    private let shared: Shared
    private let chunks: Chunks
    let length: Int64?
    let canRewind: Bool

    init(_ chunks: Chunks, length: Int64?, canRepeat: Bool) {
        self.chunks = chunks
        self.length = length
        canRewind = canRepeat
        shared = Shared()
    }

    deinit { shared.stop() }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        if shared.begin(wake) { read() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead { shared.take(into: buffer) }

    func rewind() -> Bool {
        guard canRewind else { return false }
        shared.stop()
        read()
        return true
    }

    func letGo() { shared.stop() }

    private func read() {
        let (shared, chunks) = (shared, chunks)
        let turn = shared.nextTurn()
        let task = Task {
            var end = BodyRead.end
            do {
                for try await chunk in chunks where !chunk.isEmpty {
                    guard await shared.add(chunk, turn: turn) else { return }
                }
            } catch {
                end = .failed("\(error)")
            }
            shared.finish(end, turn: turn)
        }
        shared.reads(with: task, turn: turn)
    }

    /// What the reading task and the transport's thread share; it does not own the task's body, so that
    /// letting go of the body ends the task.
    private final class Shared: Sendable {
        private struct State {
            var buffered: [UInt8] = []
            /// Octets of `buffered` that were sent already.
            var sent = 0
            var end: BodyRead?
            var wake: (@Sendable () -> Void)?
            var turn: UInt64 = 0
            var task: Task<Void, Never>?
            /// The reading task, waiting for room.
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let state = Locked(State())

        /// True for the first call.
        func begin(_ wake: @escaping @Sendable () -> Void) -> Bool {
            state.withLock { state in
                state.wake = wake
                return state.turn == 0
            }
        }

        func nextTurn() -> UInt64 {
            state.withLock { state in
                state.turn &+= 1
                state.buffered = []
                state.sent = 0
                state.end = nil
                return state.turn
            }
        }

        func reads(with task: Task<Void, Never>, turn: UInt64) {
            let isLate = state.withLock { state in
                guard state.turn == turn else { return true }
                state.task = task
                return false
            }
            if isLate { task.cancel() }
        }

        /// False when nobody wants more of this turn.
        func add(_ chunk: [UInt8], turn: UInt64) async -> Bool {
            let wake = state.withLock { state -> (isWanted: Bool, wake: (@Sendable () -> Void)?) in
                guard state.turn == turn else { return (false, nil) }
                state.buffered += chunk
                return (true, state.wake)
            }
            guard wake.isWanted else { return false }
            wake.wake?()
            await room(turn: turn)
            return state.withLock { $0.turn == turn }
        }

        private func room(turn: UInt64) async {
            await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                let isFull = state.withLock { state in
                    guard state.turn == turn,
                        state.buffered.count - state.sent >= bodyHighWaterOctets
                    else { return false }
                    state.waiter = waiter
                    return true
                }
                if !isFull { waiter.resume() }
            }
        }

        func finish(_ end: BodyRead, turn: UInt64) {
            let wake = state.withLock { state -> (@Sendable () -> Void)? in
                guard state.turn == turn else { return nil }
                state.end = end
                state.task = nil
                return state.wake
            }
            wake?()
        }

        func take(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
            let (read, waiter) = state.withLock {
                state -> (BodyRead, CheckedContinuation<Void, Never>?) in
                let ready = state.buffered.count - state.sent
                guard ready > 0 else { return (state.end ?? .pending, nil) }
                let count = min(buffer.count, ready)
                buffer.copyBytes(from: state.buffered[state.sent..<(state.sent + count)])
                state.sent += count
                guard state.buffered.count - state.sent < bodyHighWaterOctets else {
                    return (.filled(count), nil)
                }
                if state.sent == state.buffered.count {
                    state.buffered.removeAll(keepingCapacity: true)
                    state.sent = 0
                } else if state.sent >= bodyHighWaterOctets {
                    state.buffered.removeFirst(state.sent)
                    state.sent = 0
                }
                defer { state.waiter = nil }
                return (.filled(count), state.waiter)
            }
            waiter?.resume()
            return read
        }

        /// Ends the task that reads now, and all its doings.
        func stop() {
            let (task, waiter) = state.withLock { state in
                state.turn &+= 1
                defer {
                    state.task = nil
                    state.waiter = nil
                }
                state.buffered = []
                state.sent = 0
                return (state.task, state.waiter)
            }
            task?.cancel()
            waiter?.resume()
        }
    }
}

/// Because: four of libcurl's own 64 KiB upload buffers.
private let bodyHighWaterOctets = 262_144
