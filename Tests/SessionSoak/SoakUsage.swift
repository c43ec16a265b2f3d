import CSoakSupport
import Glibc
import HTTPDNSNames
import HTTPDNSPlatform
import TestSupport

/// What this process has in memory.
struct Usage: Sendable {
    let residentOctets: Int64

    /// - Parameter isTrimmed: what the allocator keeps for later is given back first.
    static func now(isTrimmed: Bool = false) -> Usage {
        if isTrimmed { httpdns_soak_trim() }
        let pages = ((try? contents(of: "/proc/self/statm")) ?? "").split(separator: " ")
        let resident = pages.count > 1 ? Int64(pages[1]) ?? 0 : 0
        return Usage(residentOctets: resident * Int64(sysconf(Int32(_SC_PAGESIZE))))
    }

    var mebibytes: String { Usage.mebibytes(residentOctets) }

    static func mebibytes(_ octets: Int64) -> String {
        "\(octets >> 20).\(((octets & 0xF_FFFF) * 10) >> 20)"
    }
}

/// Suspends for so long, without a thread.
func pause(milliseconds: Int64) async {
    let moment = SystemMonotonicClock().now().adding(milliseconds: milliseconds)
    await withCheckedContinuation { continuation in
        _ = AlarmThread.shared.schedule(at: moment) { continuation.resume() }
    }
}

/// Keeps its thread for so long, as somebody who is slow.
func dawdle(milliseconds: Int32) { poll(nil, 0, milliseconds) }

/// Prints at once, also into a file.
func say(_ text: String) {
    print(text)
    fflush(nil)
}
