import HTTPDNS
import Testing

@Suite struct FresheningTests {
    private func confirmed(
        _ old: [String], by new: [String], after seconds: Int64 = 100
    ) throws -> KeptResponse? {
        let bench = CachingBench()
        return Freshening.confirmed(
            try bench.kept(old), by: try CachingBench.head(new, status: 304), delaySeconds: 0,
            at: bench.later(seconds), policy: [1])
    }

    @Test func `a 304 under another trust policy confirms nothing`() throws {
        let bench = CachingBench()
        let head = try CachingBench.head(["ETag: \"a\""], status: 304)
        let kept = try bench.kept(["ETag: \"a\""])
        for (policy, isConfirmed) in [([1], true), ([9], false), ([], false)] as [([UInt8], Bool)] {
            let confirmed = Freshening.confirmed(
                kept, by: head, delaySeconds: 0, at: bench.later(5), policy: policy)
            #expect((confirmed != nil) == isConfirmed)
        }
    }

    @Test func `a 304 renews age, lifetime and fields, and leaves what describes the body`() throws
    {
        let kept = try #require(
            try confirmed(
                [
                    "Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 5", "X-Old: 1",
                    "Content-Encoding: gzip", "Age: 50", "Date: " + CachingBench.date(-9),
                    "Connection: X-Old-Hop",
                ],
                by: [
                    "Cache-Control: max-age=90", "ETag: \"a\"", "Content-Length: 0", "X-New: 2",
                    "Content-Encoding: br", "Set-Cookie: a=1", "Connection: X-Hop", "X-Hop: 1",
                ]))
        #expect(kept.fields.first("Cache-Control") == "max-age=90")
        #expect(kept.fields.first("Content-Length") == "5")
        #expect(kept.fields.first("Content-Encoding") == "gzip")
        #expect(kept.fields.first("X-Old") == "1")
        #expect(kept.fields.first("X-New") == "2")
        for name in ["Age", "Set-Cookie", "X-Hop", "Connection", "Date"] {
            #expect(!kept.fields.contains(name), "\(name)")
        }
        #expect(kept.ageSeconds(at: CachingBench().later(101)) == 1)
    }

    @Test(arguments: [
        ("\"a\"", "\"a\"", true), ("\"a\"", "\"b\"", false), ("W/\"a\"", "W/\"a\"", true),
        ("W/\"a\"", "\"a\"", true), ("W/\"a\"", "W/\"b\"", false), ("\"a\"", "bare", true),
    ])
    func `a 304 with another tag is about another response`(
        _ old: String, _ new: String, _ isConfirmed: Bool
    ) throws {
        #expect(
            try (confirmed(["ETag: \(old)"], by: ["ETag: \(new)"]) != nil) == isConfirmed)
    }

    @Test func `a 304 without a tag confirms, one with a tag for what has none does not`() throws {
        let changed = "Last-Modified: " + CachingBench.date(-500)
        #expect(try confirmed([changed], by: []) != nil)
        #expect(try confirmed([changed], by: [changed]) != nil)
        let other = "Last-Modified: " + CachingBench.date(-400)
        #expect(try confirmed([changed], by: [other]) == nil)
        let tag = "ETag: \"a\""
        #expect(try confirmed([changed, tag], by: [other, tag]) != nil)
        #expect(try confirmed([changed], by: ["ETag: \"a\""]) == nil)
    }

    @Test(arguments: [("W/\"a\"", "\"a\"", "W/\"a\""), ("\"a\"", "W/\"a\"", "W/\"a\"")])
    func `what is kept under a weak tag does not become what has a strong one`(
        _ old: String, _ new: String, _ then: String
    ) throws {
        let kept = try #require(try confirmed(["ETag: \(old)"], by: ["ETag: \(new)"]))
        #expect(kept.fields.all("ETag") == [then])
    }

    @Test(arguments: [
        (["ETag: \"a\"", "Content-Length: 5"], true), (["ETag: \"b\""], false),
        (["Content-Length: 6"], false), (["X-New: 1"], true),
    ])
    func `the answer to HEAD confirms, or makes stale`(
        _ new: [String], _ isConfirmed: Bool
    ) throws {
        let bench = CachingBench()
        let kept = try bench.kept(["ETag: \"a\"", "Content-Length: 5"])
        let refreshed = Freshening.refreshed(
            kept, byHead: try CachingBench.head(new), delaySeconds: 0, at: bench.later(5),
            policy: [1])
        #expect(refreshed?.isOutdated == !isConfirmed)
    }

    private func invalidated(
        _ method: String, _ status: Int = 200, _ lines: [String] = []
    ) throws -> [String] {
        Freshening.invalidated(
            by: try CachingBench.head(lines, status: status), to: try #require(HTTPMethod(method)),
            try HTTPURL("https://a.test/x?q=1")
        ).map(\.text)
    }

    @Test func `what changes something makes its URL out of date, unless it failed`() throws {
        for method in ["POST", "PUT", "DELETE", "PATCH", "PURGE"] {
            #expect(try invalidated(method) == ["https://a.test/x?q=1"])
            #expect(try invalidated(method, 303) == ["https://a.test/x?q=1"])
            #expect(try invalidated(method, 404) == [])
            #expect(try invalidated(method, 500) == [])
        }
        for method in ["GET", "HEAD", "OPTIONS", "TRACE"] { #expect(try invalidated(method) == []) }
    }

    @Test func `of Location and Content-Location only those of the same origin count`() throws {
        let found = try invalidated(
            "POST", 201,
            [
                "Location: /new", "Content-Location: https://a.test/x?q=2#f",
                "Location: https://b.test/x", "Location: http://a.test/y",
                "Content-Location: https://a.test:8443/z", "Content-Location: https://",
            ])
        #expect(
            found == ["https://a.test/x?q=1", "https://a.test/new", "https://a.test/x?q=2"])
    }

    @Test func `what answers says its age, and the cookies of a 304 are passed on`() throws {
        let kept = try CachingBench().kept(["Age: 3", "ETag: \"a\""])
        let url = try HTTPURL("https://a.test/x#top")
        let hit = KeptFields.delivered(kept, for: url, ageSeconds: 17)
        #expect(hit.fields.all("Age") == ["17"])
        #expect(hit.url == url)
        let confirmed = KeptFields.delivered(
            kept, for: url, ageSeconds: nil, news: try CachingBench.fields(["Set-Cookie: a=2"]))
        #expect(confirmed.fields.all("Set-Cookie") == ["a=2"])
    }
}
