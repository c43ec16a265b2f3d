internal import HTTPDNSRedaction

/// Takes secrets out of JSON as it streams by: the values of members whose name is secret, whatever
/// they are, and what ``TextScanner`` finds in strings. What else names a value, ``JSONPlaces`` says.
///
/// It does not judge the text: several values in a row, a prefix before the first, a text that is
/// cut or broken pass as they are. A value is dropped from its first octet.
struct JSONScanner {
    private enum State: Hashable {
        case outside
        case string
        /// Behind a string that may be a name.
        case behindString
        /// Behind the colon of a name that is not clear.
        case beforeValue(SecretNames.Verdict)
        case droppingString
        /// Behind a string that was left out: the same mark behind an empty one begins `"""…"""`.
        case behindDropped
        case droppingTriple
        /// Behind a slash that may begin a comment, before a value or, nil, before a colon.
        case slash(SecretNames.Verdict?)
        case comment(isLine: Bool, SecretNames.Verdict?)
        /// In what may be `true`, `false` or `null`.
        case word
        case droppingScalar
        case droppingNested
    }

    private let names: SecretNames
    private var state = State.outside
    private var inner: TextScanner
    private var outer: TextScanner
    /// The string as it is meant, while it may be a name.
    private var name: [UInt8] = []
    /// The string is the value of a suspect.
    private var isSuspected = false
    private var places = JSONPlaces()
    private var isEscaped = false
    private var escape: [UInt8] = []
    private var depth = 0
    private var isInString = false
    /// What ends the string: in JSON5 an apostrophe, where one began it.
    private var mark: UInt8 = 0x22
    /// The last octet outside of strings that is no blank.
    private var last: UInt8 = 0x2C
    /// What may be `true`, `false` or `null`, of what it has come.
    private var scalar: [UInt8] = []
    /// Nothing has come yet of the string that is left out.
    private var isFresh = false
    /// Quotation marks in a row.
    private var marks = 0
    /// In a comment, behind `*`.
    private var isBehindStar = false
    /// A private key began in the last string of the array, and did not end.
    private var keyGoesOn = false

    init(_ names: SecretNames) {
        self.names = names
        inner = TextScanner(.text, names)
        outer = TextScanner(.text, names)
    }

    mutating func take(_ octet: UInt8, _ out: inout [UInt8]) {
        switch state {
        case .outside: outside(octet, &out)
        case .string: string(octet, &out)
        case .behindString: behindString(octet, &out)
        case .beforeValue(let verdict): beforeValue(octet, verdict, &out)
        case .droppingString: leaveOut(octet, &out)
        case .behindDropped:
            state = octet == mark ? .droppingTriple : .outside
            marks = 0
            if octet != mark { outside(octet, &out) }
        case .droppingTriple:
            marks = octet == mark && !isEscaped ? marks + 1 : 0
            isEscaped = octet == 0x5C && !isEscaped
            if marks == 3 { state = .outside }
        case .slash(let verdict): slash(octet, verdict, &out)
        case .comment(let isLine, let verdict): comment(octet, isLine, verdict)
        case .word: word(octet, &out)
        case .droppingScalar:
            // A value of several words is none of JSON, and left out whole.
            guard JSONScanner.endsScalar(octet), octet != 0x20, octet != 0x09 else { return }
            state = .outside
            outside(octet, &out)
        case .droppingNested: nested(octet)
        }
    }

    private static func endsScalar(_ octet: UInt8) -> Bool {
        octet <= 0x20 || [0x2C, 0x7D, 0x5D].contains(octet)
    }

    /// `true`, `false`, `null`: no secret has so little to say.
    private mutating func word(_ octet: UInt8, _ out: inout [UInt8]) {
        if JSONScanner.endsScalar(octet), JSONScanner.words.contains(scalar) {
            out += scalar
            state = .outside
            return outside(octet, &out)
        }
        scalar.append(octet)
        guard !JSONScanner.words.contains(where: { $0.starts(with: scalar) }) else { return }
        putQuoted(&out)
        state = .droppingScalar
        take(octet, &out)
    }

    private mutating func leaveOut(_ octet: UInt8, _ out: inout [UInt8]) {
        guard isEscaped || octet != mark else {
            out.append(octet)
            last = octet
            state = isFresh ? .behindDropped : .outside
            // What a suspect is called by may be long.
            if isSuspected, name.count <= JSONScanner.longestName { places.value(name, names) }
            return
        }
        isFresh = false
        isEscaped = octet == 0x5C && !isEscaped
        if isSuspected, name.count <= JSONScanner.longestName { name.append(octet) }
    }

