import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Who is meant and where to connect, under rules.
@Suite(.timeLimit(.minutes(2))) struct RuleRoutingTests {
    let lab: RuleLab

    init() throws { lab = try RuleLab() }

    private func echo(_ names: [String]) throws -> LabServer {
        try lab.origin(names) { request in
            LabResponse.text(
                [
                    request.value(of: "Host") ?? "", request.value(of: "X-Key") ?? "-",
                    request.value(of: "Cookie") ?? "-",
                ]
                .joined(separator: " "))
        }
    }

    @Test func `a mapping changes who is meant: certificate, Host, cookies and URL follow`()
        async throws
    {
        let staging = try echo(["staging.example.test"])
        defer { staging.stop() }
        let mapping = OriginMapping(
            host: .name(try HostName("staging.example.test")), port: staging.port)
        let rules: LiveRules = [
            RequestRule("staging", try .host("shop.example.test"), .map(mapping))
        ]
        let httpdns = try lab.httpdns(["staging.example.test": [LabAddress.ipv4]])
        let session = try lab.session(rules, httpdns)
        let answer = try await session.answer("https://shop.example.test/x?y=z")
        #expect(answer.text == "staging.example.test:\(staging.port) - -")
        #expect(
            answer.response?.url?.absoluteString
                == staging.url(host: "staging.example.test", path: "/x?y=z"))
        #expect(staging.record.serverNames == ["staging.example.test"])
    }

    @Test func `a mapping to a host that cannot prove itself fails`() async throws {
        let impostor = try echo(["other.example.test"])
        defer { impostor.stop() }
        let mapping = OriginMapping(
            host: .name(try HostName("staging.example.test")), port: impostor.port)
        let rules: LiveRules = [RequestRule("staging", .any, .map(mapping))]
        let httpdns = try lab.httpdns(["staging.example.test": [LabAddress.ipv4]])
        let answer = try await lab.session(rules, httpdns).answer("https://other.example.test/")
        #expect(answer.cause?.label == "wrong_name")
        #expect(impostor.record.requests.isEmpty)
    }

    @Test func `addresses change where to connect, and never who is meant`() async throws {
        let origin = try echo(["shop.example.test"])
        defer { origin.stop() }
        let impostor = try lab.origin(
            ["evil.example.test"], at: LabAddress.ipv4(host: 2), port: origin.port)
        defer { impostor.stop() }
        let httpdns = try lab.httpdns([:])
        let url = origin.url(host: "shop.example.test")
        let right: LiveRules = [RequestRule("here", .any, .addresses([LabAddress.ipv4]))]
        let answer = try await lab.session(right, httpdns).answer(url)
        #expect(answer.text == "shop.example.test:\(origin.port) - -")
        let wrong: LiveRules = [RequestRule("there", .any, .addresses([LabAddress.ipv4(host: 2)]))]
        #expect(try await lab.session(wrong, httpdns).answer(url).cause?.label == "wrong_name")
        #expect(impostor.record.requests.isEmpty)
    }

    @Test func `what a rule adds for one host does not follow a redirect to another`() async throws
    {
        let other = try echo(["other.example.test"])
        defer { other.stop() }
        let there = other.url(host: "other.example.test")
        let origin = try lab.origin {
            $0.path == "/r" ? .redirect(to: there, status: 307) : .redirect(to: "/r")
        }
        defer { origin.stop() }
        let rules: LiveRules = [
            RequestRule(
                "key", try .host("shop.example.test"), try .setHeaders(["X-Key": "geheim"]),
                try .addCookies(["sid": "geheim"]))
        ]
        let httpdns = try lab.httpdns([
            "shop.example.test": [LabAddress.ipv4], "other.example.test": [LabAddress.ipv4],
        ])
        let delegate = RuledDelegate()
        let session = try lab.session(rules, httpdns, delegate: delegate)
        let url = try #require(URL(string: origin.url(host: "shop.example.test")))
        session.dataTask(with: url).resume()
        let story = await delegate.ended()
        #expect(
            String(decoding: story.data, as: UTF8.self) == "other.example.test:\(other.port) - -")
        #expect(origin.record.requests.map { $0.value(of: "X-Key") } == ["geheim", "geheim"])
        #expect(
            origin.record.requests.map { $0.value(of: "Cookie") } == ["sid=geheim", "sid=geheim"])
        #expect(story.redirected.allSatisfy { $0.value(forHTTPHeaderField: "X-Key") == nil })
        #expect(story.redirects.count == 2)
        try rules.expect("key", called: 2)
    }

    @Test func `a body follows a 307 through rules, from a real server and from a stub`()
        async throws
    {
        let origin = try lab.origin { request in
            request.path == "/moved"
                ? .redirect(to: "/end", status: 307) : LabResponse(body: request.body)
        }
        defer { origin.stop() }
        let body = Data(repeating: 7, count: 300_000)
        let rules: LiveRules = [
            RequestRule("tag", .any, try .setHeaders(["X-Key": "1"])),
            RequestRule("stub", try .path("/stub"), .stub(.redirect(to: "/moved", status: 307))),
        ]
        let session = try lab.session(rules)
        for path in ["/moved", "/stub"] {
            var request = URLRequest(
                url: try #require(URL(string: origin.url(host: "shop.example.test", path: path))))
            request.httpMethod = "POST"
            #expect(await session.uploadAnswer(request, from: body).data == body, "\(path)")
        }
    }

    @Test func `cookies of a rule stand beside those that are kept`() async throws {
        let origin = try lab.origin { request in
            var response = LabResponse.text(request.value(of: "Cookie") ?? "-")
            if request.path == "/set" {
                response.fields.append(LabField("Set-Cookie", "kept=1; Secure"))
            }
            return response
        }
        defer { origin.stop() }
        let rules: LiveRules = [RequestRule("add", .any, try .addCookies(["mine": "2"]))]
        let session = try lab.session(rules)
        _ = try await session.answer(origin.url(host: "shop.example.test", path: "/set"))
        let url = origin.url(host: "shop.example.test", path: "/get")
        #expect(try await session.answer(url).text == "kept=1; mine=2")
        #expect(session.configuration.httpCookieStorage?.cookies?.map(\.name) == ["kept"])
    }

    @Test
    func `a cookie that a mapped host sets is the mapped host's, and by its word its domain's`()
        async throws
    {
        let answer = { @Sendable (request: LabRequest) in
            var response = LabResponse.text(request.value(of: "Cookie") ?? "-")
            guard request.path == "/set" else { return response }
            for line in ["own=1; Secure", "wide=2; Secure; Domain=example.test"] {
                response.fields.append(LabField("Set-Cookie", line))
            }
            return response
        }
        let origin = try lab.origin(["shop.example.test"], answer)
        let staging = try lab.origin(["staging.example.test"], answer)
        defer {
            origin.stop()
            staging.stop()
        }
        let mapping = OriginMapping(
            host: .name(try HostName("staging.example.test")), port: staging.port)
        let rules: LiveRules = [
            RequestRule("staging", try .path("/set") || .path("/mapped"), .map(mapping))
        ]
        let httpdns = try lab.httpdns([
            "shop.example.test": [LabAddress.ipv4], "staging.example.test": [LabAddress.ipv4],
        ])
        let session = try lab.session(rules, httpdns)
        let page = { origin.url(host: "shop.example.test", path: $0) }
        _ = try await session.answer(page("/set"))
        #expect(try await session.answer(page("/mapped")).text == "own=1; wide=2")
        #expect(try await session.answer(page("/direct")).text == "wide=2")
        #expect(staging.record.requests.map(\.path) == ["/set", "/mapped"])
        #expect(origin.record.requests.map(\.path) == ["/direct"])
    }

    @Test func `credentials go to the mapped host, by whom they were asked for`() async throws {
        let staging = try lab.origin(["staging.example.test"]) { request in
            guard request.value(of: "Authorization") != nil else {
                return LabResponse(
                    status: 401, fields: [LabField("WWW-Authenticate", "Basic realm=\"r\"")],
                    body: [])
            }
            return .text("in")
        }
        defer { staging.stop() }
        let mapping = OriginMapping(
            host: .name(try HostName("staging.example.test")), port: staging.port)
        let rules: LiveRules = [RequestRule("staging", .any, .map(mapping))]
        let httpdns = try lab.httpdns(["staging.example.test": [LabAddress.ipv4]])
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "staging.example.test", port: Int(staging.port.number), protocol: "https",
            realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        storage.setDefaultCredential(
            URLCredential(user: "u", password: "p", persistence: .forSession), for: space)
        let session = try lab.session(rules, httpdns) { $0.urlCredentialStorage = storage }
        #expect(try await session.answer("https://shop.example.test/").text == "in")
    }
}
