import HTTPDNSLookup
import HTTPDNSNames
import Testing

@Suite struct AddressPolicyTests {
    private static func verdict(
        _ addresses: [String], for name: String = "api.example.com",
        by policy: AddressPolicy = .standard, isLocalSource: Bool = false
    ) throws -> AddressPolicy.Verdict {
        policy.verdict(
            for: try HostName(name), addresses: try addresses.map { try IPAddress($0) },
            isLocalSource: isLocalSource)
    }

    /// The first and the last address of each special block.
    private static let special = [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
        "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "172.16.0.0",
        "172.31.255.255", "192.0.0.0", "192.0.0.170", "192.0.2.1", "192.168.0.0",
        "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.255",
        "224.0.0.1", "239.255.255.255", "240.0.0.0", "255.255.255.255", "::", "::1", "100::1",
        "2001:2::1", "2001:db8::1", "3fff::1", "3fff:fff:ffff::1", "5f00::1", "fc00::1",
        "fdff:ffff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
    ]

    /// Special IPv4 addresses in every IPv6 form that carries one.
    private static let wrapped = [
        "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::7f00:1", "::c0a8:101", "::ffff:0:127.0.0.1",
        "64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::c0a8:1", "2002:7f00:1::",
        "2002:c0a8:101::5", "2002:a00:1:1::1", "2001:0:808:808:0:1:80ff:fffe",
        "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:192.168.0.1", "64:ff9b:1:a00:0:100::",
        "64:ff9b:1:7f:0:1::", "64:ff9b:1::7f:0:100:0", "64:ff9b:1:ff:0:1:10.0.0.1",
    ]

    /// Neighbours of the special blocks, and global addresses in IPv6 form.
    private static let ordinary = [
        "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
        "192.0.0.9", "192.0.0.10", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "198.51.101.0", "203.0.112.255", "223.255.255.255",
        "2001:db7::1", "2001:db9::1", "2606:4700::1", "2a00::1", "fbff::1", "3ffe::1",
        "4000::1", "64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::1", "2001:3::1",
        "2001:0:808:808:0:1:f7f7:f7f7", "2606:4700::5efe:8.8.8.8", "64:ff9b:1:808:8:800::",
        "64:ff9b:1::8.8.8.8",
    ]

    @Test(arguments: special + wrapped)
    func `a public name cannot have a special address`(address: String) throws {
        #expect(try Self.verdict([address]) == .refused([try IPAddress(address)]))
    }

    @Test(arguments: ordinary) func `what only looks like it is accepted`(address: String) throws {
        #expect(try Self.verdict([address]) == .acceptable)
    }

    @Test func `one refused address refuses the whole answer and alone is named`() throws {
        let mixed = ["8.8.8.8", "192.168.1.1", "::ffff:127.0.0.1"]
        let refused = try mixed.dropFirst().map { try IPAddress($0) }
        #expect(try Self.verdict(mixed) == .refused(refused))
        #expect(
            AddressPolicy.explanation(refused)
                == "192.168.1.1 (private), ::ffff:127.0.0.1 (loopback, in IPv6 form)")
    }

    @Test func `no address is nothing to refuse`() throws {
        #expect(try Self.verdict([]) == .acceptable)
    }

    @Test(arguments: [
        "printer", "api.test", "nas.local", "a.localhost", "x.invalid", "api.example", "abc.onion",
        "a.alt", "db.internal", "router.home.arpa", "ipv4only.arpa", "pc.lan",
    ]) func `a name that is not public may lead inside`(name: String) throws {
        #expect(try Self.verdict(["10.0.0.1"], for: name) == .acceptable)
    }

    @Test(arguments: ["api.test.com", "local.com", "example.com", "home.arpa.net", "a.mytest"])
    func `a name that has such a word elsewhere is public`(name: String) throws {
        #expect(try Self.verdict(["10.0.0.1"], for: name) != .acceptable)
    }

    @Test func `a source on this machine may answer with loopback, and nothing else inside`() throws
    {
        #expect(try Self.verdict(["127.0.0.53", "::1"], isLocalSource: true) == .acceptable)
        #expect(
            try Self.verdict(["127.0.0.53", "10.0.0.1"], isLocalSource: true)
                == .refused([try IPAddress("10.0.0.1")]))
        #expect(try Self.verdict(["0.0.0.0"], isLocalSource: true) != .acceptable)
    }

    @Test func `a network that is allowed is allowed alone`() throws {
        var policy = AddressPolicy.standard
        policy.allowedBlocks = [try AddressBlock("10.1.0.0/16")]
        #expect(try Self.verdict(["10.1.2.3"], by: policy) == .acceptable)
        #expect(try Self.verdict(["10.2.0.1"], by: policy) != .acceptable)
        #expect(try Self.verdict(["::ffff:10.1.2.3"], by: policy) != .acceptable)
    }

    @Test func `a name that is allowed may lead anywhere, its look-alike may not`() throws {
        var policy = AddressPolicy.standard
        policy.allowedNames = [try HostPattern("**.corp.example.com", wildcard: .anyDepth)]
        #expect(
            try Self.verdict(["10.0.0.1"], for: "a.b.corp.example.com", by: policy) == .acceptable)
        #expect(
            try Self.verdict(["10.0.0.1"], for: "badcorp.example.com", by: policy) != .acceptable)
    }

    @Test func `switched off, nothing is refused`() throws {
        #expect(try Self.verdict(Self.special + Self.wrapped, by: .off) == .acceptable)
    }
}
