package import HTTPDNSNames

/// Addresses that no public host can have, and names that are not of the public tree.
package enum SpecialAddress {
    /// What a special address is, in words for a sentence: "127.0.0.1 is loopback".
    ///
    /// Looks into the IPv6 forms that carry an IPv4 address, for a name that must not lead to 10.0.0.1
    /// must not lead to `64:ff9b::10.0.0.1` either. Nil for an address that a public host can have.
    package static func kind(of address: IPAddress) -> String? {
        if exceptions.contains(where: { $0.contains(address) }) { return nil }
        if let block = blocks.first(where: { $0.block.contains(address) }) { return block.kind }
        guard let inner = embedded(in: address), let kind = kind(of: inner) else { return nil }
        return kind + ", in IPv6 form"
    }

    /// The IPv4 address that an IPv6 address carries by its form; nil for other forms.
    package static func embedded(in address: IPAddress) -> IPAddress? {
        guard address.family == .ipv6 else { return nil }
        if let sixToFour, sixToFour.contains(address) {
            return IPAddress(family: .ipv4, high: 0, low: address.high >> 16)
        }
        // The client, with each bit turned over. Source: RFC 4380 §4.
        if let teredo, teredo.contains(address) {
            return IPAddress(family: .ipv4, high: 0, low: ~address.low)
        }
        if let local, local.contains(address) { return translated(address) }
        // ISATAP, whatever the prefix; the bit says whether the IPv4 address is global.
        // Source: RFC 5214 §6.1.
        let isISATAP = address.low >> 32 & 0xFDFF_FFFF == 0x5EFE
        guard isISATAP || carriers.contains(where: { $0.contains(address) }) else { return nil }
        return IPAddress(family: .ipv4, high: 0, low: address.low)
    }

    /// A prefix for local use has 48 bits or more: the one is taken after whose IPv4 address nothing but
    /// zeros follows. Source: RFC 8215 §5, RFC 6052 §2.2.
    private static func translated(_ address: IPAddress) -> IPAddress {
        let (high, low) = (address.high, address.low)
        let inner: UInt64
        if low & 0xFF_FFFF_FFFF == 0 {
            inner = (high & 0xFFFF) << 16 | low >> 40 & 0xFFFF
        } else if low & 0xFFFF_FFFF == 0 {
            inner = (high & 0xFF) << 24 | low >> 32 & 0xFF_FFFF
        } else if low & 0xFF_FFFF == 0 {
            inner = low >> 24 & 0xFFFF_FFFF
        } else {
            inner = low
        }
        return IPAddress(family: .ipv4, high: 0, low: inner)
    }

    /// Source: IANA "IPv4 Special-Purpose Address Registry" and "IPv6 Special-Purpose Address
    /// Registry", the blocks that are not globally reachable; the RFC of each beside it.
    private static let blocks: [(block: AddressBlock, kind: String)] = [
        v4(0, 8, "the null address"),  // RFC 1122 §3.2.1.3
        v4(0x0A00_0000, 8, "private"),  // RFC 1918
        v4(0x6440_0000, 10, "a carrier's own (RFC 6598)"),
        v4(0x7F00_0000, 8, "loopback"),  // RFC 1122 §3.2.1.3
        v4(0xA9FE_0000, 16, "link-local"),  // RFC 3927
        v4(0xAC10_0000, 12, "private"),  // RFC 1918
        v4(0xC000_0000, 24, "for protocols (RFC 6890)"),
        v4(0xC000_0200, 24, "for documentation"),  // RFC 5737
        v4(0xC0A8_0000, 16, "private"),  // RFC 1918
        v4(0xC612_0000, 15, "for benchmarks"),  // RFC 2544
        v4(0xC633_6400, 24, "for documentation"),  // RFC 5737
        v4(0xCB00_7100, 24, "for documentation"),  // RFC 5737
        v4(0xE000_0000, 4, "multicast"),  // RFC 5771
        v4(0xF000_0000, 4, "reserved"),  // RFC 1112 §4, with 255.255.255.255
        v6(0, 128, "the null address"),  // RFC 4291 §2.5.2
        v6(0, 128, low: 1, "loopback"),  // RFC 4291 §2.5.3
        v6(0x0100_0000_0000_0000, 64, "for discarding"),  // RFC 6666
        v6(0x2001_0002_0000_0000, 48, "for benchmarks"),  // RFC 5180
        v6(0x2001_0DB8_0000_0000, 32, "for documentation"),  // RFC 3849
        v6(0x3FFF_0000_0000_0000, 20, "for documentation"),  // RFC 9637
        v6(0x5F00_0000_0000_0000, 16, "a segment identifier (RFC 9602)"),
        v6(0xFC00_0000_0000_0000, 7, "private (unique local)"),  // RFC 4193
        v6(0xFE80_0000_0000_0000, 10, "link-local"),  // RFC 4291 §2.5.6
        v6(0xFEC0_0000_0000_0000, 10, "private (site-local)"),  // RFC 3879
        v6(0xFF00_0000_0000_0000, 8, "multicast"),  // RFC 4291 §2.7
    ].compactMap { $0 }

    /// Globally reachable addresses inside the blocks above.
    /// Source: the same registry: anycast for PCP (RFC 7723) and TURN (RFC 8155).
    private static let exceptions: [AddressBlock] =
        [v4(0xC000_0009, 32, ""), v4(0xC000_000A, 32, "")].compactMap { $0?.block }

    /// Forms that end in an IPv4 address: compatible and mapped (RFC 4291 §2.5.5), translated
    /// (RFC 2765 §2.1), the well-known prefix (RFC 6052 §2.1).
    private static let carriers: [AddressBlock] = [
        v6(0, 96, ""), v6(0, 96, low: 0xFFFF_0000_0000, ""),
        v6(0, 96, low: 0xFFFF_0000_0000_0000, ""), v6(0x0064_FF9B_0000_0000, 96, ""),
    ].compactMap { $0?.block }

    /// Source: RFC 3056 §2.
    private static let sixToFour = v6(0x2002_0000_0000_0000, 16, "")?.block

    /// Source: RFC 4380 §2.6.
    private static let teredo = v6(0x2001_0000_0000_0000, 32, "")?.block

    /// For translation inside a network. Source: RFC 8215 §3.
    private static let local = v6(0x0064_FF9B_0001_0000, 48, "")?.block

    private static func v4(
        _ address: UInt64, _ bits: Int, _ kind: String
    ) -> (block: AddressBlock, kind: String)? {
        AddressBlock(IPAddress(family: .ipv4, high: 0, low: address), prefixBits: bits)
            .map { ($0, kind) }
    }

    private static func v6(
        _ high: UInt64, _ bits: Int, low: UInt64 = 0, _ kind: String
    ) -> (block: AddressBlock, kind: String)? {
        AddressBlock(IPAddress(family: .ipv6, high: high, low: low), prefixBits: bits)
            .map { ($0, kind) }
    }
}

extension HostName {
    /// A name of the public tree: of two labels or more, under no domain that is set aside.
    ///
    /// Source: IANA "Special-Use Domain Names" (RFC 6761, 6762, 7686, 9476, 8375); ICANN resolutions
    /// 2018-02-04 (corp, home, mail) and 2024-07-29 (internal); `lan` and `intranet` by habit.
    package var isPublic: Bool {
        guard !isRoot, let dot = text.utf8.lastIndex(of: 0x2E) else { return false }
        return !HostName.aside.contains(String(text[text.utf8.index(after: dot)...]))
    }

    private static let aside: Set<String> = [
        "test", "local", "localhost", "invalid", "example", "onion", "internal", "corp", "home",
        "mail", "lan", "intranet", "alt", "arpa",
    ]
}
