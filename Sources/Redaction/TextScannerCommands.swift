// Words whose value follows a blank: options of commands, lines of netrc
extension TextScanner {
    /// The fields of a netrc file. Source: netrc(5).
    ///
    ///     machine HOST login NAME password SECRET
    enum Netrc: Hashable {
        case outside
        case beforeHost
        case beforeKeyword
        case beforeValue
    }

    /// Whether a value may follow the word and a blank, in what has nothing else by which a secret
    /// is known.
    static func opensCommand<Octets: Collection<UInt8>>(_ word: Octets) -> Bool {
        switch word.count {
        case 4: word.elementsEqual("curl".utf8)
        case 8: word.elementsEqual("password".utf8) || word.elementsEqual("curl.exe".utf8)
        default: false
        }
    }

    /// How the value is written that the octet behind a word begins by itself; nil for any other.
    mutating func form(behind name: [UInt8], _ octet: UInt8) -> ValueForm? {
        guard manner != .light, octet <= 0x20 || octet == 0x3A || octet == 0x5C else { return nil }
        if octet == 0x3A, TextScanner.isDisposition(name) { part.enter() }
        guard netrc != .outside || name[0] == 0x2D || TextScanner.isOfCommand(name)
        else { return nil }
        let argument = argument(name, octet)
        guard argument != .none else { return nil }
        var form = ValueForm()
        (form.argument, form.enclosing) = (argument, place.quote)
        return form
    }

    private static func isOfCommand(_ name: [UInt8]) -> Bool {
        name == machine || name == otherwise || isCurl(name)
    }

    private mutating func argument(_ name: [UInt8], _ octet: UInt8) -> ValueForm.Argument {
        let isBlank = octet <= 0x20
        if isBlank || octet == 0x5C, followsNetrc(name), isBlank { return .word }
        if isBlank, TextScanner.isCurl(name) { isBehindCurl = true }
        guard name.first == 0x2D else { return .none }
        if isBehindCurl {
            if isBlank, TextScanner.loginOptions.contains(name) { return .option }
            if octet == 0x3A, name.count > 2, name[1] | 0x20 == 0x75 { return .word }
        }
        return isBlank && TextScanner.isOption(name, names) ? .option : .none
    }

    /// Whether an option of a command, by its name, has a secret for its argument.
    package static func isOption(_ name: [UInt8], _ names: SecretNames) -> Bool {
        name.count > 2 && name[0] == 0x2D && name[1] == 0x2D && isAlphanumeric(name[2])
            && names.verdict(name) == .secret
            && !plainOptions.contains { name.reversed().starts(with: $0.reversed()) }
    }

    /// True when the word is `password` where netrc has it.
    private mutating func followsNetrc(_ name: [UInt8]) -> Bool {
        switch netrc {
        case .outside: beginNetrc(name)
        case .beforeHost, .beforeValue: netrc = .beforeKeyword
        case .beforeKeyword:
            switch String(decoding: name, as: UTF8.self) {
            case "login", "account": netrc = .beforeValue
            case "password":
                netrc = .beforeKeyword
                return true
            // The letter of an escape that ends a line.
            case "n", "r", "t": if !isString { netrc = .outside }
            default: beginNetrc(name)
            }
        }
        return false
    }

    private mutating func beginNetrc(_ name: [UInt8]) {
        netrc = .outside
        guard name.count == 7 else { return }
        if name == TextScanner.machine { netrc = .beforeHost }
        if name == TextScanner.otherwise { netrc = .beforeKeyword }
    }

    /// True when the octet has been dealt with as one before an argument.
    mutating func isOfArgument(
        _ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]
    ) -> Bool {
        switch (form.argument, octet) {
        case (.none, _), (_, 0x22), (_, 0x27), (_, 0x20), (_, 0x09), (_, 0x3C), (_, 0x5C):
            return false
        case (_, 0x0A), (_, 0x0D):
            // The line goes on, as that of netrc may.
            guard slashes == 1 || form.argument == .word else { return false }
            out += written
            clearHeld()
            put(octet, raw, &out)
            return true
        case (.option, 0x2D):
            state = .word
            word(octet, raw, &out)
            return true
        case (.option, 0x3D), (.option, 0x3A): return false
        default:
            guard written.isEmpty || !isString else { return false }
            put(SecretNames.placeholder, &out)
            drop(.bare)
            leaveOut(octet, raw, .bare, &out)
            return true
        }
    }

    private static func isCurl(_ name: [UInt8]) -> Bool {
        opensCommand(name) && name.first == 0x63
    }

    private static let machine = Array("machine".utf8)
    private static let otherwise = Array("default".utf8)
    /// Source: curl(1).
    private static let loginOptions = ["-u", "-U", "-b", "--user", "--proxy-user"].map {
        Array($0.utf8)
    }
    /// Options that say where a secret is, or what is done with it.
    private static let plainOptions = [
        "-env", "-file", "-path", "-stdin", "-fd", "-prompt", "-command", "-type", "-url", "-name",
        "-id", "-ttl",
    ].map { Array($0.utf8) }
}

