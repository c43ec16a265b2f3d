/// Takes secrets out of text as it streams by: the values of names that are secret, the userinfo of
/// URLs, web tokens, private keys, and what follows `Bearer`.
///
///     word ─ a secret name ─▶ gap ─ "=" or ":" ─▶ before ─▶ quoted, bare, line …: dropped ─▶ word
///       ├──── begins like a web token ─▶ token: dropped ─▶ word
///       └──── "://" ─▶ authority: held ─ "@" ─▶ dropped
///
/// Rules:
/// 1. What has gone out cannot be called back: a value is dropped from its first octet, so it does
///    not matter where the text is cut.
/// 2. A word is held until it ends, for it may be a token; at most ``mostHeld`` octets are held.
/// 3. An octet may be written in three (`%3D`), or in more (`%253D`): it is judged by what it means
///    and goes out as it was written. A value that an `=` of a form itself begins goes on to the
///    next `&` itself; no other value ends at what is wrapped up deeper than its beginning.
/// 4. The content of an element of XML goes on to the tag that closes it: see ``TagTracker``.
/// 5. What stands like a header field (`Authorization: Basic …`, `password: two words`) goes on to
///    the end of its line, or of the string that the line stands in; and what is indented below it
///    belongs to it, as in YAML. See TextScannerLines.swift.
/// 6. The authority of a URL is held until it ends, or `@` says that it was a userinfo.
package struct TextScanner {
    package enum Manner: Sendable, Hashable {
        /// `a=b&c=d`: bodies of forms, queries.
        case form
        /// Words, assignments, nested JSON and XML.
        case text
        /// Only what looks like a token: programs, pages, styles.
        case light
    }

    enum Drop: Hashable {
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
        /// To the end of the line.
        case line
        /// To the comma or the brace behind a member of what is written `{"name": …}`.
        case flow
        /// A private key, to the mark behind it.
        case key
        /// A userinfo that is too long to be held.
        case authority
    }

    enum State: Hashable {
        case word
        case gap(SecretNames.Verdict)
        case before(SecretNames.Verdict, isOfForm: Bool)
        /// The value of a suspect, held until it is long enough, or until it ends.
        case probing(isOfForm: Bool)
        case dropping(Drop)
        /// Behind `://`.
        case authority
        /// Behind the end of a line whose value goes on if the next one is indented.
        case indenting(isValueWritten: Bool)
    }

    let manner: Manner
    let names: SecretNames
    /// The text is the content of a string of JSON.
    let isString: Bool
    var state = State.word
    /// The word, or the value of a suspect, as it is meant.
    var meant: [UInt8] = []
    /// The same as it was written; it has not gone out.
    var written: [UInt8] = []
    /// The octets of a `%3D` that is not whole.
    private var escape: [UInt8] = []
    var tags = TagTracker()
    /// Where in both a web token may have begun.
    var tokenAt: (meant: Int, written: Int)?
    /// How often the mark before the value is wrapped up.
    var valueDepth = 0
    /// The value is that of a colon.
    private var isMember = false
    var slashes = 0
    var depth = 0
    /// The backslashes before the string that is open in what is dropped.
    var stringSlashes: Int?
    var stringMark: UInt8 = 0x22
    /// `u` and the digits of an escape in what is left out.
    var unicode: [UInt8] = []
    var stringDepth = 0
    private var gap = 0
    var before: UInt8 = 0
    var isLong = false
    var armour = KeyArmour()
    var place = LinePlace()
    /// How the value before which the text stands is written.
    var form = ValueForm()
    /// How much of `://` the last octets are.
    private var urlMark = 0
    /// What is left out, and ends at a colon, may have been the scheme of a URL.
    var isBehindDropped = false
    /// What is held behind `://`, or of a suspect's value, as it is meant and as it was written.
    var held: [(octet: UInt8, raw: [UInt8]?)] = []
    var authorityDepth = 0
    var hadUserinfo = false

    /// - Parameter isString: the text is the content of a string of JSON.
    package init(_ manner: Manner, _ names: SecretNames, isString: Bool = false) {
        self.manner = manner
        self.names = names
        self.isString = isString
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
        // A userinfo that is cut is not known to be one.
        if state == .authority, !held.isEmpty { put(SecretNames.placeholder, &out) }
        // A suspect's value that is cut is not known to be short.
        if case .probing = state, !held.isEmpty {
            put(SecretNames.placeholder, &out)
        } else {
            out += written
        }
        held = []
        clearHeld()
        state = .word
    }

    /// The end of a value that is whole: a suspect's short one stays.
    package mutating func finishWhole(_ out: inout [UInt8]) {
        loose(&out)
        settle(&out)
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
        defer {
            place.take(octet, slashes: slashes, isString: isString)
            slashes = octet == 0x5C ? slashes + 1 : 0
        }
        if manner != .light, follows(tags.take(octet, names), octet, raw, &out) { return }
        // Nearly all octets are none of a mark.
        if octet == 0x2D || armour.isBusy, follows(armour.take(octet), octet, raw, &out) { return }
        advance(octet, raw, &out)
    }

    mutating func advance(_ octet: UInt8, _ raw: [UInt8]?, _ out: inout [UInt8]) {
        switch state {
        case .word: word(octet, raw, &out)
        case .gap(let verdict): gap(octet, raw, verdict, &out)
        case .before(let verdict, let isOfForm): value(octet, raw, verdict, isOfForm, &out)
        case .probing(let isOfForm): probe(octet, raw, isOfForm, &out)
        case .dropping(let drop): leaveOut(octet, raw, drop, &out)
        case .authority: follow(octet, raw, &out)
        case .indenting(let isWritten): indent(octet, raw, isWritten, &out)
        }
    }

    /// True when the octet has gone out with what the mark of a private key means, or is left out.
    private mutating func follows(
        _ event: KeyArmour.Event, _ octet: UInt8, _ raw: [UInt8]?, _ out: inout [UInt8]
    ) -> Bool {
        switch (event, state) {
        case (.nothing, _): return false
        case (.ends, .dropping(.key)):
            put("-----END", &out)
            before = octet
            state = .word
        case (.begins, .dropping(.bare)), (.begins, .dropping(.line)),
            (.begins, .dropping(.flow)), (.begins, .dropping(.token)),
            (.begins, .dropping(.authority)),
            (.begins, .indenting(isValueWritten: true)):
            drop(.key)
        case (.begins, .dropping), (.ends, _): return false
        case (.begins, .authority), (.begins, .probing):
            settle(&out)
            return follows(event, octet, raw, &out)
        case (.begins, _):
            out += written
            put(octet, raw, &out)
            put(SecretNames.placeholder, &out)
            drop(.key)
        }
        return true
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
            (.opens, .dropping(.element)), (.opens, .dropping(.line)), (.opens, .dropping(.flow)),
            (.opens, .dropping(.key)), (.opens, .indenting(isValueWritten: true)):
            return false
        case (.opens, .authority), (.opens, .probing):
            settle(&out)
            return follows(event, octet, raw, &out)
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
                begin(.before(verdict, isOfForm: false), raw, ValueForm())
            }
            return true
        }
    }

    private mutating func begin(_ state: State, _ raw: [UInt8]?, _ form: ValueForm) {
        valueDepth = TextScanner.depth(raw)
        isMember = form.isMember
        self.form = form
        self.state = state
    }

    mutating func clearHeld() {
        meant = []
        written = []
        tokenAt = nil
        isLong = false
    }

    /// How often an octet is wrapped up: `=` not at all, `%3D` once, `%253D` twice.
    static func depth(_ raw: [UInt8]?) -> Int { raw.map { ($0.count - 1) / 2 } ?? 0 }
}

