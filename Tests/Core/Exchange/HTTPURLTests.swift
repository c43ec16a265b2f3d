import HTTPDNSExchange
import HTTPDNSIDNA
import HTTPDNSNames
import Testing

@Suite struct HTTPURLTests {
    @Test(arguments: [
        ("HTTP://API.Example.TEST./", "http://api.example.test/"),
        ("http://bücher.test/ü?ä", "http://xn--bcher-kva.test/%C3%BC?%C3%A4"),
        ("http://my_svc.example.test/", "http://my_svc.example.test/"),
        ("https://h.test:8443", "https://h.test:8443/"), ("https://h.test:443/", "https://h.test/"),
        ("https://[2001:DB8::1]/x", "https://[2001:db8::1]/x"),
        ("http://192.0.2.1:8080/", "http://192.0.2.1:8080/"),
        ("https://h.test/%7e%zz/%2F?a=%20+b&c?", "https://h.test/%7e%zz/%2F?a=%20+b&c?"),
        ("https://h.test/a/../b/./c?x/../y", "https://h.test/b/c?x/../y"),
        ("https://h.test/?", "https://h.test/?"), ("https://h.test?q#f", "https://h.test/?q#f"),
        ("https://user:secret@h.test/", "https://h.test/"),
    ])
    func `a URL keeps its target as written, under a canonical origin`(
        text: String, shown: String
    ) throws {
        #expect(try HTTPURL(text, toASCII: IDNA.toASCII).description == shown)
    }

    @Test(
        arguments: [
            ("http://0177.0.0.1/", .ipv4LookAlike), ("http://127.1/", .ipv4LookAlike),
            ("http://0x7f000001/", .ipv4LookAlike), ("http://2130706433/", .ipv4LookAlike),
            ("http://127.0.0.1./", .ipv4LookAlike), ("http://１２７.0.0.1/", .ipv4LookAlike),
            ("http://a.test\\@b.test/", .backslash), ("http://a.test/x\\y", .backslash),
            ("http:a.test", .missingSlashes), ("http:/a.test", .missingSlashes),
            ("http:///a.test", .extraSlashes), ("http://%61.test/", .percentEncodedHost),
            (" http://a.test/", .surroundingBlanks), ("http://a.test/\n", .surroundingBlanks),
            ("http://a.te\tst/", .lineBreakRemoved), ("ht\ntp://a.test/", .lineBreakRemoved),
            ("http://a.test/\u{1}x", .controlCharacter), ("http://a.test/?\0x", .controlCharacter),
            ("http://x@a.test@b.test/", .severalAtSigns),
        ] as [(String, URLOddity)])
    func `what others read differently is refused`(text: String, oddity: URLOddity) {
        #expect(throws: URLFault.odd(oddity)) { try HTTPURL(text, toASCII: IDNA.toASCII) }
    }

    @Test(
        arguments: [
            ("a.test/x", .noScheme), ("ftp://a.test/", .unsupportedScheme("ftp")),
            ("wss://a.test/", .unsupportedScheme("wss")), ("https://", .noHost),
            ("https://user@:80/", .noHost), ("https://a..b/", .badHost(.emptyLabel(atOctet: 2))),
            ("https://a.test:0/", .badPort), ("https://a.test:x/", .badPort),
            ("https://[fe80::1%25eth0]/", .zone),
            ("https://a!b/", .badHost(.badOctet(0x21, atOctet: 1))),
            ("https://bücher.test/", .badHost(.notASCII(atOctet: 1))),
        ] as [(String, URLFault)])
    func `a fault says what and where`(text: String, fault: URLFault) {
        #expect(throws: fault) { try HTTPURL(text) }
    }

    @Test func `no fault and no description tells the password`() {
        for text in ["https://u:hunter2@", "https://u:hunter2@a b", "https://u:hunter2@a.test:x"] {
            #expect(throws: URLFault.self) { try HTTPURL(text) }
            do { _ = try HTTPURL(text) } catch { #expect(!"\(error)".contains("hunter2")) }
        }
    }

    /// Source: RFC 3986 §5.4, with its strict answers for `http`.
    @Test(arguments: [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
        ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g;x", "/b/c/g;x"), ("", "/b/c/d;p?q"),
        (".", "/b/c/"), ("..", "/b/"), ("../g", "/b/g"), ("../../g", "/g"), ("../../../g", "/g"),
        ("/./g", "/g"), ("g.", "/b/c/g."), ("..g", "/b/c/..g"), ("./g/.", "/b/c/g/"),
        ("g;x=1/../y", "/b/c/y"), ("g?y/../x", "/b/c/g?y/../x"), ("g#s/../x", "/b/c/g"),
    ])
    func `a reference is resolved as RFC 3986 shows`(reference: String, target: String) throws {
        let base = try HTTPURL("http://a.test/b/c/d;p?q")
        let url = try base.resolving(reference: reference)
        #expect(url.target == target)
        #expect(url.origin == base.origin)
    }

    @Test func `a reference with an authority leaves the origin`() throws {
        let base = try HTTPURL("https://user:pw@a.test:8443/x")
        #expect(try base.resolving(reference: "//b.test/y").description == "https://b.test/y")
        #expect(try base.resolving(reference: "//b.test/y").userinfo == nil)
        #expect(
            try base.resolving(reference: "http://[::1]:18080/echo").origin.authority
                == "[::1]:18080")
        #expect(try base.resolving(reference: "/y").userinfo == "user:pw")
        #expect(try base.resolving(reference: "/y").origin.authority == "a.test:8443")
    }

    @Test func `a reference without a fragment takes that of the request`() throws {
        let base = try HTTPURL("https://a.test/x#top")
        #expect(try base.resolving(reference: "/y").fragment == "top")
        #expect(try base.resolving(reference: "/y#end").fragment == "end")
    }

    @Test(arguments: [
        "https:/b.test/", "\\\\b.test\\x", "https:b", "//b.test\\@c.test/", "javascript:1",
    ])
    func `a reference that is read in two ways is refused`(reference: String) throws {
        let base = try HTTPURL("https://a.test/x")
        #expect(throws: URLFault.self) { try base.resolving(reference: reference) }
    }
}
