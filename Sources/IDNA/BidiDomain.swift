internal import HTTPDNSNames

/// What libidn2 leaves out of the Bidi rule: it looks at each label by itself, while one label that
/// runs right to left puts conditions on all the others.
///
/// Source: RFC 5893 §2, over the ranges and general categories that decide it for host names.
enum BidiDomain {
    static func check(_ labels: [String]) throws(NameError) {
        guard labels.contains(where: hasRightToLeft) else { return }
        for label in labels where !label.isEmpty {
            if hasRightToLeft(label) {
                // Rule 4: European and Arabic digits are not mixed.
                guard
                    !label.unicodeScalars.contains(where: isEuropeanDigit)
                        || !label.unicodeScalars.contains(where: isArabicDigit)
                else { throw broken }
                continue
            }
            // Rules 1 and 6 for a label that runs left to right.
            let last = label.unicodeScalars.last {
                $0.properties.generalCategory != .nonspacingMark
            }
            guard let first = label.unicodeScalars.first, isLetter(first), let last,
                isLetter(last) || isEuropeanDigit(last)
            else { throw broken }
        }
    }

    private static let broken = NameError.notConvertible(
        "a label that runs left to right does not fit with one that runs right to left (RFC 5893)")

    private static func hasRightToLeft(_ label: String) -> Bool {
        label.unicodeScalars.contains(where: isRightToLeft)
    }

    /// True for the scalars of the classes R, AL and AN; by block, which is exact for those that
    /// may stand in a label.
    static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x06F0...0x06F9: false
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF,
            0x1E800...0x1EFFF:
            scalar.properties.generalCategory != .nonspacingMark
        default: false
        }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        // Modifier letters that have no direction.
        if [0x2B9...0x2BA, 0x2C2...0x2CF, 0x2EC...0x2ED].contains(where: {
            $0.contains(scalar.value)
        }) {
            return false
        }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .spacingMark, .letterNumber:
            return true
        default: return false
        }
    }

    private static func isEuropeanDigit(_ scalar: Unicode.Scalar) -> Bool {
        (0x30...0x39).contains(scalar.value) || (0x6F0...0x6F9).contains(scalar.value)
    }

    private static func isArabicDigit(_ scalar: Unicode.Scalar) -> Bool {
        (0x660...0x669).contains(scalar.value)
    }
}
