/// Base64 with padding. Source: RFC 4648 §4.
package enum Base64 {
    package static func encoded(_ octets: [UInt8]) -> String {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
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
                text.append(index <= group.count ? alphabet[sextet] : 0x3D)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
