internal import CHTTPDNSSystem

/// Reads the clock of this boot, for what must be dated across restarts of a process.
package protocol BootSource: Sendable {
    /// Milliseconds since the machine started, sleep included; does not move when the wall clock is
    /// set.
    func millisecondsSinceBoot() -> Int64

    /// Names this boot; empty when the system does not say.
    var bootID: String { get }
}

/// CLOCK_BOOTTIME, and the kernel's random name of the boot. Source: random(4), `boot_id`.
package struct SystemBootClock: BootSource {
    package let bootID: String

    package init() { bootID = SystemBootClock.readBootID() }

    package func millisecondsSinceBoot() -> Int64 {
        var time = timespec()
        #if os(Linux)
            clock_gettime(CLOCK_BOOTTIME, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC, &time)
        #endif
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func readBootID() -> String {
        let file = httpdns_file_open_reading("/proc/sys/kernel/random/boot_id")
        guard file >= 0 else { return "" }
        defer { close(file) }
        var octets = [UInt8](repeating: 0, count: 64)
        let count = read(file, &octets, octets.count)
        let text = octets.prefix(max(count, 0)).prefix { $0 > 0x20 && $0 < 0x7F }
        return String(decoding: text, as: UTF8.self)
    }
}