    mutating func finish(_ out: inout [UInt8]) {
        switch state {
        case .outside, .behindString, .beforeValue: outer.finish(&out)
        case .string where isSuspected:
            out.append(contentsOf: CaptureRedaction.placeholder.utf8)
        case .string: inner.finish(&out)
        case .word: putQuoted(&out)
        case .slash: out.append(0x2F)
        case .droppingString, .droppingScalar, .droppingNested, .behindDropped, .droppingTriple,
            .comment:
            break
        }
    }

    private mutating func outside(_ octet: UInt8, _ out: inout [UInt8]) {
        guard begins(octet) || opensSecret(octet), !outer.isInLine else {
            if octet > 0x20 { last = octet }
            let wasInNested = outer.isInNested
            outer.take(octet, &out)
            if !wasInNested || !outer.isInNested { place(octet) }
            return
        }
        // A name without quotation marks, as in what only looks like JSON: `{token: "…"}`.
        let verdict = outer.awaited
        outer.finishWhole(&out)
        guard verdict == .clear else {
            outer = TextScanner(.text, names)
            return beforeValue(octet, verdict, &out)
        }
        begin(octet, isSuspected: places.beginString() != .clear, &out)
    }

    /// A string: in JSON5 also behind an apostrophe, where a name or a value may stand.
    private func begins(_ octet: UInt8) -> Bool {
        octet == 0x22 || (octet == 0x27 && [0x7B, 0x5B, 0x2C, 0x3A].contains(last))
    }

    /// A bracket behind a name without quotation marks.
    private func opensSecret(_ octet: UInt8) -> Bool {
        (octet == 0x7B || octet == 0x5B) && outer.awaited == .secret
    }

    private mutating func place(_ octet: UInt8) {
        places.take(octet)
        if [0x7B, 0x5B, 0x7D, 0x5D].contains(octet) { keyGoesOn = false }
    }

    private mutating func begin(_ octet: UInt8, isSuspected: Bool, _ out: inout [UInt8]) {
        out.append(octet)
        mark = octet
        if keyGoesOn {
            inner = TextScanner(behind: inner)
            out.append(contentsOf: CaptureRedaction.placeholder.utf8)
        } else {
            inner = TextScanner(.text, names, isString: true)
        }
        outer = TextScanner(.text, names)
        name = []
        escape = []
        isEscaped = false
        self.isSuspected = isSuspected && !keyGoesOn
        state = .string
    }

    private mutating func string(_ octet: UInt8, _ out: inout [UInt8]) {
        if octet == mark, !isEscaped {
            endString(&out)
            out.append(octet)
            last = octet
            state = .behindString
            return
        }
        if name.count <= JSONScanner.longestName { note(octet) }
        isEscaped = octet == 0x5C && !isEscaped
        guard isSuspected else { return inner.take(octet, &out) }
        let isOfKey = places.role == .ofKey
        let least = isOfKey ? JSONScanner.shortestOfKey : SecretNames.machineMadeOctets
        guard name.count >= least else { return }
        // A slash or a plus sign may be written as an escape.
        let isMade =
            isOfKey
            ? name.allSatisfy { TextScanner.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x5F }
            : name.allSatisfy { SecretNames.isOfToken($0) || $0 == 0x5C }
        if isMade {
            out.append(contentsOf: CaptureRedaction.placeholder.utf8)
            state = .droppingString
            isEscaped = false
            isFresh = false
        } else {
            isSuspected = false
            for octet in name { inner.take(octet, &out) }
        }
    }

    private mutating func endString(_ out: inout [UInt8]) {
        // A suspect's value that was short.
        if isSuspected { for octet in name { inner.take(octet, &out) } }
        keyGoesOn = inner.isInKey && places.isInArray
        inner.finishWhole(&out)
    }

    /// What the string means: `\u0061` is an `a`. Of other escapes the letter is good enough.
    private mutating func note(_ octet: UInt8) {
        if !escape.isEmpty {
            escape.append(octet)
            guard escape.count == 5 else { return }
            let digits = escape.dropFirst().compactMap { SecretNames.hex($0) }
            let value = digits.reduce(0) { $0 << 4 | Int($1) }
            name.append(digits.count == 4 && value < 0x80 ? UInt8(value) : 0x3F)
            escape = []
        } else if isEscaped, octet == 0x75, !isSuspected {
            escape = [octet]
        } else if octet != 0x5C || isEscaped || isSuspected {
            name.append(octet)
        }
    }

