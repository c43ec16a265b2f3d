import HTTPDNSIDNA
import HTTPDNSNames
import Testing

@Suite struct IDNATests {
    @Test(arguments: [
        ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
        ("faß.example", "xn--fa-hia.example"), ("FAẞ.example", "xn--fa-hia.example"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("ｇｏ．example", "go.example"),
        ("☃.example", "xn--n3h.example"), ("a♥️b.example", "xn--ab-t0x.example"),
        ("-ä.my_svc.example", "xn----0fa.my_svc.example"), ("ab--ö.test", "xn--ab---8qa.test"),
        ("Example.COM", "example.com"), ("xn--bcher-kva.test", "xn--bcher-kva.test"),
    ])
    func `a Unicode name becomes its A-labels`(text: String, ascii: String) throws {
        #expect(try HostName(unicode: text).text == ascii)
    }

    @Test(arguments: [
        "a\u{FFFD}.com", "ä\0.com", "\u{200D}.com", "0à.\u{5D0}", "à\u{2C7}.\u{5D0}",
        "\u{5D0}1\u{660}.ä", "xn--\u{E4}.com", "\u{301}a.com", "\u{E000}.com", "ä.xn--a",
        "a\u{2FF0}.com",
    ])
    func `what UTS 46 refuses is not converted`(text: String) {
        #expect(throws: NameError.self) { try HostName(unicode: text) }
    }

    @Test(arguments: ["９.9.9.9", "١٢٧.0.0.1", "ä.127", "ä..b", "⑷.example"])
    func `the rules of a host name hold for what comes out`(text: String) {
        #expect(throws: NameError.self) { try HostName(unicode: text) }
    }

    @Test func `a text longer than any name is refused before it is converted`() {
        let text = String(repeating: "ä.", count: 50_000)
        #expect(throws: NameError.tooLong(octets: 150_000)) { try IDNA.toASCII(text) }
    }

    @Test func `a label that no name server would take is refused`() {
        #expect(throws: NameError.self) {
            try HostName(unicode: "ä" + String(repeating: "b", count: 62))
        }
    }

    @Test(arguments: [
        ("xn--bcher-kva.example", "bücher.example"), ("plain.example", "plain.example"),
        ("xn--n3h.example", "☃.example"), ("xn--.example", "xn--.example"),
    ])
    func `people see the Unicode form where there is one`(text: String, shown: String) throws {
        #expect(IDNA.toUnicode(try HostName(text)) == shown)
    }

    @Test(arguments: ["a..b", "a.", "-a.example", "ab--c.example", "a_b.example", "xn--", "≯."])
    func `the strict form has no room for what DNS and STD3 refuse`(text: String) {
        #expect(throws: NameError.self) { try IDNA.toASCIIStrictly(text) }
    }
}
