internal import HTTPDNSNames

// How a cache places its entries: the room that it may take, the queue of SIEVE, and what makes room.

extension AnswerCache {
    mutating func place(
        _ answer: PackedAnswer, _ source: Testimony.Source, _ key: PackedKey, lifeSeconds: UInt32,
        now: Monotonic
    ) {
        let size = CacheArena.words(
            keyOctets: key.octets.count, answerOctets: answer.octets.count)
        let moment = AnswerCache.milliseconds(now)
        // First, because it counts as memory taken.
        let number = sources.take(source)
        let old = index.find(key, in: arena)
        let popularity = old == 0 ? 0 : arena.popularity(old) / 2
        let isReplaced = old != 0 && arena.size(old) == size && arena.words.count <= allWords
        if !isReplaced {
            remove(old)
            guard makeRoom(for: size, now: moment) else {
                sources.release(number)
                return
            }
        }
        let expiry = UInt64(bitPattern: moment + Int64(lifeSeconds) * 1_000)
        var head: [UInt64] = [
            expiry << CacheEntry.expiryShift | UInt64(popularity) << CacheEntry.popularityShift,
            UInt64(size),
            UInt64(AnswerCache.later(AnswerCache.second(moment), CacheLimits.settledSeconds)) << 32
                | UInt64(lifeSeconds) << 12,
            key.word,
            UInt64(number) << 32 | UInt64(answer.octets.count) << 8 | UInt64(answer.form.rawValue),
        ]
        if isReplaced {
            recallCopy(old)
            sources.release(arena.source(old))
            // Its place in the queue stays, and so does the mark that it is in use.
            head[0] |= arena.word(0, of: old) & CacheEntry.Mark.read
            head[1] = arena.word(1, of: old)
            arena.overwrite(old, head, Array(key.octets) + answer.octets)
            return
        }
        head[1] |= UInt64(newest) << 16
        let place = arena.append(head, Array(key.octets) + answer.octets)
        if newest != 0 { arena.setNewer(newest, to: place) }
        newest = place
        if oldest == 0 { oldest = place }
        index.enter(place, key.hash)
        count += 1
    }

    /// Makes room for one more entry; false when it can never fit.
    private mutating func makeRoom(for size: Int, now: Int64) -> Bool {
        guard size <= CacheEntry.maximumWords, size <= livingWords else { return false }
        while count >= limits.entries || arena.live + size > livingWords, count > 0 {
            evict(now: now)
        }
        if index.isFull(at: count) { growIndex() }
        // The larger index has taken from the room.
        while arena.live + size > livingWords, count > 0 { evict(now: now) }
        guard arena.live + size <= livingWords else { return false }
        let end = arena.words.count + size
        if end > arena.capacity || end > allWords {
            if arena.idle * 4 >= arena.words.count || end > allWords {
                sweep()
            } else {
                // A quarter more, so that growing costs each word a constant.
                arena.reserve(min(allWords, max(end, end + end / 4, AnswerCache.leastWords)))
            }
        }
        return true
    }

    /// Because: an empty cache of a page.
    private static let leastWords = 512

    /// Words that the arena may take.
    private var allWords: Int {
        min(
            (limits.octets - index.octets - sources.octets) / 8, CacheEntry.maximumPlace)
    }

    /// Words that living entries may take: a quarter of the room is left for what sweeps win back.
    private var livingWords: Int { allWords / 4 * 3 }

    private mutating func evict(now: Int64) {
        var candidate = hand == 0 ? oldest : hand
        let end = now - limits.staleSeconds * 1_000
        while arena.has(CacheEntry.Mark.read, candidate), arena.expiry(candidate) > end {
            arena.unmark(CacheEntry.Mark.read, candidate)
            recallCopy(candidate)
            let next = arena.newer(candidate)
            candidate = next == 0 ? oldest : next
        }
        hand = arena.newer(candidate)
        evictions += 1
        remove(candidate)
    }

    /// Removes the entry at a place; 0 is nobody's.
    mutating func remove(_ at: Int) {
        guard at != 0 else { return }
        recallCopy(at)
        let (newer, older) = (arena.newer(at), arena.older(at))
        if hand == at { hand = newer }
        if newer != 0 { arena.setOlder(newer, to: older) } else { newest = older }
        if older != 0 { arena.setNewer(older, to: newer) } else { oldest = newer }
        sources.release(arena.source(at))
        index.remove(at, in: arena, hashing)
        arena.drop(at)
        count -= 1
    }

    private mutating func sweep() {
        var from = 1
        var to = 1
        while from < arena.words.count {
            let size = arena.size(from)
            if !arena.has(CacheEntry.Mark.dead, from) {
                if from != to { move(from, to) }
                to += size
            }
            from += size
        }
        arena.cut(at: to)
    }

    private mutating func move(_ from: Int, _ to: Int) {
        let (newer, older) = (arena.newer(from), arena.older(from))
        if newer != 0 { arena.setOlder(newer, to: to) } else { newest = to }
        if older != 0 { arena.setNewer(older, to: to) } else { oldest = to }
        if hand == from { hand = to }
        index.move(from, to: to, arena.hash(from, hashing))
        arena.copy(from, to)
    }

    private mutating func growIndex() {
        index = index.doubled()
        var at = oldest
        while at != 0 {
            index.enter(at, arena.hash(at, hashing))
            at = arena.newer(at)
        }
    }
}
