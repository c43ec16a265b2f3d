internal import CHTTPDNSSystem
package import HTTPDNSNames

/// A value behind a mutex with a condition, for a thread that waits for work or a moment.
///
/// `@usableFromInline` is what makes its uses in other modules be specialised: see ``Locked``.
@usableFromInline
package final class ConditionLocked<State>: @unchecked Sendable {
    // Safety: `state` is only touched while `condition` is locked.
    @usableFromInline var state: State
    @usableFromInline let condition = RawCondition()

    @inlinable
    package init(_ state: sending State) { self.state = state }

    /// Changes the state and wakes the waiting thread.
    @inlinable
    package func withLockSignalling<Result>(
        _ body: (inout State) -> sending Result
    ) -> sending Result {
        condition.lock()
        defer { condition.unlock(signalling: true) }
        return body(&state)
    }

    /// Changes the state, and wakes the waiting thread if `isNews` says so afterwards.
    @inlinable
    package func withLock<Result>(
        _ body: (inout State) -> sending Result, signallingIf isNews: (State) -> Bool
    ) -> sending Result {
        condition.lock()
        defer { condition.unlock(signalling: isNews(state)) }
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
        condition.lock()
        defer { condition.unlock(signalling: false) }
        while true {
            let taken = take(&state, clock.now())
            if !taken.isEmpty { return taken }
            condition.wait(until: until(&state))
        }
    }
}

/// A mutex and a condition.
@usableFromInline
final class RawCondition {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    @usableFromInline
    init() {
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

    @usableFromInline
    func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline
    func unlock(signalling isNews: Bool) {
        if isNews { pthread_cond_broadcast(condition) }
        pthread_mutex_unlock(mutex)
    }

    /// To be called with the lock held; nil waits for a signal.
    func wait(until moment: Monotonic?) {
        if let moment, moment != .distantFuture {
            httpdns_condition_wait_until(condition, mutex, moment.nanoseconds)
        } else {
            pthread_cond_wait(condition, mutex)
        }
    }
}
