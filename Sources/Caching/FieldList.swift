/// Takes field values apart. Source: RFC 9110 §5.6.
enum FieldList {
    /// The items of a comma-separated list, without the white space around them; commas in quoted
    /// strings separate nothing. Source: RFC 9110 §5.6.1.
    static func items(_ value: String) -> [String] {
        var items: [String] = []
        var item: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for octet in value.utf8 {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, octet == 0x5C {
                isEscaped = true
            } else if octet == 0x22 {
                isQuoted.toggle()
            } else if octet == 0x2C, !isQuoted {
                append(item, to: &items)
                item = []
                continue
            }
            item.append(octet)
        }
        append(item, to: &items)
        return items
    }

    private static func append(_ octets: [UInt8], to items: inout [String]) {
        let text = trimmed(octets[...])
        if !text.isEmpty { items.append(text) }
    }

    static func trimmed(_ octets: ArraySlice<UInt8>) -> String {
        let isSpace = { (octet: UInt8) in octet == 0x20 || octet == 0x09 }
        let rest = octets.drop(while: isSpace)
        let end = rest.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? rest.startIndex
        return String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
    }

    /// `name`, `name=value` or `name="value"`; the name in lower case. A value that is not closed,
    /// or has something behind it, is given as it stands. Source: RFC 9111 §5.2.
    static func directive(_ item: String) -> (name: String, value: String?) {
        let octets = Array(item.utf8)
        guard let equals = octets.firstIndex(of: 0x3D) else { return (item.lowercased(), nil) }
        let name = trimmed(octets[..<equals]).lowercased()
        let value = trimmed(octets[(equals + 1)...])
        return (name, unquoted(value))
    }

    private static func unquoted(_ value: String) -> String {
        let octets = Array(value.utf8)
        guard octets.count >= 2, octets.first == 0x22, octets.last == 0x22 else { return value }
        var plain: [UInt8] = []
        var isEscaped = false
        for octet in octets.dropFirst().dropLast() {
            if !isEscaped, octet == 0x5C {
                isEscaped = true
                continue
            }
            // A quote in the middle: this is no quoted string.
            if !isEscaped, octet == 0x22 { return value }
            isEscaped = false
            plain.append(octet)
        }
        return isEscaped ? value : String(decoding: plain, as: UTF8.self)
    }

    /// A number of seconds, cut at 2^31; nil for what is not digits alone. Source: RFC 9111 §1.2.2.
    static func deltaSeconds(_ text: String) -> Int64? {
        let octets = Array(text.utf8)
        guard !octets.isEmpty, octets.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let digits = octets.drop { $0 == 0x30 }
        guard digits.count <= 10 else { return maximumDeltaSeconds }
        let number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        return min(number, maximumDeltaSeconds)
    }

    /// Source: RFC 9111 §1.2.2: 2^31, or the greatest integer that the cache can hold.
    static let maximumDeltaSeconds: Int64 = 2_147_483_648
}
