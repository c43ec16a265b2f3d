import HTTPDNS
import HTTPDNSPinLab
import TestSupport
import Testing

/// Codings of bodies, and how bodies are framed.
@Suite(.timeLimit(.minutes(2))) struct ContentCodingTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    private func origin(_ coding: String, _ body: [UInt8]) throws -> LabServer {
        try lab.origin { _ in
            LabResponse(fields: [LabField("Content-Encoding", coding)], body: body)
        }
    }

    @Test(
        arguments: [
            (
                "deflate",
                [0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0x06, 0x2C, 0x02, 0x15]
            ),
            ("br", [0x0B, 0x02, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x03]),
            (
                "zstd",
                [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x05, 0x29, 0, 0, 0x68, 0x65, 0x6C, 0x6C, 0x6F]
            ),
        ] as [(String, [UInt8])])
    func `a coding that was offered is undone`(coding: String, packed: [UInt8]) async throws {
        let origin = try origin(coding, packed)
        defer { origin.stop() }
        #expect(try await lab.client().get(try origin.httpURL()).text == "hello")
        let offered = origin.record.requests.first?.value(of: "Accept-Encoding") ?? ""
        #expect(offered.contains(coding))
    }

    @Test func `what follows the end of a coding is a broken answer, and no fault of ours`()
        async throws
    {
        let origin = try origin("gzip", try await zeros(100) + Array("more".utf8))
        defer { origin.stop() }
        let failure = try await lab.client().failure(of: HTTPRequest(.get, try origin.httpURL()))
        #expect(failure?.label == "malformed_response")
    }

    /// So many zeros, packed.
    private func zeros(_ count: Int) async throws -> [UInt8] {
        let made = try await run("sh", ["-c", "head -c \(count) /dev/zero | gzip -9n"])
        try #require(made.status == 0, "\(made.errorText)")
        return made.output
    }

    @Test(arguments: [false, true])
    func `a decompression bomb is ended by name, long before it has gone off`(
        isChunked: Bool
    ) async throws {
        let bomb = try await zeros(200_000_000)
        let origin = try lab.origin { _ in
            let answer = LabResponse(fields: [LabField("Content-Encoding", "gzip")], body: bomb)
            return isChunked ? answer.chunked(octets: 8_192) : answer
        }
        defer { origin.stop() }
        let response = try await lab.client().sendPatiently(
            HTTPRequest(.get, try origin.httpURL()))
        var taken = 0
        var failure: ExchangeFailure?
        do {
            for try await chunk in response.body { taken += chunk.count }
        } catch {
            failure = error as? ExchangeFailure
        }
        #expect(failure?.label == "body_expands_too_far")
        #expect(taken < 20_000_000)
    }

    @Test func `the limits of expansion are the caller's`() async throws {
        let packed = try await zeros(30_000_000)
        let origin = try origin("gzip", packed)
        defer { origin.stop() }
        let client = try lab.client()
        var patient = HTTPRequest(.get, try origin.httpURL())
        patient.limits.maximumExpansion = 2_000
        let body = try await client.sendPatiently(patient).collect(upTo: 40_000_000).body
        #expect(body.count == 30_000_000)
        patient.limits.maximumDecodedOctets = 20_000_000
        #expect(await client.failure(of: patient)?.label == "body_expands_too_far")
    }

    @Test func `a coded body that is cut off is no short success`() async throws {
        let packed: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xCB, 0x48, 0xCD, 0xC9,
            0xC9, 0x07, 0x00, 0x86, 0xA6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
        ]
        let origin = try lab.origin { _ in
            LabResponse(fields: [LabField("Content-Encoding", "gzip")], body: packed)
                .conducting(.closes(afterBodyOctets: 14))
        }
        defer { origin.stop() }
        let request = HTTPRequest(.get, try origin.httpURL())
        #expect(try await lab.client().failure(of: request)?.label == "connection_lost")
    }

    /// The length is right, and the connection ends well: only the coding tells.
    @Test(
        arguments: [
            (
                "gzip",
                [
                    0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0,
                    0x86, 0xA6, 0x10, 0x36, 0x05, 0, 0,
                ]
            ),
            ("deflate", [0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0x06]),
            ("deflate", [0x78]),
            ("br", [0x0B, 0x02, 0x80, 0x68, 0x65, 0x6C]),
            ("zstd", [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x05, 0x29, 0, 0, 0x68, 0x65, 0x6C, 0x6C]),
            ("gzip, br", [0x0B, 0x02, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x03]),
        ] as [(String, [UInt8])])
    func `a body that ends before its coding does is no short success`(
        coding: String, packed: [UInt8]
    ) async throws {
        let origin = try origin(coding, packed)
        defer { origin.stop() }
        let request = HTTPRequest(.get, try origin.httpURL())
        #expect(try await lab.client().failure(of: request)?.label == "malformed_response")
    }

    @Test func `members of gzip follow one another, and padding is none`() async throws {
        let member = try await zeros(100_000)
        let origin = try origin("x-gzip", member + member + [0, 0, 0])
        defer { origin.stop() }
        let request = HTTPRequest(.get, try origin.httpURL())
        let body = try await lab.client().sendPatiently(request).collect(upTo: 300_000).body
        #expect(body == [UInt8](repeating: 0, count: 200_000))
    }

    @Test func `one coding over another is undone, and a coded answer to HEAD has no body`()
        async throws
    {
        let inner = try await zeros(500_000)
        let made = try await run("gzip", ["-n"], input: inner)
        let origin = try origin("gzip, gzip", made.output)
        defer { origin.stop() }
        let client = try lab.client()
        let request = HTTPRequest(.get, try origin.httpURL())
        let body = try await client.sendPatiently(request).collect(upTo: 600_000).body
        #expect(body == [UInt8](repeating: 0, count: 500_000))
        let head = try await client.fetch(HTTPRequest(.head, try origin.httpURL()))
        #expect(head.text.isEmpty)
    }

    @Test func `a part is asked for without codings`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        var part = HTTPRequest(.get, try origin.httpURL())
        try part.head.fields.append("Range", "bytes=0-9")
        _ = try await lab.client().fetch(part)
        #expect(origin.record.requests.map { $0.value(of: "Accept-Encoding") } == [nil])
    }

    // MARK: Framing of requests

    @Test(arguments: [
        [("Content-Length", "4")], [("Content-Length", "3"), ("Content-Length", "4")],
        [("Content-Length", "+3")], [("Transfer-Encoding", "gzip, chunked")],
        [("Transfer-Encoding", "chunked"), ("Content-Length", "3")],
    ])
    func `a request that lies about its own framing is not sent`(
        fields: [(String, String)]
    ) async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        var request = HTTPRequest(.post, try origin.httpURL(), body: .bytes([1, 2, 3]))
        for (name, value) in fields { try request.head.fields.append(name, value) }
        #expect(try await lab.client().failure(of: request)?.label == "unsendable")
        #expect(origin.record.requests.isEmpty)
    }

    @Test func `what a caller says truly of its body goes out once`() async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let client = try lab.client()
        var whole = HTTPRequest(.post, try origin.httpURL(), body: .bytes([0x61, 0x62]))
        try whole.head.fields.append("Content-Length", "2")
        #expect(try await client.fetch(whole).text == "ab")
        // A stream that does not know its length takes the caller's word, and is held to it.
        let steps: [ScriptedSource.Step] = [.give([0x61]), .pending, .give([0x62])]
        var streamed = HTTPRequest(
            .post, try origin.httpURL(), body: .stream(ScriptedSource(steps, length: nil)))
        try streamed.head.fields.append("Content-Length", "2")
        #expect(try await client.fetch(streamed).text == "ab")
        var short = HTTPRequest(
            .post, try origin.httpURL(), body: .stream(ScriptedSource(steps, length: nil)))
        try short.head.fields.append("Content-Length", "3")
        #expect(await client.failure(of: short)?.label == "body_source_failed")
        let lengths = origin.record.requests.map { $0.value(of: "Content-Length") }
        #expect(lengths == ["2", "2"])
        #expect(origin.record.requests.allSatisfy { $0.value(of: "Transfer-Encoding") == nil })
    }

    // MARK: Expect

    @Test func `with Expect the body waits for the server's word`() async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            guard let body = connection.read(3) else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
            connection.send(body)
        }
        let answer = try await lab.client().fetch(try expecting(server))
        #expect(answer.text == "pay")
        #expect(server.heads.count == 1)
        #expect(server.heads[0].contains("Expect: 100-continue"))
    }

    @Test func `a server that refuses the expectation gets the request without it`() async throws {
        let server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                if head.contains("Expect") {
                    connection.send(
                        "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
                } else {
                    guard let body = connection.read(3) else { return }
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
                    connection.send(body)
                }
            }
        }
        let answer = try await lab.client().fetch(try expecting(server))
        #expect(answer.head.status == 200)
        #expect(answer.text == "pay")
        #expect(server.heads.map { $0.contains("Expect") } == [true, false])
    }

    @Test func `a refusal spares the body`() async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        }
        let answer = try await lab.client().fetch(try expecting(server))
        #expect(answer.head.status == 403)
        #expect(answer.text == "no")
    }

    private func expecting(_ server: ScriptedServer) throws -> HTTPRequest {
        let url = try HTTPURL("http://shop.example.test:\(server.endpoint.port)/")
        var request = HTTPRequest(.post, url, body: .bytes(Array("pay".utf8)))
        request.expectsContinue = true
        return request
    }

    // MARK: Ends of responses

    @Test func `what stands behind a response belongs to no other`() async throws {
        let server = try ScriptedServer { connection in
            while connection.readHead() != nil {
                connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                        + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
            }
        }
        let client = try lab.client()
        let url = try HTTPURL("http://shop.example.test:\(server.endpoint.port)/")
        #expect(try await client.get(url).text == "ok")
        #expect(try await client.get(url).text == "ok")
        #expect(server.connections == 2)
    }

    @Test func `a body that HTTP 2 breaks off is no short success`() async throws {
        let leaf = try lab.root.leaf(["shop.example.test"])
        var features = LabTLSFeatures()
        features.speaksHTTP2 = true
        let server = try LabServer(security: .tls(leaf, features: features)) { _ in
            LabResponse(body: [UInt8](repeating: 0x61, count: 100))
                .conducting(.closes(afterBodyOctets: 10))
        }
        try server.start()
        defer { server.stop() }
        let failure = try await lab.client().failure(of: HTTPRequest(.get, try server.httpURL()))
        guard case .connectionLost(_, hadResponse: true)? = failure?.cause else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
