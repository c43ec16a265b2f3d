internal import HTTPDNSNames

/// Percent-encoding of URL components. Source: WHATWG URL §1.3; RFC 3986 §2.1.
package enum PercentEncoding {
    /// Which octets are written as `%XX`; controls, DEL and everything above it always are.
    enum EncodeSet {
        case fragment
        case query
        case path
        case userinfo

        func contains(_ octet: UInt8) -> Bool {
            if octet <= 0x20 || octet > 0x7E { return true }
            switch self {
            case .fragment: return Self.fragmentOctets.contains(octet)
            case .query: return Self.queryOctets.contains(octet)
            case .path: return Self.pathOctets.contains(octet)
            case .userinfo:
                return Self.pathOctets.contains(octet) || Self.userinfoOctets.contains(octet)
            }
        }

        private static let fragmentOctets = Array("\"<>`".utf8)
        /// The special-query set: the one that holds `'`.
        private static let queryOctets = Array("\"#<>'".utf8)
        private static let pathOctets = Array("\"#<>?^`{}".utf8)
        /// What the userinfo set adds to the path set.
        private static let userinfoOctets = Array("/:;=@[\\]|".utf8)
    }

    static func encoded(_ octets: some Sequence<UInt8>, _ set: EncodeSet) -> [UInt8] {
        var result: [UInt8] = []
        for octet in octets {
            if set.contains(octet) {
                result += [0x25, upperHex(octet >> 4), upperHex(octet & 0xF)]
            } else {
                result.append(octet)
            }
        }
        return result
    }

    /// Every `%XX` as its octet; a `%` without two hexadecimal digits stays.
    package static func decoded(_ octets: some Collection<UInt8>) -> [UInt8] {
        let octets = Array(octets)
        var result: [UInt8] = []
        var index = 0
        while index < octets.count {
            if octets[index] == 0x25, index + 2 < octets.count,
                let high = Hex.value(octets[index + 1]), let low = Hex.value(octets[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(octets[index])
                index += 1
            }
        }
        return result
    }

    private static func upperHex(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? 0x30 + nibble : 0x41 + nibble - 10
    }
}
