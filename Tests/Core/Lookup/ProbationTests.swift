import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

/// Lookups that try whether a source is back: nobody waits longer for it.
@Suite struct ProbationTests {
    private let question: Question
    private let zero = QueryID(source: 0)
    private let one = QueryID(source: 1)
    private let two = QueryID(source: 2)

    init() throws { question = try Said.question() }

    /// What it took before it fell silent says that it be waited for as long as may be.
    private let tried = PlannedSource(
        label: "tried", isOnProbation: true, hedgeDelayMilliseconds: 1_000)
    private let well = PlannedSource(label: "well", hedgeDelayMilliseconds: 80)
    private let third = PlannedSource(label: "third", hedgeDelayMilliseconds: 80)
    private let plain = PlannedSource(
        label: "plain", isAuthenticated: false, hedgeDelayMilliseconds: 80)
    private let rests = PlannedSource(label: "rests", restMilliseconds: 700)

    private func onProbation(_ label: String) -> PlannedSource {
        PlannedSource(label: label, isOnProbation: true)
    }

    private func machine(
        _ strategy: LookupStrategy, _ sources: [PlannedSource], limit: Monotonic? = nil
    ) -> LookupMachine {
        var rules = LookupRules()
        rules.strategy = strategy
        return LookupMachine(
            question: question, sources: sources, deadline: .at(5_000), limit: limit,
            rules: rules)
    }

    private func says(_ address: String, _ label: String) throws -> Testimony {
        try Said.addresses([address], to: question, by: label)
    }

    private func refusal(_ label: String, _ milliseconds: Int64) -> LookupAttempt {
        LookupAttempt(
            resolver: label, reason: .failed(.unreachable("refused")), milliseconds: milliseconds)
    }

    /// A strategy, and until when a source has that another is left to ask for.
    private static let strategies: [(LookupStrategy, Int64)] = [
        (.hedged(after: nil), 5_000), (.hedged(after: .milliseconds(700)), 5_000),
        (.ordered, 1_500), (.raced, 5_000),
    ]

    // MARK: Beside one that is well

