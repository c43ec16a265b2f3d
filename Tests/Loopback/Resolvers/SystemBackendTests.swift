import CHTTPDNSSystem
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSSystem
import HTTPDNSWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct SystemBackendTests {
    @Test func `the search list is tried only when that was asked for`() async throws {
        let localhost = try HostName("localhost")
        let found = try await offPool {
            _ = SystemLookup.searchedAddresses(of: localhost, .ipv4)
            let searched = httpdns_search_list_applies()
            _ = SystemLookup.addresses(of: localhost, .ipv4)
            return [searched, httpdns_search_list_applies()]
        }
        #expect(found == [1, 0])
    }

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
        let backend = SystemBackend(ttlSeconds: 60, threads: SystemThreads(count: 1)) { _, _ in
            blocked.block()
            return .noSuchName
        }
        defer { blocked.release() }
        #expect(await stuckFailure(backend, blocked) == .timedOut(tries: 1))
        // The one thread is still in the call that nobody waits for.
        let deadline = SystemMonotonicClock().now().adding(milliseconds: 50)
        #expect(await backend.failure("b", .a, deadline: deadline) == .timedOut(tries: 0))
        #expect(blocked.begun == 1)
    }

    /// What a look-up that has begun to block ends with at its deadline. On a busy machine its thread
    /// may come only after the deadline; then it is given more time.
    private func stuckFailure(
        _ backend: SystemBackend, _ blocked: BlockedCalls
    ) async -> QueryFailure? {
        for attempt in 0..<7 {
            let deadline = SystemMonotonicClock().now().adding(milliseconds: 100 << attempt)
            let failure = await backend.failure("stuck", .a, deadline: deadline)
            if failure != .timedOut(tries: 0) || blocked.begun > 0 { return failure }
        }
        return nil
    }

    @Test func `look-ups go on when a stuck one returns late`() async throws {
        let blocked = BlockedCalls()
        let backend = SystemBackend(ttlSeconds: 60, threads: SystemThreads(count: 1)) { name, _ in
            if name.text.hasPrefix("stuck") { blocked.block() }
            return .noSuchName
        }
        #expect(await stuckFailure(backend, blocked) == .timedOut(tries: 1))
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
