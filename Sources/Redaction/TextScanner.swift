/// Takes secrets out of text as it streams by: the values of names that are secret, the userinfo of
/// URLs, tokens, private keys, and what follows `Bearer`.
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
        /// Behind the mark that ended a string, which the same mark goes on with.
        case closed(UInt8, slashes: Int, isEmpty: Bool)
        /// To three of these quotation marks.
        case tripled(UInt8, slashes: Int)
        /// To the line that ends `<<EOF`.
        case heredoc
        /// The content of a part of `multipart/form-data`: see ``PartPlace``.
        case part
        /// To the bracket that closes.
        case nested
        /// To the tag that closes it.
        case element
        /// As long as it is like a token.
        case token
        /// A token that ends with its word.
        case run
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
    var escapes: EscapeReader
    var tags = TagTracker()
    /// How the last `<` was written.
    var opening: Written?
    /// A token that may have begun, and where in both.
    var token: (form: TokenForm, meant: Int, written: Int)?
    /// How often the mark before the value is wrapped up.
    var valueDepth = 0
    /// The value is that of a colon.
    private var isMember = false
    var slashes = 0
    var depth = 0
    /// The backslashes before the string that is open in what is dropped.
    var stringSlashes: Int?
    var stringMark: UInt8 = 0x22
    var stringDepth = 0
    private var gap = 0
    var before: UInt8 = 0
    var isLong = false
    /// Nothing has come yet of the string that is left out.
    var isFresh = false
    /// That string goes on behind a mark that would have ended it.
    var isReopened = false
    /// Quotation marks in a row.
    var marks = 0
    /// A `<` is held that a value may begin with.
    var isBehindAngle = false
    var heredoc = Heredoc()
    var netrc = Netrc.outside
    var isBehindCurl = false
    /// `"kty"` came before in the same braces.
    var isBehindKeyType = false
    var armour = KeyArmour()
    var part = PartPlace()
    var path = PathPlace()
    var jar = JarPlace()
    var place = LinePlace()
    /// How the value before which the text stands is written.
    var form = ValueForm()
    /// How much of `://` the last octets are.
    private var urlMark = 0
    /// What is left out, and ends at a colon, may have been the scheme of a URL.
    var isBehindDropped = false
    /// What is held behind `://`, or of a suspect's value, as it is meant and as it was written.
    var held: [(octet: UInt8, raw: Written?)] = []
    var authorityDepth = 0
    var hadUserinfo = false

    /// - Parameter isString: the text is the content of a string of JSON.
    package init(_ manner: Manner, _ names: SecretNames, isString: Bool = false) {
        self.manner = manner
        self.names = names
        self.isString = isString
        escapes = EscapeReader(isLight: manner == .light, isForm: manner == .form)
    }

    /// - Parameter verdict: of the name whose value the text is.
    package init(valueOf verdict: SecretNames.Verdict, _ names: SecretNames) {
        self.init(.text, names)
        if verdict != .clear { state = .before(verdict, isOfForm: false) }
    }

    /// The end of the text, or of what is kept of it.
    package mutating func finish(_ out: inout [UInt8]) {
        switch state {
        // A userinfo that is cut is not known to be one, nor a suspect's value to be short; and a mark
        // that would end them may be cut itself.
        case .authority where !held.isEmpty, .probing where !held.isEmpty:
            put(SecretNames.placeholder, &out)
            _ = escapes.finish()
            held = []
            written = []
        default:
            loose(&out)
            if case .dropping(.closed) = state { putSlashes(slashes, nil, &out) }
            // What was loose may have begun one of them.
            if !held.isEmpty { put(SecretNames.placeholder, &out) }
            held = []
            // A token that is cut is not known to be one.
            out += written.prefix(token?.written ?? written.count)
            if token != nil { put(SecretNames.placeholder, &out) }
        }
        clearHeld()
        state = .word
    }

    /// The end of a value that is whole: a suspect's short one stays.
    package mutating func finishWhole(_ out: inout [UInt8]) {
        loose(&out)
        if case .dropping(.closed) = state { putSlashes(slashes, nil, &out) }
        settle(&out)
        out += written
        clearHeld()
        state = .word
    }

    mutating func take(_ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]) {
        if let raw, raw.slashes > 0 { slashes = Int(raw.slashes) }
        defer {
            place.take(octet, raw, slashes: slashes, isString: isString)
            slashes = octet == 0x5C ? slashes + 1 : 0
        }
        if manner != .light {
            let event = tags.take(octet, TextScanner.depth(raw), names)
            if octet == 0x3C { opening = raw }
            if follows(event, octet, raw, &out) { return }
        }
        // Nearly all octets are none of a mark.
        if octet == 0x2D || armour.isBusy, follows(armour.take(octet), octet, raw, &out) { return }
        if part.isBusy, followsPart(octet, raw, &out) { return }
        if jar.isBusy, followsJar(octet, raw, &out) { return }
        advance(octet, raw, &out)
    }

    mutating func advance(_ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]) {
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

    mutating func begin(_ state: State, _ raw: Written?, _ form: ValueForm) {
        valueDepth = TextScanner.depthInText(raw)
        isMember = form.isMember
        self.form = form
        self.state = state
    }

    mutating func clearHeld() {
        meant = []
        written = []
        token = nil
        isLong = false
    }
}

