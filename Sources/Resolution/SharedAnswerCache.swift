package import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

/// The answer cache of a resolver, for any thread: as many caches as there are shards, each behind a
/// lock of its own, and a name's entries spread over them by their hash.
///
/// Beside the shards stand copies of the addresses that are read most: who finds his there takes no
/// lock and writes nothing, so that readers on several processors do not slow each other down.
///
/// No call waits for anything but the short use of one shard by another thread. Lock order: the
/// resolver's lock, then one shard's; a shard's body calls nothing, and writes its copies.
package final class SharedAnswerCache: Sendable {
    /// What a lock protects, besides the shard's part of ``front``, where only its holder writes.
    private struct Shard: Sendable {
        var cache: AnswerCache
        /// See ``AnswerFront/keep(_:_:of:part:_:turn:)``.
        var turn: UInt32 = 0
    }

    private let shards: LockedShards<Shard>
    private let front: AnswerFront
    private let hashing: KeyedHash

    /// A power of two.
    ///
    /// Because: two readers of one shard wait for each other; among sixteen, one in sixteen does.
    private static let maximumShards = 16
    /// Because: a shard of fewer entries could not tell names in use from others.
    private static let leastEntriesInShard = 64

    /// - Parameter limits: those of all shards together.
    package init(limits: CacheLimits, hashing: KeyedHash = KeyedHash()) {
        self.hashing = hashing
        let isSmall =
            limits.entries < SharedAnswerCache.maximumShards * SharedAnswerCache.leastEntriesInShard
        let count = isSmall ? 1 : SharedAnswerCache.maximumShards
        var share = limits
        share.entries = (limits.entries + count - 1) / count
        front = AnswerFront(parts: count, limits: limits)
        share.octets = (limits.octets - front.octets) / count
        shards = LockedShards(count: count) {
            Shard(cache: AnswerCache(limits: share, hashing: hashing))
        }
    }

    @inline(__always)
    private func shard(_ hash: UInt64) -> Int {
        // The lowest bits and the highest octet serve inside the shard.
        Int(truncatingIfNeeded: hash >> 40) & (shards.count - 1)
    }

    /// Finds an answer; it is opened when the lock is free again.
    package func find(_ key: LookupKey, now: Monotonic, staleness: Int64) -> CacheHit? {
        let hit = key.withPacked(hashing) { packed in
            withShard(shard(packed.hash)) { $0.find(packed, now: now, staleness: staleness) }
        }
        return (hit ?? nil)?.opened(for: key.question)
    }

    /// Finds the addresses of a name by the plain question for them. Allocates nothing.
    package func addresses(
        of name: HostName, _ family: IPAddress.Family, in scope: LookupScope, now: Monotonic,
        staleness: Int64
    ) -> CachedAddresses {
        var addresses = CachedAddresses()
        let time = (now: now, staleness: staleness)
        #if os(Linux) && compiler(>=6.2)
            // A span lends the text without counting a reference to it, which costs a third of all this.
            name.text.utf8.span.withUnsafeBytes {
                read($0, family, in: scope, time, into: &addresses)
            }
        #else
            let isRead: Void? = name.text.utf8.withContiguousStorageIfAvailable {
                read(UnsafeRawBufferPointer($0), family, in: scope, time, into: &addresses)
            }
            if isRead == nil {
                Array(name.text.utf8).withUnsafeBytes {
                    read($0, family, in: scope, time, into: &addresses)
                }
            }
        #endif
        return addresses
    }

    @inline(__always)
    private func read(
        _ name: UnsafeRawBufferPointer, _ family: IPAddress.Family, in scope: LookupScope,
        _ time: (now: Monotonic, staleness: Int64), into addresses: inout CachedAddresses
    ) {
        let key = PackedKey(
            name: name, family, scope: scope, hashing: hashing)
        let position = shard(key.hash)
        // What the copies stand in ends with self.
        defer { withExtendedLifetime(self) {} }
        if front.read(key, family, part: position, now: time.now, into: &addresses) { return }
        readShard(position, key, family, time, into: &addresses)
    }

    @inline(never)
    private func readShard(
        _ position: Int, _ key: PackedKey, _ family: IPAddress.Family,
        _ time: (now: Monotonic, staleness: Int64), into addresses: inout CachedAddresses
    ) {
        let shard = shards.lock(position)
        let loan = shard.pointee.cache.readAddresses(
            key, family, now: time.now, staleness: time.staleness, into: &addresses)
        shard.pointee.cache.takeRecalled { front.drop($0, part: position) }
        if let loan {
            front.keep(
                addresses, family, of: key, part: position, (loan, time.now),
                turn: &shard.pointee.turn)
        }
        shards.unlock(position)
    }

    /// Lends a shard, and lets go of the copies that it recalls before anybody else has it.
    private func withShard<Result>(
        _ position: Int, _ body: (inout AnswerCache) -> sending Result
    ) -> sending Result {
        shards.withLock(position) { shard in
            let result = body(&shard.cache)
            shard.cache.takeRecalled { front.drop($0, part: position) }
            return result
        }
    }

    /// See ``AnswerCache/store(_:for:lifeSeconds:now:)``.
    ///
    /// - Returns: how many answers gave way to this one.
    package func store(
        _ testimony: Testimony, for key: LookupKey, lifeSeconds: UInt32, now: Monotonic
    ) -> Int {
        var evicted = 0
        change(key) { shard in
            let before = shard.evictions
            shard.store(testimony, for: key, lifeSeconds: lifeSeconds, now: now)
            evicted = shard.evictions - before
        }
        return evicted
    }

    /// The next reader of any of a host's addresses or service bindings is told to ask again: for an
    /// address that did not connect.
    package func demandRefresh(of host: HostName, in scope: LookupScope) {
        for type in [RecordType.a, .aaaa, .https] {
            demandRefresh(LookupKey(question: Question(name: host, type: type), scope: scope))
        }
    }

    package func demandRefresh(_ key: LookupKey) {
        change(key) { $0.demandRefresh(key) }
    }

    package func refreshFailed(_ key: LookupKey, now: Monotonic) {
        change(key) { $0.refreshFailed(key, now: now) }
    }

    private func change(_ key: LookupKey, _ body: (inout AnswerCache) -> Void) {
        _ = key.withPacked(hashing) { withShard(shard($0.hash)) { body(&$0) } }
    }

    package func remove(_ host: HostName) { each { $0.remove(host) } }

    package func remove(in scope: LookupScope) { each { $0.remove(in: scope) } }

    package func remove(where isUnwanted: (LookupKey) -> Bool) {
        each { $0.remove(where: isUnwanted) }
    }

    package func removeAll() { each { $0.removeAll() } }

    private func each(_ body: (inout AnswerCache) -> Void) {
        for position in 0..<shards.count { withShard(position) { body(&$0) } }
    }

    /// Answers that readers find without a lock, for tests.
    package var copies: Int { front.copies }

    /// The keys of a scope, the most read first.
    package func entries(in scope: LookupScope, limit: Int) -> [LookupKey] {
        (0..<shards.count).flatMap {
            shards.withLock($0) { $0.cache.entries(in: scope, limit: limit) }
        }
        .sorted { $0.reads > $1.reads }.prefix(limit).map(\.key)
    }

    /// The sums over all shards, which are looked at one after the other.
    package var statistics: CacheStatistics {
        var copies = CacheStatistics()
        copies.octets = front.octets
        return (0..<shards.count).reduce(into: copies) { sum, position in
            let part = shards.withLock(position) { $0.cache.statistics }
            sum.entries += part.entries
            sum.octets += part.octets
            sum.evictions += part.evictions
        }
    }
}
