/// How much a cache keeps, and for how long past the end.
package struct CacheLimits: Sendable {
    /// Entries at most.
    package var entries: Int
    /// Octets of memory at most: entries, index, what their sources are called, and the copies for
    /// readers without a lock.
    package var octets: Int
    /// Seconds an entry is kept past its end, to be found by those who take stale answers; 0: not.
    package var staleSeconds: Int64 = 0
    /// The life that a stale answer is said to have. Source: RFC 8767 §4, which recommends 30 seconds.
    package var staleReplySeconds: UInt32 = 30
    /// Ask again for a name that is in use, shortly before its life ends.
    package var prefetches = false

    package init(
        entries: Int = CacheLimits.defaultEntries, octets: Int = CacheLimits.defaultOctets
    ) {
        self.entries = max(1, entries)
        self.octets = max(0, octets)
    }

    /// Because: an app speaks to tens of hosts, a crawler to thousands.
    package static let defaultEntries = 10_000
    /// Because: an entry takes 64 to 200 octets, so that this holds the default number of them, and yet
    /// bounds what answers of 64 KiB can take.
    package static let defaultOctets = 8_388_608
    /// How long an entry is left alone after a refresh was begun or has failed.
    ///
    /// Source: RFC 8767 §5: a failure recheck timer of no more often than every 30 seconds.
    package static let recheckSeconds: UInt32 = 30
    /// How long after a store nobody asks again, whatever happens.
    ///
    /// Because: an answer that is a moment old is the best there is; a host that refuses connections
    /// would otherwise cost a question a connection.
    package static let settledSeconds: UInt32 = 1
}

/// What a cache found.
package struct CacheHit: Sendable, Hashable {
    package let testimony: Testimony
    /// Seconds it may still be used, at least 1; of a stale answer ``CacheLimits/staleReplySeconds``.
    package let secondsLeft: UInt32
    /// Its life is over; it is given because the caller takes such answers.
    package let isStale: Bool
    /// The caller is the one who should ask again, in the background.
    package let wantsRefresh: Bool
}

/// What a cache holds.
package struct CacheStatistics: Sendable, Hashable {
    package var entries = 0
    /// Memory taken.
    package var octets = 0
    /// Entries that had to make room, since the start.
    package var evictions = 0

    package init() {}
}
