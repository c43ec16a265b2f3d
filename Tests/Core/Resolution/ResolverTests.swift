import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import Testing

@Suite(.timeLimit(.minutes(1))) struct ResolverTests {
    private let source = ScriptedBackend(label: "one")
    private let name: HostName
    /// Long enough for a machine that does other things, too.
    private let patient: ResolverOptions
    private let question: Question

    init() throws {
        name = try HostName("api.example.test")
        var options = ResolverOptions()
        options.patience = .seconds(50)
        patient = options
        question = Question(name: name, type: .a)
    }

    @Test func `a hundred equal questions are asked once`() async throws {
        let resolver = Resolver(sources: [source], options: patient)
        let answers = try await withThrowingTaskGroup(of: LookupAnswer.self) { group in
            for _ in 0..<100 {
                group.addTask { [question] in try await resolver.lookup(question) }
            }
            await source.waitUntilAsked(1)
            // Not before all have had the chance to join: those that come late hit the cache.
            for _ in 0..<100 { await Task.yield() }
            source.answerAll { try Said.addresses(["192.0.2.1"], to: $0) }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 100)
        #expect(source.asked == 1)
        #expect(Set(answers.flatMap(\.addresses)) == [try IPAddress("192.0.2.1")])
    }

    @Test func `the second lookup comes from the cache and says so`() async throws {
        let resolver = Resolver(sources: [source], options: patient)
        async let first = resolver.lookup(question)
        await source.waitUntilAsked(1)
        source.answerAll { try Said.addresses(["192.0.2.1"], to: $0) }
        #expect(try await !first.isCached)
        let second = try await resolver.lookup(question)
        #expect(second.isCached)
        #expect(source.asked == 1)
        #expect(Array(resolver.cachedAddresses(for: name)) == [try IPAddress("192.0.2.1")])
        resolver.removeCachedAnswers()
        #expect(!resolver.cachedAddresses(for: name).isKnown)
    }

    @Test func `cancelling one of two waiters leaves the other its answer`() async throws {
        let resolver = Resolver(sources: [source], options: patient)
        let leaver = Task { try await resolver.lookup(question) }
        await source.waitUntilAsked(1)
        async let stayer = resolver.lookup(question)
        for _ in 0..<100 { await Task.yield() }
        leaver.cancel()
        await #expect(throws: LookupFailure.cancelled) { try await leaver.value }
        source.answerAll { try Said.addresses(["192.0.2.1"], to: $0) }
        #expect(try await stayer.addresses == [try IPAddress("192.0.2.1")])
    }

    @Test func `cancelling the last waiter cancels the query, and the next lookup asks anew`()
        async throws
    {
        let resolver = Resolver(sources: [source], options: patient)
        let only = Task { try await resolver.lookup(question) }
        await source.waitUntilAsked(1)
        only.cancel()
        await #expect(throws: LookupFailure.cancelled) { try await only.value }
        async let again = resolver.lookup(question)
        await source.waitUntilAsked(2)
        source.answerAll { try Said.addresses(["192.0.2.7"], to: $0) }
        #expect(try await again.addresses == [try IPAddress("192.0.2.7")])
    }

    @Test func `a waiter's patience ends its wait, and it hears who was being asked`() async throws
    {
        let resolver = Resolver(sources: [source], options: patient)
        let failure = await #expect(throws: LookupFailure.self) {
            try await resolver.lookup(question, patience: .milliseconds(20))
        }
        #expect(failure?.label == "timed_out")
        #expect(failure?.attempts.map(\.resolver) == ["one"])
        #expect(failure?.attempts.map(\.reason) == [.failed(.timedOut(tries: 1))])
    }

    @Test func `the next source answers when the first cannot, and the reason is kept`()
        async throws
    {
        let second = ScriptedBackend(label: "two")
        let resolver = Resolver(sources: [source, second], options: patient)
        async let answer = resolver.lookup(question)
        await source.waitUntilAsked(1)
        source.answerAll { _ in throw QueryFailure.httpStatus(503) }
        await second.waitUntilAsked(1)
        second.answerAll { try Said.addresses(["192.0.2.2"], to: $0, by: "two") }
        let attempts = try await answer.attempts
        #expect(attempts.map(\.resolver) == ["one"])
        #expect(attempts.map(\.reason) == [.failed(.httpStatus(503))])
    }

    @Test(arguments: ["localhost", "app.localhost"])
    func `localhost is answered without asking`(text: String) async throws {
        let resolver = Resolver(sources: [source], options: patient)
        let host = try await resolver.resolve(.name(try HostName(text)))
        #expect(host.addresses.map(\.description) == ["127.0.0.1", "::1"])
        #expect(host.source.transport == .literal)
        #expect(source.asked == 0)
    }

    @Test func `an address is its own answer`() async throws {
        let resolver = Resolver(sources: [source], options: patient)
        let host = try await resolver.resolve(.address(try IPAddress("192.0.2.9")))
        #expect(host.addresses.map(\.description) == ["192.0.2.9"])
        #expect(source.asked == 0)
    }

    @Test func `A and AAAA are asked together and a missing AAAA does not hide the A`() async throws
    {
        let resolver = Resolver(sources: [source], options: patient)
        async let host = resolver.resolve(.name(name))
        await source.waitUntilAsked(2)
        source.answerAll {
            $0.type == .a
                ? try Said.addresses(["192.0.2.1"], to: $0)
                : Said.nothing(.noError, soa: 30, to: $0)
        }
        #expect(try await host.addresses.map(\.description) == ["192.0.2.1"])
    }
}
