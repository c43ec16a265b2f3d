// Values that go on to the end of a line, or of the string that the line stands in
extension TextScanner {
    /// True when the octet has been dealt with as part of an escape before a value, in a string.
    mutating func isOfEscape(
        _ octet: UInt8, _ raw: Written?, _ verdict: SecretNames.Verdict, _ out: inout [UInt8]
    ) -> Bool {
        guard octet != 0x5C else {
            hold(octet, raw)
            return true
        }
        guard !written.isEmpty else { return false }
        let isEscape = (isString || form.enclosing != nil) && slashes % 2 == 1
        switch octet {
        case 0x6E where isEscape, 0x72 where isEscape:
            out += written
            clearHeld()
            put(octet, raw, &out)
            before = 0x0A
            guard !form.isInFlow else { return true }
            let goesOn = verdict == .secret && isString
            state = goesOn && linesGoOn ? .indenting(isValueWritten: false) : .word
            return true
        case 0x74 where isEscape:
            out += written
            clearHeld()
            put(octet, raw, &out)
            form.isBehindBlank = true
            return true
        // It is the first octet of what is left out.
        case 0x30...0x39 where verdict == .secret, 0x41...0x5A where verdict == .secret,
            0x61...0x7A where verdict == .secret:
            break
        default: out += written
        }
        clearHeld()
        return false
    }

    /// True when the octet has been dealt with as one before the value of a header field, or of a
    /// line that goes on in the next one.
    mutating func isOfLine(
        _ octet: UInt8, _ raw: Written?, _ isDeeper: Bool, _ out: inout [UInt8]
    ) -> Bool {
        guard !isDeeper, form.isMember || form.isOfCredentials else { return false }
        switch octet {
        case 0x0A, 0x0D:
            guard linesGoOn, !form.isInFlow else { return false }
            put(octet, raw, &out)
            state = .indenting(isValueWritten: false)
            return true
        case 0x2B where manner == .form && raw == nil:
            put(octet, raw, &out)
            form.isBehindBlank = true
            return true
        case 0x20, 0x09: return false
        case 0x26 where manner == .form && raw == nil: return false
        case 0x3D where form.isBehindNothing, 0x3E where form.isBehindNothing: return false
        case 0x22, 0x27:
            if form.enclosing?.isClosed(by: octet, raw, slashes: slashes) == true {
                state = .word
                word(octet, raw, &out)
                return true
            }
            guard form.isOfCredentials, !form.isNameQuoted else { return false }
        case 0x5B where form.isNameQuoted, 0x7B where form.isNameQuoted: return false
        case 0x2C where form.isInFlow, 0x7D where form.isInFlow: return false
        // A value may begin so, where nothing but a value can stand.
        case 0x26, 0x2C, 0x3B, 0x3E: guard form.isLine else { return false }
        default: guard form.isOfCredentials else { return false }
        }
        put(SecretNames.placeholder, &out)
        let drop: Drop = form.isInFlow ? .flow : .line
        if form.isInFlow { depth = 0 }
        self.drop(drop)
        leaveOut(octet, raw, drop, &out)
        return true
    }

    /// A quotation mark behind a name: what it closes is not what the value stands in.
    mutating func endQuotedName(_ octet: UInt8, _ raw: Written?) {
        form.isNameQuoted = true
        guard form.enclosing?.isClosed(by: octet, raw, slashes: slashes) == true else { return }
        form.enclosing = nil
        form.column = min(form.column, place.quoteColumn)
        form.isInFlow = place.isQuoteInFlow
    }

