import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import Testing

/// Responses that come before the body of their request is out.
@Suite(.timeLimit(.minutes(3))) struct EarlyAnswerTests {
    let lab: TrustedLab

    init() throws { lab = try TrustedLab() }

    /// More than the windows of HTTP/2 let through unasked.
    private static let long = [UInt8](repeating: 0x62, count: 1_000_000)

    /// Does `answer` as soon as the head of a request with a body is there; others are told "ok".
    private func server(
        noting resets: Locked<[UInt32]> = Locked([]),
        _ answer: @escaping @Sendable (_ stream: UInt32, _ server: HTTP2Script) -> Void
    ) throws -> RawTLSServer {
        let identity = try lab.root.leaf(["early.example.test"], commonName: "Lab origin")
        return try RawTLSServer(identity, .http2) {
            let script = HTTP2Script { stream, body, server in
                if body.isEmpty { server.reply(stream, Array("ok".utf8)) }
            }
            script.onFrame = { [weak script] type, flags, stream in
                if type == 0x3 { resets.withLock { $0.append(stream) } }
                guard let script, type == 0x1, flags & 1 == 0 else { return }
                answer(stream, script)
            }
            return script
        }
    }

    private func request(
        _ server: RawTLSServer, _ body: RequestBody = .none
    ) throws -> TransportRequest {
        try secureRequest(
            to: "early.example.test", at: Endpoint(address: server.address, port: server.port),
            verifier: lab.verifier
        ) {
            if case .none = body { return }
            $0.method = .post
            $0.body = body
            // What never ends would otherwise be noticed after a minute.
            $0.limits.idleMilliseconds = 30_000
        }
    }

    private static func say(
        _ stream: UInt32, _ server: HTTP2Script, status: String = "200", _ text: String = "no"
    ) {
        server.reply(
            stream, Array(text.utf8), status: status,
            fields: [("content-length", String(text.utf8.count))])
    }

    @Test(arguments: ["200", "413"])
    func `a whole response ends the exchange, though its server takes no more of the body`(
        status: String
    ) async throws {
        let resets = Locked<[UInt32]>([])
        let server = try server(noting: resets) { Self.say($0, $1, status: status) }
        let transport = Transport()
        let story = await run(try request(server, .bytes(Self.long)), transport)
        #expect(story.text == "no" && story.failure == nil, "\(story.results)")
        #expect(story.head?.status == Int(status))
        let next = await run(try request(server), transport)
        #expect(next.text == "ok")
        #expect(next.connections.map(\.isReused) == [true])
        #expect(resets.withLock { $0 } == [1])
    }

    @Test func `a response without a length is told when the request is out`() async throws {
        let server = try server { stream, server in
            server.frame(0x8, flags: 0, stream: stream, [0x01, 0, 0, 0])
            server.reply(stream, Array("early".utf8))
        }
        let transport = Transport()
        for _ in 0..<5 {
            let story = await run(try request(server, .bytes(Self.long)), transport)
            #expect(story.text == "early" && story.failure == nil, "\(story.results)")
        }
    }

    @Test func `a reset without an error behind a whole response takes nothing from it`()
        async throws
    {
        let server = try server { stream, server in
            Self.say(stream, server, status: "401")
            server.reset(stream, code: 0)
        }
        let transport = Transport()
        for _ in 0..<10 {
            let source = ScriptedSource(
                [.give(Self.long), .pending, .give(Self.long)], length: 2_000_000)
            let story = await run(try request(server, .stream(source)), transport)
            #expect(story.text == "no" && story.failure == nil, "\(story.results)")
        }
    }

    @Test func `a small body is out before what its server says to the head alone`() async throws {
        // In one piece: libcurl 7.88 reads all of it or nothing.
        let whole: @Sendable (UInt32) -> [UInt8] = { stream in
            let number = (0..<4).reversed().map { UInt8(truncatingIfNeeded: stream >> ($0 * 8)) }
            // Source: RFC 7541 §6.2.2; 8 is :status in the static table.
            let head: [UInt8] = [0x08, 3] + Array("401".utf8)
            return [0, 0, UInt8(head.count), 0x1, 0x4] + number + head
                + [0, 0, 2, 0x0, 0x1] + number + Array("no".utf8)
                + [0, 0, 4, 0x3, 0x0] + number + [0, 0, 0, 0]
        }
        let server = try server { $1.link?.send(whole($0)) }
        let transport = Transport()
        for round in 0..<10 {
            let recorders = (0..<40).map { _ in Recorder() }
            for recorder in recorders {
                let body = [UInt8](repeating: 0x61, count: 1 + round * 100)
                _ = transport.start(try request(server, .bytes(body)), observer: recorder)
            }
            for recorder in recorders {
                let story = await recorder.end()
                #expect(story.text == "no" && story.failure == nil, "\(story.results)")
            }
        }
    }

    @Test func `a response that is cut short stays an error`() async throws {
        let server = try server { stream, server in
            // Source: RFC 7541 appendix A: 8 is ":status: 200", 28 is "content-length".
            server.frame(0x1, flags: 0x4, stream: stream, [0x88, 0x0F, 0x0D, 2] + Array("50".utf8))
            server.frame(0x0, flags: 0, stream: stream, Array("part".utf8))
            server.reset(stream, code: 0)
        }
        let story = await run(try request(server, .bytes(Self.long)))
        #expect(story.head?.status == 200)
        #expect(story.failure != nil)
    }

    @Test(arguments: ["401 Unauthorized", "200 OK"])
    func `over HTTP 1 as well an early response is told`(status: String) async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nno")
            connection.waitForEnd()
        }
        let story = await run(
            try plainRequest(server, method: .post, body: .bytes(Self.long)))
        #expect(story.text == "no" && story.failure == nil, "\(story.results)")
    }
}
