import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct StreamingTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    private static let piece = [UInt8](repeating: 0x61, count: 65_536)

    @Test func `a slow reader holds the sender back, and gets the whole body`() async throws {
        let pieces = 1_024
        let sent = Locked(0)
        let server = try ScriptedServer { connection in
            while connection.readHead() != nil {
                let total = pieces * StreamingTests.piece.count
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
                for _ in 0..<pieces {
                    guard connection.send(StreamingTests.piece) else { return }
                    sent.withLock { $0 += StreamingTests.piece.count }
                }
            }
        }
        let client = try lab.client()
        let url = try HTTPURL("http://shop.example.test:\(server.endpoint.port)/")
        let response = try await client.send(HTTPRequest(.get, url))
        var iterator = response.body.makeAsyncIterator()
        var received = try await iterator.nextChunk()?.count ?? 0
        // What fits into socket buffers and ours is sent; then nothing moves.
        let isHeld = await eventually(withinMilliseconds: 300) {
            sent.withLock { $0 } > 32 * 1_024 * 1_024
        }
        #expect(!isHeld)
        while let chunk = try await iterator.nextChunk() { received += chunk.count }
        #expect(received == pieces * StreamingTests.piece.count)
        #expect(response.body.report.hops[0].timings.total != nil)
    }

    @Test func `pieces come as they arrive`() async throws {
        let calls = BlockedCalls()
        let release = ReleaseAtEnd(calls)
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            calls.block()
            connection.send("3\r\ntwo\r\n0\r\n\r\n")
        }
        let url = try HTTPURL("http://shop.example.test:\(server.endpoint.port)/")
        let response = try await lab.client().send(HTTPRequest(.get, url))
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.nextChunk() == Array("one".utf8))
        calls.release()
        #expect(try await iterator.nextChunk() == Array("two".utf8))
        #expect(try await iterator.nextChunk() == nil)
        #expect(try await iterator.nextChunk() == nil)
        withExtendedLifetime(release) {}
    }

    @Test(arguments: [
        LabResponse.Conduct.closes(afterBodyOctets: 500), .resets(afterBodyOctets: 500),
    ])
    func `a body that is cut short is an error`(conduct: LabResponse.Conduct) async throws {
        for framing in [LabResponse.Framing.length, .chunked] {
            let origin = try lab.origin { _ in
                var answer = LabResponse(body: [UInt8](repeating: 0x61, count: 1_000))
                answer.framing = framing
                return answer.conducting(conduct)
            }
            defer { origin.stop() }
            let response = try await lab.client().send(HTTPRequest(.get, try origin.httpURL()))
            let failure = await #expect(throws: ExchangeFailure.self) {
                _ = try await response.collect(upTo: 10_000)
            }
            #expect(failure?.label == "connection_lost", "\(framing)")
            guard case .connectionLost(_, hadResponse: true)? = failure?.cause else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    @Test func `a body longer than wanted is an error, not a cut`() async throws {
        let origin = try lab.origin { _ in LabResponse(body: [UInt8](repeating: 0, count: 10_000)) }
        defer { origin.stop() }
        let client = try lab.client()
        let response = try await client.send(HTTPRequest(.get, try origin.httpURL()))
        let failure = await #expect(throws: ExchangeFailure.self) {
            _ = try await response.collect(upTo: 9_999)
        }
        #expect(failure?.cause == .bodyTooLarge)
        var limited = HTTPRequest(.get, try origin.httpURL())
        limited.limits.maximumBodyOctets = 9_999
        #expect(await client.failure(of: limited)?.cause == .bodyTooLarge)
    }

    @Test func `compressed bodies arrive as they were before`() async throws {
        // `printf hello | gzip -n`
        let packed: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xCB, 0x48, 0xCD, 0xC9,
            0xC9, 0x07, 0x00, 0x86, 0xA6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
        ]
        let origin = try lab.origin { _ in
            LabResponse(fields: [LabField("Content-Encoding", "gzip")], body: packed)
        }
        defer { origin.stop() }
        let client = try lab.client()
        #expect(try await client.get(try origin.httpURL()).text == "hello")
        // Who asks for a coding decodes it.
        var own = HTTPRequest(.get, try origin.httpURL())
        try own.head.fields.append("Accept-Encoding", "gzip")
        let raw = try await client.send(own).collect(upTo: 100)
        #expect(raw.body == packed)
    }

    @Test func `a stream goes up as its source gives it`() async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let steps: [ScriptedSource.Step] = (0..<20).flatMap { _ in
            [.give(StreamingTests.piece), .pending]
        }
        let request = HTTPRequest(
            .post, try origin.httpURL(), body: .stream(ScriptedSource(steps, length: nil)))
        let echo = try await lab.client().fetch(request)
        #expect(echo.text.utf8.count == 20 * StreamingTests.piece.count)
        #expect(origin.record.requests.first?.value(of: "Transfer-Encoding") == "chunked")
    }
}
