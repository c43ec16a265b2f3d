internal import CHTTPDNSSystem

/// A value behind a pthread mutex.
///
/// Not `Synchronization.Mutex`: its futex is invisible to ThreadSanitizer, which then reports races
/// that are not there. Source: measured with Swift 6.3.1 on Debian 12.
///
/// Lock order: the body must not call out to code that takes another lock of this library; step the
/// state, return what to do, unlock, then do it. See docs/concurrency.md.
package final class Locked<State>: @unchecked Sendable {
    // Safety: `state` is only touched between lock and unlock of `mutex`, which lives as long as
    // self.
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
