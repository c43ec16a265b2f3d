/// A point on the monotonic clock: never goes back, does not move when the wall clock is set.
///
/// Cores receive it as an argument; drivers read it from `HTTPDNSPlatform.MonotonicClock`.
/// Arithmetic saturates, so that no number from outside can overflow it.
public struct Monotonic: Sendable, Hashable, Comparable {
    /// Nanoseconds since an arbitrary start.
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The start of the scale; where traces in tests begin.
    public static let zero = Monotonic(nanoseconds: 0)
    /// Never reached: "no deadline".
    public static let distantFuture = Monotonic(nanoseconds: .max)

    /// The point so much later (earlier, when negative); stops at the ends of the scale.
    public func adding(milliseconds: Int64) -> Monotonic {
        let (scaled, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return milliseconds < 0 ? .zero : .distantFuture }
        let (sum, overflowed) = nanoseconds.addingReportingOverflow(scaled)
        guard !overflowed else { return milliseconds < 0 ? .zero : .distantFuture }
        return Monotonic(nanoseconds: sum)
    }

    /// The point so much later (earlier, when negative); stops at the ends of the scale.
    public func adding(seconds: Int64) -> Monotonic {
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return seconds < 0 ? .zero : .distantFuture }
        return adding(milliseconds: scaled)
    }

    /// Milliseconds from `earlier` to this point, rounded down; negative when `earlier` is later.
    public func milliseconds(since earlier: Monotonic) -> Int64 {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        return overflow ? .max : difference / 1_000_000
    }

    /// Milliseconds left until this point, rounded up so that no timer fires early; 0 when past.
    public func millisecondsLeft(from now: Monotonic) -> Int64 {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        guard !overflow else { return .max }
        guard difference > 0 else { return 0 }
        let (rounded, overflowed) = difference.addingReportingOverflow(999_999)
        return overflowed ? .max : rounded / 1_000_000
    }

    public static func < (lhs: Monotonic, rhs: Monotonic) -> Bool {
        lhs.nanoseconds < rhs.nanoseconds
    }
}

/// A point on the wall clock, for what the world dates: certificates, signatures, cookies.
public struct WallTime: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted. Source: POSIX.
    public let secondsSince1970: Int64

    public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    public static func < (lhs: WallTime, rhs: WallTime) -> Bool {
        lhs.secondsSince1970 < rhs.secondsSince1970
    }
}

extension Duration {
    /// Milliseconds, rounded down, clamped to what fits.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = scaled.addingReportingOverflow(
            attoseconds / 1_000_000_000_000_000)
        return overflowed ? .max : sum
    }
}
