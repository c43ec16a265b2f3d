/// Names one waiter of one lookup.
package struct WaiterID: Sendable, Hashable {
    package let number: UInt64

    @usableFromInline init(number: UInt64) { self.number = number }
}

/// Joins equal questions: one lookup in flight per key, any number of waiters.
///
/// Rules:
/// 1. The first waiter of a key starts its lookup, later ones join it.
/// 2. A waiter may leave at any moment; when the last leaves, the lookup is stopped.
/// 3. A lookup that ends answers every waiter that is still there, once; one that ran out of time may
///    leave those who joined it late and have more: they wait for the next lookup of the key.
package struct LookupTable<Waiter: Sendable>: Sendable {
    @frozen package enum Joining: Sendable, Hashable {
        case start(WaiterID)
        case join(WaiterID)

        package var waiter: WaiterID {
            switch self {
            case .start(let id), .join(let id): id
            }
        }
    }

    @frozen package enum Leaving: Sendable, Hashable {
        /// Others still wait, or the waiter was already answered.
        case nothing
        case stop(LookupKey)
    }

    @usableFromInline var waiting: [LookupKey: [WaiterID: Waiter]] = [:]
    @usableFromInline var keys: [WaiterID: LookupKey] = [:]
    @usableFromInline var nextNumber: UInt64 = 0

    package init() {}

    @inlinable package mutating func join(_ key: LookupKey, _ waiter: Waiter) -> Joining {
        nextNumber &+= 1
        let id = WaiterID(number: nextNumber)
        let isFirst = waiting[key] == nil
        waiting[key, default: [:]][id] = waiter
        keys[id] = key
        return isFirst ? .start(id) : .join(id)
    }

    /// Takes a waiter out; gives it back so that it can be told.
    @inlinable package mutating func leave(_ id: WaiterID) -> (Waiter?, Leaving) {
        guard let key = keys.removeValue(forKey: id) else { return (nil, .nothing) }
        let waiter = waiting[key]?.removeValue(forKey: id)
        guard let left = waiting[key], left.isEmpty else { return (waiter, .nothing) }
        waiting[key] = nil
        return (waiter, .stop(key))
    }

    /// Ends a lookup: everybody who waits for it and is not kept for the next one.
    @inlinable package mutating func finish(
        _ key: LookupKey, keeping isKept: (Waiter) -> Bool = { _ in false }
    ) -> [Waiter] {
        guard let waiters = waiting.removeValue(forKey: key) else { return [] }
        // The usual case, without more dictionaries.
        if waiters.count == 1, let (id, waiter) = waiters.first {
            if isKept(waiter) {
                waiting[key] = waiters
                return []
            }
            keys[id] = nil
            return [waiter]
        }
        let kept = waiters.filter { isKept($0.value) }
        if !kept.isEmpty { waiting[key] = kept }
        let told = waiters.filter { kept[$0.key] == nil }
        for id in told.keys { keys[id] = nil }
        return told.sorted { $0.key.number < $1.key.number }.map { $0.value }
    }

    /// True until the waiter has been told, or has left.
    @inlinable package func isWaiting(_ id: WaiterID) -> Bool { keys[id] != nil }

    /// Who waits for a lookup, in no order.
    @inlinable package func waiters(of key: LookupKey) -> [Waiter] {
        (waiting[key] ?? [:]).map { $0.value }
    }

    package var isEmpty: Bool { waiting.isEmpty }
}
