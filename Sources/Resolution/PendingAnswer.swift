internal import HTTPDNSPlatform

/// Something running that can be told that nobody waits for it any longer.
package protocol Stoppable: Sendable {
    /// Legal at any moment, from any thread, also after the end; the result is then delivered as
    /// cancelled unless it had been delivered.
    func stop()
}

/// Bridges a callback that comes once to an async call, with cancellation at any moment.
///
/// The first of answer and cancellation wins; the other is ignored. The continuation is resumed with
/// no lock held.
package final class PendingAnswer<Success: Sendable, Failure: Error>: Sendable {
    private enum Phase {
        case idle
        case waiting(CheckedContinuation<Result<Success, Failure>, Never>)
        case early(Result<Success, Failure>)
        case done
    }

    private struct State {
        var phase = Phase.idle
        var work: (any Stoppable)?
        var isCancelled = false
    }

    private let state = Locked(State())
    private let ifCancelled: Failure

    package init(ifCancelled: Failure) {
        self.ifCancelled = ifCancelled
    }

    /// Starts the work and waits for its one delivery. To be called once.
    package func value(
        _ start: (@escaping @Sendable (Result<Success, Failure>) -> Void) -> (any Stoppable)?
    ) async throws(Failure) -> Success {
        let result = await withTaskCancellationHandler {
            let work = start { self.deliver($0) }
            let isCancelled = state.withLock { state in
                // Work that has answered already, and may hold what it told, would never be let go of.
                if case .idle = state.phase { state.work = work }
                return state.isCancelled
            }
            if isCancelled { work?.stop() }
            return await withCheckedContinuation { self.wait($0) }
        } onCancel: {
            self.cancel()
        }
        return try result.get()
    }

    private func wait(_ continuation: CheckedContinuation<Result<Success, Failure>, Never>) {
        let early = state.withLock { state -> Result<Success, Failure>? in
            if case .early(let result) = state.phase {
                state.phase = .done
                return result
            }
            state.phase = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(returning: early) }
    }

    private func deliver(_ result: Result<Success, Failure>) {
        let continuation = state.withLock {
            state -> CheckedContinuation<Result<Success, Failure>, Never>? in
            state.work = nil
            switch state.phase {
            case .idle:
                state.phase = .early(result)
                return nil
            case .waiting(let continuation):
                state.phase = .done
                return continuation
            case .early, .done:
                return nil
            }
        }
        continuation?.resume(returning: result)
    }

    private func cancel() {
        let work = state.withLock { state in
            state.isCancelled = true
            return state.work
        }
        deliver(.failure(ifCancelled))
        work?.stop()
    }
}
