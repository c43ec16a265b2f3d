import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import Testing

@Suite(.timeLimit(.minutes(1))) struct SessionCookieTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    /// `/set?LINE` sets, everything else echoes what came.
    private func origin() throws -> LabServer {
        try lab.origin { request in
            var answer = LabResponse.text(request.value(of: "Cookie") ?? "none")
            switch request.path {
            case "/set":
                for line in ["a=1; Path=/", "b=2; Path=/deep; HttpOnly", "c=3; Secure"] {
                    answer.fields.append(LabField("set-cookie", line))
                }
            case "/redirect":
                answer = .redirect(to: "/echo")
                answer.fields.append(LabField("Set-Cookie", "hop=1; Path=/"))
            case "/forget":
                answer.fields.append(LabField("Set-Cookie", "a=; Path=/; Max-Age=0"))
            case "/lasting":
                answer.fields.append(
                    LabField("Set-Cookie", "l=1; Max-Age=3600; Domain=example.test"))
            default: break
            }
            return answer
        }
    }

    @Test func `cookies are kept in the session's storage under the name, each with its rules`()
        async throws
    {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        let storage = try #require(session.configuration.httpCookieStorage)
        #expect(await session.load(try origin.page("/set")).text == "none")
        let kept = (storage.cookies ?? []).sorted { $0.name < $1.name }
        #expect(kept.map(\.name) == ["a", "b", "c"])
        #expect(kept.allSatisfy { $0.domain == SessionLab.host })
        #expect(kept.map(\.path) == ["/", "/deep", "/"])
        #expect(kept.map(\.isSecure) == [false, false, true])
        #expect(kept.map(\.isHTTPOnly) == [false, true, false])
        #expect(kept.allSatisfy { $0.isSessionOnly })
        #expect(await session.load(try origin.page("/echo")).text == "a=1; c=3")
        #expect(await session.load(try origin.page("/deep/x")).text == "b=2; a=1; c=3")
    }

    @Test func `a Secure cookie does not go over http, nor to another path or name`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let plain = try lab.lab.origin(security: .plain) { .text($0.value(of: "Cookie") ?? "none") }
        defer { plain.stop() }
        let httpdns = try lab.lab.httpdns([
            SessionLab.host: [LabAddress.ipv4], "other.example.test": [LabAddress.ipv4],
        ])
        let session = try lab.session(httpdns)
        _ = await session.load(try origin.page("/set"))
        #expect(await session.load(try plain.page("/deep")).text == "b=2; a=1")
        let other = await session.load(try plain.page("/deep", host: "other.example.test"))
        #expect(other.text == "none")
    }

    @Test func `a cookie of a redirecting answer goes with the next hop, with a delegate too`()
        async throws
    {
        // User case CK-05.
        let origin = try origin()
        defer { origin.stop() }
        #expect(await (try lab.session()).load(try origin.page("/redirect")).text == "hop=1")
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        session.dataTask(with: try origin.page("/redirect")).resume()
        let story = await recorder.ended()
        #expect(story.data == Data("hop=1".utf8))
        #expect(story.redirects == ["302 /echo"])
    }

    @Test func `an expiry in the past forgets, one in the future is kept`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        let storage = try #require(session.configuration.httpCookieStorage)
        _ = await session.load(try origin.page("/set"))
        _ = await session.load(try origin.page("/forget"))
        #expect(await session.load(try origin.page("/echo")).text == "c=3")
        _ = await session.load(try origin.page("/lasting"))
        let lasting = try #require(storage.cookies?.first { $0.name == "l" })
        #expect(lasting.domain == ".example.test")
        let left = try #require(lasting.expiresDate).timeIntervalSinceNow
        #expect((3_500...3_600).contains(left))
        #expect(!lasting.isSessionOnly)
        #expect(await session.load(try origin.page("/echo")).text.contains("l=1"))
    }

    @Test func `a cookie that replaces another keeps its place, and its octets`() async throws {
        let origin = try lab.origin { request in
            var answer = LabResponse.text(request.value(of: "Cookie") ?? "none")
            if request.path == "/set" {
                answer.fields.append(
                    LabField("Set-Cookie", "\(request.target.dropFirst(5)); Path=/"))
            }
            return answer
        }
        defer { origin.stop() }
        let session = try lab.session()
        for line in ["z=1", "a=1", "z=2"] {
            _ = await session.load(try origin.page("/set?" + line))
        }
        // Source: RFC 6265 §5.3 step 11.3: it is as old as the one before it.
        #expect(await session.load(try origin.page("/echo")).text == "z=2; a=1")
        let heads = Locked<[[UInt8]]>([])
        let server = try FieldOctetsTests.server(
            [FieldOctetsTests.latin, FieldOctetsTests.text], heads)
        let page = { (path: String) in
            try #require(URL(string: "http://\(SessionLab.host):\(server.endpoint.port)\(path)"))
        }
        let other = try lab.session()
        _ = await other.load(try page("/first"))
        let kept = (other.configuration.httpCookieStorage?.cookies ?? []).sorted {
            $0.name < $1.name
        }
        #expect(kept.map(\.value) == ["\u{e9}\u{ff}", "\u{e9}"])
        _ = await other.load(try page("/second"))
        let sent = heads.withLock { $0.last }.flatMap { FieldOctetsTests.line($0, "Cookie") }
        #expect(sent == Array("l=".utf8) + [0xE9, 0xFF] + Array("; u=\u{e9}".utf8))
    }

    @Test func `what the application put into the storage is sent by its own rules`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        let storage = try #require(session.configuration.httpCookieStorage)
        for (name, path) in [("mine", "/"), ("deep", "/deep")] {
            let cookie = try #require(
                HTTPCookie(properties: [
                    .name: name, .value: "1", .domain: SessionLab.host, .path: path,
                ]))
            storage.setCookie(cookie)
        }
        #expect(await session.load(try origin.page("/echo")).text == "mine=1")
    }

    @Test func `a Cookie field of the application's own is sent, as long as the storage has none`()
        async throws
    {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        var request = URLRequest(url: try origin.page("/echo"))
        request.setValue("own=1; two=2", forHTTPHeaderField: "Cookie")
        #expect(await session.load(request).text == "own=1; two=2")
        _ = await session.load(try origin.page("/set"))
        // As with the stock loader, what is stored takes the field's place.
        #expect(await session.load(request).text == "a=1; c=3")
        let off = try lab.session { $0.httpShouldSetCookies = false }
        #expect(await off.load(request).text == "own=1; two=2")
        #expect(origin.record.requests.allSatisfy { $0.values(of: "Cookie").count <= 1 })
    }

    @Test(arguments: [HTTPCookie.AcceptPolicy.always, .onlyFromMainDocumentDomain])
    func `another site as the main document changes nothing, as with the stock loader`(
        policy: HTTPCookie.AcceptPolicy
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session { $0.httpCookieAcceptPolicy = policy }
        var request = URLRequest(url: try origin.page("/set"))
        request.mainDocumentURL = URL(string: "https://elsewhere.test/")
        _ = await session.load(request)
        request.url = try origin.page("/echo")
        #expect(await session.load(request).text == "a=1; c=3")
    }

    @Test(arguments: ["request", "configuration", "storage"])
    func `cookies can be switched off`(by: String) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session { configuration in
            if by == "configuration" { configuration.httpShouldSetCookies = false }
            if by == "storage" { configuration.httpCookieStorage = nil }
        }
        var request = URLRequest(url: try origin.page("/set"))
        if by == "request" { request.httpShouldHandleCookies = false }
        _ = await session.load(request)
        request.url = try origin.page("/echo")
        #expect(await session.load(request).text == "none")
        let kept = session.configuration.httpCookieStorage?.cookies ?? []
        #expect(kept.isEmpty == (by != "configuration"))
    }
}
