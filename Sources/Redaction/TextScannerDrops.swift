// What is dropped
extension TextScanner {
    mutating func drop(_ drop: Drop) {
        clearHeld()
        isFresh = true
        isReopened = false
        marks = 0
        state = .dropping(drop)
    }

    mutating func leaveOut(
        _ octet: UInt8, _ raw: Written?, _ drop: Drop, _ out: inout [UInt8]
    ) {
        switch drop {
        case .field: guard octet == 0x26, raw == nil else { return }
        case .token:
            guard !SecretNames.isOfToken(octet) else { return }
            isBehindDropped = true
        case .run:
            guard !TextScanner.isOfWord(octet) else { return }
            isBehindDropped = true
        case .element:
            guard manner == .form, octet == 0x26, raw == nil else { return }
            tags = TagTracker()
        case .bare:
            guard TextScanner.depthInText(raw) <= valueDepth else { return }
            let isOfString = isString || form.enclosing != nil
            // Outside of strings an escape of JSON is no more than its octets.
            if !isOfString, raw?.octets.first == 0x5C { return }
            // A backslash, or a slash, that is written with another one belongs to the value, and so
            // does an escape that is broken.
            let isEscape =
                isOfString && slashes % 2 == 1 && ![0x5C, 0x2F, 0x75, 0x78].contains(octet)
            let isQuote = octet == 0x22 || octet == 0x27
            let isMark =
                octet == 0x3C || (form.argument == .none && (octet == 0x26 || octet == 0x3E))
            guard isEscape || isQuote || octet <= 0x20 || isMark else { return }
            // The colon behind a URL in a sentence is none of it.
            if octet <= 0x20, place.last == 0x3A, form.argument == .none { out.append(0x3A) }
            if slashes > 0, isOfString || isQuote {
                return end(octet, raw, &out)
            }
        case .quoted(let mark, let before):
            guard isMark(octet, raw, mark, slashes: before) else {
                if octet != 0x5C { isFresh = false }
                return
            }
            return closeQuoted(octet, raw, slashes: before, &out)
        case .closed(let mark, let before, let isEmpty):
            let isMark = isMark(octet, raw, mark, slashes: before)
            return leaveOutClosed(octet, raw, isEmpty, isMark, &out)
        case .tripled(let mark, let before):
            return leaveOutTripled(octet, isMark(octet, raw, mark, slashes: before))
        case .heredoc: return leaveOutHeredoc(octet, &out)
        case .part: return
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

    private func isMark(_ octet: UInt8, _ raw: Written?, _ mark: UInt8, slashes before: Int) -> Bool
    {
        octet == mark && TextScanner.depth(raw) <= valueDepth
            && slashes % (2 * (before + 1)) == before
    }

    /// Commas and braces in strings do not count, and none that are within brackets do.
    private mutating func endsFlow(_ octet: UInt8, _ raw: Written?) -> Bool {
        if manner == .form, octet == 0x26, raw == nil { return true }
        guard TextScanner.depthInText(raw) <= valueDepth, place.quote == nil else { return false }
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
    private mutating func closesNested(_ octet: UInt8, _ raw: Written?) -> Bool {
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
