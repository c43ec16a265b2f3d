import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

/// Lookups that ask more than one source at a time.
@Suite struct LookupStrategyTests {
    private let question: Question
    private let zero = QueryID(source: 0)
    private let one = QueryID(source: 1)
    private let two = QueryID(source: 2)

    init() throws { question = try Said.question() }

    private func machine(
        _ strategy: LookupStrategy, _ sources: [PlannedSource], window: Int64 = 500
    ) -> LookupMachine {
        var rules = LookupRules()
        rules.strategy = strategy
        rules.preferenceWindowMilliseconds = window
        return LookupMachine(
            question: question, sources: sources, deadline: .at(5_000), rules: rules)
    }

    private let proven = PlannedSource(label: "proven")
    private let plain = PlannedSource(label: "plain", isAuthenticated: false)

    private func says(_ address: String, _ label: String) throws -> Testimony {
        try Said.addresses([address], to: question, by: label)
    }

    @Test func `while a plain answer is held, the moment to ask beside it does not ring for ever`()
        throws
    {
        let sources = [plain, proven, PlannedSource(label: "late", isAuthenticated: false)]
        var lookup = machine(.hedged(after: .milliseconds(300)), sources)
        _ = lookup.start(now: .zero)
        _ = lookup.timeReached(now: .at(300))
        // Held until 850; the third source would have been due at 600.
        _ = lookup.answered(zero, try says("192.0.2.1", "plain"), now: .at(350))
        #expect(lookup.timeReached(now: .at(600)) == [.armAlarm(.at(850))])
    }

    // MARK: Raced

