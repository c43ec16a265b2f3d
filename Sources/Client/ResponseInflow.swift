internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// Carries one response from the transport's thread to the task that waits for it and then reads its
/// body, within bounds.
///
/// Above ``highWaterOctets`` the transfer is paused, and resumed once the reader has taken what is
/// there: memory stays flat whatever the size of the body. What a turn of the transport's thread brings,
/// head, body and end of a small response, is told together.
final class ResponseInflow: ExchangeObserver, TurnListener {
    typealias Outcome = Result<HTTPResponse, ExchangeFailure>

    /// Because: a 256 KiB buffer covers the bandwidth-delay product of a 100 Mbit/s, 20 ms path.
    static let highWaterOctets = 262_144

    private struct State {
        /// Who waits for the head.
        var waiter: CheckedContinuation<Outcome, Never>?
        /// What the waiter gets at the end of this turn.
        var outcome: Outcome?
        var hold = ExchangeHold()
        /// One run of octets: many small pieces cost no more than few large ones.
        var buffer: [UInt8] = []
        /// Room for as much as the reader took last.
        var room = 0
        var isPaused = false
        var end: Result<ExchangeReport, ExchangeFailure>?
        /// More than one only when two tasks read, which is misuse, but must not hang either.
        var readers: [CheckedContinuation<Void, Never>] = []
        /// Nobody reads any more.
        var isAbandoned = false
        /// Those who wait are told at the end of this turn.
        var isNoted = false

        /// True for the first news of a turn that somebody waits for.
        mutating func notes() -> Bool {
            guard !isNoted, outcome != nil || !readers.isEmpty else { return false }
            isNoted = true
            return true
        }
    }

    private let url: HTTPURL
    private let state = Locked(State())

    init(url: HTTPURL) { self.url = url }

    func wait(_ waiter: CheckedContinuation<Outcome, Never>) {
        state.withLock { $0.waiter = waiter }
    }

    /// Before the exchange is started; a cancel that came earlier is passed on.
    func attach(_ exchange: any RunningExchange) {
        state.withLock { $0.hold.take(exchange) }?.cancel()
    }

    func cancel() { state.withLock { $0.hold.cancel() }?.cancel() }

    var report: ExchangeReport {
        let (end, exchange) = state.withLock { ($0.end, $0.hold.exchange) }
        return switch end {
        case .success(let report): report
        case .failure(let failure): failure.report
        case nil: exchange?.report ?? ExchangeReport()
        }
    }

    func abandon() {
        let exchange = state.withLock { state in
            state.isAbandoned = true
            state.buffer = []
            return state.hold.exchange
        }
        exchange?.cancel()
    }
}

// What the exchange says.
extension ResponseInflow {
    func exchange(
        offers redirect: RedirectOffer, answer: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        answer(.follow)
    }

    func exchange(received head: ResponseHead, report: ExchangeReport) {
        // The stream is its reader's: the state holds it until it is told, and no longer.
        let stream = BodyStream(head: head, inflow: self)
        let isNews = state.withLock { state in
            guard state.hold.exchange != nil else { return false }
            state.outcome = .success(HTTPResponse(head: head, body: ResponseBody(stream: stream)))
            return state.notes()
        }
        if isNews { LoopTurn.tellAtEnd(self) }
    }

    func exchange(received body: UnsafeRawBufferPointer) -> Flow {
        let (flow, isNews) = state.withLock { state in
            guard !state.isAbandoned else { return (Flow.more, false) }
            if state.buffer.isEmpty { state.buffer.reserveCapacity(max(state.room, body.count)) }
            state.buffer.append(contentsOf: body)
            state.isPaused = state.buffer.count >= ResponseInflow.highWaterOctets
            return (state.isPaused ? .pause : .more, state.notes())
        }
        if isNews { LoopTurn.tellAtEnd(self) }
        return flow
    }

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
        let isNews = state.withLock { state in
            state.hold.end()
            state.end = result
            if state.outcome == nil, state.waiter != nil {
                state.outcome = .failure(failure(result))
            }
            return state.notes()
        }
        if isNews { LoopTurn.tellAtEnd(self) }
    }

    private func failure(_ result: Result<ExchangeReport, ExchangeFailure>) -> ExchangeFailure {
        switch result {
        case .failure(let failure): failure
        case .success(let report):
            ExchangeFailure(.unexpected("an end without a response"), url: url, report: report)
        }
    }

    /// By then body and end may have come, too.
    func turnEnded() {
        let (waiter, outcome, readers) = state.withLock { state in
            defer {
                state.isNoted = false
                state.waiter = nil
                state.outcome = nil
                state.readers = []
            }
            return (state.waiter, state.outcome, state.readers)
        }
        if let outcome { waiter?.resume(returning: outcome) }
        for reader in readers { reader.resume() }
    }
}

// The reader's side.
extension ResponseInflow {
    private enum Step {
        case chunk([UInt8], resuming: (any RunningExchange)?)
        case end
        case failure(ExchangeFailure)
        case wait
    }

    func next() async throws(ExchangeFailure) -> [UInt8]? {
        while true {
            switch state.withLock({ ResponseInflow.step(&$0) }) {
            case .chunk(let chunk, let exchange):
                exchange?.resumeBody()
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
            return .chunk(chunk, resuming: state.isPaused ? state.hold.exchange : nil)
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
            cancel()
        }
    }
}
