internal import HTTPDNSNames

/// For how long a copy of an entry's addresses is as good as the entry itself.
///
/// The cache lends what is read so often that a read more changes nothing: all that is counted has
/// reached its end, the mark that it is in use is set, nobody is to be told to refresh. Until the
/// moment named here a reader of the copy learns what a reader of the cache would have, and the
/// cache is as it would have been. So whoever keeps copies changes no rule of ``AnswerCache``, as
/// long as he lets go of those that ``AnswerCache/takeRecalled(_:)`` names before anybody can know of
/// the change that made them stale.
package struct AnswerLoan: Sendable, Hashable {
    /// The end of the answer's life, in milliseconds as ``AnswerCache/milliseconds(_:)`` counts them.
    package let end: Int64
    /// The first moment at which a copy is no longer good, counted likewise: the end or, where names in
    /// use are asked for ahead of it, the moment at which that begins.
    package let until: Int64

    package init(end: Int64, until: Int64) {
        self.end = end
        self.until = until
    }
}

extension AnswerCache {
    /// What a copy of an entry that was just read is good for; nil when a read more would change
    /// something.
    @inline(__always)
    mutating func lend(_ at: Int, now: Monotonic) -> AnswerLoan? {
        let word = arena.word(0, of: at)
        let marks = AnswerCache.countedOut | CacheEntry.Mark.forced
        guard word & marks == AnswerCache.countedOut else { return nil }
        let end = arena.expiry(at)
        var until = end
        if limits.prefetches {
            // Where `isEnding` begins to hold.
            until -= Int64(arena.lifeSeconds(at)) * 1_000 / AnswerCache.prefetchShare - 1
        }
        guard AnswerCache.milliseconds(now) < until else { return nil }
        if word & CacheEntry.Mark.lent == 0 { arena.mark(CacheEntry.Mark.lent, at) }
        return AnswerLoan(end: end, until: until)
    }

    /// To be called before an entry changes for its readers, or goes.
    mutating func recallCopy(_ at: Int) {
        guard arena.has(CacheEntry.Mark.lent, at) else { return }
        arena.unmark(CacheEntry.Mark.lent, at)
        recalled.append(arena.hash(at, hashing))
    }

    mutating func recallCopies() {
        var at = oldest
        while at != 0 {
            recallCopy(at)
            at = arena.newer(at)
        }
    }

    /// Names the hashes of the keys whose copies are no longer good, each once. To be called after every
    /// call that may change an entry, a search among them.
    @inline(__always)
    package mutating func takeRecalled(_ body: (UInt64) -> Void) {
        guard !recalled.isEmpty else { return }
        for hash in recalled { body(hash) }
        recalled.removeAll(keepingCapacity: true)
    }
}
