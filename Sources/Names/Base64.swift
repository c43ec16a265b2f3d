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
        append(octets, alphabet: alphabet, padded: padded, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Adds RFC 4648 §5 without padding, as octets.
    package static func appendURLEncoded(_ octets: [UInt8], to text: inout [UInt8]) {
        append(octets, alphabet: urlSafe, padded: false, to: &text)
    }

    private static func append(
        _ octets: [UInt8], alphabet: [UInt8], padded: Bool, to text: inout [UInt8]
    ) {
        text.reserveCapacity(text.count + (octets.count + 2) / 3 * 4)
        octets.withUnsafeBufferPointer { octets in
            alphabet.withUnsafeBufferPointer { alphabet in
                var start = 0
                while start < octets.count {
                    let count = min(3, octets.count - start)
                    var bits = UInt32(octets[start]) << 16
                    if count > 1 { bits |= UInt32(octets[start + 1]) << 8 }
                    if count > 2 { bits |= UInt32(octets[start + 2]) }
                    text.append(alphabet[Int(bits >> 18)])
                    text.append(alphabet[Int(bits >> 12 & 0x3F)])
                    if count > 1 { text.append(alphabet[Int(bits >> 6 & 0x3F)]) }
                    if count > 2 { text.append(alphabet[Int(bits & 0x3F)]) }
                    if padded { for _ in count..<3 { text.append(padding) } }
                    start += 3
                }
            }
        }
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
