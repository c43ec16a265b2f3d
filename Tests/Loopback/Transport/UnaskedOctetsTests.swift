import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTransport
import Testing

/// Octets that come unasked on a kept connection: none of them is ever the answer to the next request.
@Suite(.timeLimit(.minutes(3))) struct UnaskedOctetsTests {
    /// What comes while the connection is idle.
    enum Unasked: CaseIterable, Sendable {
        case requestTimeout, secondAnswer, lateBody, oneOctet, hangUp

        var octets: [UInt8]? {
            switch self {
            case .requestTimeout:
                Array("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n".utf8)
            case .secondAnswer: Array(UnaskedStage.answer("poison").utf8)
            case .lateBody: [UInt8](repeating: 0x78, count: 40_000)
            case .oneOctet: [0x0A]
            case .hangUp: nil
            }
        }
    }

    enum Sent: CaseIterable, Sendable {
        case get, post, streamed
    }

    private func next(_ sent: Sent, _ server: UnaskedServer) throws -> TransportRequest {
        switch sent {
        case .get: return try server.request("/next")
        case .post: return try server.request("/next", .post, body: .bytes(Array("pay".utf8)))
        case .streamed:
            // One that cannot be read twice.
            let source = ScriptedSource([.give(Array("pay".utf8))], length: 3, isReplayable: false)
            return try server.request("/next", .post, body: .stream(source))
        }
    }

    @Test(arguments: UnaskedWire.allCases, Unasked.allCases)
    func `a request goes out once, on a fresh connection, and gets its own answer`(
        wire: UnaskedWire, unasked: Unasked
    ) async throws {
        for sent in Sent.allCases {
            let stage = UnaskedStage(unasked: unasked.octets)
            let server = try UnaskedServer(wire, stage)
            let transport = Transport()
            #expect(await run(try server.request("/first"), transport).text == "first")
            try await server.speak()
            let story = await run(try next(sent, server), transport)
            #expect(story.text == "/next" && story.failure == nil, "\(story.results)")
            #expect(story.head?.status == 200)
            #expect(story.connections.map(\.isReused) == [false])
            #expect(stage.connections(asking: "/next") == [3])
            #expect(stage.asked.last?.body == (sent == .get ? "" : "pay"))
            // That connection is kept as any other.
            let third = await run(try server.request("/third"), transport)
            #expect(third.text == "/third")
            #expect(third.connections.map(\.isReused) == [true])
            #expect(stage.connections(asking: "/third") == [3])
        }
    }

    /// More than one read takes.
    private static let long = String(repeating: "x", count: 400_000)
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

    /// Answers with more behind them, or that leave in doubt where they end.
    private static let unclean: [(method: HTTPMethod, answer: String)] = [
        (.head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        (.head, "HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n" + long),
        (.get, "HTTP/1.1 204 No Content\r\n\r\nhello"),
        (.get, "HTTP/1.1 204 No Content\r\n\r\n" + long),
        (.get, "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"),
        (.get, "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (.get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello"),
        (.get, "HTTP/1.1 304 Not Modified\r\n\r\n" + long),
        (.get, "HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nhello"),
        (.get, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + UnaskedStage.answer("poison")),
        (.get, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n" + long),
        (.get, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + UnaskedStage.answer("poison")),
        (.get, chunked + UnaskedStage.answer("poison")), (.get, chunked + long),
        (.get, chunked + "\n"),
        (.head, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (
            .get,
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
    ]

    @Test(arguments: [UnaskedWire.plain, .tls], unclean.indices)
    func `a connection is not kept behind an answer that more came behind`(
        wire: UnaskedWire, index: Int
    ) async throws {
        let (method, answer) = Self.unclean[index]
        let stage = UnaskedStage(first: answer)
        let server = try UnaskedServer(wire, stage)
        let transport = Transport()
        let first = await run(
            try server.request("/first", method), transport)
        #expect(first.failure == nil, "\(first.results)")
        for (target, isReused) in [("/next", false), ("/third", true)] {
            // Of the same kind, so that the handle is the same.
            let story = await run(try server.request(target, method), transport)
            #expect(story.failure == nil && story.head?.status == 200, "\(story.results)")
            let length = story.head?.fields.first("Content-Length")
            #expect(length == "\(target.utf8.count)")
            #expect(story.connections.map(\.isReused) == [isReused])
            #expect(stage.connections(asking: target) == [2])
        }
    }

    private static let clean: [(method: HTTPMethod, answer: String)] = [
        (.get, UnaskedStage.answer("first")), (.get, chunked),
        (.get, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        (.get, "HTTP/1.1 204 No Content\r\n\r\n"),
        (.get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
        (.get, "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n"),
        (.head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        (.get, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + UnaskedStage.answer("first")),
        (.get, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"),
    ]

    @Test(arguments: UnaskedWire.allCases, clean.indices)
    func `a connection behind a clean answer is kept`(
        wire: UnaskedWire, index: Int
    ) async throws {
        let (method, answer) = Self.clean[index]
        let stage = UnaskedStage(first: answer)
        let server = try UnaskedServer(wire, stage)
        let transport = Transport()
        for round in 0..<3 {
            let story = await run(
                try server.request("/first", method), transport)
            #expect(story.failure == nil, "\(story.results)")
            #expect(story.connections.map(\.isReused) == [round > 0])
        }
        #expect(stage.connections(asking: "/first") == [1, 1, 1])
    }

    @Test func `of many kept connections those that were spoken on are left`() async throws {
        let stage = UnaskedStage(unasked: Unasked.secondAnswer.octets)
        let server = try UnaskedServer(.plain, stage)
        let transport = Transport()
        for round in 1...2 {
            let targets = (0..<16).map { "/\(round)-\($0)" }
            let recorders = targets.map { _ in Recorder() }
            for (target, recorder) in zip(targets, recorders) {
                _ = transport.start(try server.request(target), observer: recorder)
            }
            for (target, recorder) in zip(targets, recorders) {
                let story = await recorder.end()
                #expect(story.text == target && story.failure == nil, "\(story.results)")
                #expect(stage.connections(asking: target).count == 1)
                if round > 1 { #expect(stage.connections(asking: target) != [1]) }
            }
            if round == 1 { try await server.speak() }
        }
        withExtendedLifetime(transport) {}
    }

    @Test func `a request that is cancelled on its way to a fresh connection ends once`()
        async throws
    {
        let stage = UnaskedStage(unasked: Unasked.secondAnswer.octets)
        let server = try UnaskedServer(.plain, stage)
        let transport = Transport()
        _ = await run(try server.request("/first"), transport)
        try await server.speak()
        let recorder = Recorder()
        let transfer = transport.start(try server.request("/next"), observer: recorder)
        transfer.cancel()
        let story = await recorder.end()
        #expect(story.results.count == 1 && story.callsAfterEnd == 0)
        #expect(await run(try server.request("/third"), transport).text == "/third")
    }
}
