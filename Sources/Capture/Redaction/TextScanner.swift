/// Takes secrets out of text as it streams by: the values of names that are secret, web tokens, and
/// what follows `Bearer`.
///
///     word ─ a secret name ─▶ gap ─ "=" or ":" ─▶ before ─▶ quoted, bare, nested: dropped ─▶ word
///       └──── begins like a web token ─▶ token: dropped ─▶ word
///
/// Rules:
/// 1. What has gone out cannot be called back: a value is dropped from its first octet, so it does
///    not matter where the text is cut.
/// 2. A word is held until it ends, for it may be a token; at most ``mostHeld`` octets are held.
/// 3. In a form an octet may be written in three (`%3D`): it is judged by what it means and goes
///    out as it was written. A value that an `=` itself begins goes on to the next `&` itself.
struct TextScanner {
    enum Manner: Sendable, Hashable {
        /// `a=b&c=d`: bodies of forms, queries.
        case form
        /// Words, assignments, nested JSON and XML.
        case text
        /// Only what looks like a token: programs, pages, styles.
        case light
    }

    private enum Drop: Hashable {
        /// To the next `&` that is one.
        case field
        /// To the end of a run without spaces and quotes.
        case bare
        /// To this quotation mark behind so many backslashes.
        case quoted(UInt8, slashes: Int)
        /// To the bracket that closes.
        case nested
        /// To the next tag.
        case element
        /// As long as it is like a token.
        case token
    }

    private enum State: Hashable {
        case word
        case gap(SecretNames.Verdict, isTag: Bool)
        case before(SecretNames.Verdict, isOfForm: Bool)
        /// The value of a suspect, held until it is long enough.
        case probing(isOfForm: Bool)
        case dropping(Drop)
    }

    private let manner: Manner
    private let names: SecretNames
    private var state = State.word
    /// The word, or the value of a suspect, as it is meant.
    private var meant: [UInt8] = []
    /// The same as it was written; it has not gone out.
    private var written: [UInt8] = []
    /// The octets of a `%3D` that is not whole.
    private var escape: [UInt8] = []
    private var slashes = 0
    private var depth = 0
    /// The backslashes before the string that is open in what is dropped.
    private var stringSlashes: Int?
    private var gap = 0
    private var before: UInt8 = 0
    private var isLong = false

    init(_ manner: Manner, _ names: SecretNames) {
        self.manner = manner
        self.names = names
    }

    mutating func take(_ octet: UInt8, _ out: inout [UInt8]) {
        guard manner == .form, octet == 0x25 || !escape.isEmpty else {
            return take(octet, [octet], &out)
        }
        if escape.isEmpty || SecretNames.hex(octet) == nil {
            loose(&out)
            if octet == 0x25 { escape = [octet] } else { take(octet, [octet], &out) }
            return
        }
        escape.append(octet)
        guard escape.count == 3, let high = SecretNames.hex(escape[1]),
            let low = SecretNames.hex(escape[2])
        else { return }
        let raw = escape
        escape = []
        take(high << 4 | low, raw, &out)
    }

    /// The end of the text, or of what is kept of it.
    mutating func finish(_ out: inout [UInt8]) {
        loose(&out)
        // A suspect's value that is cut is not known to be short.
        if case .probing = state, !meant.isEmpty {
            put(CaptureRedaction.placeholder, &out)
        } else {
            out += written
        }
        meant = []
        written = []
        state = .word
    }

    /// The end of a value that is whole: a suspect's short one stays.
    mutating func finishWhole(_ out: inout [UInt8]) {
        loose(&out)
        out += written
        meant = []
        written = []
        state = .word
    }

    /// What began like an escape and is none.
    private mutating func loose(_ out: inout [UInt8]) {
        let octets = escape
        escape = []
        for octet in octets { take(octet, [octet], &out) }
    }

    private mutating func take(_ octet: UInt8, _ raw: [UInt8], _ out: inout [UInt8]) {
        switch state {
        case .word: word(octet, raw, &out)
        case .gap(let verdict, let isTag): gap(octet, raw, verdict, isTag, &out)
        case .before(let verdict, let isOfForm): value(octet, raw, verdict, isOfForm, &out)
        case .probing(let isOfForm): probe(octet, raw, isOfForm, &out)
        case .dropping(let drop): leaveOut(octet, raw, drop, &out)
        }
        slashes = octet == 0x5C ? slashes + 1 : 0
    }
}

// Words and what follows them
extension TextScanner {
    private mutating func word(_ octet: UInt8, _ raw: [UInt8], _ out: inout [UInt8]) {
        if TextScanner.isOfWord(octet) {
            meant.append(octet)
            written += raw
            if isToken {
                put(CaptureRedaction.placeholder, &out)
                return drop(.token)
            }
            if meant.count > TextScanner.mostHeld {
                isLong = true
                out += written
                meant = []
                written = []
            }
            return
        }
        let (name, wasLong, isTag) = (meant, isLong, before == 0x3C && octet == 0x3E)
        out += written
        meant = []
        written = []
        isLong = false
        before = octet
        if name.isEmpty || wasLong {
            out += raw
            return
        }
        if TextScanner.isScheme(name), octet == 0x20 {
            out += raw
            // What a scheme is followed by need not be a secret: "basic" is a word.
            state = .before(.suspect, isOfForm: false)
            return
        }
        let verdict = manner == .light ? .clear : names.verdict(withoutEscape(name))
        guard verdict != .clear else {
            out += raw
            return
        }
        gap = 0
        state = .gap(verdict, isTag: isTag)
        gap(octet, raw, verdict, isTag, &out)
    }

