package import HTTPDNSNames

/// Moments and whom they are for, the earliest first.
package struct TimerHeap<Owner: Sendable>: Sendable {
    private var entries: [(moment: Monotonic, owner: Owner)] = []

    package init() {}

    package var count: Int { entries.count }

    /// The earliest moment.
    package var first: Monotonic? { entries.first?.moment }

    /// A moment that is never reached is not kept.
    package mutating func add(_ owner: Owner, at moment: Monotonic) {
        guard moment < .distantFuture else { return }
        entries.append((moment, owner))
        var at = entries.count - 1
        while at > 0, entries[at].moment < entries[(at - 1) / 2].moment {
            entries.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    /// Takes out one owner whose moment has come.
    package mutating func popDue(now: Monotonic) -> Owner? {
        guard let first = entries.first, first.moment <= now else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var at = 0
        while true {
            var least = at
            for child in [2 * at + 1, 2 * at + 2]
            where child < entries.count && entries[child].moment < entries[least].moment {
                least = child
            }
            guard least != at else { return first.owner }
            entries.swapAt(at, least)
            at = least
        }
    }

    /// Forgets entries that would ring for nothing.
    package mutating func keep(where isWanted: (Owner, Monotonic) -> Bool) {
        // A sorted array is a heap.
        entries = entries.filter { isWanted($0.owner, $0.moment) }
            .sorted { $0.moment < $1.moment }
    }
}
