import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// Which requests go out a second time, as servers see it.
@Suite(.timeLimit(.minutes(2))) struct ClientRetryTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    private func url(_ server: ScriptedServer) throws -> HTTPURL {
        try HTTPURL("http://shop.example.test:\(server.endpoint.port)/")
    }

    /// Answers one request a connection, and closes upon the second without a word.
    private func givingUpAfterOne() throws -> ScriptedServer {
        try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = connection.readHead()
        }
    }

    /// HTTP/2; after `good` requests it does what `conduct` says, `times` times.
    private func wayward(
        _ conduct: LabResponse.Conduct, after good: Int = 1, times: Int = 1
    ) throws -> LabServer {
        let leaf = try lab.root.leaf(["shop.example.test"])
        var features = LabTLSFeatures()
        features.speaksHTTP2 = true
        let count = Locked(0)
        let server = try LabServer(security: .tls(leaf, features: features)) { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let isWayward = number > good && number <= good + times
            return isWayward
                ? LabResponse().conducting(conduct)
                : .text("\(request.method) \(String(decoding: request.body, as: UTF8.self))")
        }
        try server.start()
        return server
    }

    private func post(_ url: HTTPURL, _ text: String = "pay") -> HTTPRequest {
        HTTPRequest(.post, url, body: .bytes(Array(text.utf8)))
    }

    // MARK: HTTP/1.1

    @Test(arguments: ["GET", "PROPFIND", "REPORT", "MKCOL", "QUERY"])
    func `what may be done twice goes out again where its kept connection was given up`(
        method: String
    ) async throws {
        let server = try givingUpAfterOne()
        let client = try lab.client()
        #expect(try await client.get(try url(server)).text == "ok")
        let answer = try await client.fetch(
            HTTPRequest(try #require(HTTPMethod(method)), try url(server)))
        #expect(answer.text == "ok")
        #expect(answer.report.hops[0].attempts.map(\.label) == ["stale_connection"])
        #expect(server.heads.count == 3)
        #expect(server.connections == 2)
    }

    @Test func `a POST whose kept connection was given up is not sent twice`() async throws {
        let server = try givingUpAfterOne()
        let client = try lab.client()
        #expect(try await client.get(try url(server)).text == "ok")
        let failure = try #require(await client.failure(of: post(try url(server))))
        #expect(failure.label == "connection_lost")
        #expect(failure.report.hops[0].attempts.map(\.label) == ["stale_connection"])
        #expect(server.heads.filter { $0.hasPrefix("POST") }.count == 1)
    }

    @Test func `a request that a fresh connection swallowed is not sent again`() async throws {
        let server = try ScriptedServer { _ = $0.readHead() }
        let failure = try #require(
            await lab.client().failure(of: HTTPRequest(.get, try url(server))))
        #expect(failure.label == "connection_lost")
        #expect(server.heads.count == 1)
    }

    @Test func `a server that gives up every kept connection is left after three repeats`()
        async throws
    {
        // Every connection serves one request, so that each repeat needs a new one.
        let server = try givingUpAfterOne()
        let client = try lab.client()
        for _ in 0..<4 { #expect(try await client.get(try url(server)).text == "ok") }
        #expect(server.heads.count == 7)
    }

    // MARK: HTTP/2

    @Test(arguments: [
        (LabResponse.Conduct.refusesStream, 0), (.leavesUnprocessed, 0), (.leavesUnprocessed, 1),
    ])
    func `what the peer says it has not processed goes out again, a POST too`(
        conduct: LabResponse.Conduct, earlier: Int
    ) async throws {
        let server = try wayward(conduct, after: earlier)
        defer { server.stop() }
        let client = try lab.client()
        for _ in 0..<earlier { #expect(try await client.get(try server.httpURL()).text == "GET ") }
        let answer = try await client.fetch(post(try server.httpURL()))
        #expect(answer.text == "POST pay")
        #expect(answer.report.hops[0].attempts.map(\.label) == ["not_processed"])
        #expect(server.record.requests.filter { $0.method == "POST" }.count == 2)
        #expect(server.record.connections == 2)
    }

    @Test func `a GET that a fresh connection leaves undone goes out again`() async throws {
        let server = try wayward(.leavesUnprocessed, after: 0)
        defer { server.stop() }
        let answer = try await lab.client().get(try server.httpURL())
        #expect(answer.text == "GET ")
        #expect(answer.report.hops[0].attempts.map(\.label) == ["not_processed"])
        #expect(server.record.requests.count == 2)
        #expect(server.record.connections == 2)
    }

    @Test func `what one hears of a connection that is given up holds for all who share it`()
        async throws
    {
        let nginx = try await NginxOrigin(
            try lab.root.leaf(["shop.example.test"]), locations: "keepalive_requests 5;")
        do {
            let client = try lab.client()
            let url = try HTTPURL("https://shop.example.test:\(nginx.endpoint.port)/")
            let order = post(url)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        var done = 0
                        for _ in 0..<10 where try await client.fetch(order).head.status == 200 {
                            done += 1
                        }
                        return done
                    }
                }
                let done = try await group.reduce(0, +)
                #expect(done == 160)
            }
            let lines = try await nginx.log(160)
            #expect(lines.count == 160)
            #expect(lines.allSatisfy { $0.hasPrefix("HTTP/2.0 POST") })
        } catch { Issue.record(error) }
        try await nginx.stop()
    }

    @Test(arguments: [LabResponse.Conduct.refusesStream, .leavesUnprocessed])
    func `a GET that a kept connection refuses goes out again on another`(
        conduct: LabResponse.Conduct
    ) async throws {
        let server = try wayward(conduct)
        defer { server.stop() }
        let client = try lab.client()
        for _ in 0..<2 { #expect(try await client.get(try server.httpURL()).text == "GET ") }
        #expect(server.record.requests.count == 3)
        #expect(server.record.connections == 2)
    }

    @Test func `a refusal that libcurl does not tell from a dead connection repeats no POST`()
        async throws
    {
        let server = try wayward(.refusesStream)
        defer { server.stop() }
        let client = try lab.client()
        #expect(try await client.get(try server.httpURL()).text == "GET ")
        let failure = try #require(await client.failure(of: post(try server.httpURL())))
        #expect(failure.label == "connection_lost")
        #expect(server.record.requests.map(\.method) == ["GET", "POST"])
    }

    @Test func `a stream that is refused each time is given up`() async throws {
        let server = try wayward(.refusesStream, after: 0, times: 100)
        defer { server.stop() }
        let failure = try #require(
            await lab.client().failure(of: post(try server.httpURL())))
        #expect(failure.label == "connection_lost")
        #expect(server.record.requests.count == 4)
    }

    @Test func `a POST whose stream is reset is not sent twice`() async throws {
        let server = try wayward(.resetsUnanswered)
        defer { server.stop() }
        let client = try lab.client()
        #expect(try await client.get(try server.httpURL()).text == "GET ")
        _ = try #require(await client.failure(of: post(try server.httpURL())))
        #expect(server.record.requests.map(\.method) == ["GET", "POST"])
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `when an HTTP 2 connection ends under a request, only what is idempotent goes out again`(
        method: HTTPMethod
    ) async throws {
        let server = try wayward(.closesUnanswered)
        defer { server.stop() }
        let client = try lab.client()
        #expect(try await client.get(try server.httpURL()).text == "GET ")
        let request = HTTPRequest(method, try server.httpURL())
        if method == .get {
            #expect(try await client.fetch(request).text == "GET ")
            #expect(server.record.requests.count == 3)
        } else {
            #expect(await client.failure(of: request)?.label == "connection_lost")
            #expect(server.record.requests.count == 2)
        }
    }

    // MARK: 421

    @Test(arguments: [false, true])
    func `421 is tried once more on a fresh connection, body and all`(isHTTP2: Bool) async throws {
        let leaf = try lab.root.leaf(["shop.example.test"])
        var features = LabTLSFeatures()
        features.speaksHTTP2 = isHTTP2
        let server = try LabServer(security: .tls(leaf, features: features)) { request in
            request.connection == 0
                ? .text("not here", status: 421)
                : LabResponse(body: request.body)
        }
        try server.start()
        defer { server.stop() }
        let answer = try await lab.client().fetch(post(try server.httpURL()))
        #expect(answer.head.status == 200)
        #expect(answer.text == "pay")
        #expect(answer.report.hops[0].attempts.map(\.label) == ["misdirected"])
        #expect(server.record.requests.map(\.connection) == [0, 1])
    }

    @Test func `a server that says 421 each time is believed the second time`() async throws {
        let server = try lab.origin { _ in .text("never here", status: 421) }
        defer { server.stop() }
        let answer = try await lab.client().get(try server.httpURL())
        #expect(answer.head.status == 421)
        #expect(answer.text == "never here")
        #expect(server.record.requests.count == 2)
    }

    // MARK: Hosts that moved

    @Test func `a host whose kept addresses are all dead is asked for anew`() async throws {
        let gone = LabAddress.ipv4(host: 9)
        let origin = try lab.origin()
        defer { origin.stop() }
        let backend = TableBackend(["shop.example.test": [gone]])
        let client = try lab.httpdns([:]) { $0.customResolvers = [backend] }.client
        _ = try await client.resolver.resolve(.name(try HostName("shop.example.test")))
        backend.tell("shop.example.test", [origin.address])
        let answer = try await client.get(try origin.httpURL())
        #expect(answer.text == "hello /")
        let hop = answer.report.hops[0]
        #expect(hop.wasRefreshed)
        #expect(hop.attempts.map(\.label) == ["cannot_connect"])
        #expect(hop.remote?.address == origin.address)
    }

    @Test func `the system is asked last, and only for hosts that are allowed`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let silent = try lab.httpdns([:]) { $0.customResolvers = [BrokenBackend()] }.client
        let host = Host.name(try HostName("shop.example.test"))
        let refused = try #require(
            await silent.failure(of: HTTPRequest(.get, try origin.httpURL())))
        guard case .notResolved = refused.cause else {
            Issue.record("\(refused)")
            return
        }
        var parts = silent.parts
        parts.systemFallback = HTTPDNSClient.SystemFallbackPart(
            rule: { { $0 == host } },
            resolver: Resolver(sources: [TableBackend(["shop.example.test": [origin.address]])]))
        let client = HTTPDNSClient(resolver: silent.resolver, parts: parts)
        let answer = try await client.get(try origin.httpURL())
        #expect(answer.text == "hello /")
        #expect(answer.report.hops[0].systemFallback?.label != nil)
        let other = HTTPRequest(.get, try origin.httpURL(host: "other.example.test"))
        #expect(await client.failure(of: other)?.report.hops[0].systemFallback == nil)
    }

    @Test func `a pinned host is not looked for at the system unless that is said`() throws {
        var pins = PinSet()
        try pins.add(
            ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="], for: "shop.example.test",
            backup: .waived)
        var configuration = HTTPDNSConfiguration()
        configuration.trust = TrustPolicy(roots: .pem(lab.root.certificatePEM), pins: pins)
        configuration.systemFallback.isForAllHosts = true
        let pinned = Host.name(try HostName("shop.example.test"))
        let free = Host.name(try HostName("free.example.test"))
        var part = try #require(try HTTPDNS(configuration).client.parts.systemFallback)
        #expect(part.rule()(free))
        #expect(!part.rule()(pinned))
        configuration.systemFallback.includesPinnedHosts = true
        part = try #require(try HTTPDNS(configuration).client.parts.systemFallback)
        #expect(part.rule()(pinned))
        configuration.systemFallback = SystemFallback()
        #expect(try HTTPDNS(configuration).client.parts.systemFallback == nil)
    }
}

/// A resolver that cannot be reached.
private final class BrokenBackend: ResolverBackend {
    let label = "broken"
    let isAuthenticated = true
    let supportedTypes: Set<RecordType>? = nil

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        throw .unreachable("no route")
    }
}
