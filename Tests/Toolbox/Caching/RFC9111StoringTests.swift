import HTTPDNS
import Testing

/// RFC 9111 §2 and §3, section by section: what a private cache may keep.
@Suite struct RFC9111StoringTests {
    private func verdict(
        _ given: [String] = [], status: Int = 200, asking asked: [String] = [],
        _ method: HTTPMethod = .get, version: HTTPVersion = .http2
    ) throws -> String {
        var head = try CachingBench.head(given, status: status)
        head.version = version
        let request = try CachingBench.request(asked, method: method)
        do throws(StorageRules.Refusal) {
            _ = try StorageRules.check(
                head, to: request,
                StorageRules.Circumstances(
                    mode: .standard, policy: [1], keepsPlainHTTP: false, usesCredentials: false,
                    largestBodyOctets: 1_000_000))
            return "kept"
        } catch { return error.rawValue }
    }

    @Test func `§2 the key is the URL with its query; the method is GET`() throws {
        let key = { (url: String) in try CachingBench.request(url: url).key }
        #expect(try key("https://a.test/x?a=1") != key("https://a.test/x?a=2"))
        #expect(try key("https://a.test/x") != key("https://a.test/x?"))
        #expect(try key("https://a.test/x") != key("https://a.test/X"))
        #expect(try key("https://a.test/") != key("https://b.test/"))
        #expect(try key("https://a.test/") != key("https://a.test:8443/"))
        #expect(try key("https://a.test/") == key("https://A.test:443/#part"))
    }

    @Test func `§3 methods that the cache does not understand are not kept, POST among them`()
        throws
    {
        let fresh = ["Cache-Control: max-age=60, public"]
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY", "get"] {
            #expect(
                try verdict(fresh, try #require(HTTPMethod(method))) == "method", "\(method)")
        }
        #expect(try verdict(fresh) == "kept")
    }

    @Test func `§3 the status is final, and understood where it must be`() throws {
        let fresh = ["Cache-Control: max-age=60"]
        for status in [100, 103, 199, 600] {
            #expect(try verdict(fresh, status: status) == "status", "\(status)")
        }
        #expect(try verdict(fresh, status: 299) == "kept")
        let strict = ["Cache-Control: max-age=60, must-understand, no-store"]
        #expect(try verdict(strict, status: 299) == "not_understood")
        #expect(try verdict(strict, status: 200) == "kept")
    }

    @Test(
        arguments: [
            ("Cache-Control: public", true), ("Cache-Control: private", true),
            ("Expires: " + CachingBench.date(60), true), ("Cache-Control: max-age=60", true),
            ("Cache-Control: s-maxage=60", false), ("X-Nothing: 1", false),
        ] as [(String, Bool)])
    func `§3 a status without a heuristic needs a word that it may be kept`(
        _ line: String, _ isKept: Bool
    ) throws {
        for status in [302, 307, 403, 500, 503] {
            #expect(
                try verdict([line], status: status) == (isKept ? "kept" : "status"), "\(status)")
        }
        #expect(try verdict([line]) == "kept")
    }

    @Test func `§3 no-store of either side forbids it`() throws {
        #expect(try verdict(["Cache-Control: max-age=60, no-store"]) == "no_store")
        #expect(try verdict(["Cache-Control: NO-STORE"]) == "no_store")
        #expect(
            try verdict(["Cache-Control: max-age=60"], asking: ["Cache-Control: no-store"])
                == "no_store")
    }

    @Test func `§3.1 all fields are kept, those of one connection are not`() throws {
        let kept = try CachingBench().kept([
            "X-Unknown: 1", "Content-Type: text/plain", "Connection: X-Named, close",
            "X-Named: 1", "Keep-Alive: timeout=5", "Proxy-Authenticate: Basic",
            "Proxy-Authentication-Info: a=b", "Proxy-Authorization: Basic eDp5",
            "Proxy-Connection: close", "TE: trailers", "Transfer-Encoding: chunked",
            "Upgrade: h2c", "Trailer: X-End", "X-Unknown: 2",
        ])
        #expect(kept.fields.all("X-Unknown") == ["1", "2"])
        #expect(Set(kept.fields.fields.map(\.name)) == ["X-Unknown", "Content-Type"])
    }

    @Test func `§3.2 new fields replace those of their name, but what describes the body`() throws {
        let old = try CachingBench.fields([
            "X-A: 1", "X-A: 2", "X-B: 1", "Content-Length: 10", "Content-Encoding: gzip",
            "Content-Range: bytes 0-9/10", "ETag: \"a\"",
        ])
        let new = try CachingBench.fields([
            "X-A: 3", "Content-Length: 0", "Content-Encoding: br", "Content-Range: bytes 0-0/1",
            "Connection: X-B", "X-B: 9", "Transfer-Encoding: chunked", "X-C: 1",
        ])
        let merged = KeptFields.merged(old, with: new)
        #expect(merged.all("X-A") == ["3"])
        #expect(merged.all("X-B") == ["1"])
        #expect(merged.all("X-C") == ["1"])
        #expect(merged.first("Content-Length") == "10")
        #expect(merged.first("Content-Encoding") == "gzip")
        #expect(merged.first("Content-Range") == "bytes 0-9/10")
        #expect(!merged.contains("Transfer-Encoding") && !merged.contains("Connection"))
    }

    @Test func `§3.3 what is not whole is not kept`() throws {
        let fresh = "Cache-Control: max-age=60"
        #expect(try verdict([fresh], status: 206) == "partial")
        #expect(try verdict([fresh, "Content-Range: bytes 0-4/9"]) == "partial")
        // Whether it is whole cannot be known. Source: RFC 9112 §8.
        #expect(try verdict([fresh], version: .http11) == "unframed")
        #expect(try verdict([fresh, "Content-Length: 5"], version: .http11) == "kept")
    }

    @Test func `§3.4 parts are joined to nothing: a range goes to the origin`() throws {
        let bench = CachingBench()
        let kept = try bench.kept(["Cache-Control: max-age=60", "ETag: \"a\""])
        for line in ["Range: bytes=0-4", "Range: bytes=-1"] {
            #expect(try bench.outcome(kept, after: 1, asking: [line]) == "send")
        }
    }

    @Test func `§3.5 what came for one Authorization answers no other, and none`() throws {
        let fresh = "Cache-Control: max-age=60"
        for more in ["", ", public", ", must-revalidate", ", s-maxage=60"] {
            let own = try CachingBench.request(["Authorization: Bearer a"])
            #expect(try verdict([fresh + more], asking: ["Authorization: Bearer a"]) == "kept")
            let kept = try CachingBench().kept([fresh + more], to: own)
            #expect(kept.variant.answers(own))
            for lines in [["Authorization: Bearer b"], []] {
                #expect(!kept.variant.answers(try CachingBench.request(lines)))
            }
        }
    }
}
