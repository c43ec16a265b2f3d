import HTTPDNSLookup
import HTTPDNSNames
import Testing

/// A source beside which another is asked when it is late, and whose answer is then not heard.
@Suite struct HedgeHealthTests {
    /// A source that has answered in 20 ms for some time.
    private func quick() -> SourceHealth {
        var health = SourceHealth()
        for _ in 0..<20 { health.answered(inMilliseconds: 20, now: .zero) }
        return health
    }

    /// One lookup, where the other front answers within 3 ms; returns whether the source was missed.
    private func look(_ health: inout SourceHealth, roundTrip: Int64, now: Monotonic) -> Bool {
        let settled = health.hedgeDelayMilliseconds + 3
        guard settled < roundTrip else {
            health.answered(inMilliseconds: roundTrip, now: now)
            return false
        }
        health.outrun(afterMilliseconds: settled)
        health.failed(now: now, jitter: 0.5)
        return true
    }

    @Test func `a source that has become slower is heard again before it is benched`() {
        var health = quick()
        let missed = (0..<20).count { _ in look(&health, roundTrip: 60, now: .zero) }
        #expect((1..<SourceHealth.failureLimit).contains(missed))
        #expect(health.state == .closed)
    }

    @Test func `one that has become much slower comes back by a few probes`() {
        var health = quick()
        var now = Monotonic.zero
        var isBack = false
        for _ in 0..<12 where !isBack {
            if case .open(let until) = health.state { now = until }
            _ = health.mayAsk(now: now)
            isBack = !look(&health, roundTrip: 300, now: now)
        }
        #expect(isBack)
        #expect(health.state == .closed)
    }

    @Test func `one that is silent is benched all the same, and as soon`() {
        var health = quick()
        let missed = (0..<SourceHealth.failureLimit).allSatisfy { _ in
            look(&health, roundTrip: 100_000, now: .zero)
        }
        #expect(missed)
        #expect(health.state != .closed)
        var unknown = SourceHealth()
        unknown.outrun(afterMilliseconds: 900)
        #expect(unknown.hedgeDelayMilliseconds == SourceHealth().hedgeDelayMilliseconds)
    }
}