    mutating func leaveOutLine(_ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]) {
        guard TextScanner.depthInText(raw) <= valueDepth else { return }
        switch octet {
        case 0x0A, 0x0D: endLine(octet, raw, &out)
        case 0x6E, 0x72:
            let isEscape =
                isString ? slashes % 2 == 1 : slashes == 1 && form.enclosing?.slashes == 0
            guard isEscape else { return }
            out += [UInt8](repeating: 0x5C, count: slashes)
            endLine(octet, raw, &out)
        case 0x22, 0x27:
            if form.enclosing?.isClosed(by: octet, raw, slashes: slashes) == true {
                end(octet, raw, &out)
            }
        case 0x26 where manner == .form && raw == nil: end(octet, raw, &out)
        default: break
        }
    }

    private mutating func endLine(_ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]) {
        put(octet, raw, &out)
        before = 0x0A
        let isOfString = !isString && form.enclosing != nil
        state = linesGoOn && !isOfString ? .indenting(isValueWritten: true) : .word
    }

    /// What is indented below a line belongs to it.
    private var linesGoOn: Bool { form.isMember && manner == .text }

    /// The backslashes before an octet that ends what is left out. An escape has its own.
    func putSlashes(_ count: Int, _ raw: Written?, _ out: inout [UInt8]) {
        if (raw?.slashes ?? 0) == 0 { out += [UInt8](repeating: 0x5C, count: count) }
    }

    /// What follows is read again, with the backslashes that belong to it.
    mutating func end(_ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]) {
        putSlashes(slashes, raw, &out)
        state = .word
        before = slashes > 0 ? 0x5C : 0
        word(octet, raw, &out)
    }

    /// The blanks that a line begins with, below one whose value may go on. Source: YAML 1.2.2 §8;
    /// RFC 9112 §5.2 for fields.
    mutating func indent(
        _ octet: UInt8, _ raw: Written?, _ isValueWritten: Bool, _ out: inout [UInt8]
    ) {
        switch octet {
        case 0x20, 0x09, 0x5C: hold(octet, raw)
        case 0x0A, 0x0D:
            out += written
            clearHeld()
            put(octet, raw, &out)
        case 0x6E where isString && slashes % 2 == 1, 0x72 where isString && slashes % 2 == 1:
            out += written
            clearHeld()
            put(octet, raw, &out)
        default:
            let column = place.column - ((raw?.slashes ?? 0) > 0 ? 0 : slashes)
            let isItem =
                octet == 0x2D && column == form.column && (!isValueWritten || form.isList)
            guard column > form.column || isItem else {
                out += written
                clearHeld()
                state = .word
                return word(octet, raw, &out)
            }
            if !isValueWritten {
                out += written
                put(SecretNames.placeholder, &out)
                form.isList = isItem
            }
            drop(.line)
            leaveOutLine(octet, raw, &out)
        }
    }

    /// What is due to a value that comes next.
    package var awaited: SecretNames.Verdict {
        if case .before(let verdict, _) = state { verdict } else { .clear }
    }

    /// Whether what stands outside of strings is left out, quotation marks and all.
    package var isInLine: Bool {
        switch state {
        case .dropping(.line), .dropping(.flow), .dropping(.key), .dropping(.nested),
            .dropping(.quoted), .dropping(.tripled), .dropping(.heredoc), .dropping(.part),
            .indenting(isValueWritten: true):
            true
        default: false
        }
    }

    /// Whether brackets are those of what is left out.
    package var isInNested: Bool { state == .dropping(.nested) }

    /// Whether a private key has begun, and not ended.
    package var isInKey: Bool { state == .dropping(.key) }

    /// The content of the string of JSON behind another one, in which a private key has begun.
    package init(behind string: TextScanner) {
        self.init(string.manner, string.names, isString: true)
        armour = string.armour
        state = .dropping(.key)
    }
}

// The authorities of URLs
extension TextScanner {
    mutating func enterAuthority(_ raw: Written?) {
        state = .authority
        held = []
        authorityDepth = TextScanner.depth(raw)
        hadUserinfo = false
    }

    /// What is held is a userinfo when `@` follows; the last one of several ends it.
    mutating func follow(_ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]) {
        if endsAuthority(octet, raw) {
            release(&out)
            return advance(octet, raw, &out)
        }
        guard octet != 0x40 else {
            if !hadUserinfo {
                put(SecretNames.placeholder, &out)
                put(octet, raw, &out)
            }
            hadUserinfo = true
            held = []
            return
        }
        guard held.count < TextScanner.longestAuthority else {
            put(SecretNames.placeholder, &out)
            held = []
            return drop(.authority)
        }
        held.append((octet, raw))
    }

    /// A password may hold what does not end a URL; nothing that is wrapped up deeper ends it.
    func endsAuthority(_ octet: UInt8, _ raw: Written?) -> Bool {
        guard TextScanner.depth(raw) <= authorityDepth else { return false }
        switch octet {
        case 0x00...0x20, 0x22, 0x23, 0x2F, 0x3C, 0x3E, 0x3F, 0x5C, 0x60: return true
        case 0x26: return manner == .form && raw == nil
        default: return false
        }
    }

    /// No userinfo has come, or no long value: what was held is read as all else is.
    mutating func release(_ out: inout [UInt8]) {
        guard isHolding else { return }
        let units = held
        held = []
        state = .word
        for unit in units { advance(unit.octet, unit.raw, &out) }
    }

    /// Nothing is held any longer. What was may hold a URL, or a suspect, of its own, which is shorter.
    mutating func settle(_ out: inout [UInt8]) {
        while isHolding { release(&out) }
    }

    private var isHolding: Bool {
        switch state {
        case .authority, .probing: true
        default: false
        }
    }

    /// Because: a host name has 253 octets, and passwords that are longer than the rest are tokens.
    private static let longestAuthority = 1_024
}
