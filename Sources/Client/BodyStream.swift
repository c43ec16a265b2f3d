internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// Carries body octets from the transport's thread to one reading task, within bounds.
///
/// Above ``highWaterOctets`` the transfer is paused, and resumed once the reader has taken what is
/// there: memory stays flat whatever the size of the body. When the last reference goes before the
/// end, the exchange is cancelled.
final class BodyStream: TurnListener {
    /// Because: a 256 KiB buffer covers the bandwidth-delay product of a 100 Mbit/s, 20 ms path.
    static let highWaterOctets = 262_144

    private struct State {
        /// One run of octets: many small pieces cost no more than few large ones.
        var buffer: [UInt8] = []
        /// Room for as much as the reader took last.
        var room = 0
        var isPaused = false
        var end: Result<ExchangeReport, ExchangeFailure>?
        /// More than one only when two tasks read, which is misuse, but must not hang either.
        var readers: [CheckedContinuation<Void, Never>] = []
        var isAbandoned = false
        /// Readers are woken at the end of this turn of the transport's thread.
        var isNoted = false

        /// True for the first news of a turn that somebody waits for.
        mutating func notes() -> Bool {
            guard !isNoted, !readers.isEmpty else { return false }
            isNoted = true
            return true
        }
    }

    let head: ResponseHead
    private let exchange: any RunningExchange
    private let state = Locked(State())

    init(head: ResponseHead, exchange: any RunningExchange) {
        self.head = head
        self.exchange = exchange
    }

    deinit { exchange.cancel() }

    var report: ExchangeReport {
        switch state.withLock({ $0.end }) {
        case .success(let report): report
        case .failure(let failure): failure.report
        case nil: exchange.report
        }
    }

    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.buffer = []
        }
        exchange.cancel()
    }

    /// On the transport's thread.
    func append(_ octets: UnsafeRawBufferPointer) -> Flow {
        let (flow, isNews) = state.withLock { state in
            guard !state.isAbandoned else { return (Flow.more, false) }
            if state.buffer.isEmpty { state.buffer.reserveCapacity(max(state.room, octets.count)) }
            state.buffer.append(contentsOf: octets)
            state.isPaused = state.buffer.count >= BodyStream.highWaterOctets
            return (state.isPaused ? .pause : .more, state.notes())
        }
        if isNews { LoopTurn.tellAtEnd(self) }
        return flow
    }

    func finish(_ end: Result<ExchangeReport, ExchangeFailure>) {
        let isNews = state.withLock { state in
            state.end = end
            return state.notes()
        }
        if isNews { LoopTurn.tellAtEnd(self) }
    }

    func turnEnded() {
        let readers = state.withLock { state in
            state.isNoted = false
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.resume() }
    }

    private enum Step {
        case chunk([UInt8], resumes: Bool)
        case end
        case failure(ExchangeFailure)
        case wait
    }

    func next() async throws(ExchangeFailure) -> [UInt8]? {
        while true {
            switch state.withLock({ BodyStream.step(&$0) }) {
            case .chunk(let chunk, let resumes):
                if resumes { exchange.resumeBody() }
                return chunk
            case .end: return nil
            case .failure(let failure): throw failure
            case .wait: await waitForMore()
            }
        }
    }

    private static func step(_ state: inout State) -> Step {
        if !state.buffer.isEmpty {
            let chunk = state.buffer
            state.room = chunk.count
            state.buffer = []
            defer { state.isPaused = false }
            return .chunk(chunk, resumes: state.isPaused)
        }
        switch state.end {
        case .success: return .end
        case .failure(let failure): return .failure(failure)
        case nil: return .wait
        }
    }

    private func waitForMore() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.buffer.isEmpty, state.end == nil else { return true }
                    state.readers.append(continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            // The exchange ends as cancelled and wakes the reader with that.
            exchange.cancel()
        }
    }
}
