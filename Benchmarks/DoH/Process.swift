import Glibc

/// User and system time of the whole process.
func cpuMicroseconds() -> Double {
    var usage = rusage()
    getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
    return Double(seconds) * 1e6 + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
}

func exit(code: Int32) -> Never { Glibc.exit(code) }

func fail(_ why: String) -> Never {
    print("{\"name\":\"swift_doh\",\"error\":\"a lookup failed\"}")
    perror("DoHBench: \(why)")
    exit(1)
}
