package import HTTPDNSNames
internal import HTTPDNSWire

/// Keeps answers for as long as they say, and not longer. Bounded; does no I/O and reads no clock.
///
/// Rules:
/// 1. An answer is found only before the moment its TTL ends; what is left of the TTL is handed out.
/// 2. An answer whose life is 0 is not stored (see ``AnswerLife``), and removes what stood there.
/// 3. An answer takes as many places as it has KiB, so that many large answers cannot take more
///    memory than as many places of small ones; one that is larger than the cache is not stored.
/// 4. When full, the victim is found by SIEVE: a hand walks from the oldest to the newest entry, spares
///    those read since it last came by, and takes the first that was not. One scan over many names
///    therefore does not push out the names in use. Source: Zhang et al., NSDI 2024.
package struct AnswerCache: Sendable {
    private struct Slot: Sendable {
        let key: LookupKey
        /// Nil in a free slot, so that it holds no memory.
        var testimony: Testimony?
        let places: Int
        var expires: Monotonic
        var wasRead: Bool
        var newer: Int?
        var older: Int?
    }

    /// Because: an app speaks to tens of hosts, a crawler to thousands; at 1 KiB a place this bounds
    /// the cache near 10 MB.
    package static let defaultCapacity = 10_000

    private let capacity: Int
    /// Places taken.
    private var used = 0
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var index: [LookupKey: Int] = [:]
    private var newest: Int?
    private var oldest: Int?
    private var hand: Int?

    /// - Parameter capacity: places, each for one answer of the usual size; at least 1.
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
        guard left > 0, let testimony = slots[at].testimony else {
            remove(at)
            return nil
        }
        slots[at].wasRead = true
        // At most 604 800: the life given to `store` is capped, so the sum cannot overflow.
        return (testimony, UInt32(clamping: (left + 999) / 1_000))
    }

    package mutating func store(_ testimony: Testimony, for key: LookupKey, now: Monotonic) {
        let life = AnswerLife.seconds(of: testimony)
        if let at = index[key] { remove(at) }
        let places = AnswerCache.places(for: testimony)
        guard life > 0, places <= capacity else { return }
        while used + places > capacity { evict() }
        insert(
            Slot(
                key: key, testimony: testimony, places: places,
                expires: now.adding(seconds: Int64(life)), wasRead: false, newer: nil,
                older: newest))
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
        used += slot.places
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
        used -= slot.places
        slots[at].testimony = nil
        free.append(at)
    }

    /// How many KiB an answer takes, begun ones counted: an estimate from above.
    private static func places(for testimony: Testimony) -> Int {
        1 + testimony.answers.reduce(0) { $0 + octets($1) } / 1_024
    }

    /// Because: a record and its arrays take about 100 octets besides what they hold.
    private static func octets(_ record: ResourceRecord) -> Int {
        let held: Int
        switch record.data {
        case .name(let name): held = name.octets.count
        case .txt(let strings): held = strings.reduce(0) { $0 + 32 + $1.count }
        case .service(let binding):
            held = binding.parameters.reduce(0) { $0 + 48 + $1.value.count }
        case .caa(_, let tag, let value): held = tag.count + value.count
        case .opaque(let octets): held = octets.count
        // At most two names of 255 octets.
        case .soa: held = 510
        case .mx(_, let exchange): held = exchange.octets.count
        case .srv(_, _, _, let target): held = target.octets.count
        case .address: held = 16
        }
        return 100 + record.name.octets.count + held
    }
}