    @Test(arguments: strategies)
    func `the next is asked at once beside one on probation`(
        strategy: LookupStrategy, until: Int64
    ) {
        var lookup = machine(strategy, [tried, well])
        #expect(
            lookup.start(now: .zero) == [
                .ask(zero, by: .at(until)), .ask(one, by: .at(5_000)), .armAlarm(.at(until)),
            ])
    }

    @Test(arguments: [
        (LookupStrategy.hedged(after: nil), Int64(1_003)),
        (.hedged(after: .milliseconds(700)), 1_003), (.ordered, 1_500), (.raced, 5_000),
    ])
    func `when the next answers first the one on probation is heard out, and not missed`(
        strategy: LookupStrategy, until: Int64
    ) throws {
        var lookup = machine(strategy, [tried, well])
        _ = lookup.start(now: .zero)
        let answer = try says("192.0.2.1", "well")
        #expect(
            lookup.answered(one, answer, now: .at(3)) == [
                .hearOut(zero, until: .at(until)), .disarmAlarm, .settle(answer, attempts: []),
            ])
        #expect(lookup.answered(zero, try says("192.0.2.2", "tried"), now: .at(40)) == [])
    }

    @Test(arguments: strategies)
    func `when the one on probation answers first its answer counts`(
        strategy: LookupStrategy, until: Int64
    ) throws {
        var lookup = machine(strategy, [tried, well])
        _ = lookup.start(now: .zero)
        let answer = try says("192.0.2.1", "tried")
        #expect(
            lookup.answered(zero, answer, now: .at(20)) == [
                .abandon(one), .disarmAlarm, .settle(answer, attempts: []),
            ])
    }

    @Test(arguments: strategies)
    func `the lookup fails when both have`(strategy: LookupStrategy, until: Int64) {
        var lookup = machine(strategy, [tried, well])
        _ = lookup.start(now: .zero)
        #expect(
            lookup.failed(zero, .unreachable("refused"), now: .at(4))
                == (until < 5_000 ? [.armAlarm(.at(5_000))] : []))
        #expect(
            lookup.failed(one, .unreachable("refused"), now: .at(9)) == [
                .disarmAlarm,
                .fail(
                    .exhausted(
                        question: question, attempts: [refusal("tried", 4), refusal("well", 9)])),
            ])
    }

    @Test func `one on probation that fails calls in nobody beside the one that is well`() {
        var lookup = machine(.hedged(after: nil), [tried, well, third])
        #expect(
            lookup.start(now: .zero) == [
                .ask(zero, by: .at(5_000)), .ask(one, by: .at(5_000)), .armAlarm(.at(80)),
            ])
        #expect(lookup.failed(zero, .unreachable("refused"), now: .at(4)) == [])
        #expect(
            lookup.timeReached(now: .at(80)) == [
                .ask(two, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
    }

    @Test(arguments: [(LookupStrategy.hedged(after: nil), Int64(5_000)), (.ordered, 1_500)])
    func `where the one that is well fails its successor does not wait for the probe`(
        strategy: LookupStrategy, until: Int64
    ) {
        var lookup = machine(strategy, [tried, well, third])
        _ = lookup.start(now: .zero)
        #expect(
            lookup.failed(one, .unreachable("refused"), now: .at(9)) == [
                .ask(two, by: .at(5_000)), .armAlarm(.at(until)),
            ])
    }

    @Test func `an ordered lookup leaves a silent one when its own time is over`() {
        var lookup = machine(.ordered, [tried, well])
        _ = lookup.start(now: .zero)
        #expect(lookup.timeReached(now: .at(1_500)) == [.abandon(zero), .armAlarm(.at(5_000))])
    }

    @Test func `a caller in a hurry passes both`() {
        var lookup = machine(.ordered, [tried, well, third], limit: .at(200))
        #expect(
            lookup.start(now: .zero) == [
                .ask(zero, by: .at(1_500)), .ask(one, by: .at(1_500)), .armAlarm(.at(100)),
            ])
        #expect(
            lookup.timeReached(now: .at(100)) == [
                .pass(zero), .pass(one), .ask(two, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
    }

    @Test func `when the last waiter leaves the probe is heard out by its own time`() {
        var lookup = machine(.hedged(after: nil), [tried, well])
        _ = lookup.start(now: .zero)
        #expect(
            lookup.stopped() == [
                .hearOut(zero, until: .at(5_000)), .abandon(one), .disarmAlarm,
                .fail(.cancelled),
            ])
    }

    // MARK: Proof

    @Test(arguments: strategies)
    func `a plain answer is not held for a proven source on probation, nor judges it`(
        strategy: LookupStrategy, until: Int64
    ) throws {
        var lookup = machine(strategy, [tried, plain])
        _ = lookup.start(now: .zero)
        let answer = try says("192.0.2.1", "plain")
        #expect(
            lookup.answered(one, answer, now: .at(3)) == [
                .hearOut(zero, until: .at(until)), .disarmAlarm, .settle(answer, attempts: []),
            ])
    }

    @Test func `a proven source on probation behind a plain one is tried, and not waited for`()
        throws
    {
        var lookup = machine(.hedged(after: nil), [plain, tried])
        #expect(lookup.start(now: .zero) == [.ask(zero, by: .at(5_000)), .armAlarm(.at(80))])
        let answer = try says("192.0.2.1", "plain")
        #expect(
            lookup.answered(zero, answer, now: .at(4)) == [
                .ask(one, by: .at(5_000)), .hearOut(one, until: .at(5_000)), .disarmAlarm,
                .settle(answer, attempts: []),
            ])
    }

    @Test func `a plain answer is still held for a proven source that is well`() throws {
        var lookup = machine(.hedged(after: nil), [tried, plain, well])
        _ = lookup.start(now: .zero)
        #expect(
            lookup.answered(one, try says("192.0.2.66", "plain"), now: .at(3)) == [
                .ask(two, by: .at(5_000)), .armAlarm(.at(503)),
            ])
    }

    // MARK: Where none is well

    @Test func `one alone has all the time there is`() {
        var lookup = machine(.hedged(after: nil), [tried])
        #expect(lookup.start(now: .zero) == [.ask(zero, by: .at(5_000)), .armAlarm(.at(5_000))])
        let attempt = LookupAttempt(
            resolver: "tried", reason: .failed(.timedOut(tries: 1)), milliseconds: 5_000)
        #expect(
            lookup.timeReached(now: .at(5_000)) == [
                .abandon(zero), .disarmAlarm,
                .fail(.timedOut(question: question, attempts: [attempt])),
            ])
    }

    @Test(arguments: [
        (LookupStrategy.hedged(after: nil), Int64(50)),
        (.hedged(after: .milliseconds(20)), 20),
    ])
    func `all on probation are asked one after the other, a short while apart`(
        strategy: LookupStrategy, apart: Int64
    ) {
        var lookup = machine(strategy, ["a", "b", "c"].map(onProbation))
        #expect(lookup.start(now: .zero) == [.ask(zero, by: .at(5_000)), .armAlarm(.at(apart))])
        #expect(
            lookup.timeReached(now: .at(apart)) == [
                .ask(one, by: .at(5_000)), .armAlarm(.at(2 * apart)),
            ])
        #expect(
            lookup.timeReached(now: .at(2 * apart)) == [
                .ask(two, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
    }

    @Test func `so they are in an ordered lookup, each for its own time`() {
        var lookup = machine(.ordered, ["a", "b", "c"].map(onProbation))
        #expect(lookup.start(now: .zero) == [.ask(zero, by: .at(1_500)), .armAlarm(.at(50))])
        #expect(
            lookup.timeReached(now: .at(50)) == [
                .ask(one, by: .at(1_550)), .armAlarm(.at(100)),
            ])
        #expect(
            lookup.timeReached(now: .at(100)) == [
                .ask(two, by: .at(5_000)), .armAlarm(.at(1_500)),
            ])
    }

    @Test(arguments: [(LookupStrategy.hedged(after: nil), Int64(5_000)), (.ordered, 1_510)])
    func `one on probation that fails is followed at once`(
        strategy: LookupStrategy, until: Int64
    ) {
        var lookup = machine(strategy, ["a", "b", "c"].map(onProbation))
        _ = lookup.start(now: .zero)
        #expect(
            lookup.failed(zero, .unreachable("refused"), now: .at(10)) == [
                .ask(one, by: .at(until)), .armAlarm(.at(60)),
            ])
    }

    @Test func `of two on probation one is tried where a third is well`() {
        var lookup = machine(.hedged(after: nil), [tried, onProbation("other"), well])
        #expect(
            lookup.start(now: .zero) == [
                .ask(zero, by: .at(5_000)), .ask(two, by: .at(5_000)), .armAlarm(.at(80)),
            ])
        #expect(
            lookup.timeReached(now: .at(80)) == [
                .ask(one, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
    }

    @Test(arguments: [LookupStrategy.hedged(after: nil), .raced])
    func `those that rest are tried beside a silent one after its patience`(
        strategy: LookupStrategy
    ) {
        for source in [tried, well] {
            var lookup = machine(strategy, [source, rests])
            #expect(
                lookup.start(now: .zero) == [.ask(zero, by: .at(5_000)), .armAlarm(.at(1_500))])
            #expect(
                lookup.timeReached(now: .at(1_500)) == [
                    .ask(one, by: .at(5_000)), .armAlarm(.at(5_000)),
                ])
        }
    }

    @Test func `a caller who joins in a hurry has those that rest tried sooner`() {
        var lookup = machine(.hedged(after: nil), [well, rests])
        _ = lookup.start(now: .zero)
        #expect(lookup.joined(until: .at(500), now: .at(100)) == [.armAlarm(.at(300))])
        #expect(
            lookup.timeReached(now: .at(300)) == [
                .ask(one, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
    }
}
