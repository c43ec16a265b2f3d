internal import CHTTPDNSSystem

/// A value behind a pthread mutex.
///
/// Not `Synchronization.Mutex`: its futex is invisible to ThreadSanitizer, which then reports races
/// that are not there. Source: measured with Swift 6.3.1 on Debian 12.
///
/// `@usableFromInline` is what makes `@inlinable` count for a class of the package: without it no use in
/// another module is specialised, and each costs as much as a small allocation.
///
/// Lock order: the body must not call out to code that takes another lock of this library; step the
/// state, return what to do, unlock, then do it. See docs/concurrency.md.
@usableFromInline
package final class Locked<State>: @unchecked Sendable {
    // Safety: what `state` points to is only touched between lock and unlock of `mutex`; both live as
    // long as self.
    // Both in one piece of memory, mutex first: many of these are made for one request.
    @usableFromInline let state: UnsafeMutablePointer<State>
    @usableFromInline let mutex: RawMutex

    @inlinable
    package init(_ state: sending State) {
        let alignment = MemoryLayout<State>.alignment
        let offset = (RawMutex.octets + alignment - 1) & ~(alignment - 1)
        let place = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<State>.size,
            alignment: max(alignment, RawMutex.alignment))
        self.state = (place + offset).bindMemory(to: State.self, capacity: 1)
        self.state.initialize(to: state)
        mutex = RawMutex(at: place)
    }

    @inlinable
    deinit {
        state.deinitialize(count: 1)
        mutex.destroyAndDeallocate()
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
@usableFromInline
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
            (shards + position).initialize(to: Shard(state: typed, mutex: RawMutex.brief()))
        }
    }

    deinit {
        for position in 0..<count {
            shards[position].mutex.destroyAndDeallocate()
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

    @usableFromInline static var octets: Int { MemoryLayout<pthread_mutex_t>.size }
    @usableFromInline static var alignment: Int { MemoryLayout<pthread_mutex_t>.alignment }

    /// Because: x86-64 and arm64 fetch lines of 64 octets, two at a time.
    static let cacheLineOctets = 128

    /// One in the first ``octets`` of memory that it is to own.
    @usableFromInline init(at place: UnsafeMutableRawPointer) {
        self.place = place
        pthread_mutex_init(place.bindMemory(to: pthread_mutex_t.self, capacity: 1), nil)
    }

    /// One held for so short that sleeping would cost more than trying again.
    static func brief() -> RawMutex {
        let place = UnsafeMutableRawPointer.allocate(
            byteCount: octets, alignment: RawMutex.cacheLineOctets)
        httpdns_mutex_init_brief(place.bindMemory(to: pthread_mutex_t.self, capacity: 1))
        return RawMutex(brief: place)
    }

    private init(brief place: UnsafeMutableRawPointer) { self.place = place }

    private var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        place.assumingMemoryBound(to: pthread_mutex_t.self)
    }

    @usableFromInline func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline func unlock() { pthread_mutex_unlock(mutex) }

    @usableFromInline func destroyAndDeallocate() {
        pthread_mutex_destroy(mutex)
        place.deallocate()
    }
}
