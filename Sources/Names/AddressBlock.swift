/// A block of addresses in CIDR form: `192.0.2.0/24`, `2001:db8::/56`. Source: RFC 4632 §3.1.
///
/// Bits after the prefix are always zero, so equal blocks compare equal.
public struct AddressBlock: Sendable, Hashable, CustomStringConvertible {
    /// The first address of the block.
    public let address: IPAddress
    /// Leading bits that all addresses of the block share: 0...32 for IPv4, 0...128 for IPv6.
    public let prefixBits: Int

    /// The block of so many leading bits around an address; nil when the family has not so many, or
    /// the address has a zone.
    public init?(_ address: IPAddress, prefixBits: Int) {
        let width = address.family == .ipv4 ? 32 : 128
        guard (0...width).contains(prefixBits), address.zone == nil else { return nil }
        let (high, low) = AddressBlock.mask(address.family, prefixBits)
        self.address = IPAddress(
            family: address.family, high: address.high & high, low: address.low & low)
        self.prefixBits = prefixBits
    }

    /// Reads `address/bits`; an address alone is a block of one. Bits after the prefix are dropped.
    ///
    /// - Throws: ``AddressBlockError``, which says what is wrong.
    public init(_ text: String) throws(AddressBlockError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let address: IPAddress
        do { address = try IPAddress(String(parts.first ?? "")) } catch { throw .address(error) }
        let width = address.family == .ipv4 ? 32 : 128
        guard parts.count == 2 else {
            guard let block = AddressBlock(address, prefixBits: width) else { throw .zone }
            self = block
            return
        }
        guard parts[1].utf8.count <= 3, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let bits = Int(parts[1]), bits <= width
        else { throw .prefix(String(parts[1].prefix(20)), maximumBits: width) }
        guard let block = AddressBlock(address, prefixBits: bits) else { throw .zone }
        self = block
    }

    /// True when the address lies in this block; never for one of the other family.
    public func contains(_ other: IPAddress) -> Bool {
        guard other.family == address.family else { return false }
        let (high, low) = AddressBlock.mask(address.family, prefixBits)
        return other.high & high == address.high && other.low & low == address.low
    }

    public var description: String { "\(address)/\(prefixBits)" }

    private static func mask(_ family: IPAddress.Family, _ bits: Int) -> (UInt64, UInt64) {
        let ones = { (count: Int) -> UInt64 in
            count <= 0 ? 0 : count >= 64 ? .max : .max << UInt64(64 - count)
        }
        switch family {
        case .ipv4: return (0, ones(bits) >> 32)
        case .ipv6: return (ones(bits), ones(bits - 64))
        }
    }
}

/// Why a text is not a block of addresses.
public enum AddressBlockError: Error, Sendable, Hashable, CustomStringConvertible {
    case address(AddressError)
    /// What stands after the slash is not a number of bits that the family has.
    case prefix(String, maximumBits: Int)
    /// Zones have a meaning on one machine only.
    case zone

    public var description: String {
        switch self {
        case .address(let error): "\(error)"
        case .prefix(let text, let maximum):
            "after \"/\" stands \"\(text)\": a number of bits from 0 to \(maximum) is needed"
        case .zone: "an address with a zone (%) is no block: leave the zone out"
        }
    }
}