// Words and what follows them
extension TextScanner {
    mutating func word(_ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]) {
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
        if octet == 0x2F || octet == 0x5C || path.isBusy {
            path.take(wasLong ? nil : name, octet)
        }
        clearHeld()
        before = octet
        if octet == 0x0A, slashes == 0 { isBehindCurl = false }
        if octet == 0x7D { isBehindKeyType = false }
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
        if octet == 0x09 || octet == 0x5C, manner == .text { beginJar(name, mark, octet) }
        let inner = TextScanner.name(in: name, behind: mark)
        if let form = form(behind: inner ?? name, octet) {
            put(octet, raw, &out)
            return begin(.before(.secret, isOfForm: false), raw, form)
        }
        if octet == 0x20, TextScanner.isScheme(name) || inner.map(TextScanner.isScheme) == true {
            put(octet, raw, &out)
            // What a scheme is followed by need not be a secret: "basic" is a word.
            return begin(.before(.suspect, isOfForm: false), raw, ValueForm())
        }
        let verdict = verdict(name, inner, octet)
        guard verdict != .clear else {
            put(octet, raw, &out)
            return
        }
        gap = 0
        form = ValueForm()
        form.isOfCredentials =
            verdict == .secret
            && (SecretNames.isCredentialField(name)
                || inner.map(SecretNames.isCredentialField) == true)
        (form.column, form.enclosing) = (place.wordColumn, place.quote)
        state = .gap(verdict)
        gap(octet, raw, verdict, &out)
    }

    private mutating func verdict(
        _ name: [UInt8], _ inner: [UInt8]?, _ mark: UInt8
    ) -> SecretNames.Verdict {
        guard manner != .light else { return .clear }
        let whole = verdict(name, mark)
        return inner.map { max(whole, verdict($0, mark)) } ?? whole
    }

    private mutating func verdict(_ name: [UInt8], _ mark: UInt8) -> SecretNames.Verdict {
        let verdict = names.verdict(name)
        guard verdict < .secret else { return verdict }
        if name.count <= 3, mark == 0x22 || mark == 0x27 || mark == 0x5C {
            if SecretNames.isKeyType(name) { isBehindKeyType = true }
            if isBehindKeyType, SecretNames.isMemberOfKey(name) { return .secret }
        }
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

    private mutating func gap(
        _ octet: UInt8, _ raw: Written?, _ verdict: SecretNames.Verdict, _ out: inout [UInt8]
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
        case 0x22, 0x27, 0x5C, 0x20, 0x09,
            // `**Password**: …`
            0x2A where !TextScanner.isBlank(before), 0x60 where !TextScanner.isBlank(before):
            guard gap <= TextScanner.longestGap else { break }
            if octet == 0x22 || octet == 0x27 { endQuotedName(octet, raw) }
            put(octet, raw, &out)
            before = octet
            return
        default: break
        }
        state = .word
        word(octet, raw, &out)
    }

    private mutating func value(
        _ octet: UInt8, _ raw: Written?, _ verdict: SecretNames.Verdict, _ isOfForm: Bool,
        _ out: inout [UInt8]
    ) {
        if isOfForm, octet == 0x26, raw == nil {
            state = .word
            return word(octet, raw, &out)
        }
        let isDeeper = TextScanner.depthInText(raw) > valueDepth
        if !isOfForm {
            if isOfAngle(octet, raw, verdict, &out) { return }
            if isOfArgument(octet, raw, &out) { return }
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
            case 0x3A where verdict == .secret && isMember && form.isBehindNothing:
                // `userPassword:: …`
                return put(octet, raw, &out)
            case 0x22 where !isDeeper || isMember, 0x27 where !isDeeper || isMember:
                put(octet, raw, &out)
                valueDepth = TextScanner.depth(raw)
                before = octet
                if verdict == .suspect { return enterProbing(isOfForm: false) }
                put(SecretNames.placeholder, &out)
                return drop(.quoted(octet, slashes: slashes))
            case 0x7B where verdict == .secret, 0x5B where verdict == .secret:
                put(SecretNames.placeholder, &out)
                depth = 1
                stringSlashes = nil
                return drop(.nested)
            case 0x2A where form.isBehindNothing, 0x60 where form.isBehindNothing:
                // `**Password:** …`
                put(octet, raw, &out)
                return
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
        _ octet: UInt8, _ raw: Written?, _ isOfForm: Bool, _ out: inout [UInt8]
    ) {
        // `"""`
        if held.isEmpty, octet == before, octet == 0x22 || octet == 0x27 {
            return put(octet, raw, &out)
        }
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
