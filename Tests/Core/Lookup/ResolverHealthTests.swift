import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct ResolverHealthTests {
    /// Broken at 0 ms, without jitter to either side.
    private static func broken() -> SourceHealth {
        var health = SourceHealth()
        for _ in 0..<SourceHealth.failureLimit { health.failed(now: .zero, jitter: 0.5) }
        return health
    }

    @Test func `a source breaks at its third failure in a row`() {
        var health = SourceHealth()
        health.failed(now: .zero, jitter: 0.5)
        health.failed(now: .zero, jitter: 0.5)
        #expect(health.mayAsk(now: .zero) == .ask)
        health.failed(now: .zero, jitter: 0.5)
        #expect(health.state == .open(until: .at(1_000)))
        #expect(health.mayAsk(now: .at(999)) == .rest(until: .at(1_000)))
    }

    @Test func `an answer between failures starts the count anew`() {
        var health = SourceHealth()
        for _ in 0..<4 {
            health.failed(now: .zero, jitter: 0.5)
            health.failed(now: .zero, jitter: 0.5)
            health.answered(inMilliseconds: 20, now: .zero)
        }
        #expect(health.state == .closed)
        #expect(health.consecutiveFailures == 0)
    }

    @Test func `after the back-off one question goes out as a probe and the others rest`() {
        var health = Self.broken()
        #expect(health.mayAsk(now: .at(1_000)) == .probe)
        #expect(health.mayAsk(now: .at(1_001)) == .rest(until: .at(6_000)))
        health.answered(inMilliseconds: 30, now: .at(1_030))
        #expect(health.mayAsk(now: .at(1_031)) == .ask)
    }

    @Test func `each failed probe makes the back-off half as long again, up to an hour`() {
        var health = Self.broken()
        var now = Monotonic.zero
        var waits: [Int64] = []
        for _ in 0..<24 {
            guard case .open(let until) = health.state else { break }
            waits.append(until.milliseconds(since: now))
            now = until
            #expect(health.mayAsk(now: now) == .probe)
            health.failed(now: now, jitter: 0.5)
        }
        #expect(waits.prefix(5) == [1_000, 1_500, 2_250, 3_375, 5_062])
        #expect(waits.suffix(2) == [3_600_000, 3_600_000])
    }

    @Test(arguments: [
        (0.0, 800), (0.5, 1_000), (1.0, 1_200), (-3.0, 800), (7.0, 1_200), (.nan, 800),
    ]) func `jitter moves the back-off by a fifth at most`(jitter: Double, wait: Int64) {
        var health = SourceHealth()
        for _ in 0..<3 { health.failed(now: .zero, jitter: jitter) }
        #expect(health.state == .open(until: .at(wait)))
    }

    @Test func `a source that answered once has its first back-off again`() {
        var health = Self.broken()
        _ = health.mayAsk(now: .at(1_000))
        health.failed(now: .at(1_000), jitter: 0.5)
        _ = health.mayAsk(now: .at(2_500))
        health.answered(inMilliseconds: 5, now: .at(2_505))
        for _ in 0..<3 { health.failed(now: .at(3_000), jitter: 0.5) }
        #expect(health.state == .open(until: .at(4_000)))
    }

    @Test func `a late failure does not lengthen the rest, a late answer ends it`() {
        var health = Self.broken()
        health.failed(now: .at(900), jitter: 0.5)
        #expect(health.state == .open(until: .at(1_000)))
        health.answered(inMilliseconds: 950, now: .at(950))
        #expect(health.mayAsk(now: .at(950)) == .ask)
    }

    @Test func `a probe that nobody hears of is followed by another`() {
        var health = Self.broken()
        _ = health.mayAsk(now: .at(1_000))
        #expect(health.mayAsk(now: .at(5_999)) == .rest(until: .at(6_000)))
        #expect(health.mayAsk(now: .at(6_000)) == .probe)
    }

    @Test func `a cancelled probe gives its place to the next question`() {
        var health = Self.broken()
        _ = health.mayAsk(now: .at(1_000))
        health.failed(.cancelled, now: .at(1_010), jitter: 0.5)
        #expect(health.mayAsk(now: .at(1_010)) == .probe)
        health.failed(.timedOut(tries: 1), now: .at(1_020), jitter: 0.5)
        #expect(health.state == .open(until: .at(2_520)))
    }

    @Test func `on another network nothing is remembered`() {
        var health = Self.broken()
        health.reset()
        #expect(health == SourceHealth())
        #expect(health.mayAsk(now: .zero) == .ask)
    }

    @Test(arguments: [
        (QueryFailure.timedOut(tries: 3), true), (.unreachable("refused"), true),
        (.malformed("short"), true), (.httpStatus(502), true), (.untrusted("expired"), true),
        (.rejected(code: "InvalidAccount"), true), (.cancelled, false), (.notCovered, false),
        (.unsupportedType(.https), false), (.overQuota(retryAfterMilliseconds: 9), false),
        (.misconfigured("no key"), false), (.refusedAddresses("127.0.0.1"), false),
        (.resting(milliseconds: 5), false), (.unexpected("here"), false),
    ]) func `only what tells against the source is counted`(failure: QueryFailure, counts: Bool) {
        var health = SourceHealth()
        for _ in 0..<3 { health.failed(failure, now: .zero, jitter: 0.5) }
        #expect((health.state != .closed) == counts)
    }

    @Test func `answer times are smoothed as RFC 6298 does`() {
        var time = SmoothedTime()
        #expect(time.upperMilliseconds == nil)
        time.add(milliseconds: 80)
        #expect(time.milliseconds == 80)
        #expect(time.deviationMilliseconds == 40)
        time.add(milliseconds: 160)
        #expect(time.milliseconds == 90)
        #expect(time.deviationMilliseconds == 50)
        #expect(time.upperMilliseconds == 290)
    }

    private static let hedges: [(samples: [Int64], delay: Int64)] = [
        ([], 300), ([1], 50), ([100], 300), ([600], 1_000), ([.max, .min], 1_000),
        ([Int64](repeating: 40, count: 60), 50),
    ]

    @Test(arguments: hedges)
    func `the hedge waits as long as nearly every answer takes, within bounds`(
        samples: [Int64], delay: Int64
    ) {
        var health = SourceHealth()
        for sample in samples { health.answered(inMilliseconds: sample, now: .zero) }
        #expect(health.hedgeDelayMilliseconds == delay)
    }
}
