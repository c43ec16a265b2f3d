internal import CHTTPDNSSystem

/// A value behind a pthread mutex.
///
/// Not `Synchronization.Mutex`: its futex is invisible to ThreadSanitizer, which then reports races
/// that are not there. Source: measured with Swift 6.3.1 on Debian 12.
///
/// All copies mean the same value: it is a reference to mutex and value, which lie in one piece of
/// memory. Many of these are made for one request.
///
/// `@usableFromInline` is what makes `@inlinable` count for a type of the package: without it no use in
/// another module is specialised, and each costs as much as a small allocation.
///
/// Lock order: the body must not call out to code that takes another lock of this library; step the
/// state, return what to do, unlock, then do it. See docs/concurrency.md.
@frozen @usableFromInline
package struct Locked<State>: @unchecked Sendable {
    // Safety: the value is only touched between lock and unlock of the mutex beside it.
    @usableFromInline let place: ManagedBuffer<RawMutex.Room, State>

    @inlinable
    package init(_ state: sending State) { place = LockedPlace.holding(consume state) }

    /// Which value it is, while it lives.
    package var id: ObjectIdentifier { ObjectIdentifier(place) }

    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (mutex, state) = place.withUnsafeMutablePointers { ($0, $1) }
        let lock = RawMutex(in: mutex)
        lock.lock()
        // The body may hold the last reference to the place, other than this.
        defer { withExtendedLifetime(place) { lock.unlock() } }
        return try body(&state.pointee)
    }
}

/// A mutex and the value behind it.
@usableFromInline
final class LockedPlace<State>: ManagedBuffer<RawMutex.Room, State> {
    @inlinable
    static func holding(_ state: sending State) -> ManagedBuffer<RawMutex.Room, State> {
        let made = create(minimumCapacity: 1) { _ in RawMutex.Room() }
        let (mutex, value) = made.withUnsafeMutablePointers { ($0, $1) }
        RawMutex.begin(in: mutex)
        value.initialize(to: consume state)
        return made
    }

    @inlinable
    deinit {
        withUnsafeMutablePointers { mutex, value in
            value.deinitialize(count: 1)
            RawMutex(in: mutex).destroy()
        }
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

    /// Because: x86-64 and arm64 fetch lines of 64 octets, two at a time.
    static let cacheLineOctets = 128

    /// Memory for one, whatever the system's has inside.
    @frozen @usableFromInline struct Room {
        @usableFromInline let words: (UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt)

        @inlinable init() { words = (0, 0, 0, 0, 0, 0, 0, 0) }
    }

    /// Makes one in memory that does not move; ``destroy()`` ends it.
    @usableFromInline static func begin(in room: UnsafeMutablePointer<Room>) {
        precondition(MemoryLayout<pthread_mutex_t>.size <= MemoryLayout<Room>.size, "no room")
        pthread_mutex_init(RawMutex(in: room).mutex, nil)
    }

    @inlinable init(in room: UnsafeMutablePointer<Room>) { place = UnsafeMutableRawPointer(room) }

    /// One held for so short that sleeping would cost more than trying again.
    static func brief() -> RawMutex {
        let place = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<pthread_mutex_t>.size, alignment: RawMutex.cacheLineOctets)
        httpdns_mutex_init_brief(place.bindMemory(to: pthread_mutex_t.self, capacity: 1))
        return RawMutex(brief: place)
    }

    private init(brief place: UnsafeMutableRawPointer) { self.place = place }

    private var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        place.assumingMemoryBound(to: pthread_mutex_t.self)
    }

    @usableFromInline func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline func unlock() { pthread_mutex_unlock(mutex) }

    @usableFromInline func destroy() { pthread_mutex_destroy(mutex) }

    func destroyAndDeallocate() {
        destroy()
        place.deallocate()
    }
}
