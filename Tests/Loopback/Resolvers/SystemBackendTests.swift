import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSSystem
import HTTPDNSWire
import TestSupport
import Testing

@Suite struct SystemBackendTests {
    /// In every hosts file, so that no packet leaves the machine.
    @Test func `the hosts file is honoured`() async throws {
        let question = Question(name: try HostName("localhost"), type: .a)
        let testimony = try await SystemBackend(ttlSeconds: 7).ask(question, deadline: .soon)
        #expect(testimony.code == .noError)
        #expect(testimony.answers.map { $0.data } == [.address(try IPAddress("127.0.0.1"))])
        #expect(testimony.answers.map { $0.ttlSeconds } == [7])
        #expect(testimony.source.transport == .system)
        #expect(testimony.source.server == nil)
    }

    @Test func `a TTL with the top bit set becomes 0`() async throws {
        let question = Question(name: try HostName("localhost"), type: .a)
        let testimony = try await SystemBackend(ttlSeconds: .max).ask(question, deadline: .soon)
        #expect(testimony.answers.map { $0.ttlSeconds } == [0])
    }

    @Test func `the system's failure is an error with its own word`() async throws {
        let backend = SystemBackend(ttlSeconds: 60, threads: SystemThreads(count: 1)) { _, _ in
            .failed(.unreachable("Temporary failure in name resolution"))
        }
        #expect(
            await backend.failure("ok", .a)
                == .unreachable("Temporary failure in name resolution"))
    }

    @Test func `a stuck look-up ends at its deadline, and so does one that waits for a thread`()
        async throws
    {
        let blocked = BlockedCalls()
        let threads = SystemThreads(count: 1)
        let backend = SystemBackend(ttlSeconds: 60, threads: threads) { _, _ in
            blocked.block()
            return .noSuchName
        }
        defer { blocked.release() }
        let clock = SystemMonotonicClock()
        let stuck = Task {
            await backend.failure("a", .a, deadline: clock.now().adding(milliseconds: 300))
        }
        await blocked.begun(1)
        let waiting = await backend.failure(
            "b", .a, deadline: clock.now().adding(milliseconds: 50))
        #expect(waiting == .timedOut(tries: 0))
        #expect(await stuck.value == .timedOut(tries: 1))
        #expect(blocked.begun == 1)
    }

    @Test func `look-ups go on when a stuck one returns late`() async throws {
        let blocked = BlockedCalls()
        let backend = SystemBackend(ttlSeconds: 60, threads: SystemThreads(count: 1)) { name, _ in
            if name.text.hasPrefix("stuck") { blocked.block() }
            return .noSuchName
        }
        let deadline = SystemMonotonicClock().now().adding(milliseconds: 50)
        #expect(await backend.failure("stuck", .a, deadline: deadline) == .timedOut(tries: 1))
        blocked.release()
        #expect(try await backend.asked("other", .a).code == .noSuchName)
    }

    @Test func `no more look-ups run at once than there are threads`() async throws {
        let running = Locked((now: 0, most: 0))
        let backend = SystemBackend(ttlSeconds: 60, threads: SystemThreads(count: 3)) { _, _ in
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            running.withLock { $0.now -= 1 }
            return .noSuchName
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { _ = await backend.failure("n-\(number)", .a) }
            }
        }
        #expect(running.withLock { $0.most } <= 3)
    }
}
