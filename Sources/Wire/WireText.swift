/// Text forms of octets: escapes. For hexadecimal and Base64 see `HTTPDNSNames`.
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
}
