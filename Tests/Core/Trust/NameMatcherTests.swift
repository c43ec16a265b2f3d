import HTTPDNSNames
import HTTPDNSTrust
import Testing

@Suite struct NameMatcherTests {
    private static let matcher = NameMatcher(isPublicSuffix: { $0 == "co.uk" || $0 == "com" })

    @Test(arguments: [
        ("example.com", "example.com"), ("EXAMPLE.COM", "example.com"),
        ("*.example.com", "a.example.com"), ("*.EXAMPLE.com", "a.example.com"),
        ("*.example.com", "xn--bcher-kva.example.com"),
        ("my_svc.example.com", "my_svc.example.com"),
        ("localhost", "localhost"), ("*.example.co.uk", "a.example.co.uk"),
    ])
    func `a name is matched by`(presented: String, host: String) throws {
        let leaf = TrustFixtures.certificate(names: [Array(presented.utf8)])
        let expected = NameMatcher.Verdict.matched(presented.lowercased())
        #expect(try Self.matcher.match(TrustFixtures.host(host), leaf) == expected)
    }

    @Test(arguments: [
        ("example.com", "a.example.com"), ("*.example.com", "example.com"),
        ("*.example.com", "a.b.example.com"), ("*.com", "example.com"), ("*", "example"),
        ("*.co.uk", "example.co.uk"), ("a*.example.com", "ab.example.com"),
        ("*a.example.com", "ba.example.com"), ("a.*.com", "a.example.com"),
        ("*.*.com", "a.example.com"), ("**.example.com", "a.example.com"),
        ("xn--*.example.com", "xn--a.example.com"), ("example.com.", "example.com"),
        ("*.example.com.", "a.example.com"), ("127.0.0.1", "127.0.0.1"), ("::1", "::1"),
        ("*.0.0.1", "127.0.0.1"), ("a-.test", "a-.test"), ("example.org", "example.com"),
    ])
    func `a name is not matched by`(presented: String, host: String) throws {
        let leaf = TrustFixtures.certificate(names: [Array(presented.utf8)])
        #expect(try Self.matcher.match(TrustFixtures.host(host), leaf) == .mismatched)
    }

    @Test func `an address is matched by the same octets only`() throws {
        let leaf = TrustFixtures.certificate(
            names: [Array("example.com".utf8)],
            addresses: [[127, 0, 0, 1], [UInt8](repeating: 0, count: 15) + [1]])
        for text in ["127.0.0.1", "::1"] {
            #expect(
                try Self.matcher.match(TrustFixtures.host(text), leaf) == .matched(text))
        }
        for text in ["127.0.0.2", "::2", "::ffff:127.0.0.2", "::7f00:1"] {
            #expect(try Self.matcher.match(TrustFixtures.host(text), leaf) == .mismatched)
        }
        #expect(
            try Self.matcher.match(TrustFixtures.host("example.com"), leaf)
                == .matched("example.com"))
    }

    @Test func `who means the IPv6 form of an IPv4 address means that, but no entry does`() throws {
        let four = TrustFixtures.certificate(addresses: [[127, 0, 0, 1]])
        let mapped = try TrustFixtures.host("::ffff:127.0.0.1")
        #expect(Self.matcher.match(mapped, four) != .mismatched)
        let six = TrustFixtures.certificate(addresses: [
            [UInt8](repeating: 0, count: 10) + [255, 255, 127, 0, 0, 1]
        ])
        #expect(Self.matcher.match(mapped, six) != .mismatched)
        #expect(try Self.matcher.match(TrustFixtures.host("127.0.0.1"), six) == .mismatched)
    }

    @Test func `the zone of an address does not count`() throws {
        let octets = try IPAddress("fe80::1").octets
        let leaf = TrustFixtures.certificate(addresses: [octets])
        #expect(
            try Self.matcher.match(TrustFixtures.host("fe80::1%eth0"), leaf) == .matched("fe80::1"))
    }

    @Test func `the subject proves no name`() throws {
        let leaf = TrustFixtures.certificate("CN=example.com")
        #expect(try Self.matcher.match(TrustFixtures.host("example.com"), leaf) == .mismatched)
    }

    @Test(arguments: [
        "example.com\0.evil.test", "\0", "", ".example.com", "a..example.com", "exa mple.com",
        "example.com\n", "b\u{FC}cher.test", "example.com..", ".", "a\u{7F}b",
    ])
    func `a certificate with a name that cannot be one is refused whole`(presented: String) throws {
        let leaf = TrustFixtures.certificate(
            names: [Array("example.com".utf8), Array(presented.utf8)])
        guard case .malformed = try Self.matcher.match(TrustFixtures.host("example.com"), leaf)
        else {
            Issue.record("accepted beside \"\(presented)\"")
            return
        }
    }

    @Test(arguments: [0, 3, 5, 8, 15, 17, 32])
    func `a certificate with an address of odd length is refused whole`(count: Int) throws {
        let leaf = TrustFixtures.certificate(
            names: [Array("example.com".utf8)], addresses: [[UInt8](repeating: 1, count: count)])
        guard case .malformed = try Self.matcher.match(TrustFixtures.host("example.com"), leaf)
        else {
            Issue.record("accepted beside an address of \(count) octets")
            return
        }
    }

    @Test func `what a message quotes holds no control characters`() {
        #expect(NameMatcher.escaped(Array("a\0\u{1B}\\\"é".utf8)) == #"a\x00\x1b\x5c\x22\xc3\xa9"#)
    }
}
