import CBenchSupport
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import Synchronization

func measureHits(_ kind: String, names: Int, lookups: Int, threads: Int) throws {
    let hosts = try hostNames(names)
    let ns: (wall: Double, cpu: Double)
    switch kind {
    case "dictionary":
        ns = try timed(DictionaryCache(), hosts, lookups, threads) { $0.firstAddress($1) }
    case "full":
        ns = try timed(OurCache(names: names), hosts, lookups, threads) { $0.wholeAnswer($1) }
    default:
        ns = try timed(OurCache(names: names), hosts, lookups, threads) { $0.firstAddress($1) }
    }
    print(
        "{\"name\":\"\(kind)\",\"threads\":\(threads),\"ns\":\(Int(ns.wall * 100).hundredths),"
            + "\"cpu_ns\":\(Int(ns.cpu * 100).hundredths)}")
}

/// Nanoseconds of a look-up, and those of them spent computing, as the mean over the threads.
///
/// Each thread has names of its own: those of one array would have all threads count references to the
/// same texts, and that would be what is measured.
@inline(__always)
func timed<Cache: MeasuredCache>(
    _ cache: Cache, _ hosts: [HostName], _ lookups: Int, _ threads: Int,
    _ find: @escaping @Sendable (Cache, HostName) -> UInt64?
) throws -> (wall: Double, cpu: Double) {
    for (number, host) in hosts.enumerated() { cache.store(host, number) }
    // Names that are in use: all have been read.
    for host in hosts { for _ in 0..<300 { _ = find(cache, host) } }
    let times = Mutex<[(wall: Double, cpu: Double)]>([])
    onThreads(threads) {
        guard let names = try? hostNames(hosts.count) else { return }
        // Called as by somebody who holds the name; one taken out of an array has a reference to it
        // counted for each call, which would be measured with it, on both sides.
        let holders = names.map { Unmanaged.passRetained(Holder($0)) }
        defer { for holder in holders { holder.release() } }
        let clock = SystemMonotonicClock()
        let start = clock.now()
        let computed = httpdns_bench_thread_nanoseconds()
        var sum: UInt64 = 0
        var next = 0
        for _ in 0..<lookups {
            sum &+= holders[next]._withUnsafeGuaranteedRef { find(cache, $0.name) } ?? 0
            next += 1
            if next == holders.count { next = 0 }
        }
        let took = Double(clock.now().nanoseconds - start.nanoseconds)
        let computing = Double(httpdns_bench_thread_nanoseconds() - computed)
        precondition(sum > 0)
        times.withLock { $0.append((took / Double(lookups), computing / Double(lookups))) }
    }
    return times.withLock { times in
        let count = Double(times.count)
        return (
            times.reduce(0) { $0 + $1.wall } / count, times.reduce(0) { $0 + $1.cpu } / count
        )
    }
}

/// Somebody who holds a name.
final class Holder: Sendable {
    let name: HostName
    init(_ name: HostName) { self.name = name }
}

/// Runs `work` on threads of their own, as the peers in C do.
func onThreads(_ count: Int, _ work: @escaping @Sendable () -> Void) {
    final class Box {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
    let box = Unmanaged.passRetained(Box(work))
    httpdns_bench_on_threads(Int32(count), box.toOpaque()) { context, _ in
        guard let context else { return }
        Unmanaged<Box>.fromOpaque(context).takeUnretainedValue().work()
    }
    box.release()
}

/// What a process grows by when it keeps so many names: the names themselves are not counted twice, both
/// sides make them in the same way and let go of them.
func measureMemory(_ kind: String, names: Int) throws {
    let cache: any MeasuredCache = kind == "dictionary" ? DictionaryCache() : OurCache(names: names)
    let before = httpdns_bench_resident_octets()
    for number in 0..<names {
        // Made anew, so that a cache that keeps the text pays for it.
        cache.store(try hostNames(from: number), number)
    }
    httpdns_bench_trim()
    let grown = httpdns_bench_resident_octets() - before
    guard let found = cache.firstAddress(try hostNames(from: names / 2)) else { return }
    precondition(found > 0)
    let counted = (cache as? OurCache)?.statistics.octets ?? 0
    print(
        "{\"name\":\"\(kind)\",\"entries\":\(names),\"octets_per_entry\":"
            + "\((Int(grown) * 100 / names).hundredths),\"counted\":\(counted / names)}")
}

func hostNames(from number: Int) throws -> HostName {
    let digits = String(number)
    let zeros = String(repeating: "0", count: max(0, 7 - digits.count))
    return try HostName("h-\(zeros)\(digits).a.test")
}

/// How often the short way allocates: calls of malloc and its kin while so many names are looked up.
func countAllocations(names: Int, lookups: Int) throws {
    let cache = OurCache(names: names)
    let hosts = try hostNames(names)
    for (number, host) in hosts.enumerated() { cache.store(host, number) }
    // What is made on first use is made.
    _ = cache.firstAddress(hosts[0])
    let before = httpdns_bench_allocations()
    var sum: UInt64 = 0
    for number in 0..<lookups { sum &+= cache.firstAddress(hosts[number % hosts.count]) ?? 0 }
    let counted = httpdns_bench_allocations() - before
    precondition(sum > 0)
    print("{\"name\":\"allocations\",\"lookups\":\(lookups),\"allocations\":\(counted)}")
}

extension Int {
    /// A number of hundredths as decimal text.
    var hundredths: String {
        let rest = String(self % 100)
        return "\(self / 100).\(rest.count == 1 ? "0" + rest : rest)"
    }
}
