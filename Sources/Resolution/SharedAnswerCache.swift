package import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

/// The answer cache of a resolver, for any thread: as many caches as there are shards, each behind a
/// lock of its own, and a name's entries spread over them by their hash.
///
/// No call waits for anything but the short use of one shard by another thread. Lock order: the
/// resolver's lock, then one shard's; a shard's body calls nothing.
package final class SharedAnswerCache: Sendable {
    private let shards: LockedShards<AnswerCache>
    private let hashing = KeyedHash()

    /// A power of two.
    ///
    /// Because: two readers of one shard wait for each other; among sixteen, one in sixteen does.
    private static let maximumShards = 16
    /// Because: a shard of fewer entries could not tell names in use from others.
    private static let leastEntriesInShard = 64

    /// - Parameter limits: those of all shards together.
    package init(limits: CacheLimits) {
        let isSmall =
            limits.entries < SharedAnswerCache.maximumShards * SharedAnswerCache.leastEntriesInShard
        let count = isSmall ? 1 : SharedAnswerCache.maximumShards
        var share = limits
        share.entries = (limits.entries + count - 1) / count
        share.octets = limits.octets / count
        let hashing = hashing
        shards = LockedShards(count: count) { AnswerCache(limits: share, hashing: hashing) }
    }

    @inline(__always)
    private func shard(_ hash: UInt64) -> Int {
        // The lowest bits and the highest octet serve inside the shard.
        Int(truncatingIfNeeded: hash >> 40) & (shards.count - 1)
    }

    /// Finds an answer; it is opened when the lock is free again.
    package func find(_ key: LookupKey, now: Monotonic, staleness: Int64) -> CacheHit? {
        let hit = key.withPacked(hashing) { packed in
            shards.withLock(shard(packed.hash)) { $0.find(packed, now: now, staleness: staleness) }
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
        shards.lock(position).pointee.readAddresses(
            key, family, now: time.now, staleness: time.staleness, into: &addresses)
        shards.unlock(position)
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
        _ = key.withPacked(hashing) { shards.withLock(shard($0.hash)) { body(&$0) } }
    }

    package func remove(_ host: HostName) { each { $0.remove(host) } }

    package func remove(in scope: LookupScope) { each { $0.remove(in: scope) } }

    package func removeAll() { each { $0.removeAll() } }

    private func each(_ body: (inout AnswerCache) -> Void) {
        for position in 0..<shards.count { shards.withLock(position) { body(&$0) } }
    }

    /// The keys of a scope, the most read first.
    package func entries(in scope: LookupScope, limit: Int) -> [LookupKey] {
        (0..<shards.count).flatMap { shards.withLock($0) { $0.entries(in: scope, limit: limit) } }
            .sorted { $0.reads > $1.reads }.prefix(limit).map(\.key)
    }

    /// The sums over all shards, which are looked at one after the other.
    package var statistics: CacheStatistics {
        (0..<shards.count).reduce(into: CacheStatistics()) { sum, position in
            let part = shards.withLock(position) { $0.statistics }
            sum.entries += part.entries
            sum.octets += part.octets
            sum.evictions += part.evictions
        }
    }
}
