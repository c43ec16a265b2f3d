import CSoakSupport
import Glibc
import HTTPDNSNames
import HTTPDNSPlatform
import TestSupport

/// What this process uses.
struct Usage: Sendable {
    let residentOctets: Int64
    let descriptors: Int
    let threads: Int
    /// Allocated and not freed; 0 where that is not known.
    var heapOctets: Int64 = 0

    /// - Parameter isTrimmed: what the allocator keeps for later is given back first. It keeps, for each
    ///   thread, what a busy moment needed once; that says nothing of what is in use.
    static func now(isTrimmed: Bool = false) -> Usage {
        if isTrimmed { httpdns_soak_trim() }
        let pages = ((try? contents(of: "/proc/self/statm")) ?? "").split(separator: " ")
        let resident = pages.count > 1 ? Int64(pages[1]) ?? 0 : 0
        let status = ((try? contents(of: "/proc/self/status")) ?? "").split(separator: "\n")
        let line = status.first { $0.hasPrefix("Threads:") } ?? "0"
        return Usage(
            residentOctets: resident * Int64(sysconf(Int32(_SC_PAGESIZE))),
            descriptors: openDescriptors(),
            threads: Int(line.split(separator: "\t").last ?? "0") ?? 0,
            heapOctets: httpdns_soak_heap_octets())
    }

    init(residentOctets: Int64, descriptors: Int, threads: Int, heapOctets: Int64 = 0) {
        self.heapOctets = heapOctets
        self.residentOctets = residentOctets
        self.descriptors = descriptors
        self.threads = threads
    }

    /// As ``words`` has it; nil for anything else.
    init?(words: String) {
        let numbers = words.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 3 else { return nil }
        self.init(
            residentOctets: numbers[0], descriptors: Int(numbers[1]), threads: Int(numbers[2]))
    }

    /// For another process of this program.
    var words: String { "\(residentOctets) \(descriptors) \(threads)" }

    var mebibytes: String { Usage.mebibytes(residentOctets) }

    static func mebibytes(_ octets: Int64) -> String {
        "\(octets >> 20).\(((octets & 0xF_FFFF) * 10) >> 20)"
    }
}

/// How long the threads of this process, those that live, could have run and got no processor. Source:
/// Linux, Documentation/scheduler/sched-stats.rst, `/proc/<pid>/schedstat`.
func millisecondsWithoutProcessor() -> Int64 {
    guard let directory = opendir("/proc/self/task") else { return 0 }
    defer { closedir(directory) }
    var nanoseconds: Int64 = 0
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        let numbers = (try? contents(of: "/proc/self/task/\(name)/schedstat"))?.split(
            separator: " ")
        guard let numbers, numbers.count > 1 else { continue }
        nanoseconds += Int64(numbers[1]) ?? 0
    }
    return nanoseconds / 1_000_000
}

/// Samples after the warm-up, and what they say.
struct UsageCourse: Sendable {
    private(set) var samples: [Usage] = []

    /// The most that was resident, with what the allocator kept for later.
    private(set) var peakOctets: Int64 = 0

    mutating func add(_ usage: Usage) { samples.append(usage) }

    mutating func sawPeak(of usage: Usage) { peakOctets = max(peakOctets, usage.residentOctets) }

    /// Medians of the first and of the last third: one sample is noise.
    func medians(_ field: (Usage) -> Int64) -> (first: Int64, last: Int64) {
        let third = max(1, samples.count / 3)
        return (
            UsageCourse.median(samples.prefix(third).map(field)),
            UsageCourse.median(samples.suffix(third).map(field))
        )
    }

    private static func median(_ numbers: [Int64]) -> Int64 {
        numbers.isEmpty ? 0 : numbers.sorted()[numbers.count / 2]
    }

    /// What grew that should be flat.
    func faults(growthPercent: Int64) -> [String] {
        var faults: [String] = []
        let memory = medians(\.residentOctets)
        let growth = memory.last - memory.first
        if growth > 8 << 20, growth * 100 > memory.first * growthPercent {
            faults.append(
                "resident memory grew from \(Usage.mebibytes(memory.first)) to "
                    + "\(Usage.mebibytes(memory.last)) MiB")
        }
        for (what, field) in [("descriptors", \Usage.descriptors), ("threads", \Usage.threads)] {
            let medians = medians { Int64($0[keyPath: field]) }
            // Because: what is in flight depends on which servers are dead at the moment.
            if medians.last > medians.first * 3 / 2 + 32 {
                faults.append("\(what) grew from \(medians.first) to \(medians.last)")
            }
        }
        return faults
    }
}

/// Calls back again and again, on a thread of its own.
final class Ticker: Sendable {
    private let alarms = AlarmThread { DetachedThread.start(named: "soak", $0) }
    private let clock = SystemMonotonicClock()
    private let isOver = Locked(false)
    private let milliseconds: Int64
    private let tick: @Sendable () -> Void

    init(everyMilliseconds milliseconds: Int64, _ tick: @escaping @Sendable () -> Void) {
        self.milliseconds = milliseconds
        self.tick = tick
    }

    func start() { arm() }

    /// A tick that runs goes on; none follows.
    func stop() { isOver.withLock { $0 = true } }

    private func arm() {
        _ = alarms.schedule(at: clock.now().adding(milliseconds: milliseconds)) { self.ring() }
    }

    private func ring() {
        guard !isOver.withLock({ $0 }) else { return }
        tick()
        arm()
    }
}

/// Measures how late this machine wakes a thread that does nothing: what no library can make good.
final class Metronome: Sendable {
    private struct State {
        var due: Monotonic?
        /// The worst of this second and of the one before.
        var worst: (before: Int64, now: Int64) = (0, 0)
        var since = Monotonic.zero
        var worstEver: Int64 = 0
    }

    private let state = Locked(State())
    private let clock = SystemMonotonicClock()

    static let milliseconds: Int64 = 10

    /// To be called by a ticker of ``milliseconds``.
    func tick() {
        let now = clock.now()
        state.withLock { state in
            let late = state.due.map { max(0, now.milliseconds(since: $0)) } ?? 0
            state.due = now.adding(milliseconds: Metronome.milliseconds)
            if now.milliseconds(since: state.since) > 1_000 {
                state.worst = (state.worst.now, 0)
                state.since = now
            }
            state.worst.now = max(state.worst.now, late)
            state.worstEver = max(state.worstEver, late)
        }
    }

    /// The worst of the last second or two, one that is under way included.
    var worstLately: Int64 {
        let now = clock.now()
        return state.withLock { state in
            let running = state.due.map { now.milliseconds(since: $0) } ?? 0
            return max(running, state.worst.before, state.worst.now)
        }
    }

    var worstEver: Int64 { state.withLock { $0.worstEver } }
}

/// Suspends for so long, without a thread.
func pause(milliseconds: Int64) async {
    let moment = SystemMonotonicClock().now().adding(milliseconds: milliseconds)
    await withCheckedContinuation { continuation in
        _ = AlarmThread.shared.schedule(at: moment) { continuation.resume() }
    }
}
