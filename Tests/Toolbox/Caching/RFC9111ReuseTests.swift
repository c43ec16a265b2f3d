import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import Testing

/// RFC 9111 §4, section by section: what a kept response answers. Requests that are joined:
/// ``CachingJoinTests``; several variants: ``CachingVariantTests``.
@Suite struct RFC9111ReuseTests {
    private let bench = CachingBench()

    private func fresh(_ more: [String] = [], for seconds: Int = 60) throws -> KeptResponse {
        try bench.kept(["Cache-Control: max-age=\(seconds)"] + more)
    }

    private func outcome(
        _ kept: KeptResponse?, after seconds: Int64, asking lines: [String] = [],
        _ method: HTTPMethod = .get, mode: CacheMode = .standard
    ) throws -> String {
        try bench.outcome(kept, after: seconds, asking: lines, mode: mode, method: method)
    }

    @Test func `§4 fresh, stale with leave, or validated: nothing else answers`() throws {
        let kept = try fresh(["ETag: \"a\""])
        #expect(try outcome(kept, after: 30) == "hit")
        #expect(try outcome(kept, after: 70, asking: ["Cache-Control: max-stale"]) == "stale")
        #expect(try outcome(kept, after: 70) == "validate")
        #expect(try outcome(nil, after: 0) == "send")
    }

