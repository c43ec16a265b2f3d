package import HTTPDNSNames

/// Keeps answers for as long as they say, and not longer. Bounded; does no I/O and reads no clock.
///
/// Rules:
/// 1. An answer is found only before the moment its TTL ends; what is left of the TTL is handed out.
/// 2. An answer whose life is 0 is not stored (see ``AnswerLife``), and removes what stood there.
/// 3. When full, the victim is found by SIEVE: a hand walks from the oldest to the newest entry, spares
///    those read since it last came by, and takes the first that was not. One scan over many names
///    therefore does not push out the names in use. Source: Zhang et al., NSDI 2024.
package struct AnswerCache: Sendable {
    private struct Slot: Sendable {
        var key: LookupKey
        var testimony: Testimony
        var expires: Monotonic
        var wasRead: Bool
        var newer: Int?
        var older: Int?
    }

    /// Because: an app speaks to tens of hosts, a crawler to thousands; at roughly 600 octets an entry
    /// this bounds the cache near 6 MB.
    package static let defaultCapacity = 10_000

    private let capacity: Int
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var index: [LookupKey: Int] = [:]
    private var newest: Int?
    private var oldest: Int?
    private var hand: Int?

    /// - Parameter capacity: entries at most; at least 1.
    package init(capacity: Int = AnswerCache.defaultCapacity) {
        self.capacity = max(1, capacity)
    }

    package var count: Int { index.count }

    /// The answer for `key` with the seconds left, rounded up to at least 1; nil when there is none
    /// or its time is over.
    package mutating func answer(
        for key: LookupKey, now: Monotonic
    ) -> (testimony: Testimony, secondsLeft: UInt32)? {
        guard let at = index[key] else { return nil }
        let left = slots[at].expires.millisecondsLeft(from: now)
        guard left > 0 else {
            remove(at)
            return nil
        }
        slots[at].wasRead = true
        // At most 604 800: the life given to `store` is capped, so the conversion cannot fail.
        return (slots[at].testimony, UInt32(clamping: (left + 999) / 1_000))
    }

    package mutating func store(_ testimony: Testimony, for key: LookupKey, now: Monotonic) {
        let life = AnswerLife.seconds(of: testimony)
        if let at = index[key] { remove(at) }
        guard life > 0 else { return }
        if index.count >= capacity { evict() }
        insert(
            Slot(
                key: key, testimony: testimony, expires: now.adding(seconds: Int64(life)),
                wasRead: false, newer: nil, older: newest))
    }

    package mutating func removeAll() {
        self = AnswerCache(capacity: capacity)
    }

    package mutating func remove(where isUnwanted: (LookupKey) -> Bool) {
        for (key, at) in index where isUnwanted(key) { remove(at) }
    }

    private mutating func insert(_ slot: Slot) {
        let at: Int
        if let reused = free.popLast() {
            slots[reused] = slot
            at = reused
        } else {
            at = slots.count
            slots.append(slot)
        }
        index[slot.key] = at
        if let newest { slots[newest].newer = at }
        newest = at
        oldest = oldest ?? at
    }

    private mutating func evict() {
        var candidate = hand ?? oldest
        while let at = candidate, slots[at].wasRead {
            slots[at].wasRead = false
            candidate = slots[at].newer ?? oldest
        }
        guard let victim = candidate else { return }
        hand = slots[victim].newer
        remove(victim)
    }

    private mutating func remove(_ at: Int) {
        let slot = slots[at]
        if hand == at { hand = slot.newer }
        if let newer = slot.newer { slots[newer].older = slot.older } else { newest = slot.older }
        if let older = slot.older { slots[older].newer = slot.newer } else { oldest = slot.newer }
        index[slot.key] = nil
        free.append(at)
    }
}