// What is left out to a mark of several octets
extension TextScanner {
    /// The end of a string: the same mark behind it goes on with it, as in SQL, and behind an empty one
    /// begins `"""…"""`.
    mutating func closeQuoted(
        _ octet: UInt8, _ raw: Written?, slashes before: Int, _ out: inout [UInt8]
    ) {
        if !isReopened {
            putSlashes(before, raw, &out)
            put(octet, raw, &out)
        }
        self.before = octet
        state = .dropping(.closed(octet, slashes: before, isEmpty: isFresh))
    }

    mutating func leaveOutClosed(
        _ octet: UInt8, _ raw: Written?, _ isEmpty: Bool, _ isMark: Bool, _ out: inout [UInt8]
    ) {
        if isMark {
            drop(
                isEmpty
                    ? .tripled(octet, slashes: slashes) : .quoted(octet, slashes: slashes))
            isFresh = false
            isReopened = true
        } else if octet != 0x5C || raw != nil {
            end(octet, raw, &out)
        }
    }

    mutating func leaveOutTripled(_ octet: UInt8, _ isMark: Bool) {
        guard octet != 0x5C else { return }
        marks = isMark ? marks + 1 : 0
        if marks == 3 { state = .word }
    }

    /// True when the octet has been dealt with as one of `<` before a value: of a tag, of `<<EOF`, or
    /// of the value itself.
    mutating func isOfAngle(
        _ octet: UInt8, _ raw: Written?, _ verdict: SecretNames.Verdict, _ out: inout [UInt8]
    ) -> Bool {
        guard verdict == .secret, manner != .form else { return false }
        guard isBehindAngle else {
            guard octet == 0x3C, written.isEmpty else { return false }
            hold(octet, raw)
            isBehindAngle = true
            return true
        }
        isBehindAngle = false
        if octet == 0x3C {
            out += written
            put(octet, raw, &out)
            put(SecretNames.placeholder, &out)
            heredoc = Heredoc()
            drop(.heredoc)
            return true
        }
        let isTag =
            octet <= 0x20 || [0x2F, 0x21, 0x3F].contains(octet)
            || ((!form.isLine || tags.hasTags) && TextScanner.isAlphanumeric(octet))
        if isTag {
            out += written
            clearHeld()
            before = 0x3C
            state = .word
            word(octet, raw, &out)
        } else {
            put(SecretNames.placeholder, &out)
            let drop: Drop = form.isInFlow ? .flow : form.isLine ? .line : .bare
            if drop == .flow { depth = 0 }
            self.drop(drop)
            leaveOut(octet, raw, drop, &out)
        }
        return true
    }

    mutating func leaveOutHeredoc(_ octet: UInt8, _ out: inout [UInt8]) {
        let isLetter = octet == 0x6E || octet == 0x72
        let isOfString = isString || form.enclosing != nil
        let isEscape = isOfString && isLetter && slashes % 2 == 1
        guard let label = heredoc.take(isEscape ? 0x0A : octet) else { return }
        put((isEscape ? "\\n" : "\n"), &out)
        out += label
        if isEscape { out += [UInt8](repeating: 0x5C, count: slashes) }
        before = isEscape ? 0x0A : 0
        state = .word
        if isEscape { out.append(octet) } else { word(octet, nil, &out) }
    }
}

/// Follows `<<EOF` to the line that says so again. Source: POSIX.1-2017, Shell Command Language §2.7.4.
struct Heredoc {
    private var label: [UInt8] = []
    private var isLabelWhole = false
    /// What the line has, if it may be the last one.
    private var line: [UInt8]? = []

    /// The label, behind the line that ends the text.
    mutating func take(_ octet: UInt8) -> [UInt8]? {
        let isEnd = octet == 0x0A || octet == 0x0D
        guard isLabelWhole else {
            if isEnd, !label.isEmpty { isLabelWhole = true }
            let isOfLabel = TextScanner.isAlphanumeric(octet) || octet == 0x5F
            if isOfLabel, label.count < Heredoc.longestLabel { label.append(octet) }
            return nil
        }
        defer { if isEnd { line = [] } }
        if isEnd, line == label { return label }
        if let count = line?.count, octet > 0x20, octet != 0x5C {
            line = count < label.count ? (line ?? []) + [octet] : nil
        }
        return nil
    }

    /// True when the text ends with its last line.
    var isOver: Bool { isLabelWhole && line == label }

    /// Because: people write three letters.
    private static let longestLabel = 64
}
