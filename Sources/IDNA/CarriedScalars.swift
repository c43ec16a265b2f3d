/// Converts labels with symbols, or with hyphens where IDNA2008 wants none.
///
/// libidn2 refuses both. So each such scalar is replaced by one that maps to itself, joins with
/// nothing and has no direction; libidn2 maps, normalises and judges the rest of the label, and the
/// scalars are put back, in their order, before the label is encoded. Only scalars that UTS 46
/// calls valid are carried.
struct CarriedScalars {
    private let rules: IDNA.Rules

    init(_ rules: IDNA.Rules) { self.rules = rules }

    /// Nil when the label is not convertible.
    func convert(_ label: String) -> String? {
        // A stand-in in the label itself could not be told from ours.
        guard !label.unicodeScalars.contains(Self.standIn) else { return nil }
        var carried: [Unicode.Scalar] = []
        var text = String.UnicodeScalarView()
        for scalar in label.unicodeScalars {
            let isCarried = isCarried(scalar)
            if isCarried { carried.append(scalar) }
            text.append(isCarried ? Self.standIn : scalar)
        }
        guard !carried.isEmpty, case .success(let ascii) = Library.toASCII(String(text)),
            let mapped = Library.toUnicode(ascii)
        else { return nil }
        var next = carried.makeIterator()
        return encoded(
            mapped.unicodeScalars.map { $0 == Self.standIn ? next.next() ?? $0 : $0 })
    }

    private func encoded(_ scalars: [Unicode.Scalar]) -> String? {
        let text = String(String.UnicodeScalarView(scalars))
        if scalars.allSatisfy(\.isASCII) { return text }
        return Punycode.encode(scalars).map { "xn--" + $0 }
    }

    /// MODIFIER LETTER CIRCUMFLEX ACCENT: valid in IDNA2008, without case, mapping or composition,
    /// and of the Bidi class that symbols have (ON). Source: RFC 5892; UnicodeData.txt.
    private static let standIn: Unicode.Scalar = "\u{2C6}"

    private func isCarried(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "-" { return rules == .url }
        guard !scalar.isASCII, !BidiDomain.isRightToLeft(scalar), Self.isValid(scalar),
            case .failure(let fault) = Library.toASCII(String(scalar))
        else { return false }
        return fault.isAboutScalars
    }

    /// True for what UTS 46 calls valid, from the properties that its table is made of.
    ///
    /// Source: UTS 46 §7.2 steps 1 to 3 (base valid set, base exclusion set).
    private static func isValid(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator,
            .lineSeparator, .paragraphSeparator:
            return false
        default: break
        }
        // U+FFFC and U+FFFD stand for what is not text; the others describe ideographs.
        return !properties.changesWhenNFKCCaseFolded && !properties.isDefaultIgnorableCodePoint
            && !properties.isNoncharacterCodePoint && !properties.isIDSBinaryOperator
            && !properties.isIDSTrinaryOperator && ![0xFFFC, 0xFFFD].contains(scalar.value)
    }
}

/// The encoder for labels that libidn2 does not encode. Source: RFC 3492 §6.3.
enum Punycode {
    /// Nil when a number grows too large, which a label of a sane length cannot cause.
    static func encode(_ scalars: [Unicode.Scalar]) -> String? {
        var output = scalars.filter(\.isASCII).map { UInt8(truncatingIfNeeded: $0.value) }
        let basicCount = output.count
        if basicCount > 0 { output.append(0x2D) }
        var codePoint: UInt32 = 128
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        var done = basicCount
        while done < scalars.count {
            guard let next = scalars.map(\.value).filter({ $0 >= codePoint }).min() else {
                return nil
            }
            let (step, overflow) = (next - codePoint).multipliedReportingOverflow(
                by: UInt32(truncatingIfNeeded: done + 1))
            let (sum, overflowed) = delta.addingReportingOverflow(step)
            guard !overflow, !overflowed, sum < 1 << 31 else { return nil }
            delta = sum
            for scalar in scalars {
                if scalar.value < next { delta += 1 }
                guard scalar.value == next else { continue }
                output += digits(of: delta, bias: bias)
                bias = adapted(
                    delta, count: UInt32(truncatingIfNeeded: done + 1), done == basicCount)
                delta = 0
                done += 1
            }
            delta += 1
            codePoint = next + 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// A generalised variable-length integer. Source: RFC 3492 §3.3; tmin 1, tmax 26, base 36.
    private static func digits(of delta: UInt32, bias: UInt32) -> [UInt8] {
        var result: [UInt8] = []
        var rest = delta
        var place: UInt32 = 36
        while true {
            let threshold = place <= bias ? 1 : min(place - bias, 26)
            guard rest >= threshold else { break }
            result.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            place += 36
        }
        return result + [digit(rest)]
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? value + 0x61 : value - 26 + 0x30)
    }

    /// Source: RFC 3492 §6.1; damp 700, skew 38.
    private static func adapted(_ delta: UInt32, count: UInt32, _ isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var bias: UInt32 = 0
        while rest > 455 {
            rest /= 35
            bias += 36
        }
        return bias + 36 * rest / (rest + 38)
    }
}