    private mutating func behindString(_ octet: UInt8, _ out: inout [UInt8]) {
        switch octet {
        case 0x20, 0x09, 0x0A, 0x0D: out.append(octet)
        case 0x2F: state = .slash(nil)
        case 0x3A:
            out.append(octet)
            last = octet
            keyGoesOn = false
            let isName = name.count <= JSONScanner.longestName
            let verdict = places.name(
                isName ? name : [], isName ? names.verdict(name) : .clear)
            state = verdict == .clear ? .outside : .beforeValue(verdict)
        case 0x2C where places.following(name, names) != .clear:
            out.append(octet)
            last = octet
            places.take(octet)
            state = .beforeValue(.secret)
        default:
            if name.count <= JSONScanner.longestName { places.value(name, names) }
            state = .outside
            outside(octet, &out)
        }
    }

    private mutating func beforeValue(
        _ octet: UInt8, _ verdict: SecretNames.Verdict, _ out: inout [UInt8]
    ) {
        switch octet {
        case 0x20, 0x09, 0x0A, 0x0D: out.append(octet)
        case 0x2F: state = .slash(verdict)
        case 0x22 where verdict == .suspect, 0x27 where verdict == .suspect:
            begin(octet, isSuspected: true, &out)
        case 0x22, 0x27:
            out.append(octet)
            mark = octet
            out.append(contentsOf: CaptureRedaction.placeholder.utf8)
            isEscaped = false
            isSuspected = false
            isFresh = true
            state = .droppingString
        case 0x7B, 0x5B:
            guard verdict == .secret else {
                state = .outside
                last = octet
                places.take(octet, places.role == .ofKey ? .clear : verdict)
                return outer.take(octet, &out)
            }
            putQuoted(&out)
            depth = 1
            isInString = false
            isEscaped = false
            last = octet
            state = .droppingNested
        case 0x2C, 0x7D, 0x5D:
            state = .outside
            outside(octet, &out)
        case 0x74 where verdict == .secret, 0x66 where verdict == .secret,
            0x6E where verdict == .secret:
            scalar = [octet]
            state = .word
        default:
            guard verdict == .secret else {
                state = .outside
                return outside(octet, &out)
            }
            putQuoted(&out)
            state = .droppingScalar
        }
    }

    /// A comment of JSON5 between a name and its value is left out.
    private mutating func slash(
        _ octet: UInt8, _ verdict: SecretNames.Verdict?, _ out: inout [UInt8]
    ) {
        guard octet != 0x2F, octet != 0x2A else {
            isBehindStar = false
            state = .comment(isLine: octet == 0x2F, verdict)
            return
        }
        guard verdict == .secret else {
            if verdict == nil, name.count <= JSONScanner.longestName { places.value(name, names) }
            state = .outside
            outside(0x2F, &out)
            return take(octet, &out)
        }
        putQuoted(&out)
        state = .droppingScalar
        take(octet, &out)
    }

    private mutating func comment(
        _ octet: UInt8, _ isLine: Bool, _ verdict: SecretNames.Verdict?
    ) {
        let isEnd = isLine ? octet == 0x0A || octet == 0x0D : octet == 0x2F && isBehindStar
        isBehindStar = octet == 0x2A
        guard isEnd else { return }
        state = verdict.map { .beforeValue($0) } ?? .behindString
    }

    private mutating func nested(_ octet: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if octet == 0x5C {
                isEscaped = true
            } else if octet == mark {
                isInString = false
            }
            return
        }
        if begins(octet) {
            isInString = true
            mark = octet
        }
        if octet > 0x20 { last = octet }
        switch octet {
        case 0x7B, 0x5B: depth += 1
        case 0x7D, 0x5D: depth -= 1
        default: break
        }
        if depth == 0 { state = .outside }
    }

    private func putQuoted(_ out: inout [UInt8]) {
        out.append(contentsOf: ("\"" + CaptureRedaction.placeholder + "\"").utf8)
    }

    private static let words = ["true", "false", "null"].map { Array($0.utf8) }
    /// Because: the private part of the shortest keys in use has 32 octets, 43 of base64.
    private static let shortestOfKey = 40
    /// Because: names that are longer are none that anybody listed.
    private static let longestName = 128
}
