/// The query of a URL, built from names and values. Source: RFC 3986 §3.4.
///
/// Everything but unreserved characters is percent-encoded, so that no value can add a parameter.
struct QueryString {
    private(set) var text = ""

    mutating func append(_ name: String, _ value: String) {
        if !text.isEmpty { text += "&" }
        text += QueryString.encoded(name) + "=" + QueryString.encoded(value)
    }

    /// Several values in one, parted by commas, which may stand in a query as they are. Source: RFC
    /// 3986 §3.4, and the examples in every vendor's document.
    mutating func append(_ name: String, list: [String]) {
        if !text.isEmpty { text += "&" }
        text += QueryString.encoded(name) + "="
        text += list.map(QueryString.encoded).joined(separator: ",")
    }

    /// The query behind a path that may have one already.
    func appended(to target: String) -> String {
        guard target.contains("?") else { return target + "?" + text }
        return target.hasSuffix("?") || target.hasSuffix("&")
            ? target + text : target + "&" + text
    }

    static func encoded(_ text: String) -> String {
        var octets: [UInt8] = []
        for octet in text.utf8 {
            switch octet {
            // Unreserved. Source: RFC 3986 §2.3.
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                octets.append(octet)
            default:
                octets += [0x25, digits[Int(octet >> 4)], digits[Int(octet & 0xF)]]
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
