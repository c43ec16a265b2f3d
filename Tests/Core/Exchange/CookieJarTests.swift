import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPublicSuffix
import Testing

@Suite struct CookieJarTests {
    @Test(
        arguments: [
            ("sid=1", "https://a.example.test/", "sid=1"),
            ("sid=1", "https://b.example.test/", nil),
            ("sid=1", "https://sub.a.example.test/", nil), ("sid=1", "https://192.0.2.7/", nil),
            ("sid=1; Domain=example.test", "https://b.example.test/", "sid=1"),
            ("sid=1; Domain=.example.test", "http://example.test/", "sid=1"),
            ("sid=1; Domain=example.test", "https://badexample.test/", nil),
            ("sid=1; Path=/x", "https://a.example.test/x/y", "sid=1"),
            ("sid=1; Path=/x", "https://a.example.test/xy", nil),
            ("sid=1; Path=x", "https://a.example.test/dir", "sid=1"),
            ("sid=1; Secure", "http://a.example.test/", nil),
            ("sid=1; Secure", "https://a.example.test:8443/", "sid=1"),
            ("a=b=c; HttpOnly; Unknown=1", "https://a.example.test/", "a=b=c"),
            (
                "a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://a.example.test/",
                "a=1"
            ),
            (
                "a=1; Max-Age=0; Expires=Wed, 01 Jan 2031 00:00:00 GMT", "https://a.example.test/",
                nil
            ),
            ("a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT", "https://a.example.test/", "a=1"),
            ("a=1; Max-Age=99999999999999999999999", "https://a.example.test/", "a=1"),
            ("__Host-a=1; Secure; Path=/", "https://a.example.test/", "__Host-a=1"),
        ] as [(String, String, String?)])
    func `a cookie goes back to the hosts it was set for`(
        line: String, url: String, header: String?
    ) throws {
        var jar = CookieJar()
        try store(line, from: "https://a.example.test/page", in: &jar)
        #expect(jar.cookieHeader(for: try HTTPURL(url), now: now) == header)
    }

    @Test(
        arguments: [
            ("sid=1; Domain=test", .publicSuffix("test")),
            ("sid=1; Domain=co.uk", .publicSuffix("co.uk")),
            ("sid=1; Domain=b.example.test", .foreignDomain("b.example.test")),
            ("sid=1; Domain=a.example.test.", .badDomain("a.example.test.")),
            ("sid=1; Domain=192.0.2.7", .badDomain("192.0.2.7")),
            ("sid=1; Secure", .secureOverHTTP), ("sid", .noName), ("=1", .noName), ("", .noName),
            ("a=\u{1}", .controlCharacter), ("a=b\r\nX: y", .controlCharacter),
            ("__Secure-a=1", .brokenPrefix), ("__host-a=1; Path=/", .brokenPrefix),
            ("a=" + String(repeating: "b", count: 4_096), .tooLarge),
        ] as [(String, CookieRefusal)])
    func `a line that reaches too far is refused`(line: String, refusal: CookieRefusal) {
        var jar = CookieJar()
        #expect(throws: refusal) { try store(line, from: "http://a.example.test/", in: &jar) }
        #expect(jar.all(now: now).isEmpty)
    }

    @Test(arguments: [
        "http://localhost:18080/", "http://127.0.0.1/", "http://[::1]/", "https://co.uk/",
    ])
    func `a host may always set a cookie for itself`(url: String) throws {
        var jar = CookieJar()
        try store("a=1", from: url, in: &jar)
        #expect(jar.cookieHeader(for: try HTTPURL(url), now: now) == "a=1")
    }

    @Test func `localhost may name itself as its domain`() throws {
        var jar = CookieJar()
        try store("a=1; Domain=localhost", from: "http://localhost/", in: &jar)
        #expect(jar.all(now: now).first?.isHostOnly == true)
    }

    @Test func `two hosts on one address share no cookie`() throws {
        var jar = CookieJar()
        try store("sid=abc", from: "http://api.example.test/", in: &jar)
        #expect(jar.cookieHeader(for: try HTTPURL("http://other.example.test/"), now: now) == nil)
        #expect(jar.cookieHeader(for: try HTTPURL("http://127.0.0.1/"), now: now) == nil)
    }

