import HTTPDNSExchange
import HTTPDNSIDNA
import HTTPDNSNames
import Testing

/// The URL standard's reading, repairs included.
@Suite struct ParsedURLTests {
    @Test(arguments: [
        ("http://GOO\u{200B}\u{2060}\u{FEFF}goo.com", "googoo.com", "/"),
        ("\0\u{1B}\u{4} http://example.com/\u{1F} \r ", "example.com", "/"),
        ("http://www.foo。bar.com", "www.foo.bar.com", "/"),
        ("http://０Ｘｃ０．０２５０．０１", "192.168.0.1", "/"),
        ("http://%30%78%63%30%2e%30%32%35%30%2E%30%31", "192.168.0.1", "/"),
        ("http://[::127.0.0.1]", "[::7f00:1]", "/"),
        ("http://[::ffff:192.0.2.1]", "[::ffff:c000:201]", "/"),
        ("http://f:00000000000000000000080/c", "f", "/c"),
        ("http:\\\\a\\b:c\\d@foo.com\\", "a", "/b:c/d@foo.com/"),
        ("http://::@c@d:2", "d", "/"),
        ("http://example.com/foo/%2e%2", "example.com", "/foo/%2e%2"),
        ("http://example.com////../..", "example.com", "//"),
        ("http://example.com/foo/bar//../..", "example.com", "/foo/"),
        ("http://a/.%2E/b", "a", "/b"), ("http://a/...", "a", "/..."),
        ("http://example.com/foo\tbar", "example.com", "/foobar"),
        ("http:/example.com/", "example.com", "/"), ("http:///example.com/", "example.com", "/"),
        ("http://host/`{}^|", "host", "/%60%7B%7D%5E|"), ("http://host/?`{}'", "host", "/?`{}%27"),
        ("http://192.168.257.", "192.168.1.1", "/"), ("http://256", "0.0.1.0", "/"),
        ("http://0x", "0.0.0.0", "/"), ("http://foo.0..", "foo.0..", "/"), ("http://.", ".", "/"),
        ("http://a.b.c.XN--pokxncvks", "a.b.c.xn--pokxncvks", "/"),
        ("https://%e2%98%83", "xn--n3h", "/"), ("http://a/?b?c#d#e", "a", "/?b?c"),
    ])
    func `a URL is read as the standard says`(text: String, host: String, target: String) throws {
        let url = try ParsedURL(text, toASCII: IDNA.toASCII)
        #expect(url.host.text == host)
        #expect(url.target == target)
    }

    @Test(arguments: [
        "", "//host", "host", "http://", "http://?", "http://@/x", "http://:80", "ftp://host/",
        "http://a b", "http://a^b", "http://ho%00st", "http://ho%2Fst", "http://%25",
        "http://[::1%eth0]", "http://[::%31]", "http://[::1]a", "http://[1.2.3.4]", "http://a]b",
        "http://f:b/c", "http://f:65536/", "http://2001::1", "http://192.168.0.257",
        "http://4294967296", "http://0x100000000", "http://256.0.0.1", "http://1.2.3.4.5",
        "http://foo.09", "http://foo.0x4.", "http://1.2.3.08", "http://99999999999999999999999999",
        "https://\u{AD}/", "https://\u{FFFD}", "http://％４１.com",
    ])
    func `what the standard calls failure throws`(text: String) {
        #expect(throws: URLFault.self) { try ParsedURL(text, toASCII: IDNA.toASCII) }
    }

    @Test(arguments: [
        ("https://h:80/", "h:80"), ("https://h:443/", "h"), ("http://h:80/", "h"),
        ("http://[::1]:8080/", "[::1]:8080"), ("http://h:0/", "h:0"),
    ])
    func `the port is shown unless it is the scheme's own`(text: String, header: String) throws {
        #expect(try ParsedURL(text, toASCII: IDNA.toASCII).hostHeader == header)
    }

    @Test(
        arguments: [
            ("http://u@h", "u"), ("http://u:p@h", "u:p"), ("http://:p@h", ":p"), ("http://@h", nil),
            ("http://:@h", nil), ("http://a@b@h", "a%40b"), ("http://a:b:c@h", "a:b%3Ac"),
        ] as [(String, String?)])
    func `userinfo is kept apart from the host`(text: String, userinfo: String?) throws {
        let url = try ParsedURL(text, toASCII: IDNA.toASCII)
        #expect(url.userinfo == userinfo)
        #expect(url.host.text == "h")
    }

    @Test func `long input costs time in proportion`() throws {
        let path = String(repeating: "/a/..", count: 50_000)
        #expect(try ParsedURL("http://h" + path, toASCII: IDNA.toASCII).target == "/")
        let at = String(repeating: "@", count: 100_000)
        #expect(try ParsedURL("http://" + at + "h", toASCII: IDNA.toASCII).host.text == "h")
        #expect(throws: URLFault.self) {
            try ParsedURL("http://" + String(repeating: "1.", count: 50_000), toASCII: IDNA.toASCII)
        }
    }
}
