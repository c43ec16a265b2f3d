import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTransport
import Testing

/// A request to `host` over the server's route.
func plainRequest(
    _ server: ScriptedServer, method: HTTPMethod = .get, target: String = "/",
    fields: [(String, String)] = [], body: RequestBody = .none,
    change: (inout TransportRequest) throws -> Void = { _ in }
) throws -> TransportRequest {
    var list = HTTPFields()
    for (name, value) in fields { try list.append(name, value) }
    let origin = Origin(scheme: .http, host: .name(try HostName("origin.test")))
    var request = TransportRequest(
        origin: origin, route: try server.route(), method: method, target: target, fields: list,
        body: body, verifier: nil)
    try change(&request)
    return request
}

/// Runs one exchange, on a transport of its own unless one is given.
func run(_ request: TransportRequest, _ transport: Transport = Transport()) async -> Recorder.Story
{
    let recorder = Recorder()
    let transfer = transport.start(request, observer: recorder)
    let story = await recorder.end()
    withExtendedLifetime((transport, transfer)) {}
    return story
}

/// Answers every request that has no body with the same octets, keeping the connection.
func answering(_ response: String, on address: String = "127.0.0.1") throws -> ScriptedServer {
    try ScriptedServer(address: address) { connection in
        while connection.readHead() != nil { connection.send(response) }
    }
}

let okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

@Suite(.timeLimit(.minutes(2))) struct PlainExchangeTests {
    @Test func `the request names the origin and holds nothing that nobody asked for`() async throws
    {
        let server = try answering(okay)
        let request = try plainRequest(server, target: "/a/../b?q=%41&&") {
            $0.decodesContent = false
        }
        let story = await run(request)
        #expect(story.text == "ok")
        #expect(server.heads == ["GET /a/../b?q=%41&& HTTP/1.1\r\nHost: origin.test"])
        #expect(story.connections.map(\.remote) == [server.endpoint])
        #expect(story.peers == [nil])
        #expect(story.head?.url.description == "http://origin.test/a/../b?q=%41&&")
        #expect(story.facts?.remote == server.endpoint)
        #expect(story.facts?.connectedMilliseconds != nil)
    }

    @Test(arguments: [
        ("api.example.com", 80, "api.example.com"),
        ("api.example.com", 8_080, "api.example.com:8080"),
        ("192.0.2.7", 80, "192.0.2.7"), ("192.0.2.7", 443, "192.0.2.7:443"),
        ("2001:db8::7", 80, "[2001:db8::7]"), ("2001:db8::7", 81, "[2001:db8::7]:81"),
    ])
    func `the Host field is the authority of the origin and never the address of the route`(
        host: String, port: UInt16, expected: String
    ) async throws {
        let server = try answering(okay)
        let request = try plainRequest(server) {
            let address = try? IPAddress(host)
            let named = try address.map { Host.address($0) } ?? .name(HostName(host))
            $0.origin = Origin(scheme: .http, host: named, port: Port(port))
            $0.decodesContent = false
        }
        #expect(request.origin.authority == expected)
        let story = await run(request)
        #expect(story.text == "ok")
        #expect(server.heads == ["GET / HTTP/1.1\r\nHost: \(expected)"])
    }

    @Test(
        arguments: [
            ("GET", nil), ("DELETE", nil), ("OPTIONS", nil), ("PROPFIND", nil), ("get", nil),
            ("POST", "0"), ("PUT", "0"), ("PATCH", "0"), ("HEAD", nil),
        ] as [(String, String?)])
    func `a request without a body states a length of 0 only where the method expects one`(
        method: String, length: String?
    ) async throws {
        let isHead = method == "HEAD"
        let server = try answering(
            isHead ? "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" : okay)
        let request = try plainRequest(server, method: try #require(HTTPMethod(method))) {
            $0.decodesContent = false
        }
        let story = await run(request)
        #expect(story.facts != nil)
        #expect(story.text == (isHead ? "" : "ok"))
        let stated = length.map { "\r\nContent-Length: \($0)" } ?? ""
        #expect(server.heads == ["\(method) / HTTP/1.1\r\nHost: origin.test" + stated])
    }

    @Test func `fields go out as given in their order, empty ones too`() async throws {
        let server = try answering(okay)
        let request = try plainRequest(
            server,
            fields: [
                ("X-b", "1"), ("X-Empty", ""), ("x-A", "ä; q=\"1\" "), ("X-b", "2"),
                ("X-Blank", " "), ("User-Agent", "mine"), ("Accept", "text/html"),
                ("Cookie", "a=b"), ("Authorization", "Basic dTpw"),
                ("X-semi", ";"),
            ])
        _ = await run(request)
        let lines = try #require(server.heads.first).split(separator: "\r\n").dropFirst(2)
        #expect(
            lines.filter { !$0.hasPrefix("Accept-Encoding") } == [
                "X-b: 1", "X-Empty:", "x-A: ä; q=\"1\" ", "X-b: 2", "X-Blank:",
                "User-Agent: mine", "Accept: text/html", "Cookie: a=b",
                "Authorization: Basic dTpw", "X-semi: ;",
            ])
    }

    @Test func `fields that frame the message or name the host are the transport's alone`()
        async throws
    {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil, connection.read(3) != nil else { return }
            connection.send(okay)
        }
        let request = try plainRequest(
            server, method: .post,
            fields: [
                ("Host", "evil.test"), ("Content-Length", "7"), ("Transfer-Encoding", "chunked"),
                ("Connection", "close"), ("Upgrade", "h2c"), ("Expect", "100-continue"),
                ("Keep-Alive", "x"), ("TE", "gzip"),
            ], body: .bytes([1, 2, 3])
        ) { $0.decodesContent = false }
        let story = await run(request)
        #expect(story.text == "ok")
        #expect(
            server.heads == ["POST / HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 3"])
    }

    @Test func `gzip is offered and undone only when asked for`() async throws {
        let packed: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6,
            0x10,
            0x36, 5, 0, 0, 0,
        ]
        let server = try ScriptedServer { connection in
            while connection.readHead() != nil {
                connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n")
                connection.send(packed)
            }
        }
        #expect(await run(try plainRequest(server)).text == "hello")
        let raw = await run(try plainRequest(server) { $0.decodesContent = false })
        #expect(raw.body == packed)
        #expect(server.heads.map { $0.contains("Accept-Encoding: ") } == [true, false])
        #expect(server.heads[0].contains("gzip"))
    }

    @Test(arguments: [
        ("/a b", HTTPMethod.get), ("no-slash", .get), ("", .get), ("/a\r\nX: y", .get),
        ("/ä", .get), ("/", HTTPMethod("CONNECT") ?? .get),
    ])
    func `a request that would not be HTTP is not tried`(
        target: String, method: HTTPMethod
    ) async throws {
        let server = try answering(okay)
        let story = await run(try plainRequest(server, method: method, target: target))
        guard case .unavailable? = story.failure else {
            Issue.record("\(String(describing: story.results))")
            return
        }
        #expect(server.connections == 0)
    }

    @Test func `https without a verifier sends nothing`() async throws {
        let server = try answering(okay)
        let story = await run(
            try plainRequest(server) {
                $0.origin = Origin(scheme: .https, host: $0.origin.host)
            })
        guard case .unavailable(let text)? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(text.contains("verifier"))
        #expect(server.connections == 0)
    }
}
