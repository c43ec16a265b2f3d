import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// Requests through proxies: what the proxy is told, and that it is told no more.
@Suite(.timeLimit(.minutes(2))) struct ProxyTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    private func client(
        _ policy: ProxyPolicy, _ backend: TableBackend
    ) throws -> HTTPDNSClient {
        try lab.httpdns([:]) {
            $0.customResolvers = [backend]
            $0.proxies = policy
        }.client
    }

    private func through(
        _ server: ScriptedServer, _ kind: Proxy.Kind = .http, _ target: Proxy.Target = .name,
        _ credentials: Proxy.Credentials? = nil
    ) -> ProxyPolicy {
        ProxyPolicy(
            Proxy(
                kind, host: .address(server.endpoint.address), port: server.endpoint.port,
                target: target, credentials: credentials))
    }

    private let table = TableBackend(["shop.example.test": [LabAddress.ipv4]])

    // MARK: CONNECT

    @Test func `the proxy is given the name, and the certificate is the origin's`() async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let proxy = try ProxyScripts.connect()
        let client = try client(through(proxy), table)
        let url = try origin.httpURL()
        let answer = try await client.fetch(
            HTTPRequest(.post, url, body: .bytes(Array("pay".utf8))))
        #expect(answer.text == "pay")
        let hop = answer.report.hops[0]
        #expect(hop.proxy?.description == "http://127.0.0.1:\(proxy.endpoint.port)")
        #expect(!hop.isRewritten)
        #expect(hop.resolution == nil)
        #expect(hop.remote == proxy.endpoint)
        #expect(hop.peer?.matchedName == "shop.example.test")
        #expect(table.asked.isEmpty)
        #expect(origin.record.serverNames == ["shop.example.test"])
        #expect(
            proxy.heads.map { $0.split(separator: "\r\n").first ?? "" }
                == ["CONNECT shop.example.test:\(origin.port) HTTP/1.1"])
    }

    @Test(arguments: ["", "SSH-2.0-x\r\n", "HTTP/1.1 200", "\u{16}\u{3}\u{1}\u{0}"])
    func `a proxy that closes, or says what is not HTTP, is what is blamed`(
        answer: String
    ) async throws {
        let proxy = try ScriptedServer { connection in
            if connection.readHead() != nil { connection.send(answer) }
        }
        for target in [Proxy.Target.name, .address] {
            let client = try client(through(proxy, .http, target), table)
            for scheme in target == .name ? ["https"] : ["https", "http"] {
                let url = try HTTPURL("\(scheme)://shop.example.test/")
                let failure = try #require(await client.failure(of: HTTPRequest(.get, url)))
                #expect(failure.label == "cannot_connect", "\(failure)")
                #expect(failure.description.contains("the proxy"))
                #expect(!failure.description.contains("TLS"))
            }
        }
    }

    /// What is wrong with an answer to the request to connect, and what it is.
    private static let faultyAnswers = [
        "an interim answer": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "early hints": "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "a long line": "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 500_000)
            + "\r\n\r\n",
        "a long head": "HTTP/1.1 200 OK\r\n" + String(repeating: "X: abc\r\n", count: 100_000)
            + "\r\n",
        "no HTTP": "garbage\r\n\r\n", "another HTTP": "HTTP/2 200 OK\r\n\r\n",
    ]

    @Test(arguments: faultyAnswers.keys.sorted())
    func `whatever a proxy answers wrongly is its fault, and no handshake's`(
        what: String
    ) async throws {
        let answer = try #require(Self.faultyAnswers[what])
        let proxy = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send(answer)
            connection.waitForEnd()
        }
        for (target, scheme) in [
            (Proxy.Target.name, "https"), (.address, "https"), (.address, "http"),
        ] {
            let client = try client(through(proxy, .http, target), table)
            let url = try HTTPURL("\(scheme)://shop.example.test/")
            let failure = try #require(await client.failure(of: HTTPRequest(.get, url)))
            #expect(failure.label == "cannot_connect", "\(failure)")
            #expect(failure.description.contains("the proxy "))
            #expect(!failure.description.contains("TLS"))
        }
    }

    @Test func `a handshake that fails behind the proxy is not the proxy's`() async throws {
        let proxy = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 Connected\r\n\r\nno TLS at all")
        }
        let url = try HTTPURL("https://shop.example.test/")
        let failure = try await client(through(proxy), table).failure(of: HTTPRequest(.get, url))
        #expect(failure?.label == "handshake_failed", "\(String(describing: failure))")
    }

    @Test func `a proxy that leads elsewhere gets no request out of us`() async throws {
        let hijacker = try lab.origin(["hijacker.invalid"])
        defer { hijacker.stop() }
        let proxy = try ProxyScripts.connect(leadingTo: hijacker.port)
        let client = try client(through(proxy), table)
        let url = try HTTPURL("https://shop.example.test/")
        let failure = try #require(await client.failure(of: HTTPRequest(.get, url)))
        #expect(failure.label == "wrong_name")
        #expect(failure.description.contains("through the proxy http://127.0.0.1:"))
        #expect(hijacker.awaitConnectionsEnded())
        #expect(hijacker.record.receivedOctets == 0)
    }

    @Test func `a proxy may be told the address instead`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let proxy = try ProxyScripts.connect()
        let client = try client(through(proxy, .http, .address), table)
        let answer = try await client.get(try origin.httpURL())
        #expect(answer.text == "hello /")
        let hop = answer.report.hops[0]
        #expect(hop.isRewritten)
        #expect(hop.resolution?.addresses == [LabAddress.ipv4])
        #expect(table.asked == ["shop.example.test"])
        #expect(proxy.heads.first?.hasPrefix("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1") == true)
        #expect(origin.record.requests.first?.host == "shop.example.test:\(origin.port)")
        #expect(origin.record.serverNames == ["shop.example.test"])
    }

    @Test func `of several addresses the next is told when one does not do`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let proxy = try ProxyScripts.connect(refusing: "127.0.0.9")
        let backend = TableBackend([
            "shop.example.test": [LabAddress.ipv4(host: 9), LabAddress.ipv4]
        ])
        let client = try client(through(proxy, .http, .address), backend)
        let answer = try await client.get(try origin.httpURL())
        #expect(answer.text == "hello /")
        #expect(answer.report.hops[0].attempts.map(\.label) == ["cannot_connect"])
    }

    @Test func `a proxy that refuses is told of, and nothing is sent`() async throws {
        let proxy = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nno!\n")
        }
        let client = try client(through(proxy), table)
        let url = try HTTPURL("https://shop.example.test/")
        let failure = try #require(await client.failure(of: HTTPRequest(.get, url)))
        #expect(failure.label == "cannot_connect")
        #expect(failure.description.contains("the proxy answered 403"))
    }

    @Test func `credentials are for the proxy alone, and nowhere told`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let proxy = try ProxyScripts.connect()
        let secret = try Proxy.Credentials(user: Secret("me"), password: Secret("hunter2"))
        let policy = through(proxy, .http, .name, secret)
        let answer = try await client(policy, table).get(try origin.httpURL())
        #expect(answer.text == "hello /")
        #expect(proxy.heads[0].contains("Proxy-Authorization: Basic bWU6aHVudGVyMg=="))
        let request = try #require(origin.record.requests.first)
        #expect(request.value(of: "Proxy-Authorization") == nil)
        #expect(!"\(policy)".contains("hunter2"))
        #expect(!"\(answer.report)".contains("hunter2"))
    }

    // MARK: Plain HTTP

    @Test func `a plain request names its host to the proxy, in absolute form`() async throws {
        let proxy = try ScriptedServer { connection in
            while connection.readHead() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let client = try client(through(proxy), table)
        let url = try HTTPURL("http://shop.example.test/echo?a=1")
        var request = HTTPRequest(.get, url)
        // Where a proxy reads the request its own field is no way past `Proxy.Credentials` either.
        try request.head.fields.append("Proxy-Authorization", "Basic bTpo")
        #expect(try await client.fetch(request).text == "ok")
        let lines = try #require(proxy.heads.first).split(separator: "\r\n")
        #expect(lines.first == "GET http://shop.example.test/echo?a=1 HTTP/1.1")
        #expect(lines.contains("Host: shop.example.test"))
        #expect(!lines.contains { $0.lowercased().hasPrefix("proxy-authorization") })
        #expect(table.asked.isEmpty)
    }

    // MARK: SOCKS

    @Test(arguments: [Proxy.Target.name, .address])
    func `SOCKS is told the name or the address, as chosen`(target: Proxy.Target) async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let told = Locked<[String]>([])
        let proxy = try ProxyScripts.socks { text in told.withLock { $0.append(text) } }
        let client = try client(through(proxy, .socks5, target), table)
        let answer = try await client.get(try origin.httpURL())
        #expect(answer.text == "hello /")
        let host = target == .name ? "shop.example.test" : "127.0.0.1"
        #expect(told.withLock { $0 } == ["\(host):\(origin.port)"])
        #expect(origin.record.serverNames == ["shop.example.test"])
        #expect(table.asked.isEmpty == (target == .name))
    }

    @Test func `a SOCKS proxy that refuses is told of`() async throws {
        let proxy = try ScriptedServer { connection in
            _ = connection.read(3)
            connection.send([5, 0xFF])
        }
        let url = try HTTPURL("https://shop.example.test/")
        let failure = try await client(through(proxy, .socks5), table)
            .failure(of: HTTPRequest(.get, url))
        #expect(failure?.label == "cannot_connect")
    }

    // MARK: Who goes through

    @Test func `exceptions and requests of their own mind are connected to directly`() async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let proxy = try ProxyScripts.connect()
        var policy = through(proxy)
        policy.exceptions = ProxyExceptions("example.test")
        let direct = try await client(policy, table).get(try origin.httpURL()).report.hops[0]
        #expect(direct.proxy == nil)
        #expect(direct.isRewritten)
        var request = HTTPRequest(.get, try origin.httpURL())
        request.proxies = ProxyPolicy.none
        let own = try await client(through(proxy), table).fetch(request).report.hops[0]
        #expect(own.proxy == nil)
        #expect(proxy.connections == 0)
    }

    @Test func `a connection through one proxy is not that through another, nor a direct one`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let proxies = [try ProxyScripts.connect(), try ProxyScripts.connect()]
        let client = try client(.none, table)
        for policy in [
            through(proxies[0]), through(proxies[1]), ProxyPolicy.none, through(proxies[0]),
        ] {
            var request = HTTPRequest(.get, try origin.httpURL())
            request.proxies = policy
            _ = try await client.fetch(request)
        }
        #expect(proxies.map(\.connections) == [1, 1])
        #expect(origin.record.connections == 3)
    }
}