    private mutating func gap(
        _ octet: UInt8, _ raw: [UInt8], _ verdict: SecretNames.Verdict, _ isTag: Bool,
        _ out: inout [UInt8]
    ) {
        gap += 1
        let isItself = raw.count == 1
        switch octet {
        case 0x3D, 0x3A:
            guard manner != .form || octet == 0x3D || !isItself || gap > 1 else { break }
            out += raw
            state = .before(verdict, isOfForm: manner == .form && octet == 0x3D && isItself)
            return
        case 0x3E where isTag && gap == 1:
            out += raw
            put(CaptureRedaction.placeholder, &out)
            return drop(.element)
        case 0x22, 0x27, 0x5C, 0x20, 0x09:
            guard gap <= TextScanner.longestGap else { break }
            out += raw
            return
        default: break
        }
        state = .word
        word(octet, raw, &out)
    }

    private mutating func value(
        _ octet: UInt8, _ raw: [UInt8], _ verdict: SecretNames.Verdict, _ isOfForm: Bool,
        _ out: inout [UInt8]
    ) {
        if isOfForm, octet == 0x26, raw.count == 1 {
            state = .word
            return word(octet, raw, &out)
        }
        if !isOfForm {
            switch octet {
            case 0x20, 0x09, 0x5C:
                out += raw
                return
            case 0x22, 0x27:
                out += raw
                if verdict == .suspect {
                    state = .probing(isOfForm: false)
                    return
                }
                put(CaptureRedaction.placeholder, &out)
                return drop(.quoted(octet, slashes: slashes))
            case 0x7B where verdict == .secret, 0x5B where verdict == .secret:
                put(CaptureRedaction.placeholder, &out)
                depth = 1
                stringSlashes = nil
                return drop(.nested)
            case 0x26, 0x2C, 0x3B, 0x3C, 0x3E, 0x0A, 0x0D, 0x7B, 0x5B, 0x7D, 0x5D:
                state = .word
                return word(octet, raw, &out)
            default: break
            }
        }
        if verdict == .suspect {
            state = .probing(isOfForm: isOfForm)
            return probe(octet, raw, isOfForm, &out)
        }
        put(CaptureRedaction.placeholder, &out)
        drop(isOfForm ? .field : .bare)
        leaveOut(octet, raw, isOfForm ? .field : .bare, &out)
    }

    private mutating func probe(
        _ octet: UInt8, _ raw: [UInt8], _ isOfForm: Bool, _ out: inout [UInt8]
    ) {
        guard SecretNames.isOfToken(octet), !(isOfForm && octet == 0x26) else {
            out += written
            meant = []
            written = []
            state = .word
            return word(octet, raw, &out)
        }
        meant.append(octet)
        written += raw
        guard meant.count >= SecretNames.machineMadeOctets else { return }
        put(CaptureRedaction.placeholder, &out)
        drop(isOfForm ? .field : .token)
    }
}

// What is dropped
extension TextScanner {
    private mutating func drop(_ drop: Drop) {
        meant = []
        written = []
        isLong = false
        state = .dropping(drop)
    }

    private mutating func leaveOut(
        _ octet: UInt8, _ raw: [UInt8], _ drop: Drop, _ out: inout [UInt8]
    ) {
        switch drop {
        case .field: guard octet == 0x26, raw.count == 1 else { return }
        case .token:
            guard !SecretNames.isOfToken(octet) else { return }
        case .element: guard octet == 0x3C else { return }
        case .bare:
            guard octet <= 0x20 || [0x22, 0x27, 0x26, 0x3C, 0x3E, 0x5C].contains(octet) else {
                return
            }
        case .quoted(let mark, let before):
            guard octet == mark, slashes % (2 * (before + 1)) == before else { return }
            out += [UInt8](repeating: 0x5C, count: before)
        case .nested:
            guard closesNested(octet) else { return }
            state = .word
            return
        }
        state = .word
        word(octet, raw, &out)
    }

    /// Brackets in strings do not count; a string ends behind as many backslashes as it began.
    private mutating func closesNested(_ octet: UInt8) -> Bool {
        if let before = stringSlashes {
            if octet == 0x22, slashes % (2 * (before + 1)) == before { stringSlashes = nil }
            return false
        }
        switch octet {
        case 0x22: stringSlashes = slashes
        case 0x7B, 0x5B: depth += 1
        case 0x7D, 0x5D: depth -= 1
        default: break
        }
        return depth == 0
    }

    /// `eyJ` is how base64 of `{"` begins: a web token, or another object that was wrapped up.
    private var isToken: Bool {
        meant.count >= TextScanner.shortestToken && meant.starts(with: [0x65, 0x79, 0x4A])
    }

    /// `\u0026token`, as JSON is often written, is a name behind an ampersand.
    private func withoutEscape(_ name: [UInt8]) -> [UInt8] {
        name.starts(with: Array("u0026".utf8)) || name.starts(with: Array("u003f".utf8))
            ? Array(name.dropFirst(5)) : name
    }

    private func put(_ text: String, _ out: inout [UInt8]) { out.append(contentsOf: text.utf8) }

    private static func isOfWord(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x5B, 0x5D, 0x24, 0x25: true
        default: octet >= 0x80
        }
    }

    private static func isScheme(_ word: [UInt8]) -> Bool {
        let lower = word.map { $0 | 0x20 }
        return lower == Array("bearer".utf8) || lower == Array("basic".utf8)
    }

    /// Because: no name of a field is longer.
    private static let mostHeld = 128
    /// Because: quotation marks, a level or two of escapes, and spaces.
    private static let longestGap = 12
    /// Because: the smallest web token has more; `eyJ` also begins words.
    private static let shortestToken = 20
}
