/// What UTS 46 maps since Unicode 15.1 and 16, and the libidn2 in the field does not yet.
///
/// Source: UTS 46 revisions 31 and 33, "Modifications"; IdnaMappingTable.txt 16.0.0.
enum LaterMappings {
    static func apply(to text: String) -> [Unicode.Scalar] {
        var result: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x1E9E: result.append("ß")
            case 0x04C0: result.append("\u{4CF}")
            case 0x2132: result.append("\u{214E}")
            case 0x2183: result.append("\u{2184}")
            // Georgian capitals (Asomtavruli) to their small letters.
            case 0x10A0...0x10C5: result.append(shifted(scalar, by: 0x2D00 - 0x10A0))
            // Code points that are ignored, not refused.
            case 0x115F...0x1160, 0x17B4...0x17B5, 0x206A...0x206F, 0x3164, 0xFFA0,
                0x1D173...0x1D17A:
                continue
            // What NFC composes with the long solidus; STD3 has no word on the composed ones.
            case 0x338:
                if let last = result.last, let composed = negated[last] {
                    result[result.count - 1] = composed
                } else {
                    result.append(scalar)
                }
            // Compatibility ideographs that were refused for a mapping error, since put right.
            default: result.append(corrected[scalar.value] ?? scalar)
            }
        }
        return result
    }

    private static func shifted(_ scalar: Unicode.Scalar, by offset: UInt32) -> Unicode.Scalar {
        Unicode.Scalar(scalar.value + offset) ?? scalar
    }

    private static let negated: [Unicode.Scalar: Unicode.Scalar] = [
        "=": "\u{2260}", "<": "\u{226E}", ">": "\u{226F}",
    ]

    private static let corrected: [UInt32: Unicode.Scalar] = [
        0x2F868: "\u{36FC}", 0x2F874: "\u{5F53}", 0x2F91F: "\u{243AB}", 0x2F95F: "\u{7AEE}",
        0x2F9BF: "\u{45D7}",
    ]
}
