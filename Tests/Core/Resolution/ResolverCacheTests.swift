import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import TestSupport
import Testing

/// Stale answers and refreshes, as a resolver's callers see them.
@Suite(.timeLimit(.minutes(1))) struct ResolverCacheTests {
    private let source = ScriptedBackend(label: "one")
    private let clock = FakeClock()
    private let name: HostName
    private let question: Question

    init() throws {
        name = try HostName("api.example.test")
        question = Question(name: name, type: .a)
    }

    private func resolver(_ change: (inout ResolverOptions) -> Void = { _ in }) -> Resolver {
        var options = ResolverOptions()
        options.families = [.ipv4]
        options.patience = .seconds(50)
        change(&options)
        return Resolver(
            sources: [source], options: options, clock: clock, alarms: ScriptedAlarms())
    }

    private func ask(_ resolver: Resolver, _ address: String, times: Int) async throws {
        async let answer = resolver.lookup(question)
        await source.waitUntilAsked(times)
        source.answerAll { try Said.addresses([address], ttl: 60, to: $0) }
        _ = try await answer
    }

    @Test func `a stale answer is given at once, marked, and refreshed in the background`()
        async throws
    {
        let resolver = resolver { $0.staleAnswers = StaleAnswers(maximumAge: .seconds(3_600)) }
        try await ask(resolver, "192.0.2.1", times: 1)
        clock.advance(milliseconds: 61_000)
        let stale = try await resolver.lookup(question)
        #expect(stale.isStale)
        #expect(stale.ttlSeconds == 30)
        #expect(stale.addresses == [try IPAddress("192.0.2.1")])
        await source.waitUntilAsked(2)
        #expect(resolver.cachedAddresses(for: name).isStale == true)
        source.answerAll { try Said.addresses(["192.0.2.2"], ttl: 60, to: $0) }
        while resolver.cachedAddresses(for: name).isStale { await Task.yield() }
        #expect(resolver.cachedAddresses(for: name).first == (try IPAddress("192.0.2.2")))
        #expect(source.asked == 2)
    }

    @Test func `a refresh that fails leaves the stale answer, and is not repeated for 30 s`()
        async throws
    {
        let resolver = resolver { $0.staleAnswers = StaleAnswers(maximumAge: .seconds(3_600)) }
        try await ask(resolver, "192.0.2.1", times: 1)
        clock.advance(milliseconds: 61_000)
        _ = try await resolver.lookup(question)
        await source.waitUntilAsked(2)
        source.answerAll { _ in throw QueryFailure.httpStatus(503) }
        while !resolver.isIdle { await Task.yield() }
        clock.advance(milliseconds: 29_000)
        #expect(try await resolver.lookup(question).isStale)
        #expect(resolver.isIdle)
        clock.advance(milliseconds: 2_000)
        #expect(try await resolver.lookup(question).isStale)
        await source.waitUntilAsked(3)
        source.answerAll { _ in throw QueryFailure.httpStatus(503) }
    }

    @Test func `without leave to serve stale answers an old one is asked for`() async throws {
        let resolver = resolver()
        try await ask(resolver, "192.0.2.1", times: 1)
        clock.advance(milliseconds: 61_000)
        #expect(resolver.cachedAddresses(for: name).isKnown == false)
        try await ask(resolver, "192.0.2.2", times: 2)
        #expect(resolver.cachedHost(for: name)?.addresses == [try IPAddress("192.0.2.2")])
    }

    @Test func `a name in use is asked for before its answer ends, and nobody waits`()
        async throws
    {
        let resolver = resolver { $0.refreshesPopular = true }
        try await ask(resolver, "192.0.2.1", times: 1)
        _ = resolver.cachedAddresses(for: name)
        clock.advance(milliseconds: 55_000)
        let answer = try await resolver.lookup(question)
        #expect(answer.isCached)
        #expect(answer.addresses == [try IPAddress("192.0.2.1")])
        await source.waitUntilAsked(2)
        source.answerAll { try Said.addresses(["192.0.2.2"], ttl: 60, to: $0) }
        while !resolver.isIdle { await Task.yield() }
        #expect(resolver.cachedAddresses(for: name).first == (try IPAddress("192.0.2.2")))
    }

    @Test func `an address that failed has the host asked for again`() async throws {
        let resolver = resolver()
        try await ask(resolver, "192.0.2.1", times: 1)
        clock.advance(milliseconds: 2_000)
        resolver.report(try IPAddress("192.0.2.1"), for: name, outcome: .unreachable)
        #expect(resolver.cachedAddresses(for: name).first == (try IPAddress("192.0.2.1")))
        await source.waitUntilAsked(2)
        source.answerAll { try Said.addresses(["192.0.2.2"], ttl: 60, to: $0) }
        while !resolver.isIdle { await Task.yield() }
        #expect(resolver.cachedAddresses(for: name).first == (try IPAddress("192.0.2.2")))
    }

    @Test func `both families come in turn, and half an answer is not "no address"`() async throws {
        let resolver = resolver { $0.families = [.ipv4, .ipv6] }
        async let six = resolver.lookup(Question(name: name, type: .aaaa))
        await source.waitUntilAsked(1)
        source.answerAll { Said.nothing(.noError, soa: 60, to: $0) }
        _ = try await six
        #expect(resolver.cachedAddresses(for: name).isKnown == false)
        #expect(resolver.cachedAddresses(for: name, .ipv6).isKnown == true)
        try await ask(resolver, "192.0.2.1", times: 2)
        #expect(Array(resolver.cachedAddresses(for: name)) == [try IPAddress("192.0.2.1")])
        resolver.removeCachedAnswers(for: name)
        #expect(resolver.cachedAddresses(for: name, .ipv6).isKnown == false)
    }

    @Test func `life rules decide how long an answer is kept`() async throws {
        let resolver = resolver { $0.lifeRules.all.maximumSeconds = 10 }
        try await ask(resolver, "192.0.2.1", times: 1)
        #expect(resolver.cachedAddresses(for: name).secondsLeft == 10)
        clock.advance(milliseconds: 10_000)
        #expect(resolver.cachedAddresses(for: name).isKnown == false)
    }
}
