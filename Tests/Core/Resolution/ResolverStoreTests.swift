import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import TestSupport
import Testing

/// A store that says what it has found when the test lets it.
private final class SlowStore: AnswerStore {
    private struct State {
        var waiting: [@Sendable (StoredAnswer?) -> Void] = []
        var kept: [Testimony] = []
    }

    private let state = Locked(State())

    var kept: [Testimony] { state.withLock { $0.kept } }
    /// Somebody waits for what it has.
    var isAsked: Bool { state.withLock { !$0.waiting.isEmpty } }

    func find(
        _ question: Question, scope: String, _ found: @escaping @Sendable (StoredAnswer?) -> Void
    ) {
        state.withLock { $0.waiting.append(found) }
    }

    func say(_ found: StoredAnswer?) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for tell in waiting { tell(found) }
    }

    func keep(_ testimony: Testimony, scope: String, lifeSeconds: UInt32) {
        state.withLock { $0.kept.append(testimony) }
    }

    func forget(_ question: Question, scope: String) {}

    func removeAll() {}

    func flush() async {}
}

@Suite(.timeLimit(.minutes(1))) struct ResolverStoreTests {
    private let source = ScriptedBackend(label: "one")
    private let store = SlowStore()
    private let clock = FakeClock()
    private let alarms = ScriptedAlarms()
    private let resolver: Resolver
    private let question: Question

    init() throws {
        question = try Said.question()
        var options = ResolverOptions()
        options.store = store
        resolver = Resolver(sources: [source], options: options, clock: clock, alarms: alarms)
    }

    @Test func `one who leaves while the store is asked leaves nothing behind`() {
        let told = Locked(0)
        let waiting = resolver.startLookup(question, patience: nil) { _ in
            told.withLock { $0 += 1 }
        }
        waiting?.stop()
        #expect(resolver.isIdle)
        store.say(nil)
        #expect(resolver.isIdle)
        #expect(source.asked == 0)
        #expect(told.withLock { $0 } == 1)
        #expect(alarms.count == 0)
    }

    @Test func `patience ends while the store is silent`() {
        let told = Locked<[String]>([])
        _ = resolver.startLookup(question, patience: .milliseconds(100)) { result in
            told.withLock { $0.append((try? result.get()) == nil ? "nothing" : "something") }
        }
        clock.advance(milliseconds: 100)
        alarms.ring(now: clock.now())
        #expect(told.withLock { $0 } == ["nothing"])
        #expect(resolver.isIdle)
    }

    @Test func `a store that says nothing is not waited for longer than a source would take`()
        async
        throws
    {
        let told = Locked<[String]>([])
        _ = resolver.startLookup(question, patience: nil) { result in
            told.withLock { $0.append((try? result.get())?.isCached == false ? "asked" : "else") }
        }
        clock.advance(milliseconds: 99)
        alarms.ring(now: clock.now())
        #expect(source.asked == 0)
        clock.advance(milliseconds: 1)
        alarms.ring(now: clock.now())
        await source.waitUntilAsked(1)
        // What it says now is too late, and changes nothing.
        let old = try Said.addresses(["192.0.2.9"], to: question)
        store.say(StoredAnswer(testimony: old, secondsLeft: 30, secondsOver: 0))
        source.answerAll { try Said.addresses(["192.0.2.1"], to: $0) }
        #expect(await eventually { told.withLock { $0 } == ["asked"] })
        #expect(resolver.isIdle)
        #expect(alarms.count == 0)
    }

    @Test func `a stored service binding is judged by the policy of today`() async throws {
        let question = try Said.question("www.example.com", .https)
        async let answer = resolver.lookup(question)
        while !store.isAsked { await Task.yield() }
        let hint = ServiceBinding.Parameter(key: 4, value: [10, 0, 0, 1])
        let kept = try Said.binding(1, [hint], to: question)
        store.say(StoredAnswer(testimony: kept, secondsLeft: 30, secondsOver: 0))
        await source.waitUntilAsked(1)
        source.answerAll { try Said.binding(1, [], to: $0) }
        #expect(try await answer.testimony.answers.count == 1)
        #expect(try await answer.isCached == false)
    }

    @Test func `those who join while the store is asked are told with the first`() throws {
        let told = Locked<[Bool]>([])
        for _ in 0..<3 {
            _ = resolver.startLookup(question, patience: nil) { result in
                told.withLock { $0.append((try? result.get())?.isCached == true) }
            }
        }
        let kept = try Said.addresses(["192.0.2.1"], to: question)
        store.say(StoredAnswer(testimony: kept, secondsLeft: 30, secondsOver: 0))
        #expect(told.withLock { $0 } == [true, true, true])
        #expect(source.asked == 0)
        #expect(resolver.cachedAddresses(for: question.name, .ipv4).secondsLeft == 30)
    }

    @Test func `what a source says is kept, and a failure is not`() async throws {
        async let answer = resolver.lookup(question)
        while !store.isAsked { await Task.yield() }
        store.say(nil)
        await source.waitUntilAsked(1)
        source.answerAll { try Said.addresses(["192.0.2.1"], to: $0) }
        _ = try await answer
        #expect(store.kept.count == 1)
        let other = try Said.question("other.example.test")
        async let failure = resolver.lookup(other)
        while !store.isAsked { await Task.yield() }
        store.say(nil)
        await source.waitUntilAsked(2)
        source.answerAll { Said.nothing(.serverFailure, to: $0) }
        _ = try await failure
        #expect(store.kept.count == 1)
    }
}
