import HTTPDNS
import Testing

@Suite struct StorageRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var status = 200
        var given: [String] = []
        var asked: [String] = []
        var method = "GET"
        var url = "https://a.test/x"
        let verdict: String
        var testDescription: String { "\(method) \(url) \(status) \(given) \(asked)" }
    }

    static let length = "Content-Length: 5"

    static let cases = [
        Case(verdict: "kept"),
        Case(method: "POST", verdict: "method"),
        Case(given: ["Cache-Control: max-age=60"], method: "POST", verdict: "method"),
        Case(method: "HEAD", verdict: "method"),
        Case(given: ["Cache-Control: no-store"], verdict: "no_store"),
        Case(given: ["Cache-Control: no-store, max-age=60"], verdict: "no_store"),
        Case(asked: ["Cache-Control: no-store"], verdict: "no_store"),
        Case(given: ["Cache-Control: no-store, must-understand"], verdict: "kept"),
        Case(
            status: 299, given: ["Cache-Control: must-understand, max-age=60"],
            verdict: "not_understood"),
        Case(given: ["Cache-Control: private"], verdict: "kept"),
        Case(given: ["Cache-Control: no-cache"], verdict: "kept"),
        Case(given: ["Set-Cookie: a=1"], verdict: "kept"),
        Case(asked: ["Authorization: Basic eDp5"], verdict: "kept"),
        Case(given: ["Vary: *"], verdict: "vary_star"),
        Case(given: ["Vary: Accept, *"], verdict: "vary_star"),
        Case(given: ["Vary: Accept"], verdict: "kept"),
        Case(status: 206, given: ["Cache-Control: max-age=60"], verdict: "partial"),
        Case(given: ["Content-Range: bytes 0-1/5"], verdict: "partial"),
        Case(status: 304, given: ["Cache-Control: max-age=60"], verdict: "status"),
        Case(
            status: 412, given: ["Cache-Control: max-age=60"], asked: ["If-Match: \"z\""],
            verdict: "status"),
        Case(status: 416, given: ["Cache-Control: max-age=60"], verdict: "status"),
        Case(status: 417, given: ["Cache-Control: max-age=60"], verdict: "status"),
        Case(status: 421, given: ["Cache-Control: max-age=60"], verdict: "status"),
        Case(status: 301, verdict: "kept"), Case(status: 308, verdict: "kept"),
        Case(status: 302, verdict: "status"),
        Case(status: 302, given: ["Cache-Control: max-age=60"], verdict: "kept"),
        Case(status: 307, given: ["Expires: 0"], verdict: "kept"),
        Case(status: 404, verdict: "kept"), Case(status: 410, verdict: "kept"),
        Case(status: 500, verdict: "status"), Case(status: 403, verdict: "status"),
        Case(status: 500, given: ["Cache-Control: max-age=60"], verdict: "kept"),
        // Not known: only with a lifetime of its own. Source: RFC 9111 §3.
        Case(status: 299, verdict: "status"),
        Case(status: 299, given: ["Cache-Control: max-age=60"], verdict: "kept"),
        Case(status: 777, given: ["Cache-Control: max-age=60"], verdict: "status"),
        Case(url: "http://a.test/x", verdict: "unproven"),
        Case(given: ["Content-Length: 1001"], verdict: "too_large"),
        Case(given: ["Content-Encoding: gzip"], verdict: "kept"),
        Case(given: ["Content-Encoding: gzip"], asked: ["Range: bytes=0-"], verdict: "undecoded"),
        Case(given: ["Content-Encoding: identity"], asked: ["Range: bytes=0-"], verdict: "kept"),
        Case(
            given: ["Content-Encoding: gzip"],
            asked: ["Range: bytes=0-", "Accept-Encoding: gzip"], verdict: "kept"),
        Case(asked: ["Range: bytes=0-"], verdict: "kept"),
    ]

    private func verdict(
        _ one: Case, version: HTTPVersion = .http2, policy: [UInt8]? = [1],
        keepsPlain: Bool = false,
        mode: CacheMode = .standard, usesCredentials: Bool = false
    ) throws -> String {
        let method = try #require(HTTPMethod(one.method))
        let request = try CachingBench.request(one.asked, method: method, url: one.url)
        var head = try CachingBench.head(one.given, status: one.status, url: one.url)
        head.version = version
        do throws(StorageRules.Refusal) {
            _ = try StorageRules.check(
                head, to: request,
                StorageRules.Circumstances(
                    mode: mode, policy: policy, keepsPlainHTTP: keepsPlain,
                    usesCredentials: usesCredentials, largestBodyOctets: 1_000))
            return "kept"
        } catch {
            return error.rawValue
        }
    }

    @Test(arguments: cases)
    func `what may be kept is what RFC 9111 allows a private cache`(_ one: Case) throws {
        #expect(try verdict(one) == one.verdict)
    }

    @Test func `only what came from a proven origin is kept`() throws {
        #expect(try verdict(Case(verdict: ""), policy: nil) == "unproven")
        let plain = Case(url: "http://a.test/x", verdict: "")
        #expect(try verdict(plain, policy: nil, keepsPlain: true) == "kept")
        #expect(try verdict(Case(verdict: ""), policy: nil, keepsPlain: true) == "unproven")
    }

    @Test func `a body that only the end of its connection ends is not kept`() throws {
        #expect(try verdict(Case(verdict: ""), version: .http11) == "unframed")
        let framed = Case(given: [StorageRulesTests.length], verdict: "")
        #expect(try verdict(framed, version: .http11) == "kept")
        #expect(try verdict(framed, version: .http10) == "kept")
        let chunked = Case(given: ["Transfer-Encoding: gzip, chunked"], verdict: "")
        #expect(try verdict(chunked, version: .http11) == "kept")
        #expect(try verdict(Case(status: 204, verdict: ""), version: .http11) == "kept")
    }

    @Test func `past the cache and with credentials nothing is kept`() throws {
        #expect(try verdict(Case(verdict: ""), mode: .none) == "bypassed")
        #expect(try verdict(Case(verdict: ""), mode: .refresh) == "kept")
        #expect(try verdict(Case(verdict: ""), usesCredentials: true) == "credentials")
    }

    @Test func `fields of a connection, those it names, and cookies are not kept`() throws {
        let kept = try CachingBench().kept([
            "Connection: close, X-Hop", "X-Hop: 1", "Keep-Alive: 5", "Transfer-Encoding: chunked",
            "Set-Cookie: a=1", "X-End: 2", "ETag: \"a\"",
        ])
        #expect(kept.fields.fields.map(\.name) == ["X-End", "ETag"])
        #expect(kept.setsCookies)
    }

    @Test func `a variant is told by what Vary names, by Authorization and by who decodes`()
        throws
    {
        let request = try CachingBench.request([
            "Accept: text/html", "Accept-Language: de,en", "Cookie: a=1",
        ])
        let variant = try #require(
            Variant(request, answeredWith: CachingBench.fields(["Vary: accept-LANGUAGE, Cookie"])))
        let answers = { (lines: [String]) in
            variant.answers(try CachingBench.request(lines))
        }
        #expect(try answers(["Accept-Language: de ,  en", "Cookie: a=1"]))
        #expect(try answers(["Accept-Language: de", "Accept-Language: en", "Cookie: a=1"]))
        #expect(try !answers(["Accept-Language: en,de", "Cookie: a=1"]))
        #expect(try !answers(["Accept-Language: de,en", "Cookie: a=2"]))
        #expect(try !answers(["Accept-Language: de,en"]))
        #expect(
            try !answers(["Accept-Language: de,en", "Cookie: a=1", "Authorization: Bearer t"]))
        #expect(try !answers(["Accept-Language: de,en", "Cookie: a=1", "Accept-Encoding: gzip"]))
        let octets = variant.selected.values.flatMap { $0 }
        #expect(!String(decoding: octets, as: UTF8.self).contains("a=1"))
    }

    @Test func `the key has the query and the scheme, and neither fragment nor user`() throws {
        let key = { (text: String) in CacheKey(try HTTPURL(text))?.text }
        #expect(try key("https://u:p@A.test/x?q=1#f") == "https://a.test/x?q=1")
        #expect(try key("https://a.test/x?q=1") != key("https://a.test/x?q=2"))
        #expect(try key("https://a.test/x") != key("http://a.test/x"))
        #expect(try key("https://a.test/" + String(repeating: "x", count: 40_000)) == nil)
    }
}
