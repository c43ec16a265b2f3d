// Plain DNS through our back-end: so many look-ups in flight, each of another name.
//
//     PlainBench PORT IN_FLIGHT LOOKUPS            prints one line of JSON

import CBenchSupport
import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire

let arguments = CommandLine.arguments
guard arguments.count == 4, let number = UInt16(arguments[1]), let port = Port(number),
    let flight = Int(arguments[2]), let total = Int(arguments[3]), flight > 0, total > 0
else {
    print("usage: PlainBench PORT IN_FLIGHT LOOKUPS")
    throw PlainFault.usage
}

enum PlainFault: Error { case usage }

let backend = DatagramBackend(
    servers: [Endpoint(address: try IPAddress("127.0.0.1"), port: port)])
let clock = SystemMonotonicClock()
let next = Locked(0)

/// Asks until there is no name left; what each answer took, and how many failed.
@Sendable func askAll() async -> (latencies: [Int64], failed: Int) {
    var latencies: [Int64] = []
    var failed = 0
    while true {
        let number = next.withLock { next in
            next += 1
            return next
        }
        guard number <= total, let name = try? HostName("n\(number).bench.test") else { break }
        let begun = clock.now()
        do throws(QueryFailure) {
            _ = try await backend.ask(
                Question(name: name, type: .a), deadline: begun.adding(seconds: 20))
            latencies.append(clock.now().nanoseconds - begun.nanoseconds)
        } catch {
            failed += 1
        }
    }
    return (latencies, failed)
}

let start = clock.now()
let computed = httpdns_bench_cpu_nanoseconds()
let (latencies, failed) = await withTaskGroup(of: (latencies: [Int64], failed: Int).self) {
    group in
    for _ in 0..<flight { group.addTask { await askAll() } }
    var all: [Int64] = []
    var failed = 0
    for await part in group {
        all += part.latencies
        failed += part.failed
    }
    return (all.sorted(), failed)
}
let took = Double(clock.now().nanoseconds - start.nanoseconds)
let computing = Double(httpdns_bench_cpu_nanoseconds() - computed)
let answered = max(1, latencies.count)
let microseconds = { (position: Int) in
    latencies.isEmpty ? 0 : Double(latencies[min(position, latencies.count - 1)] / 10) / 100
}
print(
    "{\"name\":\"ours\",\"lookups_per_s\":\(Int(Double(latencies.count) * 1e9 / took)),"
        + "\"cpu_us\":\(Double(Int(computing / Double(answered))) / 1_000),"
        + "\"p50_us\":\(microseconds(answered / 2)),\"p99_us\":\(microseconds(answered * 99 / 100)),"
        + "\"failed\":\(failed)}")
