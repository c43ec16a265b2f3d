import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import Testing

/// A peer that ends a stream of HTTP/2 by asking for HTTP/1.1. Source: RFC 9113 §7, HTTP_1_1_REQUIRED.
@Suite(.timeLimit(.minutes(3))) struct DowngradeTests {
    let lab: TrustedLab

    init() throws { lab = try TrustedLab() }

    private static let required: UInt32 = 0xD

    /// Does `answer` with each request over HTTP/2; over HTTP/1.1 each is noted and told "second".
    private func server(
        noting asked: Locked<[String]>,
        _ answer: @escaping @Sendable (_ stream: UInt32, _ server: HTTP2Script) -> Void
    ) throws -> RawTLSServer {
        let identity = try lab.root.leaf(["old.example.test"], commonName: "Lab origin")
        return try RawTLSServer(identity, .http2) {
            DowngradeScript(asked, HTTP2Script { stream, _, server in answer(stream, server) })
        }
    }

    private func request(
        _ server: RawTLSServer, _ body: RequestBody = .none
    ) throws -> TransportRequest {
        try secureRequest(
            to: "old.example.test", at: Endpoint(address: server.address, port: server.port),
            verifier: lab.verifier
        ) {
            $0.limits.idleMilliseconds = 30_000
            if case .none = body { return }
            $0.method = .post
            $0.body = body
        }
    }

    @Test(arguments: [0, 4]) func `one that has begun to answer is not asked again`(
        octets: Int
    ) async throws {
        let asked = Locked<[String]>([])
        let server = try server(noting: asked) { stream, server in
            // `:status` 200 of the static table; neither ends the stream.
            server.frame(0x1, flags: 4, stream: stream, [0x88])
            if octets > 0 {
                server.frame(0x0, flags: 0, stream: stream, Array("part".utf8.prefix(octets)))
            }
            server.reset(stream, code: Self.required)
        }
        for body in [RequestBody.none, .bytes(Array("pay=1".utf8))] {
            let story = await run(try request(server, body))
            #expect(story.failure != nil, "\(story.results)")
            #expect(!story.text.contains("second"))
            if let failure = story.failure {
                guard case .connectionLost = failure else {
                    Issue.record("\(failure)")
                    continue
                }
            }
        }
        #expect(asked.withLock { $0 }.isEmpty)
    }

    @Test func `one that has not is asked over HTTP/1.1, with the whole body`() async throws {
        let asked = Locked<[String]>([])
        let server = try server(noting: asked) { $1.reset($0, code: Self.required) }
        // A transport each: a connection that was kept is used again, and of HTTP/1.1 then.
        let got = await run(try request(server))
        #expect(got.text == "second" && got.head?.version == .http11, "\(got.results)")
        let transport = Transport()
        let posted = await run(try request(server, .bytes(Array("pay=1".utf8))), transport)
        #expect(posted.text == "second" && posted.head?.version == .http11, "\(posted.results)")
        // It can be read once: what may have been sent is not sent again.
        let once = ScriptedSource([.give(Array("pay=2".utf8))], length: 5, isReplayable: false)
        let streamed = await run(try request(server, .stream(once)))
        #expect(streamed.failure != nil && once.rewinds > 0)
        #expect(asked.withLock { $0 } == ["", "pay=1"])
        // A handle that was told to speak HTTP/1.1 serves nobody else.
        let modern = try lab.root.leaf(["old.example.test"], commonName: "Lab origin")
        let other = try RawTLSServer(modern, .http2) {
            HTTP2Script { stream, _, server in server.reply(stream, Array("two".utf8)) }
        }
        let story = await run(try request(other, .bytes(Array("x".utf8))), transport)
        #expect(story.head?.version == .http2)
    }
}

/// HTTP/2 or HTTP/1.1, as the client begins.
private final class DowngradeScript: LinkScript {
    private let asked: Locked<[String]>
    private let modern: HTTP2Script
    private var isModern: Bool?
    private var rest: [UInt8] = []

    init(_ asked: Locked<[String]>, _ modern: HTTP2Script) {
        self.asked = asked
        self.modern = modern
    }

    func opened(_ link: Link) {}

    func received(_ octets: [UInt8], _ link: Link) {
        if isModern == nil {
            isModern = octets.starts(with: Array("PRI".utf8))
            if isModern == true { modern.opened(link) }
        }
        guard isModern == false else { return modern.received(octets, link) }
        rest += octets
        let text = String(decoding: rest, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return }
        let body = text[end.upperBound...]
        let length = text.split(separator: "\r\n").compactMap { line -> Int? in
            guard line.lowercased().hasPrefix("content-length:") else { return nil }
            return Int(line.split(separator: " ").last ?? "")
        }.first
        guard body.utf8.count >= length ?? 0 else { return }
        rest = []
        asked.withLock { $0.append(String(body)) }
        link.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond".utf8))
    }
}
