import CBenchSupport
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire

/// Hands out names, each once, and keeps how long each look-up took.
final class Meter: Sendable {
    private struct State {
        var asked = 0
        var failed = 0
        var latencies: [Int64] = []
    }

    private let total: Int
    private let state: Locked<State>
    private let begun = SystemMonotonicClock().now()
    private let computed = httpdns_bench_cpu_nanoseconds()

    init(_ total: Int) {
        self.total = total
        var state = State()
        state.latencies.reserveCapacity(total)
        self.state = Locked(state)
    }

    /// The next question; nil when all were asked.
    func next() -> Question? {
        let number = state.withLock { state in
            state.asked += 1
            return state.asked
        }
        guard number <= total, let name = try? HostName("n\(number).bench.test") else { return nil }
        return Question(name: name, type: .a)
    }

    /// - Parameter nanoseconds: nil when the look-up failed.
    func took(_ nanoseconds: Int64?) {
        state.withLock { state in
            if let nanoseconds { state.latencies.append(nanoseconds) } else { state.failed += 1 }
        }
    }

    func report(_ name: String) {
        let took = Double(SystemMonotonicClock().now().nanoseconds - begun.nanoseconds)
        let computing = Double(httpdns_bench_cpu_nanoseconds() - computed)
        let (latencies, failed) = state.withLock { ($0.latencies.sorted(), $0.failed) }
        let answered = max(1, latencies.count)
        func microseconds(_ position: Int) -> Double {
            latencies.isEmpty
                ? 0 : Double(latencies[min(position, latencies.count - 1)] / 10) / 100
        }
        print(
            "{\"name\":\"\(name)\",\"lookups_per_s\":\(Int(Double(latencies.count) * 1e9 / took)),"
                + "\"cpu_us\":\(Double(Int(computing / Double(answered))) / 1_000),"
                + "\"p50_us\":\(microseconds(answered / 2)),"
                + "\"p99_us\":\(microseconds(answered * 99 / 100)),\"failed\":\(failed)}")
    }
}