/// Small proxies on loopback. Whatever name they are told, they lead to 127.0.0.1.
enum ProxyScripts {
    /// `CONNECT`, to the port that is asked for unless another is given.
    static func connect(
        leadingTo other: Port? = nil, refusing refused: String? = nil
    ) throws -> ScriptedServer {
        try ScriptedServer { connection in
            guard let head = connection.readHead() else { return }
            let words = head.split(separator: " ")
            guard words.count > 2, words[0] == "CONNECT",
                let port = Port(words[1].drop { $0 != ":" }.dropFirst()),
                refused.map({ !words[1].hasPrefix($0) }) ?? true
            else {
                connection.send("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                return
            }
            connection.send("HTTP/1.1 200 Connected\r\n\r\n")
            connection.relay(to: other ?? port)
        }
    }

    /// SOCKS 5 without authentication. Source: RFC 1928.
    static func socks(_ told: @escaping @Sendable (String) -> Void) throws -> ScriptedServer {
        try ScriptedServer { connection in
            guard let greeting = connection.read(2), connection.read(Int(greeting[1])) != nil else {
                return
            }
            connection.send([5, 0])
            guard let request = connection.read(4), let host = host(request[3], connection),
                let octets = connection.read(2),
                let port = Port(UInt16(octets[0]) << 8 | UInt16(octets[1]))
            else { return }
            told("\(host):\(port)")
            connection.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            connection.relay(to: port)
        }
    }

    private static func host(_ kind: UInt8, _ connection: ServerConnection) -> String? {
        switch kind {
        case 1: connection.read(4).map { IPAddress(octets: $0).map(\.description) ?? "?" }
        case 3:
            connection.read(1).flatMap { connection.read(Int($0[0])) }
                .map { String(decoding: $0, as: UTF8.self) }
        default: nil
        }
    }
}
