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
        ("a.test\tTRUE\t/\t1\t0\tsid\t1", .badFlag("the fourth field", "1")),
        ("a.test\tTRUE\t/\tTRUE\tnever\tsid\t1", .badExpiry("never")),
        ("a.test\tTRUE\t/\tTRUE\t1.8e9\tsid\t1", .badExpiry("1.8e9")),
        ("a.test\tTRUE\t/\tTRUE\t\tsid\t1", .badExpiry("")),
        ("a.test\tTRUE\t/\tTRUE\t--1\tsid\t1", .badExpiry("--1")),
        ("a.test\tFALSE\t/\tFALSE\t0\t__Secure-a\t1", .brokenPrefix),
        ("a.test\tFALSE\t/\tFALSE\t0\t__Host-a\t1", .brokenPrefix),
        ("a.test\tTRUE\t/\tTRUE\t0\t__host-a\t1", .brokenPrefix),
        ("a.test\tFALSE\t/x\tTRUE\t0\t__Host-a\t1", .brokenPrefix),
        ("Set-Cookie: a=b; Domain=a.test", .fields(1)),
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

    // MARK: Read as curl reads it

    private func reading(_ octets: [UInt8]) -> CookieFileReading {
        CookieFileReading(octets, now: now) { PublicSuffix.isPublicSuffix($0) }
    }

    @Test(arguments: [
        ("a.test\tFALSE\t\tFALSE\t0\ts\t1", "/"), ("a.test\tFALSE\tFALSE\t0\ts\t1", "/"),
        ("a.test\tFALSE\tTRUE\t0\ts\t1", "/"), ("a.test\tFALSE\tx\tFALSE\t0\ts\t1", "/"),
        ("a.test\tFALSE\t\"/a\"\tFALSE\t0\ts\t1", "/a"),
        ("a.test\tno\t/\tFALSE\t1900000000.123456\ts\t1", "/"),
        ("a.test\tfalse\t/\tfalse\t99999999999999999999\ts\t1", "/"),
        ("a.test\tFALSE\t/\tFALSE\t0\ts\t1\rrest", "/"),
        ("\u{FEFF}a.test\tFALSE\t/\tFALSE\t0\ts\t1", "/"),
        ("a.test\tFALSE\t/\tTRUE\t0\ts\t1", "/"),
    ])
    func `what others write oddly is read`(line: String, path: String) throws {
        let cookies = try jar(line).all(now: now)
        #expect(cookies.map(\.domain) == ["a.test"])
        #expect(cookies.map(\.path) == [path])
        #expect(cookies.map(\.value) == ["1"])
        #expect(cookies.map(\.isHostOnly) == [true])
    }

    @Test(arguments: ["-1", "-1.5", "1", "-99999999999999999999"])
    func `an expiry in the past is over, and no fault`(expiry: String) throws {
        #expect(try jar("a.test\tFALSE\t/\tFALSE\t\(expiry)\ts\t1").all(now: now).isEmpty)
    }

    @Test func `a broken line costs itself alone, is named, and is still there afterwards`() throws
    {
        let bad: [UInt8] = Array("a.test\tFALSE\t/\tFALSE\tsoon\tz\t".utf8) + [0xE9, 0xFF]
        let octets =
            Array("# mine\na.test\tFALSE\t/\tFALSE\t0\tx\t".utf8) + [0xE9, 0x0A] + bad
            + Array("\nb.test\tFALSE\t/\tFALSE\t0\ty\t2\n".utf8)
        let reading = reading(octets)
        #expect(reading.skipped == [CookieFileFault(line: 3, reason: .badExpiry("soon"))])
        #expect(reading.jar.all(now: now).map(\.name) == ["x", "y"])
        let written = reading.octets(with: reading.jar, now: now)
        #expect(written.suffix(bad.count + 1) == bad + [0x0A])
        // Once, however often it is written.
        let again = self.reading(written)
        #expect(again.octets(with: again.jar, now: now) == written)
        #expect(written.firstRange(of: Array("\tx\t".utf8) + [0xE9, 0x0A]) != nil)
    }

    @Test func `octets of any kind are a file, if a poor one`() {
        for seed in 0..<200 {
            var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
            let octets = (0..<400).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let octet = UInt8(truncatingIfNeeded: state >> 33)
                return octet < 0x60 ? [0x09, 0x0A, 0x2E, 0x2D, 0x30, 0x2F][Int(octet) % 6] : octet
            }
            let reading = reading(octets)
            let written = reading.octets(with: reading.jar, now: now)
            #expect(self.reading(written).skipped.count == reading.skipped.count)
        }
    }
}
