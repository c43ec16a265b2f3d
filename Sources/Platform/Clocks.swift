internal import CHTTPDNSSystem
package import HTTPDNSNames

/// Reads the monotonic clock. Cores never do; drivers read once per event and pass the value down.
package protocol MonotonicSource: Sendable {
    func now() -> Monotonic

    /// A reading that may be one tick of the kernel behind (1 to 10 ms) and costs a third: for what
    /// counts in seconds.
    func coarseNow() -> Monotonic
}

extension MonotonicSource {
    package func coarseNow() -> Monotonic { now() }
}

/// CLOCK_MONOTONIC.
package struct SystemMonotonicClock: MonotonicSource {
    package init() {}

    package func now() -> Monotonic {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Monotonic(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    #if os(Linux)
        /// CLOCK_MONOTONIC_COARSE.
        package func coarseNow() -> Monotonic {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
            return Monotonic(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
        }
    #endif
}

/// Reads the wall clock, for what the world dates: certificates, signatures, cookies.
package protocol WallSource: Sendable {
    func now() -> WallTime
}

/// CLOCK_REALTIME.
package struct SystemWallClock: WallSource {
    package init() {}

    package func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(secondsSince1970: Int64(time.tv_sec))
    }
}