    @Test func `longer paths come first, then older cookies`() throws {
        var jar = CookieJar()
        for line in ["x=1; Path=/", "y=2; Path=/dir", "z=3; Path=/", "x=4; Path=/"] {
            try store(line, from: "https://a.test/dir/", in: &jar)
        }
        let header = jar.cookieHeader(for: try HTTPURL("https://a.test/dir/"), now: now)
        #expect(header == "y=2; x=4; z=3")
    }

    @Test func `a past expiry removes the cookie`() throws {
        var jar = CookieJar()
        try store("a=1", from: "https://a.test/", in: &jar)
        try store("a=; Max-Age=-1", from: "https://a.test/", in: &jar)
        #expect(jar.all(now: now).isEmpty)
    }

    @Test func `http cannot hide a secure cookie`() throws {
        var jar = CookieJar()
        try store("a=1; Secure; Domain=a.test", from: "https://a.test/", in: &jar)
        #expect(throws: CookieRefusal.wouldHideSecure) {
            try store("a=2", from: "http://sub.a.test/", in: &jar)
        }
    }

    @Test func `a cookie ends at its second`() throws {
        var jar = CookieJar()
        try store("a=1; Max-Age=60", from: "https://a.test/", in: &jar)
        let url = try HTTPURL("https://a.test/")
        #expect(jar.cookies(for: url, now: WallTime(secondsSince1970: start + 59)).count == 1)
        #expect(jar.cookies(for: url, now: WallTime(secondsSince1970: start + 60)).isEmpty)
    }

    @Test func `one domain cannot push the others out`() throws {
        var jar = CookieJar()
        try store("keep=1", from: "https://other.test/", in: &jar)
        for index in 0..<400 { try store("c\(index)=1", from: "https://flood.test/", in: &jar) }
        #expect(jar.cookies(for: try HTTPURL("https://flood.test/"), now: now).count == 180)
        #expect(jar.cookies(for: try HTTPURL("https://other.test/"), now: now).count == 1)
    }

    @Test func `the least recently used of all goes when the jar is full`() throws {
        var jar = CookieJar()
        try store("old=1", from: "https://first.test/", in: &jar)
        try store("used=1", from: "https://second.test/", in: &jar)
        for index in 0..<2_998 { try store("c=1", from: "https://h\(index).test/", in: &jar) }
        _ = jar.cookieHeader(for: try HTTPURL("https://first.test/"), now: now)
        try store("new=1", from: "https://third.test/", in: &jar)
        #expect(jar.all(now: now).count == 3_000)
        #expect(jar.cookies(for: try HTTPURL("https://first.test/"), now: now).count == 1)
        #expect(jar.cookies(for: try HTTPURL("https://second.test/"), now: now).isEmpty)
    }

    @Test func `an overlong attribute is ignored by itself`() throws {
        var jar = CookieJar()
        let path = "/" + String(repeating: "x", count: 1_024)
        try store("a=1; Path=" + path, from: "https://a.test/dir/x", in: &jar)
        #expect(jar.all(now: now).first?.path == "/dir")
    }

    @Test func `a session ends without what was kept for later`() throws {
        var jar = CookieJar()
        try store("a=1", from: "https://a.test/", in: &jar)
        try store("b=1; Max-Age=60", from: "https://a.test/", in: &jar)
        jar.endSession()
        #expect(jar.all(now: now).map(\.name) == ["b"])
    }

    private let start: Int64 = 1_700_000_000
    private var now: WallTime { WallTime(secondsSince1970: start) }

    @Test func `a field that servers would refuse for its length is not made`() throws {
        var jar = CookieJar()
        let value = String(repeating: "v", count: 3_990)
        for name in ["first", "second", "third"] {
            try store("\(name)=\(value)", from: "https://a.example.test/", in: &jar)
        }
        let sent = try #require(
            jar.cookieHeader(for: try HTTPURL("https://a.example.test/"), now: now))
        #expect(sent.utf8.count <= CookieJar.maximumFieldOctets)
        #expect(sent == "first=\(value); second=\(value)")
        // They are kept all the same.
        #expect(jar.all(now: now).count == 3)
    }

    @Test(
        arguments: [
            [0xE9, 0xFF], [0xC3, 0xA9], [0xC4, 0xE3, 0xBA, 0xC3], [0xC3, 0xA9, 0x20, 0xE9],
        ] as [[UInt8]])
    func `octets of a cookie go back as they came, from a file too`(octets: [UInt8]) throws {
        var jar = CookieJar()
        let url = try HTTPURL("https://a.example.test/")
        let line = Array("n=".utf8) + octets + Array("; Path=/; Domain=a.example.test".utf8)
        try jar.store(
            setCookie: FieldText(octets: line), from: url, now: now, isPublicSuffix: { _ in false })
        try store("z=\u{e9}", from: url.description, in: &jar)
        let field = Array("n=".utf8) + octets + Array("; z=\u{e9}".utf8)
        #expect(jar.cookieField(for: url, now: now)?.wire == field)
        #expect(jar.cookies(for: url, now: now).first?.value == FieldText(octets: octets).text)
        let file = jar.netscapeOctets(now: now)
        #expect(
            file.split(separator: 0x0A).contains {
                $0.suffix(octets.count + 2) == [0x6E, 0x09] + octets
            })
        var read = try CookieJar(netscape: file, now: now) { _ in false }
        #expect(read.cookieField(for: url, now: now)?.wire == field)
        // What replaces it has its name, octet for octet.
        let named = octets + Array("=1".utf8)
        for _ in 0..<2 {
            try jar.store(
                setCookie: FieldText(octets: named), from: url, now: now,
                isPublicSuffix: { _ in false })
        }
        #expect(jar.all(now: now).count == 3)
    }

    @Test(
        arguments: [
            ("Max-Age=99999999999", 34_560_000), ("Max-Age=34560001", 34_560_000),
            ("Max-Age=34559999", 34_559_999), ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", 34_560_000),
        ] as [(String, Int64)])
    func `a cookie is kept for 400 days at most`(attribute: String, seconds: Int64) throws {
        var jar = CookieJar()
        try store("a=1; " + attribute, from: "https://a.example.test/", in: &jar)
        let end = try #require(jar.all(now: now).first?.expires)
        #expect(end.secondsSince1970 - now.secondsSince1970 == seconds)
    }

    @Test func `a Cookie value is taken apart at its semicolons`() {
        let field = FieldText(octets: Array("a=1;b = \u{e9} ; ;c=".utf8) + [0xE9])
        let pairs = CookiePairs.all(field)
        #expect(
            pairs.map(\.wire) == [
                Array("a=1".utf8), Array("b = \u{e9}".utf8), Array("c=".utf8) + [0xE9],
            ])
        #expect(pairs.map(CookiePairs.name) == ["a", "b ", "c"].map { Array($0.utf8) })
        #expect(CookiePairs.joined([]) == nil)
        #expect(CookiePairs.joined(pairs)?.wire == Array("a=1; b = \u{e9}; c=".utf8) + [0xE9])
    }

    private func store(_ line: String, from url: String, in jar: inout CookieJar) throws {
        try jar.store(
            setCookie: line, from: HTTPURL(url), now: now,
            isPublicSuffix: PublicSuffix.isPublicSuffix)
    }
}

