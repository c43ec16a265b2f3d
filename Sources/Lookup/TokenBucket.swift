package import HTTPDNSNames

/// How fast an account may ask: a bucket of tokens, one for each request, refilled steadily.
///
/// A full bucket allows a burst of its capacity; after that requests go out as fast as it refills. No
/// clock: the driver passes the time in.
package struct TokenBucket: Sendable {
    package let capacity: Int
    package let refillPerSecond: Int
    /// In billionths of a token: what one refill a second adds in a nanosecond.
    private var level: Int64
    private var filledAt: Monotonic?

    /// Starts full. Both numbers are at least 1 and at most ``maximumRate``.
    package init(capacity: Int, refillPerSecond: Int) {
        self.capacity = min(max(capacity, 1), Self.maximumRate)
        self.refillPerSecond = min(max(refillPerSecond, 1), Self.maximumRate)
        level = Int64(self.capacity) * Self.whole
    }

    /// A bucket that holds what refills in one second.
    package init(perSecond: Int) { self.init(capacity: perSecond, refillPerSecond: perSecond) }

    /// Takes a token. Nil when there was one; else the milliseconds until there is, at least 1.
    package mutating func take(now: Monotonic) -> Int64? {
        refill(now: now)
        guard level < Self.whole else {
            level -= Self.whole
            return nil
        }
        let nanoseconds = (Self.whole - level - 1) / Int64(refillPerSecond) + 1
        return max(1, (nanoseconds + 999_999) / 1_000_000)
    }

    /// A token that was taken has not been used.
    package mutating func giveBack(now: Monotonic) {
        refill(now: now)
        level = min(Int64(capacity) * Self.whole, level + Self.whole)
    }

    private mutating func refill(now: Monotonic) {
        defer { filledAt = now }
        // A clock that stands still or goes back adds nothing.
        guard let filledAt, filledAt < now else { return }
        let (passed, overflow) = now.nanoseconds.subtractingReportingOverflow(filledAt.nanoseconds)
        let full = Int64(capacity) * Self.whole
        let (added, tooMuch) = passed.multipliedReportingOverflow(by: Int64(refillPerSecond))
        level = overflow || tooMuch || added > full - level ? full : level + added
    }

    /// One token. Because: a nanosecond of one refill a second adds 1.
    private static let whole: Int64 = 1_000_000_000
    /// Because: it times ``whole`` fits 64 bits with room to spare, and no service allows as much.
    package static let maximumRate = 1_000_000
}
