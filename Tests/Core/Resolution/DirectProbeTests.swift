import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import TestSupport
import Testing

/// Probes of a source that is asked without a task, whose lookups have ended before they begin.
@Suite(.timeLimit(.minutes(1))) struct DirectProbeTests {
    /// Answers before `start` returns, and proves nothing.
    private final class AnsweringSource: DirectBackend {
        let label = "isp"
        let isAuthenticated = false
        let supportedTypes: Set<RecordType>? = nil

        func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony
        {
            throw .unexpected("asked with a task")
        }

        func start(
            _ question: Question, deadline: Monotonic,
            completion: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
        ) -> @Sendable () -> Void {
            if let answer = try? Said.addresses(["192.0.2.1"], to: question, by: label) {
                completion(.success(answer))
            } else {
                completion(.failure(.unexpected("no answer")))
            }
            return {}
        }
    }

    /// Refuses at once until it is told to keep silent.
    private final class TriedSource: DirectBackend {
        typealias Completion = @Sendable (Result<Testimony, QueryFailure>) -> Void

        let label = "tried"
        let isAuthenticated = true
        let supportedTypes: Set<RecordType>? = nil
        let isSilent = Locked(false)
        let asked = Locked<[(question: Question, tell: Completion)]>([])
        let ended = Locked(0)

        func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony
        {
            throw .unexpected("asked with a task")
        }

        func start(
            _ question: Question, deadline: Monotonic, completion: @escaping Completion
        ) -> @Sendable () -> Void {
            guard isSilent.withLock({ $0 }) else {
                completion(.failure(.unreachable("refused")))
                return {}
            }
            asked.withLock { $0.append((question, completion)) }
            return { self.ended.withLock { $0 += 1 } }
        }
    }

    private let tried = TriedSource()
    private let clock = FakeClock()
    private let alarms = ScriptedAlarms()
    private let resolver: Resolver

    init() {
        var options = ResolverOptions()
        options.strategy = .hedged(after: nil)
        resolver = Resolver(
            sources: [AnsweringSource(), tried], options: options, clock: clock, alarms: alarms)
    }

    private func look(_ label: String) async throws {
        let question = Question(name: try HostName(label + ".example.test"), type: .a)
        let answer = try await resolver.lookup(question)
        #expect(answer.addresses == [try IPAddress("192.0.2.1")])
    }

    /// Until the source that failed is tried again.
    private func probe() async throws {
        for label in ["a", "b", "c"] { try await look(label) }
        tried.isSilent.withLock { $0 = true }
        try await look("resting")
        #expect(tried.asked.withLock { $0.isEmpty })
        clock.advance(milliseconds: 1_201)
        try await look("probing")
        #expect(tried.asked.withLock { $0.count } == 1)
        #expect(tried.ended.withLock { $0 } == 0)
        #expect(alarms.count == 1)
    }

    @Test func `a probe that stays silent is ended once, and its source rests`() async throws {
        try await probe()
        clock.advance(milliseconds: SourceHealth.probePatienceMilliseconds)
        alarms.ring(now: clock.now())
        #expect(tried.ended.withLock { $0 } == 1)
        #expect(alarms.count == 0)
        try await look("after")
        #expect(tried.asked.withLock { $0.count } == 1)
        // Its answer comes too late to be heard.
        let (question, tell) = try #require(tried.asked.withLock { $0.first })
        tell(.success(try Said.addresses(["192.0.2.1"], to: question, by: "tried")))
        try await look("still")
        #expect(tried.asked.withLock { $0.count } == 1)
    }

    @Test func `a probe that answers disarms its alarm, and its source is asked again`()
        async throws
    {
        try await probe()
        let (question, tell) = try #require(tried.asked.withLock { $0.first })
        tell(.success(try Said.addresses(["192.0.2.1"], to: question, by: "tried")))
        #expect(alarms.count == 0)
        #expect(tried.ended.withLock { $0 } == 0)
        tried.isSilent.withLock { $0 = false }
        // Asked and refused, which is not a third failure in a row.
        try await look("back")
        tried.isSilent.withLock { $0 = true }
        async let last: Void = look("waited")
        while tried.asked.withLock({ $0.count }) < 2 { await Task.yield() }
        let (again, tellAgain) = try #require(tried.asked.withLock { $0.last })
        tellAgain(.success(try Said.addresses(["192.0.2.1"], to: again, by: "tried")))
        try await last
    }
}
