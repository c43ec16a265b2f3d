import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPublicSuffix
import Testing

@Suite struct CookieFileTests {
    private let now = WallTime(secondsSince1970: 1_800_000_000)

    private func jar(_ text: String) throws -> CookieJar {
        try CookieJar(netscape: text, now: now) { PublicSuffix.isPublicSuffix($0) }
    }

    private func header(_ jar: CookieJar, _ url: String) throws -> String? {
        var jar = jar
        return jar.cookieHeader(for: try HTTPURL(url), now: now)
    }

    private static let file = """
        # Netscape HTTP Cookie File
        # https://curl.se/docs/http-cookies.html

        shop.example.test\tFALSE\t/\tFALSE\t0\tsid\t1
        #HttpOnly_.example.test\tTRUE\t/a\tTRUE\t1900000000\twide\ta\tb=c
        shop.example.test\tFALSE\t/\tFALSE\t1700000000\told\tx
        192.0.2.7\tTRUE\t/\tFALSE\t0\tip\t
        """

    @Test func `a file's cookies go where they were set for`() throws {
        let jar = try jar(CookieFileTests.file)
        #expect(try header(jar, "http://shop.example.test/") == "sid=1")
        #expect(try header(jar, "https://shop.example.test/a/b") == "wide=a\tb=c; sid=1")
        #expect(try header(jar, "https://other.example.test/a") == "wide=a\tb=c")
        #expect(try header(jar, "http://other.example.test/a") == nil)
        #expect(try header(jar, "http://192.0.2.7/") == "ip=")
        #expect(jar.all(now: now).map(\.isHTTPOnly) == [false, true, false])
    }

    @Test func `what is written is read back the same, in order`() throws {
        let first = try jar(CookieFileTests.file)
        let text = first.netscapeText(now: now)
        let second = try jar(text)
        #expect(second.netscapeText(now: now) == text)
        let kept = { (jar: CookieJar) in
            jar.all(now: self.now).map {
                "\($0.domain) \($0.isHostOnly) \($0.path) \($0.name)=\($0.value)"
            }
        }
        #expect(kept(second) == kept(first))
        #expect(kept(second).count == 3)
        #expect(text.hasPrefix("# Netscape HTTP Cookie File\n"))
    }

    @Test func `lines end as the writer's system ends them`() throws {
        let jar = try jar(CookieFileTests.file.replacing("\n", with: "\r\n"))
        #expect(try header(jar, "http://shop.example.test/") == "sid=1")
    }

    @Test(arguments: [
        ("shop.example.test FALSE / FALSE 0 sid 1", CookieFileReason.fields(1)),
        ("#HttpOnly_", .fields(0)),
        ("a b\tFALSE\t/\tFALSE\t0\tsid\t1", .badDomain("a b")),
        ("a.test\tyes\t/\tFALSE\t0\tsid\t1", .badFlag("the second field", "yes")),
        ("a.test\tTRUE\t/\t1\t0\tsid\t1", .badFlag("the fourth field", "1")),
        ("a.test\tTRUE\tx\tTRUE\t0\tsid\t1", .badPath("x")),
        ("a.test\tTRUE\t/\tTRUE\tnever\tsid\t1", .badExpiry("never")),
        ("a.test\tTRUE\t/\tTRUE\t99999999999999999999\tsid\t1", .badExpiry("99999999999999999999")),
        ("a.test\tTRUE\t/\tTRUE\t0\t\t1", .noName),
        ("a.test\tTRUE\t/\tTRUE\t0\tsid\ta\u{7}b", .controlCharacter),
        (".com\tTRUE\t/\tTRUE\t0\tsid\t1", .publicSuffix("com")),
        ("co.uk\tTRUE\t/\tFALSE\t0\tsid\t1", .publicSuffix("co.uk")),
    ])
    func `a line that is no cookie is named, and nothing is read in part`(
        line: String, reason: CookieFileReason
    ) {
        #expect(throws: CookieFileFault(line: 2, reason: reason)) { try jar("# first\n" + line) }
    }

    @Test func `a value is in no message`() {
        let fault = #expect(throws: CookieFileFault.self) {
            try jar("a.test\tTRUE\t/\tmaybe\t0\tsid\tsecret-word")
        }
        #expect(fault.map { "\($0)".contains("secret-word") } == false)
    }

    @Test func `the later of two with one name, domain and path counts`() throws {
        let jar = try jar("a.test\tFALSE\t/\tFALSE\t0\ts\t1\na.test\tFALSE\t/\tFALSE\t0\ts\t2\n")
        #expect(try header(jar, "http://a.test/") == "s=2")
    }

    @Test func `a huge file fills a jar no further than its limits`() throws {
        let lines = (0..<5_000).map { "h\($0).example.test\tFALSE\t/\tFALSE\t0\tn\t\($0)\n" }
        let jar = try jar(lines.joined())
        #expect(jar.all(now: now).count == 3_000)
    }
}
