/// Text forms of octets: escapes, hexadecimal, Base64.
package enum WireText {
    /// Which octets need a backslash.
    enum Place {
        /// A label of a name, where a dot separates. Source: RFC 1035 §5.1.
        case inName
        /// A quoted character string. Source: RFC 1035 §5.1.
        case inQuotes
    }

    /// Appends one octet as printable ASCII, so that no control octet of the network reaches a
    /// terminal.
    static func append(_ octet: UInt8, escaping place: Place, to text: inout [UInt8]) {
        switch (octet, place) {
        case (0x22, _), (0x5C, _), (0x2E, .inName), (0x28, .inName), (0x29, .inName),
            (0x3B, .inName), (0x40, .inName), (0x24, .inName):
            text += [0x5C, octet]
        case (0x21...0x7E, _), (0x20, .inQuotes):
            text.append(octet)
        default:
            text += [0x5C, 0x30 + octet / 100, 0x30 + octet / 10 % 10, 0x30 + octet % 10]
        }
    }

    /// A character string in quotes, octets outside printable ASCII as `\DDD`.
    package static func quoted(_ octets: some Sequence<UInt8>) -> String {
        var text: [UInt8] = [0x22]
        for octet in octets { append(octet, escaping: .inQuotes, to: &text) }
        text.append(0x22)
        return String(decoding: text, as: UTF8.self)
    }

    /// Lower-case hexadecimal, two digits an octet.
    package static func hex(_ octets: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for octet in octets { text += [digits[Int(octet >> 4)], digits[Int(octet & 0xF)]] }
        return String(decoding: text, as: UTF8.self)
    }

    /// Source: RFC 4648 §4.
    package static func base64(_ octets: [UInt8]) -> String {
        var text = sextets(octets, last: [0x2B, 0x2F])
        while text.count % 4 != 0 { text.append(0x3D) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Without padding, as the `dns` variable of a DoH GET. Source: RFC 8484 §6, RFC 4648 §5.
    package static func base64URL(_ octets: [UInt8]) -> String {
        String(decoding: sextets(octets, last: [0x2D, 0x5F]), as: UTF8.self)
    }

    private static func sextets(_ octets: [UInt8], last: [UInt8]) -> [UInt8] {
        let alphabet =
            Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + last
        var text: [UInt8] = []
        text.reserveCapacity((octets.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var held = 0
        for octet in octets {
            bits = bits << 8 | UInt32(octet)
            held += 8
            while held >= 6 {
                held -= 6
                text.append(alphabet[Int(bits >> UInt32(held) & 0x3F)])
            }
        }
        if held > 0 { text.append(alphabet[Int(bits << UInt32(6 - held) & 0x3F)]) }
        return text
    }
}
