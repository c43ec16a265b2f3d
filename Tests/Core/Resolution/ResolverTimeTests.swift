import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import TestSupport
import Testing

/// Lookups whose waiters have different patience, on a clock that moves when told.
@Suite(.timeLimit(.minutes(1))) struct ResolverTimeTests {
    private let source = ScriptedBackend(label: "one")
    private let clock = FakeClock()
    private let alarms = ScriptedAlarms()
    private let resolver: Resolver
    private let question: Question

    init() throws {
        question = Question(name: try HostName("api.example.test"), type: .a)
        resolver = Resolver(
            sources: [source], options: ResolverOptions(), clock: clock, alarms: alarms)
    }

    @Test func `one who joins late waits out its own patience, not that of the first`() async throws
    {
        let first = Task { try await resolver.lookup(question) }
        await source.waitUntilAsked(1)
        clock.advance(milliseconds: 4_000)
        let second = Task { try await resolver.lookup(question, patience: .seconds(30)) }
        // Its alarm is there once it has joined: that of the first, of the lookup, and its own.
        while alarms.count < 3 { await Task.yield() }
        clock.advance(milliseconds: 1_000)
        alarms.ring(now: clock.now())
        await #expect(throws: LookupFailure.self) { try await first.value }
        await source.waitUntilAsked(2)
        source.answerAll { try Said.addresses(["192.0.2.1"], to: $0) }
        #expect(try await second.value.addresses == [try IPAddress("192.0.2.1")])
        #expect(alarms.count == 0)
    }

    @Test(arguments: [false, true])
    func `at the end of both, a server's failure is told whatever alarm rings first`(
        lastFirst: Bool
    ) async throws {
        let second = ScriptedBackend(label: "two")
        let resolver = Resolver(
            sources: [source, second], options: ResolverOptions(), clock: clock, alarms: alarms)
        let waiter = Task { try await resolver.lookup(question) }
        await source.waitUntilAsked(1)
        source.answerAll { Said.nothing(.serverFailure, to: $0) }
        await second.waitUntilAsked(1)
        while alarms.count < 2 { await Task.yield() }
        clock.advance(milliseconds: 5_000)
        alarms.ring(now: clock.now(), lastFirst: lastFirst)
        let answer = try await waiter.value
        #expect(answer.outcome == .serverFailure(.serverFailure))
        #expect(answer.attempts.map(\.resolver) == ["one", "two"])
        #expect(alarms.count == 0)
    }

    @Test(arguments: [false, true])
    func `a lookup that ends in time-out names its sources whatever alarm rings first`(
        lastFirst: Bool
    ) async throws {
        let waiter = Task { try await resolver.lookup(question) }
        await source.waitUntilAsked(1)
        while alarms.count < 2 { await Task.yield() }
        clock.advance(milliseconds: 5_000)
        alarms.ring(now: clock.now(), lastFirst: lastFirst)
        let failure = await #expect(throws: LookupFailure.self) { try await waiter.value }
        #expect(failure?.attempts.map(\.resolver) == ["one"])
        #expect(alarms.count == 0)
    }

    @Test func `no families at all is a failure, not a wait without end`() async throws {
        let failure = await #expect(throws: ResolutionFailure.self) {
            try await resolver.resolve(.name(question.name), families: [])
        }
        #expect(failure?.label == "no_source")
        #expect(source.asked == 0)
    }

    @Test func `a stopped gathering tells its caller, once`() async throws {
        let told = Locked<[String]>([])
        let work = resolver.startResolving(.name(question.name)) { result in
            guard case .failure(let failure) = result else { return }
            told.withLock { $0.append(failure.label) }
        }
        await source.waitUntilAsked(2)
        work?.stop()
        work?.stop()
        #expect(told.withLock { $0 } == ["cancelled"])
        #expect(alarms.count == 0)
    }
}
