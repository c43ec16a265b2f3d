import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSRules
import HTTPDNSURLSession
import Testing

/// Decisions are a function of list, request, counts and chance: traces of them.
@Suite struct RuleDecisionTests {
    private func request(
        _ url: String = "https://api.example.com/v1?x=1",
        _ fields: KeyValuePairs<String, String> = [:]
    ) throws -> RuledRequest {
        RuledRequest(RequestHead(url: try HTTPURL(url), fields: try HTTPFields(fields)))
    }

    /// The labels of decisions one after the other, each counted.
    private func trace(
        _ rules: RequestRules, _ request: RuledRequest, _ count: Int,
        seed: (Int) -> UInt64 = { _ in 0 }
    ) -> [String] {
        var tallies = RuleTallies()
        return (0..<count).map { place in
            let decision = rules.decide(request, tallies, seed: seed(place))
            tallies.count(decision)
            return decision.label
        }
    }

    @Test func `the first rule that fits and decides ends the list`() throws {
        let rules: RequestRules = [
            RequestRule("other", try .host("other.test"), .block),
            RequestRule("stub", try .path("/v1"), .stub(.text("a"))),
            RequestRule("never", .any, .block),
        ]
        let decision = rules.decide(try request(), RuleTallies(), seed: 0)
        #expect(decision.label == "stub" && decision.names == ["stub"])
    }

    @Test func `rules that only change the request go on, and the ones behind see it changed`()
        throws
    {
        let rules: RequestRules = [
            RequestRule("tag", .any, try .setHeaders(["X-Tag": "1"]), .removeHeaders("X-Old")),
            RequestRule(
                "map", .any, .map(OriginMapping(host: .name(try HostName("staging.test"))))),
            RequestRule("gone", try .host("api.example.com"), .block),
            RequestRule(
                "seen", try .host("staging.test") && .header("x-tag", .exactly("1")), .resolve),
        ]
        let decision = rules.decide(
            try request("https://u:p@api.example.com/v1?x=1", ["X-Old": "0"]), RuleTallies(),
            seed: 0)
        #expect(decision.label == "resolve" && decision.names == ["tag", "map", "seen"])
        #expect(decision.request.url.description == "https://staging.test/v1?x=1")
        #expect(decision.request.url.userinfo == nil)
        #expect(decision.request.fields.fields.map(\.name) == ["X-Tag"])
    }

