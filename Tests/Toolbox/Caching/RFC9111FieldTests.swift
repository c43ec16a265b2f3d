import HTTPDNS
import Testing

/// RFC 9111 §5, RFC 5861 and RFC 8246: each field and each directive, as a private cache obeys it.
@Suite struct RFC9111FieldTests {
    private let bench = CachingBench()

    /// What is done about a request so many seconds after a response with this `Cache-Control`.
    private func outcome(
        _ given: String, asking asked: String = "", after seconds: Int64,
        mode: CacheMode = .standard
    ) throws -> String {
        try bench.outcome(
            try bench.kept(["Cache-Control: " + given, "ETag: \"a\""]), after: seconds,
            asking: asked.isEmpty ? [] : ["Cache-Control: " + asked], mode: mode)
    }

    @Test func `§5.1 Age: the first number counts, and what is none does not`() throws {
        let age = { (line: String) in
            Freshness.initialAgeSeconds(
                try CachingBench.fields([line]), delaySeconds: 0, receivedAt: bench.now)
        }
        #expect(try age("Age: 7") == 7)
        #expect(try age("Age: 7, 9") == 7)
        for value in ["-7", "7.5", "seven", ""] {
            #expect(try age("Age: \(value)") == 0, "\(value)")
        }
        #expect(try age("Age: 99999999999999999999") == 2_147_483_648)
    }

    @Test func `§5.2 names in any case, arguments as token or quoted, and unknown ones ignored`()
        throws
    {
        for text in [
            "max-age=60", "MAX-AGE=60", "max-age=\"60\"", "unknown, max-age=60, other=\"a, b\"",
            ", ,max-age=60,",
        ] {
            #expect(try outcome(text, after: 59) == "hit", "\(text)")
            #expect(try outcome(text, after: 60) == "validate", "\(text)")
        }
    }

