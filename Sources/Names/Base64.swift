/// Base64 in its two alphabets. Source: RFC 4648 §4, §5.
package enum Base64 {
    /// `+` and `/`, with padding. Source: RFC 4648 §4.
    package static func encoded(_ octets: some Collection<UInt8>) -> String {
        text(Array(octets), alphabet: standard, padded: true)
    }

    /// `-` and `_`, without padding, as RFC 8484 §4.1 wants it. Source: RFC 4648 §5.
    package static func urlEncoded(_ octets: some Collection<UInt8>) -> String {
        text(Array(octets), alphabet: urlSafe, padded: false)
    }

    /// The octets of padded standard base64; nil for anything else: white space, missing padding,
    /// the other alphabet, and spare bits that are not zero (RFC 4648 §3.5).
    package static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        octets(Array(text.utf8), alphabet: standardValues, padded: true)
    }

    /// The octets of base64url without padding; nil for anything else.
    package static func urlDecoded(_ text: some StringProtocol) -> [UInt8]? {
        octets(Array(text.utf8), alphabet: urlSafeValues, padded: false)
    }

    private static let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standard = Array((common + "+/").utf8)
    private static let urlSafe = Array((common + "-_").utf8)
    private static let standardValues = values(standard)
    private static let urlSafeValues = values(urlSafe)
    private static let padding: UInt8 = 0x3D

    private static func values(_ alphabet: [UInt8]) -> [UInt8?] {
        var values = [UInt8?](repeating: nil, count: 256)
        for (value, octet) in alphabet.enumerated() { values[Int(octet)] = UInt8(value) }
        return values
    }

    private static func text(_ octets: [UInt8], alphabet: [UInt8], padded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((octets.count + 2) / 3 * 4)
        for start in stride(from: 0, to: octets.count, by: 3) {
            let group = octets[start..<min(start + 3, octets.count)]
            var bits: UInt32 = 0
            for index in start..<start + 3 {
                bits = bits << 8 | UInt32(index < group.endIndex ? octets[index] : 0)
            }
            for index in 0..<4 where index <= group.count {
                text.append(alphabet[Int(bits >> UInt32(18 - 6 * index) & 0x3F)])
            }
            if padded { text += [UInt8](repeating: padding, count: 3 - group.count) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func octets(
        _ text: [UInt8], alphabet: [UInt8?], padded: Bool
    ) -> [UInt8]? {
        var body = text[...]
        if padded {
            guard text.count.isMultiple(of: 4) else { return nil }
            for _ in 0..<2 where body.last == padding { body.removeLast() }
        }
        guard body.count % 4 != 1 else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(body.count * 3 / 4)
        var bits: UInt32 = 0
        var held = 0
        for octet in body {
            guard let value = alphabet[Int(octet)] else { return nil }
            bits = bits << 6 | UInt32(value)
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
            bits &= 1 << UInt32(held) - 1
        }
        return bits == 0 ? octets : nil
    }
}
