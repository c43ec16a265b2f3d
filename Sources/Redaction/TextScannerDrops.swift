// What is dropped
extension TextScanner {
    mutating func drop(_ drop: Drop) {
        clearHeld()
        unicode = []
        state = .dropping(drop)
    }

    mutating func leaveOut(
        _ octet: UInt8, _ raw: [UInt8]?, _ drop: Drop, _ out: inout [UInt8]
    ) {
        switch drop {
        case .field: guard octet == 0x26, raw == nil else { return }
        case .token:
            guard !SecretNames.isOfToken(octet) else { return }
            isBehindDropped = true
        case .element:
            guard manner == .form, octet == 0x26, raw == nil else { return }
            tags = TagTracker()
        case .bare:
            guard TextScanner.depth(raw) <= valueDepth else { return }
            let isOfString = isString || form.enclosing != nil
            if isOfString, isOfUnicode(octet, &out) { return }
            // A backslash, or a slash, that is written with another one belongs to the value.
            let isEscape = isOfString && slashes % 2 == 1 && octet != 0x5C && octet != 0x2F
            let isQuote = octet == 0x22 || octet == 0x27
            guard isEscape || isQuote || octet <= 0x20 || [0x26, 0x3C, 0x3E].contains(octet) else {
                return
            }
            if slashes > 0, isOfString || isQuote {
                return end(octet, raw, &out)
            }
        case .quoted(let mark, let before):
            guard octet == mark, TextScanner.depth(raw) <= valueDepth,
                slashes % (2 * (before + 1)) == before
            else { return }
            out += [UInt8](repeating: 0x5C, count: before)
        case .nested:
            guard closesNested(octet, raw) else { return }
            state = .word
            return
        case .line: return leaveOutLine(octet, raw, &out)
        case .flow: guard endsFlow(octet, raw) else { return }
        case .key: return
        case .authority: guard endsAuthority(octet, raw) else { return }
        }
        state = .word
        word(octet, raw, &out)
    }

    /// True when the octet has been dealt with as one of `\u00e4`, which belongs to the value unless
    /// it means what ends one.
    private mutating func isOfUnicode(_ octet: UInt8, _ out: inout [UInt8]) -> Bool {
        let begins = unicode.isEmpty && octet == 0x75 && slashes % 2 == 1
        guard begins || (!unicode.isEmpty && SecretNames.hex(octet) != nil) else {
            unicode = []
            return false
        }
        unicode.append(octet)
        guard unicode.count == 5 else { return true }
        let digits = unicode
        unicode = []
        let value = digits.dropFirst().reduce(0) { $0 << 4 | Int(SecretNames.hex($1) ?? 0) }
        guard value <= 0x20 || [0x22, 0x27, 0x26, 0x3C, 0x3E].contains(value) else { return true }
        out.append(0x5C)
        state = .word
        before = 0x5C
        for digit in digits { word(digit, nil, &out) }
        return true
    }

    /// Commas and braces in strings do not count, and none that are within brackets do.
    private mutating func endsFlow(_ octet: UInt8, _ raw: [UInt8]?) -> Bool {
        if manner == .form, octet == 0x26, raw == nil { return true }
        guard TextScanner.depth(raw) <= valueDepth, place.quote == nil else { return false }
        switch octet {
        case 0x2C: return depth == 0
        case 0x7D where depth == 0: return true
        case 0x7B, 0x5B: depth += 1
        case 0x7D, 0x5D: depth = max(depth - 1, 0)
        default: break
        }
        return false
    }

    /// Brackets in strings do not count; a string ends behind as many backslashes as it began.
    private mutating func closesNested(_ octet: UInt8, _ raw: [UInt8]?) -> Bool {
        if let before = stringSlashes {
            if octet == stringMark, TextScanner.depth(raw) == stringDepth,
                slashes % (2 * (before + 1)) == before
            {
                stringSlashes = nil
            }
            return false
        }
        switch octet {
        case 0x22,
            0x27 where !place.isBehindLetter:
            stringSlashes = slashes
            stringMark = octet
            stringDepth = TextScanner.depth(raw)
        case 0x7B, 0x5B: depth += 1
        case 0x7D, 0x5D: depth -= 1
        default: break
        }
        return depth == 0
    }
}
