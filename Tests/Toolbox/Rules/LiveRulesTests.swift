import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Rules of a session, changed and asked while it runs.
@Suite(.timeLimit(.minutes(2))) struct LiveRulesTests {
    let lab: RuleLab
    let url = "https://shop.example.test/v1"

    init() throws { lab = try RuleLab() }

    @Test func `rules are replaced while a session runs`() async throws {
        let rules: LiveRules = [RequestRule("one", .any, .stub(.text("1")))]
        let session = try lab.session(rules)
        #expect(try await session.answer(url).text == "1")
        rules.rules = [RequestRule("two", .any, .stub(.text("2")))]
        #expect(try await session.answer(url).text == "2")
        rules.rules = RequestRules().strict
        #expect(try await session.answer(url).cause?.label == "no_rule_matched")
    }

    @Test func `two sessions of one client have rules of their own`() async throws {
        let httpdns = try lab.httpdns()
        let sessions = try (0..<3).map { number in
            try lab.session([RequestRule("own", .any, .stub(.text("\(number)")))], httpdns)
        }
        for (number, session) in sessions.enumerated() {
            #expect(try await session.answer(url).text == "\(number)")
        }
    }

    @Test func `an expectation that is not met says what was seen`() async throws {
        let rules: LiveRules = [RequestRule("cart", try .path("/cart"), .stub(.text("")))]
        let session = try lab.session(rules)
        rules.rules.otherwise = .refuse
        _ = try await session.answer("https://shop.example.test/cart?id=1")
        _ = try await session.answer("https://shop.example.test/card")
        try rules.expect("cart", called: 1)
        try rules.expect("cart", called: .atLeast(1))
        try rules.expect("other", called: .exactly(0))
        let error = try #require(
            #expect(throws: UnmetExpectation.self) { try rules.expect("card", called: 2) })
        #expect(
            error.description == """
                rule "card" was expected to be called 2 times, and was called never.
                There is no rule of that name; there are: cart.
                Seen were 2:
                  GET https://shop.example.test/cart?id=1 → stub (cart)
                  GET https://shop.example.test/card → no_rule_matched
                """)
    }

    @Test func `a rule that passes gives the request to the system's loader, and says why`()
        async throws
    {
        let plain = try LabServer { _ in .text("by the system") }
        try plain.start()
        defer { plain.stop() }
        let rules: LiveRules = [
            RequestRule("intranet", try .host("127.0.0.1"), .pass(because: "no name to resolve")),
            RequestRule("upload", .body(containing: "x"), .stub(.text("stubbed"))),
            RequestRule("rest", .any, .block),
        ]
        let session = try lab.session(rules) { $0.httpAdditionalHeaders = ["X-Ours": "1"] }
        #expect(try await session.answer("http://127.0.0.1:\(plain.port)/").text == "by the system")
        #expect(rules.seen.map(\.verdict) == ["pass"])
        #expect(rules.seen.first?.reason == "no name to resolve")
        // An upload's body is not known when it is asked whether the task is ours.
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = "POST"
        #expect(await session.uploadAnswer(request, from: Data("x".utf8)).text == "stubbed")
        try rules.expect("upload", called: 1)
        try rules.expect("rest", called: 0)
    }

    @Test func `a decision falls once a request, also where rules pass by chance or count`()
        async throws
    {
        let plain = try LabServer { _ in .text("system") }
        try plain.start()
        defer { plain.stop() }
        let rules: LiveRules = [
            RequestRule("stub", .any, .stub(.text("stub"))).first(2),
            RequestRule("pass", .any, .pass(because: "the rest")),
        ]
        let session = try lab.session(rules)
        let texts = await withTaskGroup(of: String.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    (try? await session.answer("http://127.0.0.1:\(plain.port)/").text) ?? "?"
                }
            }
            return await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(
            texts.sorted() == Array(repeating: "stub", count: 2)
                + Array(repeating: "system", count: 10))
        try rules.expect("pass", called: 10)
    }

    @Test func `a redirect cannot be passed on, and stays here`() async throws {
        let origin = try lab.origin { $0.path == "/r" ? .redirect(to: "/end") : .text("end") }
        defer { origin.stop() }
        let rules: LiveRules = [RequestRule("pass", try .path("/end"), .pass(because: "test"))]
        let session = try lab.session(rules)
        #expect(
            try await session.answer(origin.url(host: "shop.example.test", path: "/r")).text
                == "end")
        #expect(rules.seen.map(\.verdict) == ["resolve", "resolve"])
        #expect(origin.record.requests.count == 2)
    }

    @Test func `switches are live`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let rules: LiveRules = [RequestRule("stub", .any, .stub(.text("stub")))]
        let session = try lab.session(rules)
        let url = origin.url(host: "shop.example.test")
        #expect(try await session.answer(url).text == "stub")
        rules.switches.isStubbingEnabled = false
        #expect(try await session.answer(url).text == "real /")
        rules.switches.isOffline = true
        let offline = try await session.answer(url)
        #expect(offline.code == .notConnectedToInternet && offline.cause?.label == "offline")
        #expect(origin.record.requests.count == 1)
        rules.switches.isStubbingEnabled = true
        #expect(try await session.answer(url).text == "stub")
    }

    @Test func `interception starts and stops for a session that exists`() async throws {
        let plain = try LabServer { _ in .text("system") }
        try plain.start()
        defer { plain.stop() }
        let url = "http://127.0.0.1:\(plain.port)/"
        let session = URLSession(configuration: .ephemeral)
        #expect(try await session.answer(url).text == "system")
        let rules = Interception.start(
            session, through: try lab.httpdns(),
            rules: [RequestRule("stub", .any, .stub(.text("stub")))])
        #expect(Interception.isRunning(session))
        #expect(try await session.answer(url).text == "stub")
        Interception.stop(session)
        #expect(!Interception.isRunning(session))
        #expect(try await session.answer(url).text == "system")
        try rules.expect("stub", called: 1)
    }

    @Test func `what rules did is in the report: their names, and who answered`() async throws {
        let origin = try lab.origin { $0.path == "/r" ? .redirect(to: "/stub") : .text("end") }
        defer { origin.stop() }
        let rules: LiveRules = [
            RequestRule("stub", try .path("/stub"), .stub(.text("stub"))),
            RequestRule("tag", .any, try .setHeaders(["X-A": "1"])),
        ]
        let url = try HTTPURL(origin.url(host: "shop.example.test", path: "/r"))
        let response = try await lab.httpdns().client.send(HTTPRequest(.get, url), under: rules)
        let (body, report) = try await response.collect(upTo: 1_000)
        #expect(body == Array("stub".utf8))
        #expect(report.hops.map(\.rules) == [["tag"], ["stub"]])
        #expect(report.hops.map(\.answerer) == [.network, .stub])
        #expect(report.hops.map(\.status) == [302, 200])
    }

    @Test func `recorded exchanges answer without the origin`() async throws {
        let origin = try lab.origin { .text("recorded \($0.path)") }
        let recorded = Locked<[Fixture]>([])
        let recorder = FixtureRecorder("memory") { fixture in
            recorded.withLock { $0.append(fixture) }
        }
        let rules: LiveRules = [RequestRule("record", .any, .record(recorder))]
        let session = try lab.session(rules)
        let (a, b) = (
            origin.url(host: "shop.example.test", path: "/a"),
            origin.url(host: "shop.example.test", path: "/b")
        )
        _ = try await session.answer(a)
        _ = try await session.answer(b)
        origin.stop()
        rules.rules = [
            RequestRule(
                "replay", .any, .replay(FixtureLibrary(recorded.withLock { $0 }, label: "two")))
        ]
        #expect(try await session.answer(b).text == "recorded /b")
        #expect(try await session.answer(a).text == "recorded /a")
        let other = try await session.answer(origin.url(host: "shop.example.test", path: "/c"))
        #expect(
            other.cause?.label == "not_recorded" && other.message.contains("/a (differs: path)"))
    }
}