    @Test func `a race asks everybody at once and leaves the others when one has won`() throws {
        var lookup = machine(.raced, [proven, PlannedSource(label: "other")])
        #expect(
            lookup.start(now: .zero) == [
                .ask(zero, by: .at(5_000)), .ask(one, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
        let answer = try says("192.0.2.1", "other")
        #expect(
            lookup.answered(one, answer, now: .at(9)) == [
                .abandon(zero), .disarmAlarm, .settle(answer, attempts: []),
            ])
    }

    @Test func `a plain answer waits for the proven one, and is told as evidence where it differs`()
        throws
    {
        var lookup = machine(.raced, [proven, plain])
        _ = lookup.start(now: .zero)
        let forged = try says("192.0.2.66", "plain")
        #expect(lookup.answered(one, forged, now: .at(3)) == [.armAlarm(.at(503))])
        let truth = try says("192.0.2.1", "proven")
        let evidence = try #require(
            Disagreement(authenticated: truth, plain: forged, millisecondsApart: -117))
        #expect(
            lookup.answered(zero, truth, now: .at(120)) == [
                .disarmAlarm, .disagree(evidence), .settle(truth, attempts: []),
            ])
    }

    @Test func `a plain answer that says the same is no evidence`() throws {
        var lookup = machine(.raced, [proven, plain])
        _ = lookup.start(now: .zero)
        _ = lookup.answered(one, try says("192.0.2.1", "plain"), now: .at(3))
        let truth = try says("192.0.2.1", "proven")
        #expect(
            lookup.answered(zero, truth, now: .at(120)) == [
                .disarmAlarm, .settle(truth, attempts: []),
            ])
    }

    @Test func `a plain answer settles when the window closes`() throws {
        var lookup = machine(.raced, [proven, plain])
        _ = lookup.start(now: .zero)
        let answer = try says("192.0.2.1", "plain")
        _ = lookup.answered(one, answer, now: .at(3))
        #expect(lookup.timeReached(now: .at(502)) == [.armAlarm(.at(503))])
        #expect(
            lookup.timeReached(now: .at(503)) == [
                .abandon(zero), .disarmAlarm, .settle(answer, attempts: []),
            ])
    }

    @Test func `a plain answer settles when the last proven source has failed`() throws {
        var lookup = machine(.raced, [proven, plain])
        _ = lookup.start(now: .zero)
        let answer = try says("192.0.2.1", "plain")
        _ = lookup.answered(one, answer, now: .at(3))
        let attempt = LookupAttempt(
            resolver: "proven", reason: .failed(.httpStatus(503)), milliseconds: 40)
        #expect(
            lookup.failed(zero, .httpStatus(503), now: .at(40)) == [
                .disarmAlarm, .settle(answer, attempts: [attempt]),
            ])
    }

    @Test func `a plain answer of "no such name" is held back like any other`() throws {
        var lookup = machine(.raced, [proven, plain])
        _ = lookup.start(now: .zero)
        let denial = Said.nothing(.noSuchName, soa: 30, to: question, by: "plain")
        #expect(lookup.answered(one, denial, now: .at(3)) == [.armAlarm(.at(503))])
        let truth = try says("192.0.2.1", "proven")
        let evidence = try #require(
            Disagreement(authenticated: truth, plain: denial, millisecondsApart: -6))
        #expect(
            lookup.answered(zero, truth, now: .at(9)) == [
                .disarmAlarm, .disagree(evidence), .settle(truth, attempts: []),
            ])
    }

    @Test func `without a window the first answer settles unless a proven one is there`() throws {
        var lookup = machine(.raced, [proven, plain], window: 0)
        _ = lookup.start(now: .zero)
        let answer = try says("192.0.2.1", "plain")
        #expect(
            lookup.answered(one, answer, now: .at(3)) == [
                .abandon(zero), .disarmAlarm, .settle(answer, attempts: []),
            ])
    }

    // MARK: Hedged

    @Test func `a late source gets company, and may still win`() throws {
        var late = proven
        late.hedgeDelayMilliseconds = 80
        var lookup = machine(.hedged(after: nil), [late, PlannedSource(label: "other")])
        #expect(lookup.start(now: .zero) == [.ask(zero, by: .at(5_000)), .armAlarm(.at(80))])
        #expect(
            lookup.timeReached(now: .at(80)) == [
                .ask(one, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
        let answer = try says("192.0.2.1", "proven")
        #expect(
            lookup.answered(zero, answer, now: .at(90)) == [
                .abandon(one), .disarmAlarm, .settle(answer, attempts: []),
            ])
    }

    @Test func `a source that is late when another answers is missed, so that it comes to rest`()
        throws
    {
        var silent = proven
        silent.hedgeDelayMilliseconds = 80
        var lookup = machine(.hedged(after: nil), [silent, PlannedSource(label: "other")])
        _ = lookup.start(now: .zero)
        _ = lookup.timeReached(now: .at(80))
        let answer = try says("192.0.2.1", "other")
        #expect(
            lookup.answered(one, answer, now: .at(83)) == [
                .miss(zero), .abandon(zero), .disarmAlarm, .settle(answer, attempts: []),
            ])
    }

    @Test func `a source that was asked a moment ago is not missed`() throws {
        var lookup = machine(
            .hedged(after: .milliseconds(20)), [proven, PlannedSource(label: "other")])
        _ = lookup.start(now: .zero)
        _ = lookup.timeReached(now: .at(20))
        let answer = try says("192.0.2.1", "other")
        // Its own measure is 300 ms.
        #expect(
            lookup.answered(one, answer, now: .at(25)) == [
                .abandon(zero), .disarmAlarm, .settle(answer, attempts: []),
            ])
    }

    @Test func `whoever delays a proven source does not put it to rest by plain answers`() throws {
        var lookup = machine(.hedged(after: nil), [proven, plain])
        _ = lookup.start(now: .zero)
        _ = lookup.timeReached(now: .at(300))
        let lie = try says("192.0.2.66", "plain")
        #expect(lookup.answered(one, lie, now: .at(310)) == [.armAlarm(.at(810))])
        #expect(
            lookup.timeReached(now: .at(810)) == [
                .abandon(zero), .disarmAlarm, .settle(lie, attempts: []),
            ])
    }

    @Test func `a source that fails is followed at once, not after the delay`() {
        var lookup = machine(.hedged(after: .milliseconds(200)), [proven, plain])
        _ = lookup.start(now: .zero)
        #expect(
            lookup.failed(zero, .unreachable("refused"), now: .at(4)) == [
                .ask(one, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
    }

    @Test func `a plain answer calls in every proven source that was not asked yet`() throws {
        var lookup = machine(.hedged(after: .milliseconds(200)), [plain, proven])
        _ = lookup.start(now: .zero)
        let answer = try says("192.0.2.66", "plain")
        #expect(
            lookup.answered(zero, answer, now: .at(4)) == [
                .ask(one, by: .at(5_000)), .armAlarm(.at(504)),
            ])
        let truth = try says("192.0.2.1", "proven")
        let evidence = try #require(
            Disagreement(authenticated: truth, plain: answer, millisecondsApart: -46))
        #expect(
            lookup.answered(one, truth, now: .at(50)) == [
                .disarmAlarm, .disagree(evidence), .settle(truth, attempts: []),
            ])
    }

    // MARK: Rest, policy, end

    @Test func `a source that rests is asked only when no other is left`() throws {
        var tired = proven
        tired.restMilliseconds = 900
        var lookup = machine(.ordered, [tired, plain])
        #expect(lookup.start(now: .zero) == [.ask(one, by: .at(1_500)), .armAlarm(.at(1_500))])
        let rest = LookupAttempt(
            resolver: "proven", reason: .failed(.resting(milliseconds: 900)))
        let failure = LookupAttempt(
            resolver: "plain", reason: .failed(.unreachable("refused")), milliseconds: 7)
        #expect(
            lookup.failed(one, .unreachable("refused"), now: .at(7)) == [
                .ask(zero, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
        let answer = try says("192.0.2.1", "proven")
        #expect(
            lookup.answered(zero, answer, now: .at(8)) == [
                .disarmAlarm, .settle(answer, attempts: [rest, failure]),
            ])
    }

    @Test func `addresses that cannot be right send the lookup on`() throws {
        let question = try Said.question("www.example.com")
        var rules = LookupRules()
        rules.policy = .standard
        var lookup = LookupMachine(
            question: question, sources: [plain, proven], deadline: .at(5_000), rules: rules)
        _ = lookup.start(now: .zero)
        let lie = try Said.addresses(["93.184.216.34", "10.0.0.1"], to: question)
        let bad = try IPAddress("10.0.0.1")
        #expect(
            lookup.answered(zero, lie, now: .at(2)) == [
                .refuse(zero, [bad]), .ask(one, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
        let why = LookupAttempt.Reason.failed(
            .refusedAddresses(AddressPolicy.explanation([bad])))
        let attempts = [
            LookupAttempt(resolver: "plain", reason: why, milliseconds: 2),
            LookupAttempt(resolver: "proven", reason: why, milliseconds: 1),
        ]
        let failure = LookupFailure.exhausted(question: question, attempts: attempts)
        #expect(
            lookup.answered(one, lie, now: .at(3)) == [
                .refuse(one, [bad]), .disarmAlarm, .fail(failure),
            ])
        #expect(failure.label == "refused_addresses")
    }

    @Test(arguments: [
        (ServiceBinding.Parameter(key: 4, value: [127, 0, 0, 1]), "127.0.0.1"),
        (.init(key: 6, value: [UInt8](repeating: 0, count: 15) + [1]), "::1"),
    ])
    func `addresses that a service binding hints at are judged like others`(
        hint: ServiceBinding.Parameter, address: String
    ) throws {
        let question = try Said.question("www.example.com", .https)
        var rules = LookupRules()
        rules.policy = .standard
        var lookup = LookupMachine(
            question: question, sources: [plain, proven], deadline: .at(5_000), rules: rules)
        _ = lookup.start(now: .zero)
        let lie = try Said.binding(1, [hint], to: question)
        #expect(
            lookup.answered(zero, lie, now: .at(2)) == [
                .refuse(zero, [try IPAddress(address)]), .ask(one, by: .at(5_000)),
                .armAlarm(.at(5_000)),
            ])
        // In alias mode values mean nothing.
        let alias = try Said.binding(0, [hint], to: question)
        #expect(
            lookup.answered(one, alias, now: .at(3)).last
                == .settle(
                    alias,
                    attempts: [
                        LookupAttempt(
                            resolver: "plain",
                            reason: .failed(
                                .refusedAddresses(
                                    AddressPolicy.explanation([try IPAddress(address)]))),
                            milliseconds: 2)
                    ]))
    }

    @Test func `the deadline ends a race with all that were asked`() {
        var lookup = machine(.raced, [proven, plain, PlannedSource(label: "third")])
        _ = lookup.start(now: .zero)
        let attempts = ["proven", "plain", "third"].map {
            LookupAttempt(resolver: $0, reason: .failed(.timedOut(tries: 1)), milliseconds: 5_000)
        }
        #expect(
            lookup.timeReached(now: .at(5_000)) == [
                .abandon(zero), .abandon(one), .abandon(two), .disarmAlarm,
                .fail(.timedOut(question: question, attempts: attempts)),
            ])
    }

    @Test func `the last waiter leaving abandons everybody`() {
        var lookup = machine(.raced, [proven, plain])
        _ = lookup.start(now: .zero)
        #expect(
            lookup.stopped() == [.abandon(zero), .abandon(one), .disarmAlarm, .fail(.cancelled)])
    }
}