// Words and what follows them
extension TextScanner {
    mutating func word(_ octet: UInt8, _ raw: [UInt8]?, _ out: inout [UInt8]) {
        if TextScanner.isOfWord(octet) {
            urlMark = 0
            if meant.isEmpty {
                let isLetter = octet == 0x6E || octet == 0x72
                place.beginWord(isEndOfLine: isLetter && isString && slashes % 2 == 1)
            }
            meant.append(octet)
            hold(octet, raw)
            return grown(&out)
        }
        let (name, wasLong, mark) = (meant, isLong, before)
        out += written
        clearHeld()
        before = octet
        let isBehindWord = !name.isEmpty || wasLong || isBehindDropped
        isBehindDropped = false
        if markOfURL(octet, isBehindWord: isBehindWord) {
            put(octet, raw, &out)
            return enterAuthority(raw)
        }
        if name.isEmpty || wasLong {
            put(octet, raw, &out)
            return
        }
        let candidates = TextScanner.names(in: name, behind: mark)
        if octet == 0x20, candidates.contains(where: TextScanner.isScheme) {
            put(octet, raw, &out)
            // What a scheme is followed by need not be a secret: "basic" is a word.
            return begin(.before(.suspect, isOfForm: false), raw, ValueForm())
        }
        let verdicts = manner == .light ? [] : candidates.map { verdict($0, octet) }
        guard
            let verdict = verdicts.first(where: { $0 == .secret })
                ?? verdicts.first(where: { $0 == .suspect })
        else {
            put(octet, raw, &out)
            return
        }
        gap = 0
        form = ValueForm()
        form.isOfCredentials =
            verdict == .secret && candidates.contains(where: SecretNames.isCredentialField)
        (form.column, form.enclosing) = (place.wordColumn, place.quote)
        state = .gap(verdict)
        gap(octet, raw, verdict, &out)
    }

