import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSRules
import HTTPDNSURLSession
import Testing

@Suite struct RuleMatcherTests {
    private func request(
        _ url: String, _ method: HTTPMethod = .get, _ fields: KeyValuePairs<String, String> = [:],
        body: [UInt8]? = []
    ) throws -> RuledRequest {
        RuledRequest(
            RequestHead(method: method, url: try HTTPURL(url), fields: try HTTPFields(fields))
        ) { body }
    }

    @Test(arguments: [
        ("example.com", "https://example.com/", true),
        ("example.com", "https://EXAMPLE.com./", true),
        ("example.com", "https://notexample.com/", false),
        ("example.com", "https://example.com.evil.test/", false),
        ("example.com", "https://api.example.com/", false),
        ("example.com", "https://evil.test/example.com", false),
        ("example.com", "https://user@evil.test/?example.com", false),
        ("**.example.com", "https://example.com/", true),
        ("**.example.com", "https://a.b.example.com:8443/", true),
        ("**.example.com", "https://notexample.com/", false),
        ("**.example.com", "https://example.com.evil.test/", false),
        ("*.example.com", "https://a.example.com/", true),
        ("*.example.com", "https://a.b.example.com/", false),
        ("*.example.com", "https://example.com/", false),
        ("192.0.2.1", "https://192.0.2.1/", true), ("192.0.2.1", "https://192.0.2.10/", false),
        ("::1", "http://[::1]:8080/", true),
        ("bücher.example", "https://xn--bcher-kva.example/", true),
        ("*.bücher.example", "https://a.BÜCHER.example/", true),
        ("bücher.example", "https://bucher.example/", false),
    ])
    func `hosts are compared label by label`(pattern: String, url: String, isMeant: Bool) throws {
        let matcher = try RequestMatcher.host(pattern)
        #expect(matcher.matches(try request(url)) == isMeant)
    }

    @Test(arguments: ["", "a*b.example", "*", "exa mple", "example..com", "*.*.example"])
    func `what is no host is refused with a reason`(pattern: String) {
        let error = #expect(throws: RuleFault.self) { try RequestMatcher.host(pattern) }
        #expect(error?.description.isEmpty == false)
    }

    @Test(arguments: [
        ("/v1/*", "/v1/users", true), ("/v1/*", "/v1/users/7", false),
        ("/v1/**", "/v1/users/7", true),
        ("/v1/*", "/v1/", true), ("/v1/?", "/v1/7", true), ("/v1/?", "/v1/é", true),
        ("/v1/?", "/v1/77", false), ("/bücher/*", "/b%C3%BCcher/1", true), ("/?", "/%FF", false),
        ("**.png", "/a/b.png", true), ("**/b.*", "/a/b.png", true), ("/admin", "/%61dmin", true),
        ("/%61dmin", "/admin", true), ("/a/b", "/a%2Fb", false), ("/a%2fb", "/a%2Fb", true),
        ("/x", "/x?y", true), ("/x", "/x/../y", false), ("/*/*/*", "/a/b/c", true),
        ("**", "/", true),
    ])
    func `paths are globs over the decoded path`(glob: String, target: String, isMeant: Bool) throws
    {
        let matcher = try RequestMatcher.path(glob)
        #expect(matcher.matches(try request("https://a.test" + target)) == isMeant)
    }

    @Test func `a pattern made to be slow is not`() throws {
        let pattern = "/" + String(repeating: "*a", count: 100) + "**b"
        let path = "/" + String(repeating: "a", count: 2_000)
        let matcher = try RequestMatcher.path(pattern)
        #expect(!matcher.matches(try request("https://a.test" + path)))
        #expect(throws: RuleFault.self) {
            try Glob(String(repeating: "*", count: Glob.maximumOctets + 1))
        }
        #expect(throws: RuleFault.self) { try RequestMatcher.path("v1") }
    }

    @Test(arguments: [
        ("/a.PNG", true), ("/a.png?x=.gif", true), ("/a.png/", false), ("/.png", false),
        ("/png", false),
        ("/a%2Epng", true), ("/a.tar.png", true), ("/a.pngx", false),
    ])
    func `extensions are those of the last segment`(target: String, isMeant: Bool) throws {
        let matcher = RequestMatcher.pathExtension("png")
        #expect(matcher.matches(try request("https://a.test" + target)) == isMeant)
    }

    @Test func `query items are decoded, and one of a name is enough`() throws {
        let url = "https://a.test/?id=7&tag=a%20b&tag=c+d&flag&=x"
        let one = try request(url)
        for (name, pattern, isMeant) in [
            ("id", TextPattern.exactly("7"), true), ("id", .exactly("70"), false),
            ("tag", .exactly("a b"), true),
            ("tag", .exactly("c d"), true), ("flag", .any, true), ("flag", .exactly(""), true),
            ("x", .any, false),
            ("tag", .containing("d"), true), ("tag", try .glob("?*b"), true),
        ] {
            #expect(
                RequestMatcher.query(name, pattern).matches(one) == isMeant, "\(name) \(pattern)")
        }
    }

    @Test func `scheme, port, method, fields and bodies`() throws {
        let post = try request(
            "http://a.test:8080/", .post, ["X-Tag": "one", "x-tag": "two"],
            body: Array("{\"a\":1}".utf8))
        #expect(RequestMatcher.scheme(.http).matches(post))
        #expect(!RequestMatcher.scheme(.https).matches(post))
        let port = post.url.origin.port
        #expect(port.number == 8080 && RequestMatcher.port(port).matches(post))
        #expect(RequestMatcher.port(.https).matches(try request("https://a.test/")))
        #expect(RequestMatcher.method(.get, .post).matches(post))
        #expect(!RequestMatcher.method(.get).matches(post))
        #expect(RequestMatcher.header("X-TAG", .exactly("two")).matches(post))
        #expect(!RequestMatcher.header("X-Other").matches(post))
        #expect(RequestMatcher.body(containing: "\"a\"").matches(post))
        #expect(!RequestMatcher.body("empty") { $0.isEmpty }.matches(post))
        let streamed = try request("http://a.test/", .post, body: nil)
        #expect(!RequestMatcher.body("anything") { _ in true }.matches(streamed))
        #expect(
            RequestMatcher.custom("it is local") { $0.url.origin.scheme == .http }.matches(post))
    }

    @Test func `and, or and not are as in logic`() throws {
        let one = try request("https://a.test/")
        let (yes, no) = (RequestMatcher.any, !RequestMatcher.any)
        #expect((yes && yes).matches(one) && !(yes && no).matches(one))
        #expect((yes || no).matches(one) && !(no || no).matches(one))
        #expect(RequestMatcher.all([]).matches(one) && !RequestMatcher.either([]).matches(one))
        let text = try "\(RequestMatcher.host("a.test") && (.path("/x") || !.method(.get)))"
        #expect(text == "host a.test and (path \"/x\" or not (method GET))")
    }
}
