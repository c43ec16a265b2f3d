package import HTTPDNSNames
internal import HTTPDNSWire

/// Keeps answers for as long as they say, and a while longer for those who take stale ones. Bounded;
/// does no I/O and reads no clock.
///
/// Rules:
/// 1. An answer is found before the moment its life ends, and after it only by a caller who takes
///    answers that are so long over (RFC 8767); what is left of its life is handed out, rounded up.
/// 2. An answer of life 0 is not stored. One that settles the question takes away what stood there; a
///    failure leaves it, so that a failing source never costs a usable stale answer.
/// 3. `wantsRefresh` is told to one reader: the first of a stale answer, of one that was demanded anew,
///    or, where the limits prefetch, of one read twice whose life has less than a tenth left. Then to
///    nobody until a new answer is stored or ``CacheLimits/recheckSeconds`` have passed.
/// 4. Entries and octets are bounded. The victim is found by SIEVE: a hand walks from the oldest to the
///    newest entry, spares those read since it last came by, and takes the first that was not, or whose
///    use is over. One scan over many names therefore does not push out the names in use. Source: Zhang
///    et al., NSDI 2024.
/// 5. An answer larger than all the room is not stored, and pushes nothing out.
///
/// Every operation on one key costs a constant, spread over many; a hit allocates nothing before its
/// answer is opened.
package struct AnswerCache: Sendable {
    package let limits: CacheLimits
    let hashing: KeyedHash
    var arena = CacheArena()
    var index = CacheIndex()
    var sources = SourceTable()
    var newest = 0
    var oldest = 0
    var hand = 0
    package internal(set) var evictions = 0
    /// Entries kept.
    package internal(set) var count = 0
    /// The hashes of keys whose copies are no longer good: see ``takeRecalled(_:)``.
    var recalled: [UInt64] = []

    package init(limits: CacheLimits = CacheLimits(), hashing: KeyedHash = KeyedHash()) {
        self.limits = limits
        self.hashing = hashing
    }

    /// The reads after which a name counts as in use, and those that are counted at most.
    ///
    /// Because: two reads are the fewest that a single visitor does not make.
    private static let usedReads: UInt64 = 2
    private static let maximumReads: UInt64 = 3
    /// Because: these bits are set when all that is counted has reached its end, and the name is
    /// marked as read.
    static let countedOut: UInt64 =
        0xFF << CacheEntry.popularityShift | maximumReads << CacheEntry.readsShift
        | CacheEntry.Mark.read
    /// Source: unbound's rule: the last tenth of the life.
    static let prefetchShare: Int64 = 10

    package var statistics: CacheStatistics {
        var statistics = CacheStatistics()
        statistics.entries = count
        statistics.octets = arena.words.count * 8 + index.octets + sources.octets
        statistics.evictions = evictions
        return statistics
    }

    /// The longest walk that a search can take, for tests of the hash.
    package var longestWalk: Int { index.longestWalk }
}

// MARK: Finding

extension AnswerCache {
    /// Finds an answer and opens it.
    ///
    /// - Parameter staleness: how many seconds it may be over; 0: not at all.
    package mutating func find(
        _ key: LookupKey, now: Monotonic, staleness: Int64 = 0
    ) -> CacheHit? {
        let hit = key.withPacked(hashing) { find($0, now: now, staleness: staleness) } ?? nil
        return hit?.opened(for: key.question)
    }

    /// Finds an answer, to be opened by the caller.
    package mutating func find(
        _ key: PackedKey, now: Monotonic, staleness: Int64
    ) -> PackedHit? {
        guard let found = read(key, now: now, staleness: staleness) else { return nil }
        let at = found.at
        return PackedHit(
            answer: PackedAnswer(octets: arena.answer(at), form: arena.form(at)),
            lifeSeconds: arena.lifeSeconds(at), source: sources[arena.source(at)],
            secondsLeft: found.secondsLeft, isStale: found.isStale,
            wantsRefresh: found.wantsRefresh)
    }

