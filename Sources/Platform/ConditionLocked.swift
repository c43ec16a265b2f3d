internal import CHTTPDNSSystem
package import HTTPDNSNames

/// A value behind a mutex with a condition, for a thread that waits for work or a moment.
package final class ConditionLocked<State>: @unchecked Sendable {
    // Safety: `state` is only touched while `mutex` is held.
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        httpdns_condition_init_monotonic(condition)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Changes the state and wakes the waiting thread.
    package func withLockSignalling<Result>(
        _ body: (inout State) -> sending Result
    ) -> sending Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Changes the state, and wakes the waiting thread if `isNews` says so afterwards.
    package func withLock<Result>(
        _ body: (inout State) -> sending Result, signallingIf isNews: (State) -> Bool
    ) -> sending Result {
        pthread_mutex_lock(mutex)
        defer {
            if isNews(state) { pthread_cond_broadcast(condition) }
            pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Waits until `take` gives something, then gives it back.
    ///
    /// - Parameters:
    ///   - take: called with the lock held, once at first and after each wake-up; empty: wait on.
    ///   - until: the moment to wake up by itself; nil waits for a signal.
    /// - Returns: what `take` gave, never empty.
    package func waitAndTake<Element>(
        _ take: (inout State, Monotonic) -> [Element], until: (inout State) -> Monotonic?
    ) -> [Element] {
        let clock = SystemMonotonicClock()
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            let taken = take(&state, clock.now())
            if !taken.isEmpty { return taken }
            if let moment = until(&state), moment != .distantFuture {
                httpdns_condition_wait_until(condition, mutex, moment.nanoseconds)
            } else {
                pthread_cond_wait(condition, mutex)
            }
        }
    }
}
