import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import TestSupport
import Testing

/// What comes at the wrong moment.
@Suite(.timeLimit(.minutes(1))) struct ResolverRaceTests {
    private let source = ScriptedBackend(label: "one")
    private let clock = FakeClock()
    private let alarms = ScriptedAlarms()
    private let question: Question

    init() throws { question = Question(name: try HostName("api.example.test"), type: .a) }

    private func resolver(_ options: ResolverOptions = ResolverOptions()) -> Resolver {
        Resolver(sources: [source], options: options, clock: clock, alarms: alarms)
    }

    @Test func `whoever reads the events of a resolver that is gone comes to their end`()
        async throws
    {
        var resolver: Resolver? = resolver()
        let events = try #require(resolver?.eventStream)
        resolver?.networkDidChange()
        resolver = nil
        var heard: [ResolverEvent] = []
        for await event in events { heard.append(event) }
        #expect(heard == [.networkChanged])
    }

    @Test func `when the last one leaves while the store is read, nobody is asked`() async throws {
        let store = HeldStore()
        var options = ResolverOptions()
        options.store = store
        let resolver = resolver(options)
        let told = Locked<[String]>([])
        let work = resolver.startLookup(question, patience: nil) { result in
            guard case .failure(let failure) = result else { return }
            told.withLock { $0.append(failure.label) }
        }
        work?.stop()
        #expect(told.withLock { $0 } == ["cancelled"])
        #expect(resolver.isIdle)
        store.answerAll(nil)
        #expect(resolver.isIdle)
        #expect(alarms.count == 0)
    }

    @Test func `one who comes after the last has left is not served by the reading of before`()
        async throws
    {
        let store = HeldStore()
        var options = ResolverOptions()
        options.store = store
        let resolver = resolver(options)
        resolver.startLookup(question, patience: nil) { _ in }?.stop()
        let second = Task { try await resolver.lookup(question) }
        while store.count < 2 { await Task.yield() }
        store.answerAll(nil)
        await source.waitUntilAsked(1)
        #expect(source.asked == 1)
        source.answerAll { try Said.addresses(["192.0.2.1"], to: $0) }
        #expect(try await second.value.addresses == [try IPAddress("192.0.2.1")])
        #expect(resolver.isIdle)
    }

    @Test func `a caller who leaves while the network's prefix is asked for is told so`()
        async throws
    {
        var options = ResolverOptions()
        options.nat64 = .detect
        let resolver = resolver(options)
        let told = Locked<[String]>([])
        let work = resolver.startResolving(.address(try IPAddress("198.41.0.4"))) { result in
            guard case .failure(let failure) = result else { return }
            told.withLock { $0.append(failure.label) }
        }
        await source.waitUntilAsked(1)
        work?.stop()
        #expect(told.withLock { $0 } == ["cancelled"])
        source.answerAll { try Said.addresses(["64:ff9b::c000:aa"], to: $0) }
        while !resolver.isIdle { await Task.yield() }
        #expect(told.withLock { $0 } == ["cancelled"])
    }
}

/// A store that speaks when the test says so.
private final class HeldStore: AnswerStore {
    private let waiting = Locked<[@Sendable (StoredAnswer?) -> Void]>([])

    var count: Int { waiting.withLock { $0.count } }

    func find(
        _ question: Question, scope: String, _ found: @escaping @Sendable (StoredAnswer?) -> Void
    ) {
        waiting.withLock { $0.append(found) }
    }

    func keep(_ testimony: Testimony, scope: String, lifeSeconds: UInt32) {}

    func forget(_ question: Question, scope: String) {}

    func removeAll() {}

    func flush() async {}

    func answerAll(_ answer: StoredAnswer?) {
        for found in waiting.withLock({ $0 }) { found(answer) }
    }
}
