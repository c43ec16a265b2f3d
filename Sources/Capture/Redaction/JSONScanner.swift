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
        case .droppingScalar:
            guard [0x2C, 0x7D, 0x5D].contains(octet) || octet <= 0x20 else { return }
            state = .outside
            outside(octet, &out)
        case .droppingNested: nested(octet)
        }
    }

    private mutating func leaveOut(_ octet: UInt8, _ out: inout [UInt8]) {
        guard isEscaped || octet != 0x22 else {
            out.append(octet)
            state = .outside
            // What a suspect is called by may be long.
            if isSuspected, name.count <= JSONScanner.longestName { places.value(name, names) }
            return
        }
        isEscaped = octet == 0x5C && !isEscaped
        if isSuspected, name.count <= JSONScanner.longestName { name.append(octet) }
    }

    mutating func finish(_ out: inout [UInt8]) {
        switch state {
        case .outside, .behindString, .beforeValue: outer.finish(&out)
        case .string where isSuspected:
            out.append(contentsOf: CaptureRedaction.placeholder.utf8)
        case .string: inner.finish(&out)
        case .droppingString, .droppingScalar, .droppingNested: break
        }
    }

    private mutating func outside(_ octet: UInt8, _ out: inout [UInt8]) {
        guard octet == 0x22, !outer.isInLine else {
            places.take(octet)
            return outer.take(octet, &out)
        }
        // A name without quotation marks, as in what only looks like JSON: `{token: "…"}`.
        let verdict = outer.awaited
        outer.finishWhole(&out)
        guard verdict == .clear else {
            outer = TextScanner(.text, names)
            return beforeValue(octet, verdict, &out)
        }
        out.append(octet)
        begin(isSuspected: places.beginString() != .clear)
    }

    private mutating func begin(isSuspected: Bool = false) {
        inner = TextScanner(.text, names, isString: true)
        outer = TextScanner(.text, names)
        name = []
        escape = []
        isEscaped = false
        self.isSuspected = isSuspected
        state = .string
    }

    private mutating func string(_ octet: UInt8, _ out: inout [UInt8]) {
        if octet == 0x22, !isEscaped {
            if isSuspected { tellSuspect(&out) } else { inner.finishWhole(&out) }
            out.append(octet)
            state = .behindString
            return
        }
        if name.count <= JSONScanner.longestName { note(octet) }
        isEscaped = octet == 0x5C && !isEscaped
        guard isSuspected else { return inner.take(octet, &out) }
        guard name.count >= SecretNames.machineMadeOctets else { return }
        if name.allSatisfy(SecretNames.isOfToken) {
            out.append(contentsOf: CaptureRedaction.placeholder.utf8)
            state = .droppingString
            isEscaped = false
        } else {
            isSuspected = false
            for octet in name { inner.take(octet, &out) }
        }
    }

    /// A suspect's value that was short.
    private mutating func tellSuspect(_ out: inout [UInt8]) {
        for octet in name { inner.take(octet, &out) }
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
        case 0x3A:
            out.append(octet)
            let isName = name.count <= JSONScanner.longestName
            let verdict = places.name(
                isName ? name : [], isName ? names.verdict(name) : .clear)
            state = verdict == .clear ? .outside : .beforeValue(verdict)
        case 0x2C where places.following(name) != .clear:
            out.append(octet)
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
        case 0x22 where verdict == .suspect:
            out.append(octet)
            begin(isSuspected: true)
        case 0x22:
            out.append(octet)
            out.append(contentsOf: CaptureRedaction.placeholder.utf8)
            isEscaped = false
            isSuspected = false
            state = .droppingString
        case 0x7B, 0x5B:
            guard verdict == .secret else {
                state = .outside
                places.take(octet, verdict)
                return outer.take(octet, &out)
            }
            putQuoted(&out)
            depth = 1
            isInString = false
            isEscaped = false
            state = .droppingNested
        // `true`, `false`, `null`: no secret has so little to say.
        case 0x74, 0x66, 0x6E, 0x2C, 0x7D, 0x5D:
            state = .outside
            outside(octet, &out)
        default:
            guard verdict == .secret else {
                state = .outside
                return outside(octet, &out)
            }
            putQuoted(&out)
            state = .droppingScalar
        }
    }

    private mutating func nested(_ octet: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if octet == 0x5C {
                isEscaped = true
            } else if octet == 0x22 {
                isInString = false
            }
            return
        }
        switch octet {
        case 0x22: isInString = true
        case 0x7B, 0x5B: depth += 1
        case 0x7D, 0x5D: depth -= 1
        default: break
        }
        if depth == 0 { state = .outside }
    }

    private func putQuoted(_ out: inout [UInt8]) {
        out.append(contentsOf: ("\"" + CaptureRedaction.placeholder + "\"").utf8)
    }

    /// Because: names that are longer are none that anybody listed.
    private static let longestName = 128
}
