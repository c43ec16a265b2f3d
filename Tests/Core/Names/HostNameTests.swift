import HTTPDNSNames
import Testing

@Suite struct HostNameTests {
    @Test(arguments: [
        ("API.Example.COM.", "api.example.com"), ("localhost", "localhost"),
        ("_dmarc.example.com", "_dmarc.example.com"), ("xn--bcher-kva.test", "xn--bcher-kva.test"),
        ("1.0.0.127.in-addr.arpa", "1.0.0.127.in-addr.arpa"), ("0x7f.0.0.0x7g", "0x7f.0.0.0x7g"),
    ])
    func `a host name is kept in canonical form`(text: String, canonical: String) throws {
        #expect(try HostName(text).text == canonical)
    }

    @Test(arguments: [
        ("", NameError.empty), (".", .emptyLabel(atOctet: 0)), ("a..b", .emptyLabel(atOctet: 2)),
        (".a", .emptyLabel(atOctet: 0)), ("a b", .badOctet(0x20, atOctet: 1)),
        ("a\0b", .badOctet(0, atOctet: 1)), ("bücher.test", .notASCII(atOctet: 1)),
        ("127.1", .looksLikeAddress), ("0x7f.1", .looksLikeAddress), ("0x7f", .looksLikeAddress),
        ("1.2.3.09", .looksLikeAddress), ("foo.0x", .looksLikeAddress),
        ("2130706433", .looksLikeAddress), ("1.2.3.4", .looksLikeAddress),
    ])
    func `what is not a host name is refused with its rule`(text: String, error: NameError) {
        #expect(throws: error) { try HostName(text) }
    }

    @Test func `a label has at most 63 octets and a name at most 253`() throws {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)]
            .joined(separator: ".")
        #expect(try HostName(longest).text.utf8.count == 253)
        #expect(throws: NameError.tooLong(octets: 254)) { try HostName("a" + longest) }
        #expect(throws: NameError.labelTooLong(octets: 64, atOctet: 0)) {
            try HostName(label + "a.test")
        }
    }

    @Test func `a look-alike does not lie under a suffix`() throws {
        let suffix = try HostName("example.com")
        #expect(try HostName("api.example.com").isSameOrUnder(suffix))
        #expect(try HostName("example.com").isSameOrUnder(suffix))
        #expect(try !HostName("badexample.com").isSameOrUnder(suffix))
        #expect(try !HostName("example.com.evil").isSameOrUnder(suffix))
    }
}
