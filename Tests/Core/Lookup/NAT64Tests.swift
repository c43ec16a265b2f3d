import HTTPDNSLookup
import HTTPDNSNames
import Testing

@Suite struct NAT64Tests {
    private static func prefix(_ text: String) throws -> NAT64Prefix {
        try #require(NAT64Prefix(try AddressBlock(text)))
    }

    private static func found(_ texts: String...) throws -> [String] {
        NAT64.prefixes(in: try texts.map { try IPAddress($0) }).map(\.description)
    }

    /// Source: RFC 6052 §2.4, both tables.
    private static let vectors = [
        ("2001:db8::/32", "192.0.2.33", "2001:db8:c000:221::"),
        ("2001:db8:100::/40", "192.0.2.33", "2001:db8:1c0:2:21::"),
        ("2001:db8:122::/48", "192.0.2.33", "2001:db8:122:c000:2:2100::"),
        ("2001:db8:122:300::/56", "192.0.2.33", "2001:db8:122:3c0:0:221::"),
        ("2001:db8:122:344::/64", "192.0.2.33", "2001:db8:122:344:c0:2:2100::"),
        ("2001:db8:122:344::/96", "192.0.2.33", "2001:db8:122:344::192.0.2.33"),
        ("64:ff9b::/96", "8.8.4.4", "64:ff9b::808:404"),
    ]

    @Test(arguments: vectors) func `an address is made and read back as RFC 6052 shows`(
        prefix: String, ipv4: String, ipv6: String
    ) throws {
        let prefix = try Self.prefix(prefix)
        #expect(prefix.synthesise(try IPAddress(ipv4)) == (try IPAddress(ipv6)))
        #expect(prefix.extract(try IPAddress(ipv6)) == (try IPAddress(ipv4)))
    }

    @Test(arguments: vectors.map(\.0), ["192.0.0.170", "192.0.0.171"])
    func `a prefix of every length is found in the answer for ipv4only.arpa`(
        text: String, wellKnown: String
    ) throws {
        let prefix = try Self.prefix(text)
        // Made with a prefix of the network's own rules, so that the well-known one can be, too.
        var octets = prefix.block.address.octets
        let places = (prefix.block.prefixBits / 8..<16).filter { $0 != 8 }.prefix(4)
        for (place, octet) in zip(places, try IPAddress(wellKnown).octets) { octets[place] = octet }
        let made = try #require(IPAddress(octets: octets))
        #expect(NAT64.prefixes(in: [made]) == [prefix])
    }

    @Test func `several prefixes are found in their order, each once`() throws {
        #expect(
            try Self.found(
                "2001:db8:122:344::c000:aa", "64:ff9b::c000:aa", "64:ff9b::c000:ab",
                "2001:db8:c000:aa::", "192.0.0.170")
                == ["2001:db8:122:344::/96", "64:ff9b::/96", "2001:db8::/32"])
    }

    @Test(arguments: [
        "2001:db8::1", "2001:db8::c000:ac", "::ffff:192.0.0.170", "::c000:aa", "::ffff:0:c000:aa",
        "fe80::c000:aa", "ff02::c000:aa", "2001:db8:122:344:1200::c000:aa", "192.0.0.170", "::",
    ]) func `what shows no prefix gives none`(address: String) throws {
        #expect(try Self.found(address) == [])
    }

    @Test func `a suffix that is not zero leaves the only place, and of two places none`() throws {
        #expect(try Self.found("2001:db8:c000:aa::1") == ["2001:db8::/32"])
        #expect(try Self.found("2001:db8:c000:aa::c000:aa") == ["2001:db8:c000:aa::/96"])
        // 192.0.0.170 at bit 32 and, after octet 8, at bit 64; then a suffix.
        #expect(try Self.found("2001:db8:c000:aa:c0:0:aa00:1") == [])
    }

    @Test(arguments: ["10.0.0.1", "127.0.0.1", "192.168.1.1", "192.0.2.33", "192.0.0.170"])
    func `the well-known prefix carries no address that is not global`(address: String) throws {
        #expect(NAT64Prefix.wellKnown?.synthesise(try IPAddress(address)) == nil)
        #expect(try Self.prefix("2001:db8::/32").synthesise(try IPAddress(address)) != nil)
    }

    @Test(arguments: [
        "2001:db8::/33", "2001:db8::/128", "10.0.0.0/32", "::ffff:0:0/96", "::/96", "fe80::/64",
        "ff00::/32", "2001:db8:0:0:ff00::/96",
    ]) func `not every block can be a prefix`(block: String) throws {
        #expect(NAT64Prefix(try AddressBlock(block)) == nil)
    }

    @Test func `an address of another prefix, of IPv4 or with octet 8 set is not read`() throws {
        let prefix = try Self.prefix("2001:db8::/32")
        for text in ["2001:db9:c000:221::", "192.0.2.33", "2001:db8:c000:221:ff00::"] {
            #expect(prefix.extract(try IPAddress(text)) == nil)
        }
        #expect(prefix.synthesise(try IPAddress("2001:db8::1")) == nil)
    }

    @Test func `mapped addresses do not count as IPv6`() throws {
        let given = try ["::ffff:192.0.2.1", "2001:db8::1", "192.0.2.1"].map { try IPAddress($0) }
        #expect(NAT64.usable(given) == Array(given.dropFirst()))
    }

    @Test func `every address is made under every prefix`() throws {
        let prefixes = [try Self.prefix("2001:db8::/32"), try Self.prefix("64:ff9b::/96")]
        let given = try ["8.8.8.8", "10.0.0.1", "2001:db8::1"].map { try IPAddress($0) }
        #expect(
            NAT64.synthesise(given, under: prefixes).map(\.description)
                == ["2001:db8:808:808::", "64:ff9b::808:808", "2001:db8:a00:1::"])
    }
}