/// An ordered lookup whose proven source is late.
@Suite struct OverdueSourceTests {
    private let question: Question
    private let zero = QueryID(source: 0)
    private let one = QueryID(source: 1)
    private let late = LookupAttempt(
        resolver: "proven", reason: .failed(.timedOut(tries: 1)), milliseconds: 1_500)

    init() throws { question = try Said.question() }

    private func machineAfterPatience() -> LookupMachine {
        var lookup = LookupMachine(
            question: question,
            sources: [
                PlannedSource(label: "proven"),
                PlannedSource(label: "plain", isAuthenticated: false),
            ], deadline: .at(5_000))
        #expect(lookup.start(now: .zero) == [.ask(zero, by: .at(1_500)), .armAlarm(.at(1_500))])
        #expect(
            lookup.timeReached(now: .at(1_500)) == [
                .miss(zero), .ask(one, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
        return lookup
    }

    @Test func `a plain answer waits for a proven source that is late, and loses to it`() throws {
        var lookup = machineAfterPatience()
        let forged = try Said.addresses(["192.0.2.66"], to: question, by: "plain")
        #expect(lookup.answered(one, forged, now: .at(1_510)) == [.armAlarm(.at(2_010))])
        let truth = try Said.addresses(["192.0.2.1"], to: question, by: "proven")
        let evidence = try #require(
            Disagreement(authenticated: truth, plain: forged, millisecondsApart: -190))
        #expect(
            lookup.answered(zero, truth, now: .at(1_700)) == [
                .disarmAlarm, .disagree(evidence), .settle(truth, attempts: [late]),
            ])
    }

    @Test func `a plain answer counts when the late source stays silent for the window`() throws {
        var lookup = machineAfterPatience()
        let answer = try Said.addresses(["192.0.2.1"], to: question, by: "plain")
        _ = lookup.answered(one, answer, now: .at(1_510))
        #expect(
            lookup.timeReached(now: .at(2_010)) == [
                .abandon(zero), .disarmAlarm, .settle(answer, attempts: [late]),
            ])
    }

    @Test func `when the plain source fails the late one gets the window and no more`() {
        var lookup = machineAfterPatience()
        let failure = LookupAttempt(
            resolver: "plain", reason: .failed(.unreachable("refused")), milliseconds: 20)
        #expect(
            lookup.failed(one, .unreachable("refused"), now: .at(1_520)) == [.armAlarm(.at(2_020))])
        #expect(
            lookup.timeReached(now: .at(2_020)) == [
                .abandon(zero), .disarmAlarm,
                .fail(.exhausted(question: question, attempts: [late, failure])),
            ])
    }
}
