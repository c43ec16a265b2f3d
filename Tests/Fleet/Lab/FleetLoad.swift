import HTTPDNS
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire

/// Lookups begun by the clock, whatever becomes of those before; each host asks for each name once, so
/// that no answer comes out of a host's own cache.
///
/// Host *n* asks for a name a fifth of a second later than host *n - 1*: what one asked is in the cache
/// of its front by then, as it is for popular names in the field.
final class FleetLoad: Sendable {
    /// One lookup that is over.
    struct Sample: Sendable {
        let begun: Monotonic
        let nanoseconds: Int64
        /// Why it is lost; nil when it brought the address.
        let fault: String?
    }

    /// When each host asked a front: once a lookup, unless the front it asked was late or failed.
    final class Questions: Sendable {
        private let moments = Locked<[Monotonic]>([])
        private let clock = SystemMonotonicClock()

        func saw(_ event: ResolverEvent) {
            guard case .asked = event else { return }
            let now = clock.now()
            moments.withLock { $0.append(now) }
        }

        var all: [Monotonic] { moments.withLock { $0 } }
    }

    private struct State {
        var since: Monotonic?
        var begun = 0
        var isOver = false
        var samples: [Sample] = []
    }

    private let tier: FleetTier
    private let hosts: [HTTPDNS]
    private let rate: Int64
    /// In lookups of a host's own.
    private let lag: Int
    private let state = Locked(State())
    private let clock = SystemMonotonicClock()
    private let alarms = AlarmThread { DetachedThread.start(named: "fleet-load", $0) }

    /// Because: at 1,000 lookups a second, five at a time.
    private static let tickMilliseconds: Int64 = 5

    init(_ tier: FleetTier, hosts: [HTTPDNS], rate: Int64) {
        self.tier = tier
        self.hosts = hosts
        self.rate = rate
        lag = max(1, Int(rate) / max(1, hosts.count) / 5)
    }

    func start() {
        tick()
        _ = alarms.schedule(at: clock.now().adding(milliseconds: FleetLoad.tickMilliseconds)) {
            guard !self.state.withLock({ $0.isOver }) else { return }
            self.start()
        }
    }

    func stop() { state.withLock { $0.isOver = true } }

    /// One lookup of each host, of a name of its own: TCP, TLS and the question. Returns when all are
    /// over.
    func greet() async {
        for (place, host) in hosts.enumerated() { _ = await ask(host, "first-\(place)") }
    }

    /// How many were begun, and those that are over.
    var course: (begun: Int, samples: [Sample]) {
        state.withLock { ($0.begun, $0.samples) }
    }

    private func tick() {
        let now = clock.now()
        let due = state.withLock { state -> Range<Int> in
            guard !state.isOver else { return 0..<0 }
            let since = state.since ?? now
            state.since = since
            let wanted = Int(now.milliseconds(since: since) * rate / 1_000)
            defer { state.begun = max(wanted, state.begun) }
            return state.begun..<max(wanted, state.begun)
        }
        for number in due { begin(number) }
    }

    private func begin(_ number: Int) {
        let place = number % hosts.count
        let name = number / hosts.count + lag * (hosts.count - place)
        let host = hosts[place]
        Task {
            let begun = clock.now()
            let fault = await ask(host, "n\(name)")
            let took = clock.now().nanoseconds - begun.nanoseconds
            state.withLock {
                $0.samples.append(Sample(begun: begun, nanoseconds: took, fault: fault))
            }
        }
    }

    private func ask(_ host: HTTPDNS, _ label: String) async -> String? {
        guard let question = try? tier.question(label) else { return "no question" }
        do throws(LookupFailure) {
            let answer = try await host.resolver.lookup(question)
            if answer.addresses == [FleetTier.answer], !answer.isStale { return nil }
            return "\(question.name): \(answer.outcome) \(answer.addresses)"
        } catch {
            return "\(question.name): \(error)"
        }
    }
}
