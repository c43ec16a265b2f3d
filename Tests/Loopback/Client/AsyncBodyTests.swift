import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct AsyncBodyTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    private struct SourceBroke: Error, CustomStringConvertible {
        let description = "the camera fell into the water"
    }

    private func chunks(_ count: Int, of size: Int = 10_000) -> AsyncStream<[UInt8]> {
        AsyncStream { continuation in
            for index in 0..<count {
                continuation.yield(
                    [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: size))
            }
            continuation.finish()
        }
    }

    private func request(
        _ origin: LabServer, _ body: RequestBody, _ path: String = "/"
    ) throws -> HTTPRequest {
        HTTPRequest(.put, try origin.httpURL(path), body: body)
    }

    @Test(arguments: [nil, 1_000_000] as [Int64?])
    func `an async sequence is sent whole and in order`(length: Int64?) async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let response = try await lab.client().sendPatiently(
            request(origin, .chunks(chunks(100), length: length)))
        let (body, _) = try await response.collect(upTo: 2_000_000)
        #expect(body == (0..<100).flatMap { [UInt8](repeating: UInt8($0), count: 10_000) })
        let sent = try #require(origin.record.requests.first)
        #expect(sent.value(of: "Content-Length") == length.map(String.init))
        #expect(sent.value(of: "Transfer-Encoding") == (length == nil ? "chunked" : nil))
    }

    @Test func `a sequence without chunks is an empty body`() async throws {
        let origin = try lab.origin { .text("\($0.body.count)") }
        defer { origin.stop() }
        let empty = try await lab.client().fetch(request(origin, .chunks(chunks(0))))
        #expect(empty.text == "0")
        let blank = try await lab.client().fetch(request(origin, .chunks(chunks(3, of: 0))))
        #expect(blank.text == "0")
    }

    @Test func `a sequence that fails fails the exchange, with its own words`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let broken = AsyncThrowingStream<[UInt8], any Error> { continuation in
            continuation.yield([1, 2, 3])
            continuation.finish(throwing: SourceBroke())
        }
        let failure = try await lab.client().failure(of: request(origin, .chunks(broken)))
        #expect(failure?.label == "body_source_failed")
        #expect(failure.map { "\($0)".contains("the camera fell into the water") } == true)
    }

    @Test func `a sequence that breaks its promise of a length is refused`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        for length in [Int64(9_999), 10_001] {
            let failure = try await lab.client().failure(
                of: request(origin, .chunks(chunks(1), length: length)))
            #expect(failure?.label == "body_source_failed", "\(length)")
        }
    }

    @Test(arguments: [true, false])
    func `a redirect sends the body again if that can be done`(canRepeat: Bool) async throws {
        let origin = try lab.origin {
            $0.path == "/first" ? .redirect(to: "/second", status: 307) : LabResponse(body: $0.body)
        }
        defer { origin.stop() }
        let body = RequestBody.chunks(Repeatable(), canRepeat: canRepeat)
        let request = try request(origin, body, "/first")
        guard canRepeat else {
            let failure = try await lab.client().failure(of: request)
            #expect(failure?.label == "body_not_replayable")
            return
        }
        #expect(try await lab.client().fetch(request).text == "onetwo")
    }

    /// Gives the same chunks to each reader.
    private struct Repeatable: AsyncSequence {
        struct AsyncIterator: AsyncIteratorProtocol {
            var left = ["one", "two"]

            mutating func next() async throws -> [UInt8]? {
                left.isEmpty ? nil : Array(left.removeFirst().utf8)
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }

    @Test func `a server that does not read holds the sequence back`() async throws {
        let calls = BlockedCalls()
        let release = ReleaseAtEnd(calls)
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            calls.block()
        }
        let pulled = Locked(0)
        let endless = AsyncStream<[UInt8]> {
            pulled.withLock { $0 += 65_536 }
            return [UInt8](repeating: 0x61, count: 65_536)
        }
        let url = try HTTPURL("http://shop.example.test:\(server.endpoint.port)/")
        let sending = Task { [client = try lab.client()] in
            try await client.sendPatiently(HTTPRequest(.put, url, body: .chunks(endless)))
        }
        #expect(await eventually { pulled.withLock { $0 } > 262_144 })
        // What fits into socket buffers and ours is pulled; then nothing moves.
        let isFlooded = await eventually(withinMilliseconds: 300) {
            pulled.withLock { $0 } > 32 * 1_024 * 1_024
        }
        #expect(!isFlooded)
        sending.cancel()
        let result = await sending.result
        #expect(throws: ExchangeFailure.self) { _ = try result.get() }
        withExtendedLifetime(release) {}
    }

    @Test(arguments: [true, false])
    func `a body that is sent again is sent whole, or the exchange fails`(
        canRepeat: Bool
    ) async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let client = try lab.client()
        let request = try request(origin, .chunks(Repeatable(), canRepeat: canRepeat))
        for number in 1...3 {
            guard canRepeat || number == 1 else {
                #expect(await client.failure(of: request)?.label == "body_not_replayable")
                continue
            }
            #expect(try await client.fetch(request).text == "onetwo", "\(number)")
        }
        #expect(origin.record.requests.count == (canRepeat ? 3 : 1))
    }

    @Test func `a body of which nothing was sent is there for another try`() async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let request = try request(origin, .chunks(Repeatable()))
        let stranger = try ClientLab()
        #expect(await (try stranger.client()).failure(of: request)?.label == "unknown_issuer")
        #expect(try await lab.client().fetch(request).text == "onetwo")
    }

    @Test func `two exchanges at once never share a body`() async throws {
        let calls = BlockedCalls()
        let release = ReleaseAtEnd(calls)
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            calls.block()
        }
        let url = try HTTPURL("http://shop.example.test:\(server.endpoint.port)/")
        let request = HTTPRequest(.put, url, body: .chunks(Repeatable(), canRepeat: true))
        let client = try lab.client()
        let sending = Task { try await client.sendPatiently(request) }
        await calls.begun(1)
        let failure = await client.failure(of: request)
        #expect(failure?.label == "body_source_failed")
        #expect(failure.map { "\($0)".contains("another request is sending it") } == true)
        sending.cancel()
        _ = await sending.result
        // Free again, from its first octet.
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let again = HTTPRequest(.put, try origin.httpURL(), body: request.body)
        #expect(try await client.fetch(again).text == "onetwo")
        withExtendedLifetime(release) {}
    }

    @Test func `the end of the exchange cancels the sequence, whoever holds the request`()
        async throws
    {
        let calls = BlockedCalls()
        let release = ReleaseAtEnd(calls)
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            calls.block()
        }
        let isEnded = Locked(false)
        let endless = AsyncStream<[UInt8]> { continuation in
            continuation.onTermination = { _ in isEnded.withLock { $0 = true } }
            continuation.yield([1])
        }
        let url = try HTTPURL("http://shop.example.test:\(server.endpoint.port)/")
        let request = HTTPRequest(.put, url, body: .chunks(endless))
        let sending = Task { [client = try lab.client()] in
            try await client.sendPatiently(request)
        }
        await calls.begun(1)
        sending.cancel()
        _ = await sending.result
        #expect(await eventually { isEnded.withLock { $0 } })
        withExtendedLifetime((release, request)) {}
    }
}