    @Test func `§5.2.1.1 max-age of a request: no older than that`() throws {
        #expect(try outcome("max-age=60", asking: "max-age=20", after: 20) == "hit")
        #expect(try outcome("max-age=60", asking: "max-age=20", after: 21) == "validate")
        // With max-stale, not staler than that either.
        #expect(
            try outcome("max-age=60", asking: "max-age=99, max-stale=9", after: 69) == "stale")
        #expect(
            try outcome("max-age=60", asking: "max-age=65, max-stale=9", after: 69)
                == "validate")
    }

    @Test func `§5.2.1.2 max-stale: stale by so much, or by any`() throws {
        #expect(try outcome("max-age=60", asking: "max-stale=5", after: 65) == "stale")
        #expect(try outcome("max-age=60", asking: "max-stale=5", after: 66) == "validate")
        #expect(try outcome("max-age=60", asking: "max-stale", after: 9_999) == "stale")
    }

    @Test func `§5.2.1.3 min-fresh: still fresh for so long`() throws {
        #expect(try outcome("max-age=60", asking: "min-fresh=10", after: 50) == "hit")
        #expect(try outcome("max-age=60", asking: "min-fresh=10", after: 51) == "validate")
    }

    @Test func `§5.2.1.4 no-cache of a request: nothing unvalidated`() throws {
        #expect(try outcome("max-age=60", asking: "no-cache", after: 1) == "validate")
    }

    @Test func `§5.2.1.5 no-store of a request: nothing of it is kept, what is kept may answer`()
        throws
    {
        #expect(try outcome("max-age=60", asking: "no-store", after: 1) == "hit")
        #expect(
            CacheDirectives(ofRequest: try CachingBench.fields(["Cache-Control: no-store"]))
                .noStore)
    }

    @Test func `§5.2.1.6 no-transform: nothing is changed in any case`() throws {
        #expect(try outcome("max-age=60", asking: "no-transform", after: 1) == "hit")
    }

    @Test func `§5.2.1.7 only-if-cached: what is kept, or a 504`() throws {
        #expect(try outcome("max-age=60", asking: "only-if-cached", after: 1) == "hit")
        #expect(
            try bench.outcome(nil, after: 0, asking: ["Cache-Control: only-if-cached"]) == "504")
    }

    @Test func `§5.2.2.1 max-age of a response: stale from its end on`() throws {
        #expect(try outcome("max-age=60", after: 59) == "hit")
        #expect(try outcome("max-age=60", after: 60) == "validate")
        #expect(try outcome("max-age=0", after: 0) == "validate")
    }

    @Test func `§5.2.2.2 must-revalidate: stale never answers, whatever the request says`() throws {
        #expect(try outcome("max-age=60, must-revalidate", after: 59) == "hit")
        #expect(
            try outcome("max-age=60, must-revalidate", asking: "max-stale", after: 61)
                == "validate")
        #expect(
            try outcome("max-age=60, must-revalidate", after: 61, mode: .onlyIfCached) == "504")
    }

    @Test func `§5.2.2.3 must-understand: kept where the status is known, despite no-store`()
        throws
    {
        let fields = try CachingBench.fields(["Cache-Control: must-understand, no-store"])
        #expect(!StorageRules.forbids(fields, status: 200))
        #expect(StorageRules.forbids(fields, status: 299))
    }

    @Test func `§5.2.2.4 no-cache: asked about each time, with field names too`() throws {
        for text in ["max-age=60, no-cache", "max-age=60, no-cache=\"Set-Cookie\""] {
            for mode in [CacheMode.standard, .preferCache] {
                #expect(try outcome(text, after: 1, mode: mode) == "validate", "\(text)")
            }
            #expect(try outcome(text, after: 1, mode: .onlyIfCached) == "504", "\(text)")
        }
    }

    @Test func `§5.2.2.5 no-store: what is kept of it goes`() throws {
        let kept = try bench.kept(["ETag: \"a\""])
        let head = try CachingBench.head(["Cache-Control: no-store"], status: 304)
        #expect(!Freshening.mayStay(kept, after: head))
    }

    @Test func `§5.2.2.6 no-transform: nothing is changed in any case`() throws {
        #expect(try outcome("max-age=60, no-transform", after: 1) == "hit")
    }

    @Test func `§5.2.2.7 private: this cache is one user's`() throws {
        #expect(try outcome("private, max-age=60", after: 1) == "hit")
        #expect(try outcome("private=\"X-A\", max-age=60", after: 1) == "hit")
    }

    @Test func `§5.2.2.8 proxy-revalidate is not for a private cache`() throws {
        #expect(
            try outcome("max-age=60, proxy-revalidate", asking: "max-stale", after: 61)
                == "stale")
    }

    @Test func `§5.2.2.9 public: kept, also with a status that is not by itself`() throws {
        #expect(try outcome("public, max-age=60", after: 1) == "hit")
        let guessed = try bench.kept(
            ["Cache-Control: public", "Last-Modified: " + CachingBench.date(-600)], status: 403)
        #expect(guessed.freshness.lifetimeSeconds == 60)
    }

    @Test func `§5.2.2.10 s-maxage is not for a private cache`() throws {
        #expect(try outcome("s-maxage=900, max-age=60", after: 61) == "validate")
        #expect(try outcome("s-maxage=1, max-age=60", after: 30) == "hit")
    }

    @Test func `§5.2.3 an extension changes nothing that is known`() throws {
        #expect(try outcome("max-age=60, community=\"UCI\"", after: 1) == "hit")
    }

    @Test(arguments: ["0", "-1", "never", "", "Thu, 01 Jan 1970 00:00:00 GMT"])
    func `§5.3 Expires: a date that is none has passed`(_ value: String) throws {
        let kept = try bench.kept(["Expires: \(value)", "ETag: \"a\""])
        #expect(try bench.outcome(kept, after: 0) == "validate")
    }

    @Test func `§5.3 Expires counts from Date, and not beside max-age`() throws {
        let lines = ["Expires: " + CachingBench.date(60), "Date: " + CachingBench.date(-40)]
        #expect(try bench.kept(lines).freshness.lifetimeSeconds == 100)
        #expect(
            try bench.kept(lines + ["Cache-Control: max-age=7"]).freshness.lifetimeSeconds == 7)
    }

    @Test func `§5.4 Pragma: no-cache of a request without Cache-Control, and of no response`()
        throws
    {
        let kept = try bench.kept(["Cache-Control: max-age=60", "Pragma: no-cache", "ETag: \"a\""])
        #expect(try bench.outcome(kept, after: 1) == "hit")
        #expect(try bench.outcome(kept, after: 1, asking: ["Pragma: no-cache"]) == "validate")
        #expect(
            try bench.outcome(
                kept, after: 1, asking: ["Pragma: no-cache", "Cache-Control: max-age=60"])
                == "hit")
    }

    @Test func `§5.5 Warning is passed on as it came, and none is made`() throws {
        let url = try HTTPURL("https://a.test/x")
        let warned = try bench.kept(["Warning: 199 - \"a\""])
        #expect(
            KeptFields.delivered(warned, for: url, ageSeconds: 9).fields.all("Warning")
                == ["199 - \"a\""])
        let plain = try bench.kept(["Cache-Control: max-age=1"])
        #expect(!KeptFields.delivered(plain, for: url, ageSeconds: 9).fields.contains("Warning"))
    }

    @Test func `RFC 5861 §3 stale-while-revalidate lets nothing stale answer`() throws {
        #expect(try outcome("max-age=60, stale-while-revalidate=60", after: 61) == "validate")
    }

    @Test func `RFC 5861 §4 stale-if-error stands in for an origin in trouble, for so long`() throws
    {
        #expect(try outcome("max-age=60, stale-if-error=9", after: 69) == "validate or stale")
        #expect(try outcome("max-age=60, stale-if-error=9", after: 70) == "validate")
        #expect(
            try outcome("max-age=60", asking: "stale-if-error=9", after: 69)
                == "validate or stale")
        #expect(
            try outcome("max-age=60, must-revalidate, stale-if-error=9", after: 61) == "validate")
        #expect(
            try outcome("max-age=60, stale-if-error=9", asking: "no-cache", after: 61)
                == "validate")
    }

    @Test func `RFC 8246 immutable: a reload does not ask while it is fresh`() throws {
        #expect(try outcome("max-age=60, immutable", after: 59, mode: .validate) == "hit")
        #expect(try outcome("max-age=60, immutable", after: 60, mode: .validate) == "validate")
        #expect(try outcome("max-age=60", after: 1, mode: .validate) == "validate")
    }
}
