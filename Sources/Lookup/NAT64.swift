public import HTTPDNSNames

/// The IPv6 prefix under which a network carries IPv4: how an IPv4 address is reached where there is
/// no IPv4.
///
///     bits    0        32   40   48   56   64   72   80   88   96       128
///     /32     │ prefix │ IPv4 address      │ u │ suffix                 │
///     /64     │ prefix                     │ u │ IPv4 address │ suffix  │
///     /96     │ prefix                                       │ IPv4     │
///
/// Octet 8 ("u", bits 64 to 71) is zero in every form. Source: RFC 6052 §2.2.
public struct NAT64Prefix: Sendable, Hashable, CustomStringConvertible {
    /// 32, 40, 48, 56, 64 or 96 bits of IPv6.
    public let block: AddressBlock

    /// Nil for another length, for IPv4, for a /96 whose octet 8 is not zero (RFC 6052 §2.2), and for
    /// blocks that mean something else: mapped and compatible addresses, link-local, multicast.
    public init?(_ block: AddressBlock) {
        guard block.address.family == .ipv6, NAT64Prefix.lengths.contains(block.prefixBits),
            block.address.octets[8] == 0,
            !NAT64Prefix.unusable.contains(where: { $0.contains(block.address) })
        else { return nil }
        self.block = block
    }

    private init(known block: AddressBlock) { self.block = block }

    /// `64:ff9b::/96`. Source: RFC 6052 §2.1.
    public static let wellKnown = AddressBlock(
        IPAddress(family: .ipv6, high: 0x0064_FF9B_0000_0000, low: 0), prefixBits: 96
    ).map { NAT64Prefix(known: $0) }

    /// Source: RFC 6052 §2.2.
    package static let lengths = [32, 40, 48, 56, 64, 96]

    public var description: String { block.description }

    /// The IPv6 address that stands for an IPv4 address.
    ///
    /// Nil for IPv6, and under the well-known prefix for addresses that are not global: a translator
    /// must not carry those. Source: RFC 6052 §3.1.
    public func synthesise(_ address: IPAddress) -> IPAddress? {
        guard address.family == .ipv4 else { return nil }
        if self == NAT64Prefix.wellKnown, SpecialAddress.kind(of: address) != nil { return nil }
        var octets = block.address.octets
        for (place, octet) in zip(NAT64Prefix.places(block.prefixBits), address.octets) {
            octets[place] = octet
        }
        return IPAddress(octets: octets)
    }

    /// The IPv4 address that an address under this prefix stands for; nil for other addresses.
    ///
    /// The suffix is not looked at. Source: RFC 6052 §2.3 with §2.2.
    public func extract(_ address: IPAddress) -> IPAddress? {
        guard block.contains(address), address.octets[8] == 0 else { return nil }
        let octets = address.octets
        return IPAddress(octets: NAT64Prefix.places(block.prefixBits).map { octets[$0] })
    }

    /// Where the four octets of the IPv4 address stand: after the prefix, octet 8 left out.
    fileprivate static func places(_ bits: Int) -> [Int] {
        Array((bits / 8..<16).filter { $0 != 8 }.prefix(4))
    }

    private static let unusable: [AddressBlock] = [
        // ::/96, ::ffff:0:0/96 and ::ffff:0:0:0/96: IPv4 in IPv6 form, to be sent as IPv4.
        (0, 0, 80), (0xFE80_0000_0000_0000, 0, 10), (0xFF00_0000_0000_0000, 0, 8),
    ].compactMap { (high: UInt64, low: UInt64, bits: Int) in
        AddressBlock(IPAddress(family: .ipv6, high: high, low: low), prefixBits: bits)
    }
}

/// Finds out how a network translates IPv4, from what it answers for a name without IPv6.
public enum NAT64 {
    /// The name that has IPv4 addresses only, so that an IPv6 address for it was made by the network:
    /// ask for its AAAA records. Source: RFC 7050 §8.2.
    public static let discoveryName = "ipv4only.arpa"

    /// The prefixes in the answer's addresses, in the order received, each once.
    ///
    /// One address can show one of the well-known IPv4 addresses at more than one place. The place is
    /// taken after which nothing but zeros follows, as RFC 6052 §2.2 has it; with another suffix, the
    /// only place there is; and when that leaves a choice, none. Source: RFC 7050 §3.
    public static func prefixes(in addresses: [IPAddress]) -> [NAT64Prefix] {
        var found: [NAT64Prefix] = []
        for address in addresses {
            guard let prefix = prefix(in: address), !found.contains(prefix) else { continue }
            found.append(prefix)
        }
        return found
    }

    /// Addresses that an answer for AAAA may be used for: mapped ones are IPv4 in disguise, and
    /// would hide that the name has no IPv6. Source: RFC 6147 §5.1.4.
    public static func usable(_ addresses: [IPAddress]) -> [IPAddress] {
        addresses.filter { !($0.family == .ipv6 && $0.high == 0 && $0.low >> 32 == 0xFFFF) }
    }

    /// The IPv6 forms of the IPv4 addresses under every prefix, address by address.
    public static func synthesise(
        _ addresses: [IPAddress], under prefixes: [NAT64Prefix]
    ) -> [IPAddress] {
        addresses.flatMap { address in prefixes.compactMap { $0.synthesise(address) } }
    }

    /// 192.0.0.170 and 192.0.0.171. Source: RFC 7050 §8.2.
    private static let wellKnownAddresses: Set<IPAddress> = [
        IPAddress(family: .ipv4, high: 0, low: 0xC000_00AA),
        IPAddress(family: .ipv4, high: 0, low: 0xC000_00AB),
    ]

    private static func prefix(in address: IPAddress) -> NAT64Prefix? {
        let candidates = NAT64Prefix.lengths.compactMap { bits -> NAT64Prefix? in
            guard let block = AddressBlock(address, prefixBits: bits),
                let prefix = NAT64Prefix(block), let inner = prefix.extract(address),
                wellKnownAddresses.contains(inner)
            else { return nil }
            return prefix
        }
        if let exact = candidates.first(where: { hasEmptySuffix(address, $0) }) { return exact }
        return candidates.count == 1 ? candidates.first : nil
    }

    private static func hasEmptySuffix(_ address: IPAddress, _ prefix: NAT64Prefix) -> Bool {
        let last = NAT64Prefix.places(prefix.block.prefixBits).last ?? 15
        return address.octets.dropFirst(last + 1).allSatisfy { $0 == 0 }
    }
}