    @Test func `§4 what answers unasked has an Age, what was validated has none`() throws {
        let url = try HTTPURL("https://a.test/x?q=1")
        let kept = try fresh(["Age: 5"])
        let hit = KeptFields.delivered(kept, for: url, ageSeconds: 35)
        #expect(hit.fields.all("Age") == ["35"])
        #expect(
            KeptFields.delivered(kept, for: url, ageSeconds: nil).fields.all("Age") == ["5"])
    }

    @Test func `§4 methods that change something are always sent`() throws {
        let kept = try fresh()
        for method in ["POST", "PUT", "DELETE", "PATCH", "QUERY"] {
            #expect(
                try outcome(kept, after: 1, try #require(HTTPMethod(method))) == "send",
                "\(method)")
        }
    }

    @Test func `§4 of several that fit, the one with the latest Date answers`() throws {
        var kept = [
            try fresh(["Date: " + CachingBench.date(-50)]),
            try fresh(["Date: " + CachingBench.date(-10)]),
            try fresh(["Date: " + CachingBench.date(-30)]),
        ]
        for place in kept.indices { kept[place].number = Int64(place + 1) }
        let rules = ReuseRules(
            mode: .standard, policy: [1], now: bench.now, keepsPlainHTTP: false)
        let request = try CachingBench.request()
        #expect(rules.choose(kept, for: request)?.number == 2)
        #expect(rules.choose(kept.reversed(), for: request)?.number == 2)
    }

    @Test(
        arguments: [
            ("Accept: a", "Accept: a", true), ("Accept: a", "Accept: b", false),
            // White space and how many lines: no difference. Order: one.
            ("Accept: a, b", "Accept: a ,b", true), ("Accept: a, b", "Accept: b, a", false),
            ("Accept: a", "", false), ("", "", true), ("", "Accept: a", false),
            ("Accept: a", "ACCEPT: a", true), ("Accept: a", "Accept: A", false),
        ] as [(String, String, Bool)])
    func `§4.1 the fields that Vary names must be as they were`(
        _ first: String, _ second: String, _ answers: Bool
    ) throws {
        let lines = { (line: String) in line.isEmpty ? [] : [line] }
        let kept = try bench.kept(
            ["Cache-Control: max-age=60", "Vary: accept"],
            to: try CachingBench.request(lines(first)))
        #expect(
            kept.variant.answers(try CachingBench.request(lines(second) + ["X-Else: 1"]))
                == answers)
    }

    @Test func `§4.1 a star answers nobody, wherever it stands`() throws {
        let request = try CachingBench.request()
        for lines in [["Vary: *"], ["Vary: Accept, *"], ["Vary: Accept", "Vary: *"]] {
            #expect(Variant(request, answeredWith: try CachingBench.fields(lines)) == nil)
        }
    }

    @Test func `§4.1 without Vary whatever is asked is answered`() throws {
        let kept = try fresh()
        #expect(kept.variant.answers(try CachingBench.request(["Accept: a", "X-Else: 1"])))
    }

    @Test(
        arguments: [
            (["Cache-Control: max-age=5, s-maxage=900", "Expires: " + CachingBench.date(90)], 5),
            (["Cache-Control: s-maxage=900", "Expires: " + CachingBench.date(90)], 90),
            (["Last-Modified: " + CachingBench.date(-1_000)], 100),
            (["Cache-Control: max-age=5", "Cache-Control: max-age=900"], 0),
            (["Cache-Control: max-age=five"], 0), (["Expires: never"], 0),
        ] as [([String], Int64)])
    func `§4.2.1 max-age, then Expires, then a guess; what conflicts is stale`(
        _ lines: [String], _ seconds: Int64
    ) throws {
        #expect(try bench.kept(lines).freshness.lifetimeSeconds == seconds)
    }

    @Test func `§4.2.2 a guess is a tenth, a day at most, and never beside a lifetime`() throws {
        let changed = { (seconds: Int64) in "Last-Modified: " + CachingBench.date(-seconds) }
        let guessed = { (lines: [String], status: Int) in
            try bench.kept(lines, status: status).freshness.lifetimeSeconds
        }
        #expect(try guessed([changed(600)], 200) == 60)
        #expect(try guessed([changed(86_400 * 3_650)], 200) == 86_400)
        #expect(try guessed([changed(600), "Cache-Control: max-age=0"], 200) == 0)
        #expect(try guessed([changed(600), "Expires: 0"], 200) == 0)
        #expect(try guessed([changed(-600)], 200) == 0)
        for status in [203, 204, 300, 301, 308, 404, 405, 410, 414, 501] {
            #expect(try guessed([changed(600)], status) == 60, "\(status)")
        }
        for status in [302, 307, 400, 403, 500, 503] {
            #expect(try guessed([changed(600)], status) == 0, "\(status)")
        }
    }

    @Test func `§4.2.3 the age is what is stated or apparent, the delay, and the time here`() throws
    {
        let kept = try CachingBench.fields(["Age: 20", "Date: " + CachingBench.date(-10)])
        let initial = Freshness.initialAgeSeconds(kept, delaySeconds: 3, receivedAt: bench.now)
        #expect(initial == 23)
        let old = try CachingBench.fields(["Age: 20", "Date: " + CachingBench.date(-100)])
        #expect(
            Freshness.initialAgeSeconds(old, delaySeconds: 3, receivedAt: bench.now) == 100)
        #expect(try fresh(["Age: 20"]).ageSeconds(at: bench.later(7)) == 27)
    }

    @Test func `§4.2.4 stale only with leave: of the request, or offline`() throws {
        let kept = try fresh(["ETag: \"a\""])
        #expect(try outcome(kept, after: 61) == "validate")
        #expect(try outcome(kept, after: 61, asking: ["Cache-Control: max-stale=5"]) == "stale")
        #expect(try outcome(kept, after: 61, mode: .onlyIfCached) == "stale")
        for line in ["no-cache", "must-revalidate"] {
            let strict = try bench.kept(["Cache-Control: max-age=60, \(line)", "ETag: \"a\""])
            for mode in [CacheMode.standard, .preferCache] {
                #expect(
                    try outcome(
                        strict, after: 61, asking: ["Cache-Control: max-stale"], mode: mode)
                        == "validate", "\(line)")
            }
            #expect(try outcome(strict, after: 61, mode: .onlyIfCached) == "504", "\(line)")
        }
    }

    @Test func `§4.3.1 the origin is asked with what is known: tag, date, or both`() throws {
        let date = CachingBench.date(-500)
        let conditions = { (lines: [String]) in
            ReuseRules.conditions(try bench.kept(lines))
        }
        #expect(try conditions(["ETag: W/\"a\""])?.first("If-None-Match") == "W/\"a\"")
        #expect(try conditions(["Last-Modified: \(date)"])?.first("If-Modified-Since") == date)
        #expect(try conditions(["ETag: \"a\"", "Last-Modified: \(date)"])?.fields.count == 2)
        #expect(try conditions(["X-A: 1"]) == nil)
        #expect(try outcome(try fresh(), after: 61) == "send")
    }

    @Test func `§4.3.2 conditions of the caller's own are the origin's to answer`() throws {
        let kept = try fresh(["ETag: \"a\""])
        for line in [
            "If-None-Match: \"a\"", "If-Modified-Since: " + CachingBench.date(0), "If-Match: *",
            "If-Unmodified-Since: " + CachingBench.date(0),
        ] {
            #expect(try outcome(kept, after: 1, asking: [line]) == "send", "\(line)")
        }
    }

    @Test func `§4.3.3 and §4.3.4 a 304 confirms the one it is about`() throws {
        let confirmed = { (old: [String], new: [String]) in
            Freshening.confirmed(
                try bench.kept(old), by: try CachingBench.head(new, status: 304),
                delaySeconds: 0, at: bench.later(100), policy: [1])
        }
        let new = try confirmed(["ETag: \"a\"", "X-A: 1"], ["ETag: \"a\"", "X-A: 2"])
        #expect(new?.fields.all("X-A") == ["2"])
        #expect(new?.ageSeconds(at: bench.later(100)) == 0)
        // Strong tags are compared strongly, and one that changed is another response.
        #expect(try confirmed(["ETag: \"a\""], ["ETag: \"b\""]) == nil)
        #expect(try confirmed(["ETag: W/\"a\""], ["ETag: W/\"a\""]) != nil)
    }

    @Test(
        arguments: [
            (["ETag: \"a\""], "hit"), (["ETag: \"b\""], "validate"),
            (["Content-Length: 5"], "hit"), (["Content-Length: 6"], "validate"),
            (["Last-Modified: " + CachingBench.date(-1)], "validate"),
            (["Cache-Control: no-store"], nil), (["Vary: Accept"], nil),
        ] as [([String], String?)])
    func `§4.3.5 a HEAD freshens what agrees with it, and makes stale what does not`(
        _ lines: [String], _ then: String?
    ) throws {
        let kept = try fresh(["ETag: \"a\"", "Content-Length: 5"])
        let after = Freshening.refreshed(
            kept, byHead: try CachingBench.head(lines), delaySeconds: 0, at: bench.later(9),
            policy: [1])
        #expect((after == nil) == (then == nil))
        guard let after, let then else { return }
        #expect(try outcome(after, after: 10) == then)
        let isStale = then == "validate"
        #expect(try outcome(after, after: 10, mode: .onlyIfCached) == (isStale ? "stale" : "hit"))
        let lines = ["Cache-Control: max-stale=9"]
        #expect(try outcome(after, after: 10, asking: lines) == then)
    }

    @Test func `§4.3.5 what a HEAD made stale is fresh again once a 304 confirms it`() throws {
        var kept = try fresh(["ETag: \"a\""])
        kept.isOutdated = true
        let confirmed = try #require(
            Freshening.confirmed(
                kept, by: try CachingBench.head(["ETag: \"a\""], status: 304), delaySeconds: 0,
                at: bench.later(9), policy: [1]))
        #expect(try outcome(confirmed, after: 10) == "hit")
    }

    @Test(
        arguments: [
            (["If-None-Match: \"a\""], true), (["If-None-Match: W/\"a\""], true),
            (["If-None-Match: \"b\", \"a\""], true), (["If-None-Match: *"], true),
            (["If-None-Match: \"b\""], false), (["If-None-Match: a"], false),
            (["If-None-Match:"], false),
            // The date is not looked at beside a tag.
            (["If-None-Match: \"b\"", "If-Modified-Since: " + CachingBench.date(0)], false),
            (["If-Modified-Since: " + CachingBench.date(-50)], true),
            (["If-Modified-Since: " + CachingBench.date(-51)], false),
            (["If-Modified-Since: soon"], false),
            // For the origin alone to judge.
            (["If-Match: \"a\""], false), (["If-Unmodified-Since: soon"], false),
            (["Range: bytes=0-1"], false), ([], false),
        ] as [([String], Bool)])
    func `§4.3.2 what the caller has already is told by its own conditions`(
        _ lines: [String], _ has: Bool
    ) throws {
        let tagged = try fresh(["ETag: \"a\"", "Last-Modified: " + CachingBench.date(-50)])
        let request = try CachingBench.request(lines)
        #expect(request.hasAlready(tagged) == has)
        let failed = try bench.kept(
            ["Cache-Control: max-age=9", "ETag: \"a\""], status: 404)
        #expect(!request.hasAlready(failed))
    }

    @Test func `§4.3.2 without the date of a change that of the response counts`() throws {
        let kept = try fresh(["Date: " + CachingBench.date(-20)])
        for (seconds, has) in [(-20, true), (-21, false)] as [(Int64, Bool)] {
            let request = try CachingBench.request([
                "If-Modified-Since: " + CachingBench.date(seconds)
            ])
            #expect(request.hasAlready(kept) == has)
        }
    }

    @Test func `§15.4.5 a 304 of the cache has the fields that a 200 would have had`() throws {
        let url = try HTTPURL("https://a.test/x?q=1")
        let lines = ["Vary: Accept", "Content-Type: a/b", "Content-Length: 5", "X-Else: 1"]
        let changed = "Last-Modified: " + CachingBench.date(-50)
        let head = KeptFields.notModified(
            try fresh(lines + ["ETag: \"a\"", changed]), for: url, ageSeconds: 7)
        #expect(head.status == 304)
        #expect(head.fields.fields.map(\.name) == ["Cache-Control", "Vary", "ETag", "Age"])
        let untagged = KeptFields.notModified(try fresh([changed]), for: url, ageSeconds: 7)
        #expect(untagged.fields.contains("Last-Modified"))
    }

    @Test(
        arguments: [
            ("POST", 200, true), ("PUT", 204, true), ("DELETE", 200, true), ("PATCH", 302, true),
            ("UNKNOWN", 200, true), ("POST", 400, false), ("PUT", 500, false), ("GET", 200, false),
            ("HEAD", 200, false), ("OPTIONS", 200, false), ("TRACE", 200, false),
        ] as [(String, Int, Bool)])
    func `§4.4 a change that succeeded makes what is kept invalid`(
        _ method: String, _ status: Int, _ isInvalidated: Bool
    ) throws {
        let url = try HTTPURL("https://a.test/x?q=1")
        let keys = Freshening.invalidated(
            by: try CachingBench.head([], status: status),
            to: try #require(HTTPMethod(method)), url)
        #expect(keys == (isInvalidated ? [CacheKey(url)].compactMap(\.self) : []))
    }

    @Test func `§4.4 Location and Content-Location count on the same origin alone`() throws {
        let head = try CachingBench.head(
            [
                "Location: https://a.test/new", "Content-Location: ../y",
                "Location: https://b.test/x", "Content-Location: http://a.test/x",
            ], status: 201)
        let keys = Freshening.invalidated(by: head, to: .post, try HTTPURL("https://a.test/d/x"))
        #expect(
            keys.map(\.text) == [
                "https://a.test/d/x", "https://a.test/new", "https://a.test/y",
            ])
    }

    /// An origin that is well for the first request, and then answers so.
    private func withStale(
        then later: LabResponse,
        _ body: (HTTPDNS, LabServer) async throws -> Void
    ) async throws {
        let lab = try CachingLab()
        let count = Locked(0)
        let server = try lab.origin { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return later }
            return LabResponse.text("kept").with([
                "Cache-Control": "max-age=1", "Age": "9", "ETag": "\"a\"",
            ])
        }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        try await body(httpdns, server)
        server.stop()
    }

    @Test func `§4.2.4 an origin that cannot be reached lets nothing stale answer by itself`()
        async throws
    {
        try await withStale(then: .never) { httpdns, server in
            server.stop()
            await #expect(throws: ExchangeFailure.self) { try await httpdns.fetch(server.at()) }
            let asked = try await httpdns.fetch(
                server.at(), .get, ["Cache-Control": "max-stale=900"])
            #expect(asked.text == "kept" && asked.outcome == .stale)
            #expect(try await httpdns.fetch(server.at(), mode: .onlyIfCached).text == "kept")
        }
    }

    @Test func `§4.3.3 a 5xx to a validation is the answer, and what is kept stays`() async throws {
        try await withStale(then: .text("sorry", status: 503)) { httpdns, server in
            let failed = try await httpdns.fetch(server.at())
            #expect(failed.head.status == 503 && failed.text == "sorry")
            #expect(server.record.requests.last?.value(of: "If-None-Match") == "\"a\"")
            #expect(try await httpdns.fetch(server.at(), mode: .onlyIfCached).text == "kept")
        }
    }

    @Test func `§4.3.3 a 200 to a validation replaces what is kept`() async throws {
        let new = LabResponse.text("new").with(["Cache-Control": "max-age=600"])
        try await withStale(then: new) { httpdns, server in
            #expect(try await httpdns.fetch(server.at()).text == "new")
            let kept = try await httpdns.fetch(server.at())
            #expect(kept.text == "new" && kept.outcome == .hit)
            #expect(server.count == 2)
        }
    }
}
