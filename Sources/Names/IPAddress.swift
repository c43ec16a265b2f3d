/// An IPv4 or IPv6 address.
///
/// Text in: four decimal numbers without leading zeros (RFC 6943 §3.1.1), or RFC 4291 §2.2 for
/// IPv6 with an optional zone (RFC 4007 §11). Octal, hexadecimal and short forms of IPv4 are
/// refused.
/// Text out: RFC 5952.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The version of the Internet Protocol.
    public enum Family: Sendable, Hashable {
        case ipv4
        case ipv6
    }

    public let family: Family
    /// The first eight octets of an IPv6 address; 0 for IPv4.
    @usableFromInline package let high: UInt64
    /// The last eight octets of an IPv6 address; the four of IPv4.
    @usableFromInline package let low: UInt64
    /// The zone of a link-local IPv6 address (`eth0` in `fe80::1%eth0`); never leaves the host.
    public let zone: String?

    /// Network byte order: 4 octets for IPv4, 16 for IPv6.
    public var octets: [UInt8] {
        switch family {
        case .ipv4: (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * $0)) }
        case .ipv6:
            (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - 8 * ($0 % 8))) }
        }
    }

    /// Nil unless there are exactly 4 or 16 octets.
    public init?(octets: some Collection<UInt8>) {
        switch octets.count {
        case 4: family = .ipv4
        case 16: family = .ipv6
        default: return nil
        }
        (high, low) = IPAddress.halves(octets)
        zone = nil
    }

    /// An address from its number: no allocation, for what keeps many of them.
    @inlinable
    package init(family: Family, high: UInt64, low: UInt64) {
        self.family = family
        self.high = family == .ipv4 ? 0 : high
        self.low = family == .ipv4 ? low & 0xFFFF_FFFF : low
        zone = nil
    }

    /// The number that the octets spell, in two halves.
    private static func halves(_ octets: some Collection<UInt8>) -> (UInt64, UInt64) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for octet in octets {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(octet)
        }
        return (high, low)
    }

    /// Parses the text of an address, without brackets.
    ///
    /// - Throws: ``AddressError``.
    public init(_ text: String) throws(AddressError) {
        let octets = Array(text.utf8)
        if octets.contains(0x3A) {
            let parsed = try IPAddress.parseIPv6(octets)
            family = .ipv6
            (high, low) = IPAddress.halves(parsed.octets)
            zone = parsed.zone
        } else {
            family = .ipv4
            (high, low) = IPAddress.halves(try IPAddress.parseIPv4(octets[...]))
            zone = nil
        }
    }

    /// 127.0.0.0/8 or ::1. Source: RFC 1122 §3.2.1.3, RFC 4291 §2.5.3.
    public var isLoopback: Bool {
        switch family {
        case .ipv4: low >> 24 == 127
        case .ipv6: high == 0 && low == 1
        }
    }

    /// The text as it stands in a URL: IPv6 in brackets, without zone. Source: RFC 3986 §3.2.2.
    public var uriText: String {
        switch family {
        case .ipv4: description
        case .ipv6: "[" + IPAddress.ipv6Text(octets) + "]"
        }
    }

    /// RFC 5952 text, with the zone if there is one.
    public var description: String {
        switch family {
        case .ipv4: "\(low >> 24 & 0xFF).\(low >> 16 & 0xFF).\(low >> 8 & 0xFF).\(low & 0xFF)"
        case .ipv6: IPAddress.ipv6Text(octets) + (zone.map { "%" + $0 } ?? "")
        }
    }
}

/// Why a text is not an IP address.
public enum AddressError: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    case notIPv4(String)
    case notIPv6(String)
    case badZone

    public var description: String {
        switch self {
        case .empty: "an IP address cannot be empty"
        case .notIPv4(let why):
            "not an IPv4 address (four decimal numbers 0 to 255, no leading zeros): \(why)"
        case .notIPv6(let why): "not an IPv6 address: \(why)"
        case .badZone:
            "the zone after '%' must be 1 to 15 letters, digits, '-', '_' or '.'"
        }
    }
}

