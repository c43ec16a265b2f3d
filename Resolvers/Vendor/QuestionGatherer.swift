internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Drives ``BatchGathering``: holds who waits, and performs the requests.
///
/// Each waiter has its own deadline and its own cancellation. Under the lock only the core is stepped;
/// waiters are answered, requests begun and stopped without it.
final class QuestionGatherer: Sendable {
    typealias Outcome = Result<Testimony, QueryFailure>
    typealias Perform = @Sendable ([Question], Monotonic) async -> [Outcome]

    private struct State {
        var core: BatchGathering
        var waiters: [BatchGathering.WaiterID: Waiting] = [:]
        var requests: [BatchGathering.BatchID: Task<Void, Never>] = [:]
        var lastNumber: UInt64 = 0
    }

    private struct Waiting {
        let continuation: CheckedContinuation<Outcome, Never>
        var alarm: AlarmID?
    }

    private let state: Locked<State>
    private let alarms: any AlarmSource
    private let clock: any MonotonicSource
    private let perform: Perform

    init(
        _ batching: Batching, alarms: any AlarmSource, clock: any MonotonicSource,
        perform: @escaping Perform
    ) {
        state = Locked(
            State(core: BatchGathering(batching, windowMilliseconds: Self.windowMilliseconds)))
        self.alarms = alarms
        self.clock = clock
        self.perform = perform
    }

    /// How long questions are gathered.
    ///
    /// Because: one lookup asks both families within microseconds, and a page's names come in a burst;
    /// two milliseconds are a tenth of a fast answer.
    static let windowMilliseconds: Int64 = 2

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        let id = state.withLock { state in
            state.lastNumber &+= 1
            return BatchGathering.WaiterID(number: state.lastNumber)
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(id, question, deadline, continuation)
            }
        } onCancel: {
            leave(id, with: .cancelled)
        }
        return try outcome.get()
    }

    private func begin(
        _ id: BatchGathering.WaiterID, _ question: Question, _ deadline: Monotonic,
        _ continuation: CheckedContinuation<Outcome, Never>
    ) {
        let now = clock.now()
        let actions = state.withLock { state in
            state.waiters[id] = Waiting(continuation: continuation)
            return state.core.asked(question, by: id, deadline: deadline, now: now)
        }
        let alarm = alarms.schedule(at: deadline) { [weak self] in
            self?.leave(id, with: .timedOut(tries: 1))
        }
        let isGone = state.withLock { state in
            state.waiters[id]?.alarm = alarm
            return state.waiters[id] == nil
        }
        if isGone { alarms.cancel(alarm) }
        run(actions)
        // A cancel before the waiter was there has found nobody.
        if Task.isCancelled { leave(id, with: .cancelled) }
    }

    private func leave(_ id: BatchGathering.WaiterID, with failure: QueryFailure) {
        let (waiting, actions) = state.withLock { state in
            guard let waiting = state.waiters.removeValue(forKey: id) else {
                return (Waiting?.none, [BatchGathering.Action]())
            }
            return (waiting, state.core.left(id))
        }
        guard let waiting else { return }
        if let alarm = waiting.alarm { alarms.cancel(alarm) }
        run(actions)
        waiting.continuation.resume(returning: .failure(failure))
    }

    private func run(_ actions: [BatchGathering.Action]) {
        for action in actions {
            switch action {
            case .armWindow(let batch, let moment):
                _ = alarms.schedule(at: moment) { [weak self] in self?.windowEnded(batch) }
            case .send(let batch, let questions, let deadline):
                send(batch, questions, deadline)
            case .stop(let batch):
                state.withLock { $0.requests.removeValue(forKey: batch) }?.cancel()
            }
        }
    }

    private func windowEnded(_ batch: BatchGathering.BatchID) {
        run(state.withLock { $0.core.windowEnded(batch) })
    }

    private func send(
        _ batch: BatchGathering.BatchID, _ questions: [Question], _ deadline: Monotonic
    ) {
        // Made under the lock, so that the request cannot end before it is known.
        state.withLock { state in
            guard state.core.isWanted(batch) else { return }
            state.requests[batch] = Task {
                let outcomes = await self.perform(questions, deadline)
                self.answered(batch, questions, outcomes)
            }
        }
    }

    private func answered(
        _ batch: BatchGathering.BatchID, _ questions: [Question], _ outcomes: [Outcome]
    ) {
        let told = state.withLock { state in
            state.requests[batch] = nil
            return state.core.answered(batch).compactMap { id, question in
                state.waiters.removeValue(forKey: id).map { ($0, question) }
            }
        }
        for (waiting, question) in told {
            if let alarm = waiting.alarm { alarms.cancel(alarm) }
            let place = questions.firstIndex(of: question)
            let outcome =
                place.flatMap { outcomes.indices.contains($0) ? outcomes[$0] : nil }
                ?? .failure(.unexpected("QuestionGatherer: a question without an outcome"))
            waiting.continuation.resume(returning: outcome)
        }
    }
}
