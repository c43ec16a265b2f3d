internal import CHTTPDNSSystem

extension SystemWallClock {
    /// Since 1970, for records of what happened: finer than what the world dates.
    package func microsecondsSince1970() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