extension IPAddress {
    private static func parseIPv4(_ text: ArraySlice<UInt8>) throws(AddressError) -> [UInt8] {
        guard !text.isEmpty else { throw .empty }
        let parts = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 4 else { throw .notIPv4("it has \(parts.count) parts") }
        var octets: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) })
            else { throw .notIPv4("each part is 1 to 3 decimal digits") }
            guard part.count == 1 || part.first != 0x30 else {
                throw .notIPv4("a leading zero, which other software reads as octal")
            }
            guard let number = UInt8(String(decoding: part, as: UTF8.self)) else {
                throw .notIPv4("a part is larger than 255")
            }
            octets.append(number)
        }
        return octets
    }

    private static func parseIPv6(
        _ text: [UInt8]
    ) throws(AddressError) -> (octets: [UInt8], zone: String?) {
        var body = text[...]
        var zone: String?
        if let percent = text.firstIndex(of: 0x25) {
            zone = try parseZone(text[(percent + 1)...])
            body = text[..<percent]
        }
        // The longest text is 45 octets: INET6_ADDRSTRLEN (46) less its NUL. Source: POSIX.
        guard body.count <= 45 else { throw .notIPv6("too long") }
        let gap = try gapPosition(body)
        let head = try words(gap.map { body[..<$0] } ?? body, mayEndInIPv4: gap == nil)
        guard let gap else {
            guard head.count == 16 else { throw .notIPv6("it has \(head.count / 2) of 8 groups") }
            return (head, zone)
        }
        let tail = try words(body[(gap + 2)...], mayEndInIPv4: true)
        guard head.count + tail.count <= 14 else { throw .notIPv6("'::' stands for no group") }
        let zeros = [UInt8](repeating: 0, count: 16 - head.count - tail.count)
        return (head + zeros + tail, zone)
    }

    private static func parseZone(_ text: ArraySlice<UInt8>) throws(AddressError) -> String {
        // An interface name is at most 15 octets. Source: Linux IFNAMSIZ (16) less its NUL.
        guard (1...15).contains(text.count),
            text.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F || $0 == 0x2E
            })
        else { throw .badZone }
        return String(decoding: text, as: UTF8.self)
    }

    /// Where the one `::` begins, if there is one.
    private static func gapPosition(_ text: ArraySlice<UInt8>) throws(AddressError) -> Int? {
        var found: Int?
        var index = text.startIndex
        while index + 1 < text.endIndex {
            if text[index] == 0x3A, text[index + 1] == 0x3A {
                guard found == nil else { throw .notIPv6("more than one '::'") }
                found = index
                index += 1
            }
            index += 1
        }
        return found
    }

    private static func words(
        _ text: ArraySlice<UInt8>, mayEndInIPv4: Bool
    ) throws(AddressError) -> [UInt8] {
        guard !text.isEmpty else { return [] }
        var octets: [UInt8] = []
        let parts = text.split(separator: 0x3A, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.contains(0x2E), mayEndInIPv4, index == parts.count - 1 {
                do { octets += try parseIPv4(part) } catch {
                    throw .notIPv6("its last part is not IPv4")
                }
                continue
            }
            guard (1...4).contains(part.count), part.allSatisfy(isHexDigit),
                let word = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
            else { throw .notIPv6("a group is 1 to 4 hexadecimal digits") }
            octets += [UInt8(word >> 8), UInt8(word & 0xFF)]
        }
        guard octets.count <= 16 else { throw .notIPv6("more than 8 groups") }
        return octets
    }

    private static func isHexDigit(_ octet: UInt8) -> Bool {
        (0x30...0x39).contains(octet) || (0x41...0x46).contains(octet)
            || (0x61...0x66).contains(octet)
    }

    /// RFC 5952 §4: lower case, no leading zeros, the longest run of two or more zero groups as
    /// `::` (the first of equals); §5: IPv4-mapped addresses end in dotted decimal.
    fileprivate static func ipv6Text(_ octets: [UInt8]) -> String {
        if octets.prefix(10).allSatisfy({ $0 == 0 }), octets[10] == 0xFF, octets[11] == 0xFF {
            return "::ffff:" + octets[12...].map { String($0) }.joined(separator: ".")
        }
        let words = stride(from: 0, to: 16, by: 2).map {
            UInt16(octets[$0]) << 8 | UInt16(octets[$0 + 1])
        }
        let run = longestZeroRun(words)
        let text = { (part: ArraySlice<UInt16>) in
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard run.count >= 2 else { return text(words[...]) }
        return text(words[..<run.lowerBound]) + "::" + text(words[run.upperBound...])
    }

    private static func longestZeroRun(_ words: [UInt16]) -> Range<Int> {
        var best = 0..<0
        var start: Int?
        for index in 0...words.count {
            if index < words.count, words[index] == 0 {
                start = start ?? index
            } else if let begun = start {
                if index - begun > best.count { best = begun..<index }
                start = nil
            }
        }
        return best
    }
}