    /// Finds the addresses at the end of an answer, without a record and without allocating. No address
    /// at all: the answer is known, and has none.
    ///
    /// - Parameter addresses: filled when something is found, and left alone otherwise.
    /// - Returns: for how long a copy of them is as good as this call; nil: not at all.
    package mutating func readAddresses(
        _ key: PackedKey, _ family: IPAddress.Family, now: Monotonic, staleness: Int64,
        into addresses: inout CachedAddresses
    ) -> AnswerLoan? {
        guard let found = read(key, now: now, staleness: staleness) else { return nil }
        addresses.begin(
            secondsLeft: found.secondsLeft, isStale: found.isStale,
            wantsRefresh: found.wantsRefresh)
        let form = arena.form(found.at)
        var start = arena.answerStart(found.at)
        var count = 0
        if form.contains(.isCompact) {
            let leading = form.contains(.hasTTL) ? 4 : 0
            start += leading
            // A shift, because a division would cost a tenth of the whole search.
            count = (arena.answerOctets(found.at) - leading) >> (family == .ipv4 ? 2 : 4)
        } else if form.contains(.hasAddresses) {
            count = Int(truncatingIfNeeded: arena.octets(at: start) & 0xFF)
            start += 1
        }
        if count > CachedAddresses.capacity { addresses.markIncomplete() }
        for _ in 0..<min(count, CachedAddresses.capacity) {
            let first = arena.octets(at: start).byteSwapped
            switch family {
            case .ipv4: addresses.append(.ipv4, high: 0, low: first >> 32)
            case .ipv6:
                addresses.append(
                    .ipv6, high: first, low: arena.octets(at: start + 8).byteSwapped)
            }
            start += family == .ipv4 ? 4 : 16
        }
        return lend(found.at, now: now)
    }

    /// What a reader learns of an entry besides its answer.
    private struct Found {
        let at: Int
        let secondsLeft: UInt32
        let isStale: Bool
        let wantsRefresh: Bool
    }

    @inline(__always)
    private mutating func read(_ key: PackedKey, now: Monotonic, staleness: Int64) -> Found? {
        let at = index.find(key, in: arena)
        guard at != 0 else { return nil }
        let moment = AnswerCache.milliseconds(now)
        let word = arena.word(0, of: at)
        let left = Int64(bitPattern: word >> CacheEntry.expiryShift) &- moment
        guard left > 0 else { return readStale(at, over: -left, now: moment, staleness) }
        // Writes only while there is something to count, so that readers of names in use leave the
        // memory alone.
        if word & AnswerCache.countedOut != AnswerCache.countedOut { countRead(at) }
        let isWanted =
            word & CacheEntry.Mark.forced != 0 || limits.prefetches && isEnding(at, left: left)
        return Found(
            at: at,
            secondsLeft: UInt32(truncatingIfNeeded: UInt64(bitPattern: left &+ 999) / 1_000),
            isStale: false, wantsRefresh: isWanted && claim(at, now: moment))
    }

    /// A name in use, in the last part of its life.
    private func isEnding(_ at: Int, left: Int64) -> Bool {
        let reads = arena.word(0, of: at) >> CacheEntry.readsShift & AnswerCache.maximumReads
        return reads >= AnswerCache.usedReads
            && left * AnswerCache.prefetchShare < Int64(arena.lifeSeconds(at)) * 1_000
    }

    private mutating func readStale(
        _ at: Int, over: Int64, now: Int64, _ staleness: Int64
    ) -> Found? {
        guard staleness > 0, over / 1_000 < staleness else {
            if over / 1_000 >= max(staleness, limits.staleSeconds) { remove(at) }
            return nil
        }
        countRead(at)
        return Found(
            at: at, secondsLeft: limits.staleReplySeconds, isStale: true,
            wantsRefresh: claim(at, now: now))
    }

    private mutating func countRead(_ at: Int) {
        var word = arena.word(0, of: at) | CacheEntry.Mark.read
        if word >> CacheEntry.readsShift & AnswerCache.maximumReads < AnswerCache.maximumReads {
            word += 1 << CacheEntry.readsShift
        }
        if word >> CacheEntry.popularityShift & 0xFF < 0xFF {
            word += 1 << CacheEntry.popularityShift
        }
        arena.set(0, of: at, to: word)
    }

    /// True for the one who may refresh now.
    private mutating func claim(_ at: Int, now: Int64) -> Bool {
        let second = AnswerCache.second(now)
        guard second >= arena.retrySecond(at) else { return false }
        arena.setRetrySecond(at, to: AnswerCache.later(second, CacheLimits.recheckSeconds))
        return true
    }

    @inline(__always)
    package static func milliseconds(_ moment: Monotonic) -> Int64 {
        let nanoseconds = max(-headStart, moment.nanoseconds) &+ headStart
        return Int64(bitPattern: UInt64(bitPattern: nanoseconds) / 1_000_000)
    }

