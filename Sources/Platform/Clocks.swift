internal import CHTTPDNSSystem
package import HTTPDNSNames

/// Reads the monotonic clock. Cores never do; drivers read once per event and pass the value down.
package protocol MonotonicSource: Sendable {
    func now() -> Monotonic
}

/// CLOCK_MONOTONIC.
package struct SystemMonotonicClock: MonotonicSource {
    package init() {}

    package func now() -> Monotonic {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Monotonic(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
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
