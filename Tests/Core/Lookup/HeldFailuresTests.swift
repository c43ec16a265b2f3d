import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct HeldFailuresTests {
    typealias Held = HeldFailures<LookupKey>

    private static func key(_ name: String = "api.example.test") throws -> LookupKey {
        LookupKey(question: try Said.question(name), scope: LookupScope(number: 0))
    }

    private static func timedOut() throws -> HeldFailure {
        .failed(.timedOut(question: try Said.question(), attempts: []))
    }

    @Test func `a failure is handed out as it was for a second, and then asked again`() throws {
        var held = Held()
        let failure = HeldFailure.answered(
            Said.nothing(.serverFailure, to: try Said.question()))
        #expect(held.hold(failure, for: try Self.key(), now: .zero) == .at(1_000))
        #expect(held.held(for: try Self.key(), now: .at(999)) == failure)
        #expect(held.held(for: try Self.key(), now: .at(1_000)) == nil)
        #expect(held.held(for: try Self.key("other.test"), now: .at(1)) == nil)
    }

    @Test func `failures in a row are held longer, five seconds at most`() throws {
        var held = Held()
        var now = Monotonic.zero
        var times: [Int64] = []
        for _ in 0..<5 {
            let until = try #require(
                held.hold(try Self.timedOut(), for: try Self.key(), now: now))
            times.append(until.milliseconds(since: now))
            now = until
        }
        #expect(times == [1_000, 2_000, 4_000, 5_000, 5_000])
    }

    @Test func `a success or a quiet time start anew`() throws {
        var held = Held()
        let key = try Self.key()
        held.hold(try Self.timedOut(), for: key, now: .zero)
        held.release(key)
        #expect(held.held(for: key, now: .zero) == nil)
        #expect(held.hold(try Self.timedOut(), for: key, now: .zero) == .at(1_000))
        #expect(held.hold(try Self.timedOut(), for: key, now: .at(5_999)) == .at(7_999))
        #expect(held.hold(try Self.timedOut(), for: key, now: .at(12_999)) == .at(13_999))
        held.removeAll()
        #expect(held.count == 0)
    }

    @Test func `what says something about the name, and what is ours, is never held`() throws {
        let question = try Said.question()
        let tables = LookupAttempt(resolver: "table", reason: .failed(.notCovered))
        let quota = LookupAttempt(
            resolver: "one", reason: .failed(.overQuota(retryAfterMilliseconds: 10)))
        let never: [HeldFailure] = [
            .answered(Said.nothing(.noSuchName, soa: 60, to: question)),
            .answered(Said.nothing(.noError, soa: 60, to: question)),
            .answered(try Said.addresses(["127.0.0.1"], to: question)), .failed(.cancelled),
            .failed(.noSource(question: question)),
            .failed(.exhausted(question: question, attempts: [tables, quota])),
        ]
        var held = Held()
        for failure in never {
            #expect(held.hold(failure, for: try Self.key(), now: .zero) == nil)
        }
        #expect(held.count == 0)
    }

    @Test(arguments: [
        LookupAttempt.Reason.answered(.refused), .failed(.unreachable("refused")),
        .failed(.timedOut(tries: 3)), .failed(.httpStatus(500)),
    ]) func `a lookup in which somebody could not answer is held`(
        reason: LookupAttempt.Reason
    ) throws {
        var held = Held()
        let attempts = [LookupAttempt(resolver: "one", reason: reason)]
        let failure = LookupFailure.exhausted(question: try Said.question(), attempts: attempts)
        #expect(held.hold(.failed(failure), for: try Self.key(), now: .zero) == .at(1_000))
    }

    @Test func `no more keys are held than told, and the oldest gives way`() throws {
        var held = HeldFailures<Int>(capacity: 3)
        for number in 0..<10 {
            held.hold(try Self.timedOut(), for: number, now: .at(Int64(number)))
            #expect(held.count <= 3)
        }
        #expect((0..<10).filter { held.held(for: $0, now: .at(10)) != nil } == [7, 8, 9])
    }
}