    /// Nanoseconds that the cache counts before the clock's zero.
    ///
    /// Because: what the store kept may have ended days before this machine started; 32 days are more
    /// than any such answer is used for.
    private static let headStart: Int64 = 2_764_800_000_000_000

    static func second(_ milliseconds: Int64) -> UInt32 {
        UInt32(clamping: milliseconds / 1_000)
    }

    static func later(_ second: UInt32, _ by: UInt32) -> UInt32 {
        let (sum, overflow) = second.addingReportingOverflow(by)
        return overflow ? .max : sum
    }
}

// MARK: Changing

extension AnswerCache {
    /// Stores an answer for so many seconds from now, 7 days at most; see rules 2 and 5.
    package mutating func store(
        _ testimony: Testimony, for key: LookupKey, lifeSeconds: UInt32, now: Monotonic
    ) {
        let life = min(lifeSeconds, AnswerLife.maximumSeconds)
        let answer = PackedAnswer(testimony, for: key.question, lifeSeconds: life)
        let isSettled = testimony.code == .noError || testimony.code == .noSuchName
        _ = key.withPacked(hashing) { packed in
            if life > 0 {
                place(answer, testimony.source, packed, lifeSeconds: life, now: now)
            } else if isSettled {
                remove(index.find(packed, in: arena))
            }
        }
    }

    /// Asks for a refresh of an entry: the next reader is told, unless one is on its way or the entry
    /// was stored this very moment. False when there is none.
    @discardableResult
    package mutating func demandRefresh(_ key: LookupKey) -> Bool {
        change(key) { cache, at in cache.arena.mark(CacheEntry.Mark.forced, at) }
    }

    /// A refresh gave nothing: nobody is told to try again for ``CacheLimits/recheckSeconds``.
    package mutating func refreshFailed(_ key: LookupKey, now: Monotonic) {
        let second = AnswerCache.second(AnswerCache.milliseconds(now))
        change(key) { cache, at in
            cache.arena.setRetrySecond(
                at, to: AnswerCache.later(second, CacheLimits.recheckSeconds))
        }
    }

    @discardableResult
    private mutating func change(
        _ key: LookupKey, _ body: (inout AnswerCache, Int) -> Void
    ) -> Bool {
        key.withPacked(hashing) { packed in
            let at = index.find(packed, in: arena)
            guard at != 0 else { return false }
            body(&self, at)
            recallCopy(at)
            return true
        } ?? false
    }

    package mutating func remove(_ key: LookupKey) {
        _ = key.withPacked(hashing) { packed in remove(index.find(packed, in: arena)) }
    }

    package mutating func removeAll() {
        recallCopies()
        let (evictions, recalled) = (evictions, recalled)
        self = AnswerCache(limits: limits, hashing: hashing)
        (self.evictions, self.recalled) = (evictions, recalled)
    }

    /// Removes every answer for a name, of whatever type and scope. Walks over all entries.
    package mutating func remove(_ host: HostName) {
        remove { $0.question.name == host }
    }

    /// Removes what was learned in a scope. Walks over all entries.
    package mutating func remove(in scope: LookupScope) {
        removePlaces { cache, at in
            UInt32(truncatingIfNeeded: cache.arena.word(3, of: at)) == scope.number
        }
    }

    package mutating func remove(where isUnwanted: (LookupKey) -> Bool) {
        removePlaces { cache, at in cache.key(at).map(isUnwanted) ?? true }
    }

    private mutating func removePlaces(_ isUnwanted: (AnswerCache, Int) -> Bool) {
        var at = oldest
        while at != 0 {
            let next = arena.newer(at)
            if isUnwanted(self, at) { remove(at) }
            at = next
        }
    }

    /// The keys of a scope, the most read first: what to ask for again when the network has changed.
    package func entries(in scope: LookupScope, limit: Int = .max) -> [(key: LookupKey, reads: Int)]
    {
        var found: [(at: Int, reads: Int)] = []
        var at = oldest
        while at != 0 {
            if UInt32(truncatingIfNeeded: arena.word(3, of: at)) == scope.number {
                found.append((at, arena.popularity(at)))
            }
            at = arena.newer(at)
        }
        found.sort { $0.reads > $1.reads }
        return found.prefix(limit).compactMap { entry in
            key(entry.at).map { ($0, entry.reads) }
        }
    }

    private func key(_ at: Int) -> LookupKey? {
        LookupKey(word: arena.word(3, of: at), octets: arena.key(at))
    }
}
