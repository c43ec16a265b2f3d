/// Takes the secrets out of URLs, and of words of whatever kind. One thread's own, as its names are.
package struct TextRedactor {
    private let names: SecretNames

    package init(_ names: SecretNames = SecretNames()) { self.names = names }

    /// A URL or reference without its userinfo, and without secrets in its path, query and
    /// fragment. A `host:port` alone, what CONNECT asks for, has none.
    package func url(_ url: String) -> String {
        isPlain(url: url) ? url : scanned(url: url)
    }

    /// The same, octet by octet.
    func scanned(url: String) -> String {
        var out: [UInt8] = []
        var rest = TextRedactor.withoutUserinfo(Array(url.utf8))[...]
        let scheme = rest.prefix { $0 > 0x20 && ![0x2F, 0x3F, 0x23, 0x3A, 0x25].contains($0) }
        let mark = Array((scheme.isEmpty ? "//" : "://").utf8)
        if rest.dropFirst(scheme.count).starts(with: mark) {
            out += rest.prefix(scheme.count + mark.count)
            rest = rest.dropFirst(scheme.count + mark.count)
            let authority = TextRedactor.plainAuthority(rest)
            out += authority
            rest = rest.dropFirst(authority.count)
        } else if rest.contains(0x3A), TextRedactor.plainAuthority(rest).count == rest.count {
            return url
        }
        let path = rest.prefix { $0 != 0x3F && $0 != 0x23 }
        scan(path, TextScanner(.text, names), &out)
        rest = rest.dropFirst(path.count)
        while let mark = rest.popFirst() {
            out.append(mark)
            let part = rest.prefix { $0 != 0x23 }
            scan(part, TextScanner(.form, names), &out)
            rest = rest.dropFirst(part.count)
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Words of whatever kind.
    ///
    /// - Parameter verdict: of what they are the value of.
    package func text(_ text: String, of verdict: SecretNames.Verdict = .clear) -> String {
        verdict == .clear && isPlain(text: text) ? text : scanned(text: text, of: verdict)
    }

    /// Words of this library about something: `what it is about: what is to be said`.
    ///
    /// What it is about (a URL, a rule in quotation marks, a field's name behind `header`) is no name of
    /// a value, whatever it ends in: `https://a.example/oauth/token: no address could be connected to`.
    package func message(_ message: String) -> String {
        guard let mark = message.firstRange(of: ": ") else { return text(message) }
        let subject = message[..<mark.lowerBound]
        let words = subject.split(separator: " ", omittingEmptySubsequences: false)
        let shown: String
        if words.count == 1, subject.contains("://") {
            shown = url(String(subject))
        } else if words.count == 2 && TextRedactor.marksOfFields.contains(words[0])
            || subject.hasPrefix("rule \"") && subject.hasSuffix("\"")
        {
            shown = text(String(subject))
        } else {
            return text(message)
        }
        return shown + ": " + self.message(String(message[mark.upperBound...]))
    }

    /// Because: remarks on rules begin so.
    private static let marksOfFields: Set<Substring> = ["header", "removeHeaders"]

    /// The same, octet by octet.
    func scanned(text: String, of verdict: SecretNames.Verdict = .clear) -> String {
        var out: [UInt8] = []
        scan(
            TextRedactor.withoutUserinfo(Array(text.utf8))[...],
            TextScanner(valueOf: verdict, names), &out)
        return String(decoding: out, as: UTF8.self)
    }

    private func scan(
        _ octets: ArraySlice<UInt8>, _ scanner: TextScanner, _ out: inout [UInt8]
    ) {
        var scanner = scanner
        for octet in octets { scanner.take(octet, &out) }
        scanner.finishWhole(&out)
    }

    /// A URL, or what was meant as one, without the name and password that it may hold, and without
    /// those of URLs in it. What else it holds stays, secret or not.
    ///
    /// - Parameters:
    ///   - isAuthority: what has no scheme may be `user:password@host`; otherwise it is a path.
    ///   - placeholder: stands in the place of what is taken out.
    package static func withoutUserinfo(
        _ target: String, isAuthority: Bool, placeholder: String = SecretNames.placeholder
    ) -> String {
        let octets = Array(target.utf8)
        let scheme = octets.prefix(while: isOfScheme)
        let mark = Array((scheme.isEmpty ? "//" : "://").utf8)
        let hasMark = octets[scheme.endIndex...].starts(with: mark)
        let start = hasMark ? scheme.count + mark.count : 0
        guard hasMark || isAuthority,
            let at = userinfoEnd(in: octets[start...], isBehindMark: hasMark)
        else { return String(decoding: withoutUserinfo(octets, placeholder), as: UTF8.self) }
        let rest = withoutUserinfo(Array(octets[at...]), placeholder)
        return String(
            decoding: octets[..<start] + Array(placeholder.utf8) + rest, as: UTF8.self)
    }

    /// Where the `@` is that what stands before may be a password. In what ends in no port nobody
    /// knows how a slash is meant: then any `@` counts.
    private static func userinfoEnd(
        in octets: ArraySlice<UInt8>, isBehindMark: Bool
    ) -> Int? {
        let authority = octets.prefix { ![0x2F, 0x3F, 0x23].contains($0) }
        let port = authority.lastIndex(of: 0x3A).map { authority[($0 + 1)...] }
        let isSound =
            port.map {
                $0.contains(0x5D)
                    || ((1...5).contains($0.count) && $0.allSatisfy { (0x30...0x39).contains($0) })
            } ?? true
        guard isSound else { return octets.lastIndex(of: 0x40) }
        let searched = isBehindMark ? authority : octets.prefix { $0 != 0x3F && $0 != 0x23 }
        return searched.lastIndex(of: 0x40)
    }

    /// Without the userinfo of every URL in a text, also where it is wrapped up: `%2F%2Fa%3Ab%40c`.
    private static func withoutUserinfo(
        _ text: [UInt8], _ placeholder: String = SecretNames.placeholder
    ) -> [UInt8] {
        guard text.contains(0x2F) || text.contains(0x25) else { return text }
        let units = units(of: text)
        var out: [UInt8] = []
        var place = 0
        while place < units.count {
            guard place + 1 < units.count, units[place].meant == 0x2F,
                units[place + 1].meant == 0x2F
            else {
                out += text[units[place].range]
                place += 1
                continue
            }
            out += text[units[place].range] + text[units[place + 1].range]
            place += 2
            let isWrapped = units[place - 1].range.count > 1
            let end = units[place...].firstIndex { endsAuthority($0, isWrapped) } ?? units.count
            if let at = units[place..<end].lastIndex(where: { $0.meant == 0x40 }) {
                out += Array(placeholder.utf8) + text[units[at].range]
                place = at + 1
            }
        }
        return out
    }

    /// An octet as it is meant, and where it is written.
    private struct Unit {
        let meant: UInt8
        let range: Range<Int>
    }

    private static func units(of text: [UInt8]) -> [Unit] {
        var units: [Unit] = []
        var place = 0
        while place < text.count {
            var end = place + 1
            var meant = text[place]
            // `%2540` is `%40` is `@`.
            while meant == 0x25, end + 1 < text.count, let high = SecretNames.hex(text[end]),
                let low = SecretNames.hex(text[end + 1])
            {
                meant = high << 4 | low
                end += 2
            }
            units.append(Unit(meant: meant, range: place..<end))
            place = end
        }
        return units
    }

    /// Marks that may stand in a password end it only where they stand by themselves.
    private static func endsAuthority(_ unit: Unit, _ isWrapped: Bool) -> Bool {
        switch unit.meant {
        case 0x2F, 0x3F, 0x23, 0x5C: isWrapped || unit.range.count == 1
        case 0x00...0x20, 0x22, 0x27, 0x3C, 0x3E, 0x2C, 0x3B: unit.range.count == 1
        case 0x26: isWrapped && unit.range.count == 1
        default: false
        }
    }

    /// True for most URLs, at little cost: a host and perhaps a port, and nothing behind them in which a
    /// secret could stand. Never where ``scanned(url:)`` would take something out.
    func isPlain(url: String) -> Bool {
        let octets = url.utf8
        // In a reference the first `://` may be that of a URL inside.
        guard let colon = octets.firstIndex(of: 0x3A), colon > octets.startIndex,
            octets[..<colon].allSatisfy(TextRedactor.isOfScheme),
            octets[colon...].starts(with: [0x3A, 0x2F, 0x2F])
        else { return !mayHoldSecret(url.utf8) }
        let rest = octets[octets.index(colon, offsetBy: 3)...]
        let authority = TextRedactor.plainAuthority(rest)
        guard !authority.isEmpty else { return false }
        return !mayHoldSecret(octets[authority.endIndex...])
    }

    /// True for most texts, at little cost; never where ``scanned(text:of:)`` would take something out.
    func isPlain(text: String) -> Bool { !mayHoldSecret(text.utf8) }

    /// The same of a text that is whole.
    package func isPlain(octets: [UInt8]) -> Bool { !mayHoldSecret(octets) }

    /// The host and perhaps the port that a text begins with, and that a path, a query or nothing
    /// follows; empty when it begins with anything else.
    private static func plainAuthority<Octets: Collection<UInt8>>(
        _ octets: Octets
    ) -> Octets.SubSequence {
        let none = octets.prefix(0)
        let authority = octets.prefix { ![0x2F, 0x3F, 0x23, 0x5C].contains($0) }
        let host = authority.prefix { $0 != 0x3A }
        var last: (UInt8, UInt8) = (0, 0)
        for octet in host {
            switch octet {
            // A token in JSON begins so.
            case 0x4A where last == (0x65, 0x79): return none
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: last = (last.1, octet)
            default: return none
            }
        }
        guard host.endIndex != authority.endIndex else { return authority }
        let port = authority[host.endIndex...].dropFirst()
        let isPort = (1...5).contains(port.count) && port.allSatisfy { (0x30...0x39).contains($0) }
        return isPort && !host.isEmpty ? authority : none
    }

    /// Source: RFC 3986 §3.1.
    private static func isOfScheme(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x2B, 0x2D, 0x2E: true
        default: false
        }
    }

    /// False for nearly everything, at little cost: a secret in a text stands behind `=`, `:`, a
    /// space or `@`, or begins with the mark of a token; or it is wrapped up, or the content of an
    /// element, or a word behind `password`, or in a path behind a word that says so.
    private func mayHoldSecret<Octets: Collection<UInt8>>(_ octets: Octets) -> Bool {
        var word = octets.startIndex
        // The last four octets.
        var recent: UInt32 = 0
        var place = octets.startIndex
        while place < octets.endIndex {
            let octet = octets[place]
            let next = octets.index(after: place)
            let last = UInt8(truncatingIfNeeded: recent)
            recent = recent << 8 | UInt32(octet)
            switch octet {
            case 0x3D, 0x40, 0x3F, 0x23, 0x22, 0x25, 0x3C, 0x5C: return true
            case 0x79 where last == 0x65: return true
            // The mark of a private key begins so.
            case 0x2D where last == 0x2D: return true
            case 0x41, 0x61, 0x2D, 0x2E, 0x5F: if TokenForm.mayBegin(recent) { return true }
            case 0x2F: if PathPlace.mayLead(octets[word..<place]) { return true }
            // A reference of XML.
            case 0x26 where next < octets.endIndex && TextRedactor.beginsReference(octets[next]):
                return true
            case 0x09...0x0D, 0x20:
                if TextRedactor.opensValue(octets[word..<place]) { return true }
            case 0x3A:
                let isLast = next == octets.endIndex
                guard isLast || endsScheme(octets[word..<place], octets[next...]) else {
                    return true
                }
            default: break
            }
            if !TextScanner.isOfWord(octet) { word = next }
            place = next
        }
        return false
    }

    /// Whether a blank behind the word may have a secret behind it: `Bearer`, `curl` before `-u`,
    /// `password` in a line of netrc, `TRUE` in a line of cookies.
    private static func opensValue<Octets: Collection<UInt8>>(_ word: Octets) -> Bool {
        switch word.count {
        case 4, 5, 6, 8, 9:
            TextScanner.opensCommand(word) || TextScanner.isScheme(word) || JarPlace.begins(word)
        default: false
        }
    }

    private static func beginsReference(_ octet: UInt8) -> Bool {
        octet == 0x23 || TextScanner.isAlphanumeric(octet)
    }

    /// The colon of `https://` is none of a secret; that of `token:/` is, and so is that of `token://`.
    private func endsScheme<Octets: Collection<UInt8>>(_ word: Octets, _ rest: Octets) -> Bool {
        !word.isEmpty && word.allSatisfy(TextRedactor.isOfScheme)
            && rest.starts(with: [0x2F, 0x2F])
            && names.verdict(Array(word)) == .clear
    }
}
