import HTTPDNS
import HTTPDNSNames
import Testing

@Suite struct FreshnessTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let lines: [String]
        let seconds: Int64
        var status = 200
        var testDescription: String { "\(lines) \(status)" }
    }

    static let day = "Last-Modified: " + CachingBench.date(-86_400)

    static let lifetimes = [
        Case(lines: ["Cache-Control: max-age=60"], seconds: 60),
        Case(lines: ["Cache-Control: max-age=\"60\""], seconds: 60),
        Case(lines: ["cache-control: MAX-AGE=60, public"], seconds: 60),
        Case(lines: ["Cache-Control: max-age=60, s-maxage=5"], seconds: 60),
        Case(lines: ["Cache-Control: s-maxage=5"], seconds: 0),
        Case(lines: ["Cache-Control: max-age=0"], seconds: 0),
        Case(lines: ["Cache-Control: max-age=-1"], seconds: 0),
        Case(lines: ["Cache-Control: max-age=1.5"], seconds: 0),
        Case(lines: ["Cache-Control: max-age"], seconds: 0),
        Case(lines: ["Cache-Control: max-age=abc", day], seconds: 0),
        Case(lines: ["Cache-Control: max-age=99999999999999999999"], seconds: 2_147_483_648),
        Case(lines: ["Cache-Control: max-age=60, max-age=60"], seconds: 60),
        Case(lines: ["Cache-Control: max-age=60", "Cache-Control: max-age=5"], seconds: 0),
        Case(lines: ["Cache-Control: ext=\"a, max-age=60\""], seconds: 0),
        // Expires
        Case(lines: ["Expires: " + CachingBench.date(90)], seconds: 90),
        Case(
            lines: ["Expires: " + CachingBench.date(90), "Date: " + CachingBench.date(-30)],
            seconds: 120),
        Case(
            lines: ["Expires: " + CachingBench.date(90), "Cache-Control: max-age=7"], seconds: 7),
        Case(lines: ["Expires: 0", day], seconds: 0),
        Case(lines: ["Expires: -1"], seconds: 0),
        Case(lines: ["Expires: Thu, 99 Dec 2099 16:00:00 GMT"], seconds: 0),
        Case(lines: ["Expires: " + CachingBench.date(-90)], seconds: 0),
        Case(
            lines: ["Expires: " + CachingBench.date(90), "Expires: " + CachingBench.date(10)],
            seconds: 0),
        // A guess
        Case(lines: [day], seconds: 8_640),
        Case(lines: ["Last-Modified: " + CachingBench.date(-86_400 * 365)], seconds: 86_400),
        Case(lines: ["Last-Modified: " + CachingBench.date(100)], seconds: 0),
        Case(lines: ["Last-Modified: yesterday"], seconds: 0),
        Case(lines: [day, "Set-Cookie: a=1"], seconds: 0),
        Case(lines: [day], seconds: 8_640, status: 404),
        Case(lines: [day], seconds: 0, status: 403),
        Case(lines: [day, "Cache-Control: public"], seconds: 8_640, status: 403),
        Case(lines: [day], seconds: 0, status: 302),
        Case(lines: [], seconds: 0),
    ]

    @Test(arguments: lifetimes)
    func `a lifetime is what RFC 9111 says`(_ one: Case) throws {
        let kept = try CachingBench().kept(one.lines, status: one.status)
        #expect(kept.freshness.lifetimeSeconds == one.seconds)
    }

    static let ages: [([String], Int64, Int64)] = [
        ([], 0, 0),
        (["Age: 30"], 0, 30),
        (["Age: 30"], 4, 34),
        (["Date: " + CachingBench.date(-50)], 0, 50),
        (["Date: " + CachingBench.date(-50), "Age: 30"], 4, 50),
        (["Date: " + CachingBench.date(-10), "Age: 30"], 0, 30),
        // A clock that is ahead of ours.
        (["Date: " + CachingBench.date(500)], 0, 0),
        (["Age: 30, 99"], 0, 30),
        (["Age: old"], 3, 3),
        (["Age: -5"], 0, 0),
        (["Date: yesterday", "Age: 7"], 0, 7),
        (["Age: 99999999999999999999"], 1, 2_147_483_649),
    ]

    @Test(arguments: ages)
    func `the age on arrival is the larger of what date and Age say`(
        _ lines: [String], _ delay: Int64, _ seconds: Int64
    ) throws {
        #expect(
            Freshness.initialAgeSeconds(
                try CachingBench.fields(lines), delaySeconds: delay,
                receivedAt: CachingBench().now) == seconds)
    }

    @Test func `time is told by the boot's clock within a boot, whatever the wall clock says`()
        throws
    {
        let kept = try CachingBench().kept(["Age: 5"])
        var now = CachingBench().later(20)
        now.wallSeconds = 0
        #expect(kept.ageSeconds(at: now) == 25)
        now.bootID = "another"
        #expect(kept.ageSeconds(at: now) == nil)
        now.wallSeconds = CachingBench.start + 40
        now.bootMilliseconds = 0
        #expect(kept.ageSeconds(at: now) == 45)
    }

    @Test func `what no clock can date is stale`() throws {
        let bench = CachingBench()
        let kept = try bench.kept(["Cache-Control: max-age=60", "ETag: \"a\""])
        #expect(try bench.outcome(kept, after: 1) == "hit")
        #expect(try bench.outcome(kept, after: -1) == "validate")
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sunday, 06-Nov-60 08:49:37 GMT", 2_866_956_577),
            ("Sunday, 06-Nov-80 08:49:37 GMT", 342_348_577),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_199),
        ] as [(String, Int64)])
    func `dates are read in three forms`(_ text: String, _ seconds: Int64) {
        let now = WallTime(secondsSince1970: CachingBench.start)
        #expect(HTTPDate.parse(text, now: now)?.secondsSince1970 == seconds)
    }

    @Test(arguments: [
        "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 30 Feb 2024 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Xxx, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "1994-11-06T08:49:37Z",
        String(repeating: "9", count: 100_000),
    ])
    func `what is no date of HTTP is none`(_ text: String) {
        #expect(
            HTTPDate.parse(text, now: WallTime(secondsSince1970: CachingBench.start)) == nil)
    }

    @Test func `a date is written as it is read`() {
        let now = WallTime(secondsSince1970: CachingBench.start)
        for seconds in stride(from: Int64(0), to: 253_402_300_799, by: 86_399 * 997) {
            let time = WallTime(secondsSince1970: seconds)
            #expect(HTTPDate.parse(HTTPDate.text(time), now: now) == time)
        }
    }
}
