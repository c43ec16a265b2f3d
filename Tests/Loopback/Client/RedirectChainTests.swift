import HTTPDNS
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct RedirectChainTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    @Test func `each hop is resolved and verified under its own name`() async throws {
        let target = try lab.origin(["b.example.test"], at: LabAddress.ipv4(host: 2))
        defer { target.stop() }
        let origin = try lab.origin(["a.example.test"]) { _ in
            .redirect(to: target.url(host: "b.example.test", path: "/there"))
        }
        defer { origin.stop() }
        let backend = TableBackend([
            "a.example.test": [origin.address], "b.example.test": [target.address],
        ])
        let client = try lab.httpdns([:]) { $0.customResolvers = [backend] }.client
        let answer = try await client.get(try origin.httpURL(host: "a.example.test"))
        #expect(answer.text == "hello /there")
        #expect(answer.head.url == (try target.httpURL("/there", host: "b.example.test")))
        #expect(backend.asked == ["a.example.test", "b.example.test"])
        let hosts = answer.report.hops.map { $0.peer?.host.description ?? "unproved" }
        #expect(hosts == ["a.example.test", "b.example.test"])
        #expect(target.record.serverNames == ["b.example.test"])
        #expect(answer.report.hops.map(\.status) == [302, 200])
    }

    @Test func `a hijacker at the second hop gets nothing`() async throws {
        let liar = try lab.origin(["hijacker.invalid"], at: LabAddress.ipv4(host: 66))
        defer { liar.stop() }
        let origin = try lab.origin(["a.example.test"]) { _ in
            .redirect(to: liar.url(host: "b.example.test"))
        }
        defer { origin.stop() }
        let client = try lab.client([
            "a.example.test": [origin.address], "b.example.test": [liar.address],
        ])
        let failure = await client.failure(
            of: HTTPRequest(.get, try origin.httpURL(host: "a.example.test")))
        #expect(failure?.label == "wrong_name")
        #expect(failure?.url.origin.host.description == "b.example.test")
        #expect(liar.awaitConnectionsEnded())
        #expect(liar.record.receivedOctets == 0)
    }

    @Test(arguments: [
        (301, "POST", "GET", ""), (302, "POST", "GET", ""), (303, "PUT", "GET", ""),
        (307, "POST", "POST", "body"), (308, "PUT", "PUT", "body"), (302, "PUT", "PUT", "body"),
    ])
    func `method and body follow the status`(
        status: Int, before: String, after: String, body: String
    ) async throws {
        let origin = try lab.origin {
            $0.path == "/" ? .redirect(to: "/next", status: status) : .text("ok")
        }
        defer { origin.stop() }
        let request = HTTPRequest(
            try #require(HTTPMethod(before)), try origin.httpURL(),
            body: .bytes(Array("body".utf8)))
        #expect(try await lab.client().fetch(request).text == "ok")
        let requests = origin.record.requests
        #expect(requests.map(\.method) == [before, after])
        #expect(requests.map(\.text) == ["body", body])
        // A short redirect is read away, and its connection serves the next hop.
        #expect(origin.record.connections == 1)
    }

    @Test func `Authorization and Cookie stay with the first origin`() async throws {
        let target = try lab.origin(["b.example.test"])
        defer { target.stop() }
        let origin = try lab.origin(["a.example.test"]) { request in
            switch request.path {
            case "/": .redirect(to: "/same")
            default: .redirect(to: target.url(host: "b.example.test"))
            }
        }
        defer { origin.stop() }
        let client = try lab.client([
            "a.example.test": [LabAddress.ipv4], "b.example.test": [LabAddress.ipv4],
        ])
        var request = HTTPRequest(.get, try origin.httpURL(host: "a.example.test"))
        try request.head.fields.append("Authorization", "Bearer secret")
        try request.head.fields.append("Cookie", "own=1")
        try request.head.fields.append("X-Trace", "7")
        _ = try await client.fetch(request)
        let kept = origin.record.requests.map { $0.value(of: "Authorization") }
        #expect(kept == ["Bearer secret", "Bearer secret"])
        let last = try #require(target.record.requests.first)
        #expect(last.value(of: "Authorization") == nil)
        #expect(last.value(of: "Cookie") == nil)
        #expect(last.value(of: "X-Trace") == "7")
    }

    @Test func `a redirect whose body never comes holds up no next hop`() async throws {
        let server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                guard head.hasPrefix("GET / ") else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere")
                    continue
                }
                connection.send(
                    "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 10\r\n\r\n")
                return connection.waitForEnd()
            }
        }
        var request = HTTPRequest(
            .get, try HTTPURL("http://shop.example.test:\(server.endpoint.port)/"))
        // Nothing else ends it within the time of this suite.
        request.limits.idle = .seconds(600)
        request.limits.total = nil
        let answer = try await lab.client().fetch(request)
        #expect(answer.text == "there")
        #expect(answer.report.hops.map(\.status) == [302, 200])
        #expect(server.connections == 2)
    }

    @Test func `twenty redirects are followed, the next is refused`() async throws {
        let origin = try lab.origin { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number == 20 ? .text("there") : .redirect(to: "/\(number + 1)")
        }
        defer { origin.stop() }
        let client = try lab.client()
        let answer = try await client.get(try origin.httpURL("/0"))
        #expect(answer.text == "there")
        #expect(answer.report.hops.count == 21)
        let failure = await client.failure(of: HTTPRequest(.get, try origin.httpURL("/-1")))
        #expect(failure?.cause == .redirectRefused(.tooMany(20)))
    }

    @Test func `from https to http is refused unless allowed`() async throws {
        let plain = try lab.origin(at: LabAddress.ipv4(host: 2), security: .plain)
        defer { plain.stop() }
        let origin = try lab.origin { _ in
            .redirect(to: plain.url(host: "plain.example.test"))
        }
        defer { origin.stop() }
        let client = try lab.client([
            "shop.example.test": [origin.address], "plain.example.test": [plain.address],
        ])
        var request = HTTPRequest(.get, try origin.httpURL())
        #expect(await client.failure(of: request)?.label == "redirect_refused")
        #expect(plain.record.connections == 0)
        request.redirects.allowsDowngrade = true
        #expect(try await client.fetch(request).text == "hello /")
    }

    @Test func `a redirect that is not followed is delivered with its body`() async throws {
        let origin = try lab.origin { _ in
            var answer = LabResponse.text("moved", status: 302)
            answer.fields.append(LabField("Location", "/next"))
            return answer
        }
        defer { origin.stop() }
        var request = HTTPRequest(.get, try origin.httpURL())
        request.followsRedirects = false
        let answer = try await lab.client().fetch(request)
        #expect(answer.head.status == 302)
        #expect(answer.text == "moved")
    }

    @Test func `the body of a followed redirect is never taken for the answer's`() async throws {
        let origin = try lab.origin { request in
            guard request.path == "/" else { return .text("the page") }
            var answer = LabResponse.text(String(repeating: "moved ", count: 20_000), status: 302)
            answer.fields.append(LabField("Location", "/next"))
            return answer
        }
        defer { origin.stop() }
        #expect(try await lab.client().get(try origin.httpURL()).text == "the page")
    }

    @Test func `a stream is not sent twice, and the error says so`() async throws {
        let origin = try lab.origin { _ in .redirect(to: "/next", status: 307) }
        defer { origin.stop() }
        let source = ScriptedSource([.give(Array("once".utf8))], length: nil)
        let request = HTTPRequest(.post, try origin.httpURL(), body: .stream(source))
        let failure = try await lab.client().failure(of: request)
        #expect(failure?.label == "body_not_replayable")
        #expect(origin.record.requests.count == 1)
    }
}