    @Test func `two mappings that point at each other do not lead in a circle`() throws {
        let (a, b) = (Host.name(try HostName("a.test")), Host.name(try HostName("b.test")))
        let rules: RequestRules = [
            RequestRule("there", try .host("a.test"), .map(OriginMapping(host: b))),
            RequestRule("back", try .host("b.test"), .map(OriginMapping(host: a))),
            RequestRule("there again", try .host("a.test"), .map(OriginMapping(host: b))),
        ]
        let decision = rules.decide(try request("https://a.test/"), RuleTallies(), seed: 0)
        #expect(
            decision.request.url.description == "https://b.test/" && decision.acted == [0, 1, 2])
    }

    @Test(arguments: [
        (OriginMapping(scheme: .http), "http://api.example.com/v1?x=1#f"),
        (OriginMapping(port: HTTPDNSNames.Port("8443")), "https://api.example.com:8443/v1?x=1#f"),
        (OriginMapping(scheme: .http, port: .https), "http://api.example.com:443/v1?x=1#f"),
        (OriginMapping(), "https://api.example.com/v1?x=1#f"),
    ])
    func `a mapping changes what it names`(mapping: OriginMapping, expected: String) throws {
        let rules: RequestRules = [RequestRule("map", .any, .map(mapping))]
        let one = try request("https://api.example.com/v1?x=1#f")
        #expect(rules.decide(one, RuleTallies(), seed: 0).request.url.description == expected)
    }

    @Test func `addresses and cookies of a rule are for the host that it saw`() throws {
        let address = try IPAddress("127.0.0.1")
        let map = RuleAction.map(OriginMapping(host: .name(try HostName("b.test"))))
        let before: RequestRules = [
            RequestRule("a", .any, .addresses([address]), try .addCookies(["a": "1"]), map)
        ]
        let after: RequestRules = [
            RequestRule("a", .any, map, .addresses([address]), try .addCookies(["a": "1"]))
        ]
        let first = before.decide(try request(), RuleTallies(), seed: 0)
        #expect(first.addresses == nil && first.cookies.isEmpty)
        let second = after.decide(try request(), RuleTallies(), seed: 0)
        #expect(second.addresses == [address] && second.cookies.map(\.name) == ["a"])
    }

    @Test func `the first n, after n, and never while disabled`() throws {
        let one = try request()
        let first: RequestRules = [RequestRule("a", .any, .block).first(2)]
        #expect(trace(first, one, 4) == ["blocked", "blocked", "resolve", "resolve"])
        let after: RequestRules = [RequestRule("a", .any, .block).after(2)]
        #expect(trace(after, one, 4) == ["resolve", "resolve", "blocked", "blocked"])
        var disabled = RequestRule("a", .any, .block)
        disabled.isEnabled = false
        #expect(trace([disabled], one, 1) == ["resolve"])
    }

    @Test func `chance is handed in, and comes out as often as it says`() throws {
        let rules: RequestRules = [RequestRule("a", .any, .block).withProbability(0.25)]
        let labels = trace(rules, try request(), 2_000) { UInt64($0) }
        #expect((400...600).contains(labels.count { $0 == "blocked" }))
        #expect(labels == trace(rules, try request(), 2_000) { UInt64($0) })
        #expect(
            trace([RequestRule("a", .any, .block).withProbability(0)], try request(), 9) {
                UInt64($0)
            }
            .allSatisfy { $0 == "resolve" })
    }

    @Test func `a strict list refuses what no rule decides, and names the nearest rules`() throws {
        let rules = RequestRules([
            RequestRule("far", try .host("other.test") && .path("/x") && .method(.put), .block),
            RequestRule("near", try .host("api.example.com") && .path("/v2"), .block),
        ]).strict
        let decision = rules.decide(try request(), RuleTallies(), seed: 0)
        guard case .refuse(let refusal) = decision.verdict else {
            Issue.record("another verdict")
            return
        }
        #expect(refusal.kind == .unmatched)
        #expect(refusal.message.contains("GET https://api.example.com/v1?x=1"))
        #expect(
            refusal.message.contains(
                "The nearest: \"near\": path is \"/v1\", not \"/v2\"; \"far\":"))
    }

    @Test func `passing is possible before a task begins, and later it resolves`() throws {
        let rules: RequestRules = [
            RequestRule("intranet", .any, .pass(because: "only the system knows it"))
        ]
        var leave = RuleLeave()
        #expect(
            rules.decide(try request(), RuleTallies(), seed: 0, leave: leave).label == "resolve")
        leave.mayPass = true
        let decision = rules.decide(try request(), RuleTallies(), seed: 0, leave: leave)
        guard case .pass(let why) = decision.verdict else {
            Issue.record("another verdict")
            return
        }
        #expect(why == "only the system knows it")
        leave.isOffline = true
        #expect(
            rules.decide(try request(), RuleTallies(), seed: 0, leave: leave).label == "offline")
    }

    @Test func `without stubs, blocks and strictness count for nothing either`() throws {
        let rules = RequestRules([
            RequestRule("stub", .any, try .setHeaders(["X-A": "1"]), .stub(.text("a"))),
            RequestRule("block", .any, .block),
        ]).strict
        var leave = RuleLeave()
        leave.stubs = false
        let decision = rules.decide(try request(), RuleTallies(), seed: 0, leave: leave)
        #expect(decision.label == "resolve" && decision.names == ["stub"])
        #expect(decision.request.fields.contains("X-A"))
    }

    @Test func `recordings answer in their order, by method, URL and body`() throws {
        let url = try HTTPURL("https://api.example.com/v1?x=1")
        let library = FixtureLibrary([
            Fixture(.get, url, status: 201), Fixture(.get, url, status: 202),
            Fixture(.post, url, requestBody: [1], status: 203),
            Fixture(.get, try HTTPURL("https://api.example.com/v1?x=2")),
        ])
        let rules: RequestRules = [RequestRule("replay", .any, .replay(library))]
        var tallies = RuleTallies()
        func answer(_ request: RuledRequest) -> Int? {
            let decision = rules.decide(request, tallies, seed: 0)
            tallies.count(decision)
            guard case .replay(let fixture, _) = decision.verdict else { return nil }
            return fixture.status
        }
        #expect(
            [answer(try request()), answer(try request()), answer(try request())] == [
                201, 202, 202,
            ])
        let post = { (body: [UInt8]?) in RuledRequest(RequestHead(method: .post, url: url)) { body }
        }
        #expect(answer(post([1])) == 203 && answer(post(nil)) == 203 && answer(post([2])) == nil)
        let other = rules.decide(try request("https://api.example.com/v1?x=3"), tallies, seed: 0)
        guard case .refuse(let refusal) = other.verdict else {
            Issue.record("another verdict")
            return
        }
        #expect(
            refusal.message.contains("nearest: GET https://api.example.com/v1?x=1 (differs: query)")
        )
        let lenient: RequestRules = [
            RequestRule("replay", .any, .replay(library, otherwise: .goOn))
        ]
        #expect(lenient.decide(try request("https://b.test/"), tallies, seed: 0).isPlain)
    }

    @Test func `what a rule may not set is refused when it is made`() throws {
        for name in [
            "Host", "content-length", "Transfer-Encoding", "Connection", "Proxy-Authorization",
            "bad name",
        ] {
            #expect(throws: RuleFault.self) { try RuleAction.setHeaders([name: "1"]) }
        }
        #expect(throws: RuleFault.self) { try RuleAction.setHeaders(["X-A": "1\r\nX-B: 2"]) }
        for (name, value) in [("a b", "1"), ("a", "1; b=2"), ("a", "é"), ("a", "1\n")] {
            #expect(throws: RuleFault.self) { try RuleCookie(name, value) }
        }
    }

    @Test func `a rule's text shows no values of fields and cookies`() throws {
        let rule = RequestRule(
            "auth", .any, try .setHeaders(["Authorization": "Bearer geheim"]),
            try .addCookies(["sid": "geheim"]))
        #expect(
            rule.description == "auth: when every request: set Authorization; add the cookies sid")
    }
}
