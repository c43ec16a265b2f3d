import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct LookupMachineTests {
    private let question: Question
    private let first = QueryID(source: 0)
    private let second = QueryID(source: 1)

    init() throws {
        question = try Said.question()
    }

    private func machine(_ labels: [String] = ["one", "two"]) -> LookupMachine {
        LookupMachine(
            question: question, sources: labels.map { PlannedSource(label: $0) },
            deadline: .at(5_000))
    }

    @Test func `the first source's records settle the lookup without asking the second`() throws {
        var lookup = machine()
        #expect(
            lookup.start(now: .zero) == [.ask(first, by: .at(1_500)), .armAlarm(.at(1_500))])
        let testimony = try Said.addresses(["192.0.2.1"], to: question)
        #expect(
            lookup.answered(first, testimony, now: .at(20)) == [
                .disarmAlarm, .settle(testimony, attempts: []),
            ])
    }

    @Test func `an HTTP-DNS service that knows no address is asked first and believed last`() throws
    {
        var lookup = machine()
        _ = lookup.start(now: .zero)
        let empty = Testimony(
            question: question, code: .noError, answers: [], negativeTTLSeconds: 300,
            source: Testimony.Source(resolver: "one", transport: .httpdns))
        #expect(
            lookup.answered(first, empty, now: .at(3)) == [
                .ask(second, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
        let attempts = [
            LookupAttempt(resolver: "one", reason: .emptyAnswer, milliseconds: 3),
            LookupAttempt(resolver: "two", reason: .failed(.httpStatus(503)), milliseconds: 6),
        ]
        #expect(
            lookup.failed(second, .httpStatus(503), now: .at(9)) == [
                .disarmAlarm, .settle(empty, attempts: attempts),
            ])
        #expect(AnswerLife.seconds(of: empty) == 300)
    }

    @Test func `a failed source sends the lookup on, and the last one may use all the time`() throws
    {
        var lookup = machine()
        _ = lookup.start(now: .zero)
        #expect(
            lookup.failed(first, .unreachable("refused"), now: .at(3)) == [
                .ask(second, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
        let testimony = try Said.addresses(["192.0.2.1"], to: question, by: "two")
        let attempt = LookupAttempt(
            resolver: "one", reason: .failed(.unreachable("refused")), milliseconds: 3)
        #expect(
            lookup.answered(second, testimony, now: .at(9)) == [
                .disarmAlarm, .settle(testimony, attempts: [attempt]),
            ])
    }

    @Test func `the lookup fails only when its last source has failed, keeping every reason`() {
        var lookup = machine()
        _ = lookup.start(now: .zero)
        _ = lookup.failed(first, .httpStatus(500), now: .at(1))
        let attempts = [
            LookupAttempt(resolver: "one", reason: .failed(.httpStatus(500)), milliseconds: 1),
            LookupAttempt(
                resolver: "two", reason: .failed(.untrusted("wrong_name")), milliseconds: 1),
        ]
        let failure = LookupFailure.exhausted(question: question, attempts: attempts)
        #expect(
            lookup.failed(second, .untrusted("wrong_name"), now: .at(2)) == [
                .disarmAlarm, .fail(failure),
            ])
        #expect(failure.label == "untrusted")
    }

    @Test func `a silent source is left for the next when its time is up`() {
        var lookup = machine()
        _ = lookup.start(now: .zero)
        #expect(lookup.timeReached(now: .at(1_499)) == [.armAlarm(.at(1_500))])
        #expect(
            lookup.timeReached(now: .at(1_500)) == [
                .abandon(first), .ask(second, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
    }

    @Test func `the deadline ends the lookup`() {
        var lookup = machine(["one"])
        _ = lookup.start(now: .zero)
        let late = LookupAttempt(
            resolver: "one", reason: .failed(.timedOut(tries: 1)), milliseconds: 5_000)
        #expect(
            lookup.timeReached(now: .at(5_000)) == [
                .abandon(first), .disarmAlarm,
                .fail(.timedOut(question: question, attempts: [late])),
            ])
    }

    @Test func `a late or repeated reply is ignored`() throws {
        var lookup = machine()
        _ = lookup.start(now: .zero)
        _ = lookup.timeReached(now: .at(1_500))
        let testimony = try Said.addresses(["192.0.2.1"], to: question)
        #expect(lookup.answered(first, testimony, now: .at(1_600)) == [])
        _ = lookup.answered(second, testimony, now: .at(1_700))
        #expect(lookup.answered(second, testimony, now: .at(1_701)) == [])
        #expect(lookup.failed(second, .cancelled, now: .at(1_702)) == [])
        #expect(lookup.timeReached(now: .at(9_000)) == [])
    }

    @Test func `no such name settles the lookup`() {
        var lookup = machine()
        _ = lookup.start(now: .zero)
        let denial = Said.nothing(.noSuchName, soa: 30, to: question)
        #expect(
            lookup.answered(first, denial, now: .at(1)) == [
                .disarmAlarm, .settle(denial, attempts: []),
            ])
    }

    @Test func `an empty answer without an SOA is only believed when nobody knows better`() throws {
        var lookup = machine()
        _ = lookup.start(now: .zero)
        let empty = Said.nothing(.noError, to: question)
        #expect(
            lookup.answered(first, empty, now: .at(1)) == [
                .ask(second, by: .at(5_000)), .armAlarm(.at(5_000)),
            ])
        let attempts = [
            LookupAttempt(resolver: "one", reason: .emptyAnswer, milliseconds: 1),
            LookupAttempt(resolver: "two", reason: .answered(.serverFailure), milliseconds: 1),
        ]
        #expect(
            lookup.answered(second, Said.nothing(.serverFailure, to: question), now: .at(2)) == [
                .disarmAlarm, .settle(empty, attempts: attempts),
            ])
    }

    @Test func `a server failure is answered when no source does better`() {
        var lookup = machine(["one"])
        _ = lookup.start(now: .zero)
        let failure = Said.nothing(.refused, to: question)
        let attempts = [
            LookupAttempt(resolver: "one", reason: .answered(.refused), milliseconds: 2)
        ]
        #expect(
            lookup.answered(first, failure, now: .at(2)) == [
                .disarmAlarm, .settle(failure, attempts: attempts),
            ])
    }

    @Test func `the last waiter leaving abandons the query`() {
        var lookup = machine()
        _ = lookup.start(now: .zero)
        #expect(lookup.stopped() == [.abandon(first), .disarmAlarm, .fail(.cancelled)])
        #expect(lookup.stopped() == [])
    }

    @Test func `a type that no source can ask for fails at once`() {
        var lookup = machine([])
        #expect(lookup.start(now: .zero) == [.fail(.noSource(question: question))])
    }
}
