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

    @Test func `one that has become much slower is waited for long enough after one probe`() {
        var health = quick()
        let missed = (0..<SourceHealth.failureLimit).allSatisfy { _ in
            look(&health, roundTrip: 300, now: .zero)
        }
        #expect(missed)
        guard case .open(let until) = health.state else {
            Issue.record("three were missed, and it is not benched")
            return
        }
        #expect(health.mayAsk(now: until) == .probe)
        // Its lookup had another's answer long before; it is heard out all the same.
        health.answered(inMilliseconds: 300, now: until)
        for _ in 0..<20 {
            let isMissed = look(&health, roundTrip: 300, now: until)
            #expect(!isMissed)
        }
    }

    @Test func `a miss lengthens the delay twofold or so, however late the other answer was`() {
        var health = quick()
        let before = health.hedgeDelayMilliseconds
        health.outrun(afterMilliseconds: 4_000)
        let after = health.hedgeDelayMilliseconds
        #expect(after > before)
        #expect(after <= 3 * before)
    }

    @Test func `what is silent is not taken for slow: once it is benched no lookup waits longer`() {
        var health = quick()
        for _ in 0..<SourceHealth.failureLimit {
            _ = look(&health, roundTrip: 100_000, now: .zero)
        }
        let delay = health.hedgeDelayMilliseconds
        #expect(delay < 300)
        // Lookups from before it was benched, and one that was left nobody else to ask.
        for _ in 0..<50 { health.outrun(afterMilliseconds: 3_000) }
        guard case .open(let until) = health.state else {
            Issue.record("it is not benched")
            return
        }
        #expect(health.mayAsk(now: until) == .probe)
        health.outrun(afterMilliseconds: 3_000)
        health.failed(now: until, jitter: 0.5)
        #expect(health.hedgeDelayMilliseconds == delay)
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
