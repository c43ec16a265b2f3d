import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire
import TestSupport
import Testing

@Suite struct DatagramEngineTests {
    @Test func `a thousand questions at once are all answered`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], engine: DatagramEngine())
        #expect(try await wrongAnswers(backend, count: 1_000) == 0)
    }

    @Test func `questions beyond the open sockets wait their turn`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let engine = DatagramEngine(maximumQuestions: 4)
        let backend = DatagramBackend(servers: [server.endpoint], engine: engine)
        #expect(try await wrongAnswers(backend, count: 100) == 0)
    }

    @Test func `a question that waits for its turn keeps its deadline`() async throws {
        let server = try RawDNSServer { _ in [] }
        defer { server.stop() }
        let engine = DatagramEngine(maximumQuestions: 1)
        let backend = DatagramBackend(servers: [server.endpoint], engine: engine)
        let first = Task { await backend.failure("silent", .a) }
        await server.received(1)
        let deadline = SystemMonotonicClock().now().adding(milliseconds: 50)
        #expect(await backend.failure("silent", .a, deadline: deadline) == .timedOut(tries: 0))
        first.cancel()
        #expect(await first.value == .cancelled)
        #expect(server.arrivals.count == 1)
    }

    @Test(arguments: [(1, false), (64, true)])
    func `a silent attempt keeps its socket only while there is room`(
        sockets: Int, isHeard: Bool
    ) async throws {
        let queries = Locked<[[UInt8]]>([])
        // Answers the first attempt when the second arrives, and only then.
        let server = try RawDNSServer { arrival in
            let all = queries.withLock {
                $0.append(arrival.octets)
                return $0
            }
            guard all.count == 2, let late = ContractZone.octets(answering: all[0]) else {
                return []
            }
            return [.sendToArrival(0, late)]
        }
        defer { server.stop() }
        let backend = DatagramBackend(
            servers: [server.endpoint], tries: 2, firstTryMilliseconds: 200,
            engine: DatagramEngine(maximumQuestions: sockets))
        #expect(await backend.failure("ok", .a) == (isHeard ? nil : .timedOut(tries: 2)))
    }

    @Test func `one socket serves more servers than are remembered, one after the other`()
        async throws
    {
        let engine = DatagramEngine(maximumQuestions: 1)
        for _ in 0..<70 {
            let server = try RawDNSServer { contractActs($0) }
            defer { server.stop() }
            let backend = DatagramBackend(servers: [server.endpoint], engine: engine)
            #expect(try await backend.asked("ok", .a).answers.count == 2)
        }
    }

    @Test func `questions leave from different ports`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], engine: DatagramEngine())
        #expect(try await wrongAnswers(backend, count: 64) == 0)
        let ports = Set(server.arrivals.map { $0.peerPort })
        let ids = Set(server.arrivals.compactMap { $0.message?.id })
        // A few may meet by chance.
        #expect(ports.count > 32)
        #expect(ids.count > 32)
    }

    @Test func `a hundred running questions are cancelled at once`() async throws {
        let server = try RawDNSServer { _ in [] }
        defer { server.stop() }
        let engine = DatagramEngine()
        let backend = DatagramBackend(
            servers: [server.endpoint], firstTryMilliseconds: 60_000, engine: engine)
        let tasks = (0..<100).map { _ in Task { await backend.failure("silent", .a) } }
        await server.received(100)
        let begun = SystemMonotonicClock().now()
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value == .cancelled) }
        // The deadline is 30 s away: well below it is prompt, even on a busy machine.
        #expect(SystemMonotonicClock().now().milliseconds(since: begun) < 5_000)
    }

    @Test func `a task that was cancelled before it asks sends nothing`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], engine: DatagramEngine())
        let task = Task { () -> QueryFailure? in
            withUnsafeCurrentTask { $0?.cancel() }
            return await backend.failure("ok", .a)
        }
        #expect(await task.value == .cancelled)
    }

    @Test func `a cancelled question among others leaves those alone`() async throws {
        let held = Locked<[RawDNSServer.Arrival]>([])
        let server = try RawDNSServer { arrival in
            let isFirst = held.withLock {
                $0.append(arrival)
                return $0.count == 1
            }
            return isFirst ? [] : contractActs(arrival)
        }
        defer { server.stop() }
        let backend = DatagramBackend(
            servers: [server.endpoint], firstTryMilliseconds: 60_000, engine: DatagramEngine())
        let doomed = Task { await backend.failure("ok", .a) }
        await server.received(1)
        async let other = backend.asked("ok", .a)
        doomed.cancel()
        #expect(await doomed.value == .cancelled)
        #expect(try await other.answers.count == 2)
    }

    @Test func `a stopped engine ends what runs and refuses what comes`() async throws {
        let server = try RawDNSServer { _ in [] }
        defer { server.stop() }
        let engine = DatagramEngine()
        let backend = DatagramBackend(
            servers: [server.endpoint], firstTryMilliseconds: 60_000, engine: engine)
        let tasks = (0..<10).map { _ in Task { await backend.failure("silent", .a) } }
        await server.received(10)
        engine.stop()
        for task in tasks { #expect(await task.value == .cancelled) }
        #expect(
            await backend.failure("ok", .a) == .misconfigured("the DNS engine was stopped"))
        engine.stop()
    }

    @Test func `questions and cancellations may race`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], engine: DatagramEngine())
        await withTaskGroup(of: QueryFailure?.self) { group in
            for number in 0..<300 {
                group.addTask { await backend.failure("many-\(number)", .a) }
                if number == 150 { group.cancelAll() }
            }
            for await failure in group { #expect(failure == nil || failure == .cancelled) }
        }
        #expect(try await backend.asked("ok", .a).answers.count == 2)
    }

    /// How many of so many questions at once got another answer than their own.
    private func wrongAnswers(_ backend: DatagramBackend, count: Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<count {
                group.addTask {
                    let expected = IPAddress(octets: [
                        198, 51, UInt8(number >> 8), UInt8(number & 0xFF),
                    ])
                    let testimony = try await backend.asked("many-\(number)", .a)
                    return testimony.answers.map { $0.data }
                        != [expected].compactMap { $0 }.map { .address($0) }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }
}
