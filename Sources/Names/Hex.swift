/// Hexadecimal text. Source: RFC 4648 §8.
package enum Hex {
    /// Two lower-case digits an octet.
    package static func encoded(_ octets: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for octet in octets {
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The octets; either case is taken. Nil for an odd count or anything but digits.
    package static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        let text = Array(text.utf8)
        guard text.count.isMultiple(of: 2) else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = value(text[index]), let low = value(text[index + 1]) else {
                return nil
            }
            octets.append(high << 4 | low)
        }
        return octets
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// The value of one digit of either case.
    package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
