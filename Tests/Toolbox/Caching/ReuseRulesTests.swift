import HTTPDNS
import Testing

@Suite struct ReuseRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let given: [String]
        var asked: [String] = []
        let after: Int64
        let outcome: String
        var testDescription: String { "\(given) \(asked) +\(after)" }

        init(_ given: String, _ asked: String = "", after: Int64, _ outcome: String) {
            self.given = given.isEmpty ? [] : ["Cache-Control: " + given]
            self.asked = asked.isEmpty ? [] : ["Cache-Control: " + asked]
            self.after = after
            self.outcome = outcome
        }
    }

    static let standard = [
        Case("max-age=60", after: 0, "hit"),
        Case("max-age=60", after: 59, "hit"),
        // Fresh means older than its age, not as old. Source: RFC 9111 §4.2.
        Case("max-age=60", after: 60, "validate"),
        Case("max-age=60, no-cache", after: 1, "validate"),
        Case("no-cache=\"Set-Cookie\", max-age=60", after: 1, "validate"),
        Case("max-age=60, must-revalidate", after: 1, "hit"),
        Case("max-age=60, must-revalidate", after: 61, "validate"),
        Case("max-age=60, private", after: 1, "hit"),
        Case("max-age=60, proxy-revalidate", "max-stale", after: 99, "stale"),
        // Of the request
        Case("max-age=60", "no-cache", after: 1, "validate"),
        Case("max-age=60", "max-age=10", after: 10, "hit"),
        Case("max-age=60", "max-age=10", after: 11, "validate"),
        Case("max-age=60", "max-age=0", after: 1, "validate"),
        Case("max-age=60", "max-age=0", after: 0, "validate"),
        Case("max-age=60", "max-age=00", after: 0, "validate"),
        Case("max-age=60", "max-age=x", after: 1, "validate"),
        Case("max-age=60", "min-fresh=20", after: 40, "hit"),
        Case("max-age=60", "min-fresh=20", after: 41, "validate"),
        Case("max-age=60", "max-stale=10", after: 70, "stale"),
        Case("max-age=60", "max-stale=10", after: 71, "validate"),
        Case("max-age=60", "max-stale", after: 100_000, "stale"),
        Case("max-age=60", "max-stale=x", after: 61, "validate"),
        Case("max-age=60, must-revalidate", "max-stale", after: 61, "validate"),
        Case("no-cache", "max-stale", after: 1, "validate"),
        Case("max-age=60", "no-store", after: 1, "hit"),
        Case("max-age=60", "only-if-cached", after: 1, "hit"),
        Case("max-age=60", "only-if-cached", after: 61, "stale"),
        Case("max-age=60, must-revalidate", "only-if-cached", after: 61, "504"),
        Case("no-cache", "only-if-cached", after: 1, "504"),
        // RFC 5861
        Case("max-age=60, stale-if-error=30", after: 90, "validate or stale"),
        Case("max-age=60, stale-if-error=30", after: 91, "validate"),
        Case("max-age=60, stale-if-error=30, must-revalidate", after: 61, "validate"),
        Case("max-age=60", "stale-if-error=30", after: 61, "validate or stale"),
        Case("max-age=60, stale-while-revalidate=30", after: 61, "validate"),
        Case("max-age=60, immutable", after: 1, "hit"),
        Case("max-age=60, immutable", after: 61, "validate"),
    ]

    @Test(arguments: standard)
    func `the standard mode is RFC 9111`(_ one: Case) throws {
        let bench = CachingBench()
        let kept = try bench.kept(one.given + ["ETag: \"a\""])
        #expect(try bench.outcome(kept, after: one.after, asking: one.asked) == one.outcome)
    }

    @Test func `Pragma asks for validation only without Cache-Control`() throws {
        let bench = CachingBench()
        let kept = try bench.kept(["Cache-Control: max-age=60", "ETag: \"a\""])
        #expect(try bench.outcome(kept, after: 1, asking: ["Pragma: no-cache"]) == "validate")
        #expect(
            try bench.outcome(
                kept, after: 1, asking: ["Pragma: no-cache", "Cache-Control: max-age=50"])
                == "hit")
    }

    @Test(arguments: [
        (CacheMode.standard, "hit", "validate", "validate", "send"),
        (.validate, "validate", "validate", "validate", "send"),
        (.preferCache, "hit", "stale", "validate", "send"),
        (.onlyIfCached, "hit", "stale", "504", "504"),
        (.refresh, "send", "send", "send", "send"),
        (.none, "send", "send", "send", "send"),
    ])
    func `each mode is a column of the table`(
        _ mode: CacheMode, fresh: String, stale: String, forbidden: String, missing: String
    ) throws {
        let bench = CachingBench()
        let plain = try bench.kept(["Cache-Control: max-age=60", "ETag: \"a\""])
        let strict = try bench.kept(
            ["Cache-Control: max-age=60, must-revalidate", "ETag: \"a\""])
        #expect(try bench.outcome(plain, after: 1, mode: mode) == fresh)
        #expect(try bench.outcome(plain, after: 100, mode: mode) == stale)
        #expect(try bench.outcome(strict, after: 100, mode: mode) == forbidden)
        #expect(try bench.outcome(nil, after: 0, mode: mode) == missing)
    }

    @Test func `what is immutable and fresh is not validated, but refreshed`() throws {
        let bench = CachingBench()
        let kept = try bench.kept(["Cache-Control: max-age=60, immutable", "ETag: \"a\""])
        #expect(try bench.outcome(kept, after: 1, mode: .validate) == "hit")
        #expect(try bench.outcome(kept, after: 61, mode: .validate) == "validate")
        #expect(try bench.outcome(kept, after: 1, mode: .refresh) == "send")
    }

    @Test func `without a validator what is stale is sent for`() throws {
        let bench = CachingBench()
        let kept = try bench.kept(["Cache-Control: max-age=60"])
        #expect(try bench.outcome(kept, after: 61) == "send")
        #expect(try bench.outcome(kept, after: 61, mode: .preferCache) == "stale")
    }

    @Test func `without a validator what is stale answers while the origin is in trouble`() throws {
        let bench = CachingBench()
        let kept = try bench.kept(["Cache-Control: max-age=60, stale-if-error=30"])
        #expect(try bench.outcome(kept, after: 90) == "send or stale")
        #expect(try bench.outcome(kept, after: 90, mode: .validate) == "send or stale")
        #expect(try bench.outcome(kept, after: 90, method: .head) == "send or stale")
        #expect(try bench.outcome(kept, after: 91) == "send")
        #expect(try bench.outcome(kept, after: 61, policy: [2]) == "send")
        #expect(try bench.outcome(kept, after: 61, mode: .refresh) == "send")
        let plain = try bench.kept(["Cache-Control: max-age=60"])
        let asked = ["Cache-Control: stale-if-error=30"]
        #expect(try bench.outcome(plain, after: 90, asking: asked) == "send or stale")
        #expect(try bench.outcome(plain, after: 91, asking: asked) == "send")
        let strict = try bench.kept(["Cache-Control: max-age=60, must-revalidate"])
        #expect(try bench.outcome(strict, after: 61, asking: asked) == "send")
        let tagged = try bench.kept(["Cache-Control: max-age=60, stale-if-error=30", "ETag: \"a\""])
        #expect(try bench.outcome(tagged, after: 90, method: .head) == "send or stale")
    }

    @Test func `under another policy all is asked for anew, and offline it is a 504`() throws {
        let bench = CachingBench()
        let kept = try bench.kept(["Cache-Control: max-age=60, stale-if-error=99", "ETag: \"a\""])
        for mode in [CacheMode.standard, .preferCache] {
            #expect(try bench.outcome(kept, after: 1, mode: mode, policy: [2]) == "send")
        }
        #expect(try bench.outcome(kept, after: 1, mode: .onlyIfCached, policy: [2]) == "504")
        #expect(try bench.outcome(kept, after: 1, mode: .onlyIfCached) == "hit")
    }

    @Test(arguments: ["If-None-Match: \"a\"", "Range: bytes=0-1", "If-Match: *", "If-Range: \"a\""])
    func `the caller's own conditions go to the origin, and are answered whole offline`(
        _ line: String
    ) throws {
        let bench = CachingBench()
        let kept = try bench.kept(["Cache-Control: max-age=60"])
        #expect(try bench.outcome(kept, after: 1, asking: [line]) == "send")
        #expect(try bench.outcome(kept, after: 1, asking: [line], mode: .onlyIfCached) == "hit")
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get", "PURGE"])
    func `no other method is answered`(_ method: String) throws {
        let bench = CachingBench()
        let kept = try bench.kept(["Cache-Control: max-age=60"])
        let method = try #require(HTTPMethod(method))
        #expect(try bench.outcome(kept, after: 1, method: method) == "send")
        #expect(try bench.outcome(kept, after: 1, method: .head) == "hit")
    }

    @Test func `both validators are sent, as they came`() throws {
        let bench = CachingBench()
        let changed = CachingBench.date(-500)
        let kept = try bench.kept(["ETag: W/\"a b\"", "Last-Modified: \(changed)"])
        // A space is no octet of an entity tag.
        #expect(ReuseRules.conditions(kept)?.fields.map(\.name) == ["If-Modified-Since"])
        let good = try bench.kept(["ETag: W/\"ab\"", "Last-Modified: \(changed)"])
        #expect(ReuseRules.conditions(good)?.first("If-None-Match") == "W/\"ab\"")
        #expect(ReuseRules.conditions(good)?.first("If-Modified-Since") == changed)
        #expect(ReuseRules.conditions(try bench.kept(["ETag: bare", "Last-Modified: 0"])) == nil)
    }

    @Test func `of several variants the newest that answers is taken`() throws {
        let bench = CachingBench()
        let english = try CachingBench.request(["Accept-Language: en"])
        let german = try CachingBench.request(["Accept-Language: de"])
        var old = try bench.kept(
            ["Vary: Accept-Language", "Date: " + CachingBench.date(-50)], to: english)
        var new = try bench.kept(
            ["Vary: accept-language", "Date: " + CachingBench.date(-5)], to: english)
        var other = try bench.kept(["Vary: Accept-Language"], to: german)
        (old.number, new.number, other.number) = (3, 2, 1)
        let rules = ReuseRules(
            mode: .standard, policy: [1], now: bench.now, keepsPlainHTTP: false)
        #expect(rules.choose([old, new, other], for: english)?.number == 2)
        #expect(rules.choose([old, new, other], for: german)?.number == 1)
        #expect(rules.choose([old, new, other], for: try CachingBench.request()) == nil)
    }
}
