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
/// 3. An octet may be written in three (`%3D`), or in more (`%253D`): it is judged by what it means
///    and goes out as it was written. A value that an `=` of a form itself begins goes on to the
///    next `&` itself; no other value ends at what is wrapped up deeper than its beginning.
/// 4. The content of an element of XML goes on to the tag that closes it: see ``TagTracker``.
package struct TextScanner {
    package enum Manner: Sendable, Hashable {
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
        /// To the tag that closes it.
        case element
        /// As long as it is like a token.
        case token
    }

    private enum State: Hashable {
        case word
        case gap(SecretNames.Verdict)
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
    private var tags = TagTracker()
    /// Where in both a web token may have begun.
    private var tokenAt: (meant: Int, written: Int)?
    /// How often the mark before the value is wrapped up.
    private var valueDepth = 0
    /// The value is that of a colon.
    private var isMember = false
    private var slashes = 0
    private var depth = 0
    /// The backslashes before the string that is open in what is dropped.
    private var stringSlashes: Int?
    private var stringDepth = 0
    private var gap = 0
    private var before: UInt8 = 0
    private var isLong = false

    package init(_ manner: Manner, _ names: SecretNames) {
        self.manner = manner
        self.names = names
    }

    /// - Parameter verdict: of the name whose value the text is.
    package init(valueOf verdict: SecretNames.Verdict, _ names: SecretNames) {
        self.init(.text, names)
        if verdict != .clear { state = .before(verdict, isOfForm: false) }
    }

    package mutating func take(_ octet: UInt8, _ out: inout [UInt8]) {
        guard manner != .light, octet == 0x25 || !escape.isEmpty else {
            return take(octet, nil, &out)
        }
        guard !escape.isEmpty else {
            escape = [octet]
            return
        }
        guard SecretNames.hex(octet) != nil else {
            loose(&out)
            return take(octet, &out)
        }
        escape.append(octet)
        guard escape.count % 2 == 1, let high = SecretNames.hex(escape[escape.count - 2]),
            let low = SecretNames.hex(octet)
        else { return }
        let meant = high << 4 | low
        // An escaped percent sign may begin another escape.
        if meant == 0x25, escape.count < TextScanner.longestEscape { return }
        let raw = escape
        escape = []
        take(meant, raw, &out)
    }

    /// The end of the text, or of what is kept of it.
    package mutating func finish(_ out: inout [UInt8]) {
        loose(&out)
        // A suspect's value that is cut is not known to be short.
        if case .probing = state, !meant.isEmpty {
            put(SecretNames.placeholder, &out)
        } else {
            out += written
        }
        clearHeld()
        state = .word
    }

    /// The end of a value that is whole: a suspect's short one stays.
    package mutating func finishWhole(_ out: inout [UInt8]) {
        loose(&out)
        out += written
        clearHeld()
        state = .word
    }

    /// What began like an escape and is none, or is a percent sign.
    private mutating func loose(_ out: inout [UInt8]) {
        guard !escape.isEmpty else { return }
        let octets = escape
        escape = []
        let whole = octets.count - (octets.count - 1) % 2
        take(0x25, whole > 1 ? Array(octets.prefix(whole)) : nil, &out)
        for octet in octets.dropFirst(whole) { take(octet, nil, &out) }
    }

    private mutating func take(_ octet: UInt8, _ raw: [UInt8]?, _ out: inout [UInt8]) {
        defer { slashes = octet == 0x5C ? slashes + 1 : 0 }
        if manner != .light, follows(tags.take(octet, names), octet, raw, &out) { return }
        switch state {
        case .word: word(octet, raw, &out)
        case .gap(let verdict): gap(octet, raw, verdict, &out)
        case .before(let verdict, let isOfForm): value(octet, raw, verdict, isOfForm, &out)
        case .probing(let isOfForm): probe(octet, raw, isOfForm, &out)
        case .dropping(let drop): leaveOut(octet, raw, drop, &out)
        }
    }

    /// True when the octet has gone out with what the tag means.
    private mutating func follows(
        _ event: TagTracker.Event, _ octet: UInt8, _ raw: [UInt8]?, _ out: inout [UInt8]
    ) -> Bool {
        switch (event, state) {
        case (.nothing, _): return false
        case (.closes, .dropping(.element)):
            put(manner == .form ? "%3C/" : "</", &out)
            before = octet
            state = .word
            return true
        case (.closes, _), (.opens(.clear), _), (.opens, .dropping(.field)),
            (.opens, .dropping(.quoted)), (.opens, .dropping(.nested)),
            (.opens, .dropping(.element)):
            return false
        case (.opens(let verdict), _):
            out += written
            put(octet, raw, &out)
            before = octet
            if verdict == .secret {
                put(SecretNames.placeholder, &out)
                drop(.element)
                tags.enter()
            } else {
                clearHeld()
                valueDepth = TextScanner.depth(raw)
                isMember = false
                state = .before(verdict, isOfForm: false)
            }
            return true
        }
    }

    private mutating func clearHeld() {
        meant = []
        written = []
        tokenAt = nil
        isLong = false
    }

    /// How often an octet is wrapped up: `=` not at all, `%3D` once, `%253D` twice.
    private static func depth(_ raw: [UInt8]?) -> Int { raw.map { ($0.count - 1) / 2 } ?? 0 }
}

// Words and what follows them
extension TextScanner {
    private mutating func word(_ octet: UInt8, _ raw: [UInt8]?, _ out: inout [UInt8]) {
        if TextScanner.isOfWord(octet) {
            meant.append(octet)
            hold(octet, raw)
            return held(&out)
        }
        let (name, wasLong, mark) = (meant, isLong, before)
        out += written
        clearHeld()
        before = octet
        if name.isEmpty || wasLong {
            put(octet, raw, &out)
            return
        }
        let candidates = TextScanner.names(in: name, behind: mark)
        if octet == 0x20, candidates.contains(where: TextScanner.isScheme) {
            put(octet, raw, &out)
            valueDepth = TextScanner.depth(raw)
            isMember = false
            // What a scheme is followed by need not be a secret: "basic" is a word.
            state = .before(.suspect, isOfForm: false)
            return
        }
        let verdicts = manner == .light ? [] : candidates.map { names.verdict($0) }
        guard
            let verdict = verdicts.first(where: { $0 == .secret })
                ?? verdicts.first(where: { $0 == .suspect })
        else {
            put(octet, raw, &out)
            return
        }
        gap = 0
        state = .gap(verdict)
        gap(octet, raw, verdict, &out)
    }

    /// A word has grown: it may be a token, or too long to be held.
    private mutating func held(_ out: inout [UInt8]) {
        noteToken()
        if let start = tokenAt, meant.count - start.meant >= TextScanner.shortestToken {
            out += written.prefix(start.written)
            put(SecretNames.placeholder, &out)
            return drop(.token)
        }
        guard meant.count > TextScanner.mostHeld else { return }
        isLong = true
        // A token may just begin.
        let rest =
            tokenAt.map { written.count - $0.written }
            ?? (written.suffix(2) == TextScanner.tokenMark[..<2]
                ? 2 : written.last == TextScanner.tokenMark[0] ? 1 : 0)
        out += written.dropLast(rest)
        written = Array(written.suffix(rest))
        meant = written
        if tokenAt != nil { tokenAt = (0, 0) }
    }

    /// `eyJ` is how base64 of `{"` begins: a web token, or another object that was wrapped up.
    private mutating func noteToken() {
        if let last = meant.last, !SecretNames.isOfToken(last) { tokenAt = nil }
        let place = meant.count - 3
        guard tokenAt == nil, place >= 0, meant.suffix(3) == TextScanner.tokenMark[...],
            written.suffix(3) == TextScanner.tokenMark[...]
        else { return }
        let isBoundary =
            place == 0 || !TextScanner.isAlphanumeric(meant[place - 1])
            || (place >= 3 && meant[place - 3] == 0x25)
            || (before == 0x5C && (place == 1 || place == 5))
        if isBoundary { tokenAt = (place, written.count - 3) }
    }

    private mutating func gap(
        _ octet: UInt8, _ raw: [UInt8]?, _ verdict: SecretNames.Verdict, _ out: inout [UInt8]
    ) {
        gap += 1
        let isItself = raw == nil
        switch octet {
        case 0x3D, 0x3A:
            guard manner != .form || octet == 0x3D || !isItself || gap > 1 else { break }
            put(octet, raw, &out)
            valueDepth = TextScanner.depth(raw)
            isMember = octet == 0x3A
            state = .before(verdict, isOfForm: manner == .form && octet == 0x3D && isItself)
            return
        case 0x22, 0x27, 0x5C, 0x20, 0x09:
            guard gap <= TextScanner.longestGap else { break }
            put(octet, raw, &out)
            before = octet
            return
        default: break
        }
        state = .word
        word(octet, raw, &out)
    }

    private mutating func value(
        _ octet: UInt8, _ raw: [UInt8]?, _ verdict: SecretNames.Verdict, _ isOfForm: Bool,
        _ out: inout [UInt8]
    ) {
        if isOfForm, octet == 0x26, raw == nil {
            state = .word
            return word(octet, raw, &out)
        }
        let isDeeper = TextScanner.depth(raw) > valueDepth
        if !isOfForm {
            switch octet {
            case 0x20, 0x09, 0x5C:
                put(octet, raw, &out)
                return
            case 0x22 where !isDeeper || isMember, 0x27 where !isDeeper || isMember:
                put(octet, raw, &out)
                valueDepth = TextScanner.depth(raw)
                if verdict == .suspect {
                    state = .probing(isOfForm: false)
                    return
                }
                put(SecretNames.placeholder, &out)
                return drop(.quoted(octet, slashes: slashes))
            case 0x7B where verdict == .secret, 0x5B where verdict == .secret:
                put(SecretNames.placeholder, &out)
                depth = 1
                stringSlashes = nil
                return drop(.nested)
            case 0x26, 0x2C, 0x3B, 0x3C, 0x3E, 0x0A, 0x0D, 0x7B, 0x5B, 0x7D, 0x5D:
                guard !isDeeper else { break }
                state = .word
                return word(octet, raw, &out)
            default: break
            }
        }
        if verdict == .suspect {
            state = .probing(isOfForm: isOfForm)
            return probe(octet, raw, isOfForm, &out)
        }
        put(SecretNames.placeholder, &out)
        drop(isOfForm ? .field : .bare)
        leaveOut(octet, raw, isOfForm ? .field : .bare, &out)
    }

    private mutating func probe(
        _ octet: UInt8, _ raw: [UInt8]?, _ isOfForm: Bool, _ out: inout [UInt8]
    ) {
        guard SecretNames.isOfToken(octet), !(isOfForm && octet == 0x26) else {
            out += written
            clearHeld()
            state = .word
            return word(octet, raw, &out)
        }
        meant.append(octet)
        hold(octet, raw)
        guard meant.count >= SecretNames.machineMadeOctets else { return }
        put(SecretNames.placeholder, &out)
        drop(isOfForm ? .field : .token)
    }
}

// What is dropped
extension TextScanner {
    private mutating func drop(_ drop: Drop) {
        clearHeld()
        state = .dropping(drop)
    }

    private mutating func leaveOut(
        _ octet: UInt8, _ raw: [UInt8]?, _ drop: Drop, _ out: inout [UInt8]
    ) {
        switch drop {
        case .field: guard octet == 0x26, raw == nil else { return }
        case .token:
            guard !SecretNames.isOfToken(octet) else { return }
        case .element:
            guard manner == .form, octet == 0x26, raw == nil else { return }
            tags = TagTracker()
        case .bare:
            guard TextScanner.depth(raw) <= valueDepth else { return }
            guard octet <= 0x20 || [0x22, 0x27, 0x26, 0x3C, 0x3E, 0x5C].contains(octet) else {
                return
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
        }
        state = .word
        word(octet, raw, &out)
    }

    /// Brackets in strings do not count; a string ends behind as many backslashes as it began.
    private mutating func closesNested(_ octet: UInt8, _ raw: [UInt8]?) -> Bool {
        if let before = stringSlashes {
            if octet == 0x22, TextScanner.depth(raw) == stringDepth,
                slashes % (2 * (before + 1)) == before
            {
                stringSlashes = nil
            }
            return false
        }
        switch octet {
        case 0x22:
            stringSlashes = slashes
            stringDepth = TextScanner.depth(raw)
        case 0x7B, 0x5B: depth += 1
        case 0x7D, 0x5D: depth -= 1
        default: break
        }
        return depth == 0
    }

    /// What a word may mean where it is written in JSON: behind a backslash `nid` is `id` in a new
    /// line, and `u0026token` is a name behind an ampersand.
    static func names(in word: [UInt8], behind mark: UInt8) -> [[UInt8]] {
        let isUnicode = word.count > 5 && word[0] == 0x75 && word[1] == 0x30 && word[2] == 0x30
        if isUnicode { return [word, Array(word.dropFirst(5))] }
        let isLetter = mark == 0x5C && word.count > 1 && Array("nrtbf".utf8).contains(word[0])
        return isLetter ? [word, Array(word.dropFirst())] : [word]
    }

    /// As it was written: by itself, or as an escape.
    private func put(_ octet: UInt8, _ raw: [UInt8]?, _ out: inout [UInt8]) {
        if let raw { out += raw } else { out.append(octet) }
    }

    private mutating func hold(_ octet: UInt8, _ raw: [UInt8]?) {
        if let raw { written += raw } else { written.append(octet) }
    }

    private func put(_ text: String, _ out: inout [UInt8]) { out.append(contentsOf: text.utf8) }

    static func isOfWord(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x5B, 0x5D, 0x24, 0x25: true
        default: octet >= 0x80
        }
    }

    private static func isAlphanumeric(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
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
    private static let tokenMark = Array("eyJ".utf8)
    /// Because: a URL in a URL in a URL is wrapped up twice; twice as often is more than any.
    private static let longestEscape = 9
}
