import Foundation
import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// What looks like what a rule is for, and is not.
@Suite(.timeLimit(.minutes(2))) struct RuleLookalikeTests {
    private func request(
        _ url: String, _ fields: KeyValuePairs<String, String> = [:], body: [UInt8]? = []
    ) throws -> RuledRequest {
        RuledRequest(RequestHead(url: try HTTPURL(url), fields: try HTTPFields(fields))) { body }
    }

    @Test(arguments: [
        "https://badexample.com/", "https://example.com.evil.test/", "https://example.comm/",
        "https://example.co/", "https://xample.com/", "https://example-com.test/",
        "https://example.com-evil.test/",
        "https://evil.test/?host=example.com", "https://evil.test/#example.com",
        "https://example.com@evil.test/", "https://evil.test/https://example.com/",
        // Cyrillic letters, and a Latin one with a dot too few.
        "https://xn--exmple-4nf.com/",
        "https://xn--exampe-m7a.com/", "https://192.0.2.1/",
    ])
    func `a name and what looks like it`(url: String) throws {
        let one = try request(url)
        for pattern in ["example.com", "*.example.com", "**.example.com"] {
            #expect(!(try RequestMatcher.host(pattern)).matches(one), "\(pattern)")
        }
    }

    @Test(arguments: [
        "https://example.com/", "https://EXAMPLE.com/", "https://example.com./",
        "https://example.com:8443/", "http://example.com/", "https://user:word@example.com/",
        "https://ｅｘａｍｐｌｅ.com/",
    ])
    func `a name in another dress is the same`(url: String) throws {
        let one = RuledRequest(
            RequestHead(url: try HTTPURL(url, toASCII: IDNA.toASCII), fields: HTTPFields()))
        for pattern in ["example.com", "EXAMPLE.COM.", "**.example.com"] {
            #expect((try RequestMatcher.host(pattern)).matches(one), "\(pattern)")
        }
        #expect(!(try RequestMatcher.host("*.example.com")).matches(one))
    }

    @Test(
        arguments: [
            ("192.0.2.1", "https://192.0.2.1/", true), ("192.0.2.1", "https://192.0.2.10/", false),
            ("192.0.2.1", "https://1.192.0.2.1.test/", false),
            ("::1", "https://[::1]/", true), ("::1", "https://[0:0::1]/", true),
            ("::1", "https://[::10]/", false), ("127.0.0.1", "https://[::ffff:127.0.0.1]/", false),
        ] as [(String, String, Bool)])
    func `addresses are compared as addresses, however they are written`(
        _ pattern: String, _ url: String, _ isMeant: Bool
    ) throws {
        let one = try request(url)
        #expect((try RequestMatcher.host(pattern)).matches(one) == isMeant)
    }

    @Test func `ports: the scheme's own counts as written, and none is a prefix`() throws {
        for (url, number, isMeant) in [
            ("https://a.test/", 443, true), ("https://a.test:443/", 443, true),
            ("http://a.test/", 80, true), ("https://a.test/", 80, false),
            ("https://a.test:8443/", 443, false), ("https://a.test:8443/", 844, false),
            ("https://a.test:08443/", 8_443, true), ("https://443.test/", 443, true),
        ] as [(String, UInt16, Bool)] {
            let one = try request(url)
            let made = HTTPDNSNames.Port(number)
            let port = try #require(made)
            #expect(RequestMatcher.port(port).matches(one) == isMeant, "\(url) \(number)")
        }
    }

    @Test(
        arguments: [
            ("/admin", "/admin/", false), ("/admin", "/Admin", false), ("/admin", "//admin", false),
            ("/admin", "/admin;a=1", false), ("/admin", "/x/admin", false),
            ("/admin", "/admin?x", true), ("/admin", "/admin#x", true),
            ("/admin", "/%61%64min", true),
            ("/a", "/a%00", false), ("/admin/*", "/admin/..%2Fx", true), ("/v1/*", "/v1", false),
            ("/v1/**", "/v10/x", false), ("**/secret", "/a/secrets", false),
        ] as [(String, String, Bool)])
    func `paths and what looks like them`(_ glob: String, _ target: String, _ isMeant: Bool) throws
    {
        let one = try request("https://a.test" + target)
        #expect((try RequestMatcher.path(glob)).matches(one) == isMeant)
    }

    @Test func `names of fields and items are whole, of fields in any case`() throws {
        let one = try request(
            "https://a.test/?id=1&Id=2&idx=3&a=b%26c%3Dd", ["X-Key": "a", "X-Key-2": "b"])
        #expect(RequestMatcher.query("id", .exactly("1")).matches(one))
        #expect(!RequestMatcher.query("id", .exactly("2")).matches(one))
        #expect(!RequestMatcher.query("c").matches(one))
        #expect(RequestMatcher.query("a", .exactly("b&c=d")).matches(one))
        #expect(RequestMatcher.header("x-key", .exactly("a")).matches(one))
        #expect(!RequestMatcher.header("X-Key", .exactly("b")).matches(one))
        #expect(!RequestMatcher.header("X-Ke").matches(one))
        #expect(
            !RequestMatcher.method(.get, .head).matches(
                RuledRequest(
                    RequestHead(
                        method: try #require(HTTPMethod("get")),
                        url: try HTTPURL("https://a.test/"),
                        fields: HTTPFields()))))
    }

    /// De Morgan, and each of the three connectives against its truth table.
    @Test func `and, or and not, however they are nested`() throws {
        let one = try request("https://a.test/")
        for bits in 0..<8 {
            let values = (0..<3).map { bits >> $0 & 1 == 1 }
            let parts = values.map { value in RequestMatcher.custom("x") { _ in value } }
            let (a, b, c) = (parts[0], parts[1], parts[2])
            #expect((a && b && c).matches(one) == values.allSatisfy { $0 })
            #expect((a || b || c).matches(one) == values.contains(true))
            #expect((!(a && b)).matches(one) == (!a || !b).matches(one))
            #expect((!(a || b)).matches(one) == (!a && !b).matches(one))
            #expect((a && (b || !c)).matches(one) == (values[0] && (values[1] || !values[2])))
            #expect((!(!a)).matches(one) == values[0])
        }
    }

    @Test func `chance comes from the seed: the same seeds, the same decisions`() throws {
        let decide = { (seeds: @escaping @Sendable () -> UInt64) in
            let rules = LiveRules(
                RequestRules([RequestRule("a", .any, .block).withProbability(0.3)]), seeds: seeds)
            return try (0..<500).map { _ in rules.decide(try self.request("https://a.test/")).label
            }
        }
        let counting = { @Sendable () -> @Sendable () -> UInt64 in
            let next = Locked<UInt64>(0)
            return {
                next.withLock { next in
                    next += 1
                    return next
                }
            }
        }
        let first = try decide(counting())
        #expect(first == (try decide(counting())))
        #expect((80...220).contains(first.count { $0 == "blocked" }))
        // One seed for all: all alike.
        #expect(Set(try decide { 42 }).count == 1)
    }

    @Test(arguments: [true, false])
    func `the first n, and all but the first n, are exact however many ask at once`(isFirst: Bool)
        async throws
    {
        let rule = RequestRule("a", .any, .stub(.text("a")))
        let rules: LiveRules = [
            isFirst ? rule.first(37) : rule.after(37), RequestRule("rest", .any, .block),
        ]
        let one = try request("https://a.test/")
        let labels = await withTaskGroup(of: [String].self) { group in
            for _ in 0..<20 {
                group.addTask { (0..<20).map { _ in rules.decide(one).label } }
            }
            return await group.reduce(into: [String]()) { $0 += $1 }
        }
        #expect(labels.count == 400)
        #expect(labels.count { $0 == "stub" } == (isFirst ? 37 : 363))
        try rules.expect("a", called: .exactly(isFirst ? 37 : 363))
        try rules.expect("rest", called: .exactly(isFirst ? 363 : 37))
    }

    @Test func `a strict list names the three nearest, the best first, with what is missing`()
        throws
    {
        let rules = RequestRules([
            RequestRule("far", try .host("b.test") && .path("/x") && .method(.put), .block),
            RequestRule("port", try .host("a.test") && .path("/v1") && .port(.http), .block),
            RequestRule("farther", .method(.put), .block),
            RequestRule("path", try .host("a.test") && .path("/v2"), .block),
        ]).strict
        let decision = rules.decide(
            try request("https://a.test/v1"), RuleTallies(), seed: 0)
        guard case .refuse(let refusal) = decision.verdict else {
            Issue.record("another verdict")
            return
        }
        let nearest = try #require(refusal.message.components(separatedBy: "The nearest: ").last)
        let places = ["\"port\"", "\"path\"", "\"far\""].map { nearest.range(of: $0)?.lowerBound }
        let found = places.compactMap(\.self)
        #expect(found.count == 3 && found == found.sorted(), "\(nearest)")
        #expect(!nearest.contains("\"farther\""))
        #expect(nearest.contains("80") && nearest.contains("path is \"/v1\", not \"/v2\""))
    }
}
