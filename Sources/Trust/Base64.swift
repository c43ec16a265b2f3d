/// Base64 with padding. Source: RFC 4648 §4.
package enum Base64 {
    package static func encoded(_ octets: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: octets.count, by: 3) {
            let group = octets[start..<min(start + 3, octets.count)]
            var bits: UInt32 = 0
            for index in 0..<3 {
                let octet = start + index < octets.count ? octets[start + index] : 0
                bits = bits << 8 | UInt32(octet)
            }
            for index in 0..<4 {
                let sextet = Int(bits >> UInt32(18 - 6 * index) & 0x3F)
                text.append(index <= group.count ? alphabet[sextet] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil unless the text is canonical: padded, no white space, spare bits zero (RFC 4648 §3.5).
    package static func decoded(_ text: [UInt8]) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        var body = text[...]
        for _ in 0..<2 where body.last == padding { body.removeLast() }
        var octets: [UInt8] = []
        var bits: UInt32 = 0
        var held = 0
        for character in body {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 6 | UInt32(value)
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
            bits &= 1 << UInt32(held) - 1
        }
        return bits == 0 ? octets : nil
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding: UInt8 = 0x3D
}
