import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import TestSupport
import Testing

/// A source that answers, fails, or says nothing, as the dice fall; sometimes on another thread, and
/// sometimes after it was cancelled.
private struct RandomBackend: ResolverBackend {
    let label: String
    let isAuthenticated = false
    let supportedTypes: Set<RecordType>? = nil

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        for _ in 0..<Int.random(in: 0...20) { await Task.yield() }
        switch Int.random(in: 0..<8) {
        case 0: throw .unreachable("refused")
        case 1: return Said.nothing(.serverFailure, to: question, by: label)
        case 2: return Said.nothing(.noError, to: question, by: label)
        case 3: return Said.nothing(.noSuchName, soa: 0, to: question, by: label)
        case 4:
            // Silent until it is cancelled or its time is up.
            while !Task.isCancelled, SystemMonotonicClock().now() < deadline { await Task.yield() }
            throw Task.isCancelled ? .cancelled : .timedOut(tries: 1)
        default:
            // TTL 0, so that every lookup asks.
            guard
                let testimony = try? Said.addresses(
                    [question.type == .a ? "192.0.2.1" : "2001:db8::1"], ttl: 0, to: question,
                    by: label)
            else { throw .unexpected("no testimony") }
            return testimony
        }
    }
}

@Suite(.timeLimit(.minutes(3))) struct ResolverStressTests {
    /// Counts how often each waiter is told.
    private final class Counts: Sendable {
        private let told = Locked<[Int: Int]>([:])

        func tell(_ number: Int) { told.withLock { $0[number, default: 0] += 1 } }

        var all: [Int: Int] { told.withLock { $0 } }
    }

    @Test func `under random answers, cancels and time-outs everybody is told exactly once`()
        async throws
    {
        let resolver = Resolver(sources: [
            RandomBackend(label: "one"), RandomBackend(label: "two"),
        ])
        let names = try (0..<6).map { try HostName("n\($0).test") }
        let counts = Counts()
        let total = 3_000
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<total {
                group.addTask {
                    let patience = Duration.microseconds(Int64.random(in: 0...30_000))
                    let work = resolver.startResolving(
                        .name(names[number % names.count]), patience: patience
                    ) { _ in counts.tell(number) }
                    guard Bool.random() else { return }
                    for _ in 0..<Int.random(in: 0...30) { await Task.yield() }
                    work?.stop()
                    if Bool.random() { work?.stop() }
                }
            }
        }
        #expect(await eventually(withinMilliseconds: 60_000) { counts.all.count == total })
        #expect(await eventually(withinMilliseconds: 60_000) { resolver.isIdle })
        #expect(counts.all.values.allSatisfy { $0 == 1 })
    }

    @Test func `tasks that are cancelled at any moment end, each once, and leave nothing behind`()
        async throws
    {
        let resolver = Resolver(sources: [
            RandomBackend(label: "one"), RandomBackend(label: "two"),
        ])
        let names = try (0..<4).map { try HostName("n\($0).test") }
        let ended = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<2_000 {
                let task = Task {
                    let question = Question(name: names[number % names.count], type: .a)
                    let patience = Duration.microseconds(Int64.random(in: 0...30_000))
                    _ = try? await resolver.lookup(question, patience: patience)
                }
                group.addTask {
                    for _ in 0..<Int.random(in: 0...20) { await Task.yield() }
                    if Bool.random() { task.cancel() }
                    await task.value
                    return true
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(ended == 2_000)
        #expect(await eventually(withinMilliseconds: 60_000) { resolver.isIdle })
    }
}
