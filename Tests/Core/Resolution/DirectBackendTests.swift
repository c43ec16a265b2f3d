import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import Testing

/// A back-end that a resolver asks without a task; `ask` is never to be called.
private final class DirectSource: DirectBackend {
    typealias Completion = @Sendable (Result<Testimony, QueryFailure>) -> Void

    let label = "direct"
    let isAuthenticated = false
    let supportedTypes: Set<RecordType>? = nil
    let asked = Locked<[(question: Question, tell: Completion)]>([])
    let ended = Locked(0)
    /// What every question is told before `start` returns.
    let refusal: QueryFailure?

    init(refusal: QueryFailure? = nil) { self.refusal = refusal }

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        throw .unexpected("asked with a task")
    }

    func start(
        _ question: Question, deadline: Monotonic, completion: @escaping Completion
    ) -> @Sendable () -> Void {
        if let refusal {
            completion(.failure(refusal))
            return {}
        }
        asked.withLock { $0.append((question, completion)) }
        return { self.ended.withLock { $0 += 1 } }
    }

    func waitUntilAsked() async { while asked.withLock({ $0.isEmpty }) { await Task.yield() } }
}

@Suite(.timeLimit(.minutes(1))) struct DirectBackendTests {
    private let question: Question

    init() throws { question = Question(name: try HostName("api.example.test"), type: .a) }

    @Test func `a resolver asks such a back-end without a task and hears its answer`() async throws
    {
        let source = DirectSource()
        let resolver = Resolver(sources: [source])
        async let answer = resolver.lookup(question)
        await source.waitUntilAsked()
        let (asked, tell) = try #require(source.asked.withLock { $0.first })
        let testimony = try Said.addresses(["192.0.2.1"], to: asked)
        tell(.success(testimony))
        // Once more is ignored.
        tell(.success(testimony))
        #expect(try await answer.addresses == [try IPAddress("192.0.2.1")])
        #expect(resolver.isIdle)
    }

    @Test func `a lookup that nobody waits for ends its question`() async throws {
        let source = DirectSource()
        let resolver = Resolver(sources: [source])
        let lookup = Task { try await resolver.lookup(question) }
        await source.waitUntilAsked()
        lookup.cancel()
        await #expect(throws: LookupFailure.cancelled) { _ = try await lookup.value }
        while source.ended.withLock({ $0 == 0 }) { await Task.yield() }
        #expect(resolver.isIdle)
    }

    @Test func `one that refuses at once is followed by the next source`() async throws {
        let second = DirectSource()
        let resolver = Resolver(sources: [DirectSource(refusal: .misconfigured("no")), second])
        async let answer = resolver.lookup(question)
        await second.waitUntilAsked()
        let (asked, tell) = try #require(second.asked.withLock { $0.first })
        tell(.success(try Said.addresses(["192.0.2.2"], to: asked)))
        #expect(try await answer.addresses == [try IPAddress("192.0.2.2")])
    }
}