@Suite struct CookieDateTests {
    @Test(
        arguments: [
            ("Wed, 09 Jun 2021 10:18:14 GMT", 1_623_233_894),
            ("Sat, 15-Apr-17 21:01:22 GMT", 1_492_290_082),
            ("Thu Apr 18 2007 GMT 22:50:12", 1_176_936_612), ("01 Jan 1970 00:00:00", 0),
            ("1 Jan 70 0:0:0", 0), ("29 Feb 2024 00:00:00", 1_709_164_800),
            ("31 Dec 1969 23:59:59", -1), ("1 Jan 1601 00:00:00", -11_644_473_600),
            ("31 Dec 9999 23:59:59", 253_402_300_799), ("00:00:00 1 JANUARY 69", 3_124_224_000),
        ] as [(String, Int64)])
    func `a date is found among its tokens`(text: String, seconds: Int64) {
        #expect(CookieDate.parse(text)?.secondsSince1970 == seconds)
    }

    @Test(arguments: [
        "", "Jan 2021 10:00:00", "31 Feb 2021 10:00:00", "29 Feb 2023 0:0:0", "1 Jan 2021 24:00:00",
        "1 Jan 2021 00:60:00", "1 Jan 1600 00:00:00", "0 Jan 2021 00:00:00", "32 Jan 2021 00:00:00",
        "1 Foo 2021 00:00:00", "1 Jan 20210 00:00:00", "1 Jan 2021 00:00", "1 Jan 2021 000:00:00",
    ])
    func `what lacks a part is no date`(text: String) {
        #expect(CookieDate.parse(text) == nil)
    }
}