    private func verdict(_ name: [UInt8], _ mark: UInt8) -> SecretNames.Verdict {
        let verdict = names.verdict(name)
        guard verdict < .secret else { return verdict }
        if mark == 0x3D, tags.named != .clear, TextScanner.isValue(name) {
            return max(verdict, tags.named)
        }
        return mark == 0x3A && TextScanner.isBot(name) ? .suspect : verdict
    }

    /// True at the second slash of `://`, also where it is written `:\/\/`.
    private mutating func markOfURL(_ octet: UInt8, isBehindWord: Bool) -> Bool {
        guard manner != .light else { return false }
        switch (octet, urlMark) {
        case (0x3A, _): urlMark = isBehindWord ? 1 : 0
        case (0x2F, 1) where !isBehindWord: urlMark = 2
        case (0x2F, 2) where !isBehindWord:
            urlMark = 0
            return true
        case (0x5C, _) where !isBehindWord: break
        default: urlMark = 0
        }
        return false
    }

    /// A word has grown: it may be a token, or too long to be held.
    private mutating func grown(_ out: inout [UInt8]) {
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
        // Blanks that align lines are no matter of how many.
        if gap == 0 || !TextScanner.isBlank(octet) || !TextScanner.isBlank(before) { gap += 1 }
        let isItself = raw == nil
        switch octet {
        case 0x3D, 0x3A:
            guard
                manner != .form || octet == 0x3D || !isItself || gap > 1 || form.isOfCredentials
            else { break }
            put(octet, raw, &out)
            form.isMember = octet == 0x3A
            let isOfForm = manner == .form && octet == 0x3D && isItself
            return begin(.before(verdict, isOfForm: isOfForm), raw, form)
        case 0x22, 0x27, 0x5C, 0x20, 0x09:
            guard gap <= TextScanner.longestGap else { break }
            if octet == 0x22 || octet == 0x27 { endQuotedName(octet) }
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
            if isOfEscape(octet, raw, verdict, &out) { return }
            if verdict == .secret, isOfLine(octet, raw, isDeeper, &out) { return }
            switch octet {
            case 0x20, 0x09,
                0x0A where form.isInFlow, 0x0D where form.isInFlow:
                put(octet, raw, &out)
                form.isBehindBlank = true
                return
            case 0x3D where form.isBehindNothing, 0x3E where form.isBehindNothing:
                // `=>`, `:=`, `==`
                put(octet, raw, &out)
                form.isBehindArrow = true
                return
            case 0x22 where !isDeeper || isMember, 0x27 where !isDeeper || isMember:
                put(octet, raw, &out)
                valueDepth = TextScanner.depth(raw)
                if verdict == .suspect { return enterProbing(isOfForm: false) }
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
            enterProbing(isOfForm: isOfForm)
            return probe(octet, raw, isOfForm, &out)
        }
        put(SecretNames.placeholder, &out)
        let drop: Drop = isOfForm ? .field : form.isInFlow ? .flow : form.isLine ? .line : .bare
        if drop == .flow { depth = 0 }
        self.drop(drop)
        leaveOut(octet, raw, drop, &out)
    }

    private mutating func enterProbing(isOfForm: Bool) {
        clearHeld()
        held = []
        state = .probing(isOfForm: isOfForm)
    }

    /// A short value is read as all else is: it may be the scheme of a URL, or another name.
    private mutating func probe(
        _ octet: UInt8, _ raw: [UInt8]?, _ isOfForm: Bool, _ out: inout [UInt8]
    ) {
        guard SecretNames.isOfToken(octet), !(isOfForm && octet == 0x26) else {
            release(&out)
            return advance(octet, raw, &out)
        }
        held.append((octet, raw))
        guard held.count >= SecretNames.machineMadeOctets else { return }
        held = []
        put(SecretNames.placeholder, &out)
        drop(isOfForm ? .field : .token)
    }
}
