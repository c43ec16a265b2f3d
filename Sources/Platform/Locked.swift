internal import CHTTPDNSSystem

/// A value behind a pthread mutex.
///
/// Not `Synchronization.Mutex`: its futex is invisible to ThreadSanitizer, which then reports races
/// that are not there. Source: measured with Swift 6.3.1 on Debian 12.
///
/// Lock order: the body must not call out to code that takes another lock of this library; step the
/// state, return what to do, unlock, then do it. See docs/concurrency.md.
package final class Locked<State>: @unchecked Sendable {
    // Safety: what `state` points to is only touched between lock and unlock of `mutex`; both live as
    // long as self.
    @usableFromInline let state: UnsafeMutablePointer<State>
    @usableFromInline let mutex: RawMutex

    package init(_ state: sending State) {
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: state)
        mutex = RawMutex()
    }

    deinit {
        mutex.destroy()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        mutex.lock()
        // What the pointers point to ends with self, which the body may hold the last reference to.
        defer { withExtendedLifetime(self) { mutex.unlock() } }
        return try body(&state.pointee)
    }
}

/// Several values, each behind a mutex of its own: for a state that many threads use at once and
/// that can be divided. Each stands in lines of the processor's cache of its own.
///
/// The same rules as for ``Locked``; no body takes a second of these locks.
package final class LockedShards<State>: @unchecked Sendable {
    // Safety: what a shard's `state` points to is only touched between lock and unlock of its `mutex`;
    // all live as long as self, and the shards themselves are never changed.
    @usableFromInline let shards: UnsafeMutablePointer<Shard>
    @usableFromInline package let count: Int

    @frozen @usableFromInline struct Shard {
        @usableFromInline let state: UnsafeMutablePointer<State>
        @usableFromInline let mutex: RawMutex
    }

    package init(count: Int, _ state: () -> sending State) {
        self.count = count
        shards = .allocate(capacity: count)
        for position in 0..<count {
            let place = UnsafeMutableRawPointer.allocate(
                byteCount: MemoryLayout<State>.stride, alignment: RawMutex.cacheLineOctets)
            let typed = place.bindMemory(to: State.self, capacity: 1)
            typed.initialize(to: state())
            (shards + position).initialize(to: Shard(state: typed, mutex: RawMutex(isBrief: true)))
        }
    }

    deinit {
        for position in 0..<count {
            shards[position].mutex.destroy()
            shards[position].state.deinitialize(count: 1)
            UnsafeMutableRawPointer(shards[position].state).deallocate()
        }
        shards.deallocate()
    }

    /// Takes the lock of a position below ``count`` and lends its value until ``unlock(_:)``, for the
    /// few places where a closure would cost more than what it does.
    package func lock(_ position: Int) -> UnsafeMutablePointer<State> {
        precondition(position >= 0 && position < count, "no such shard")
        shards[position].mutex.lock()
        return shards[position].state
    }

    /// Gives back what ``lock(_:)`` lent.
    package func unlock(_ position: Int) { shards[position].mutex.unlock() }

    /// Lends the value at a position below ``count``.
    @inlinable
    package func withLock<Result>(
        _ position: Int, _ body: (inout State) -> sending Result
    ) -> sending Result {
        precondition(position >= 0 && position < count, "no such shard")
        let shard = shards + position
        shard.pointee.mutex.lock()
        defer { withExtendedLifetime(self) { shard.pointee.mutex.unlock() } }
        return body(&shard.pointee.state.pointee)
    }
}

/// A pthread mutex at a place of its own.
@frozen @usableFromInline struct RawMutex {
    @usableFromInline let place: UnsafeMutableRawPointer

    /// Because: x86-64 and arm64 fetch lines of 64 octets, two at a time.
    static let cacheLineOctets = 128

    /// - Parameter isBrief: held for so short that sleeping would cost more than trying again.
    init(isBrief: Bool = false) {
        place = .allocate(
            byteCount: MemoryLayout<pthread_mutex_t>.size, alignment: RawMutex.cacheLineOctets)
        let mutex = place.bindMemory(to: pthread_mutex_t.self, capacity: 1)
        if isBrief { httpdns_mutex_init_brief(mutex) } else { pthread_mutex_init(mutex, nil) }
    }

    private var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        place.assumingMemoryBound(to: pthread_mutex_t.self)
    }

    @usableFromInline func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline func unlock() { pthread_mutex_unlock(mutex) }

    func destroy() {
        pthread_mutex_destroy(mutex)
        place.deallocate()
    }
}
