internal import HTTPDNSRedaction

/// Takes the values out of fields of cookies, whoever made them: what is shown has to prove that it
/// is no value.
///
///     sid=x; Path=/; Comment=y     ─▶ sid=REDACTED; Path=/; REDACTED
///     a="x; y"; b=z                ─▶ a=REDACTED; b=REDACTED
///
/// Rules:
/// 1. Names of cookies stay, where they are names. Source: RFC 6265 §4.1.1: a token.
/// 2. Of a `Set-Cookie` an attribute stays if it is one of ``attributes`` and its value is of that
///    attribute's form; any other part is taken out as a whole, as one of a value that was cut at a
///    semicolon, or of another cookie behind a comma.
/// 3. A quotation mark that a value begins with hides all to the one that closes it, or to the end.
/// 4. Lines are several fields, which some programs join so.
struct CookieRedaction {
    /// The field is one of an answer, with attributes.
    let isSet: Bool
    /// Takes secrets out of a path.
    let shownPath: (String) -> String

    /// Whether a field of that name has cookies in it.
    static func holdsCookies(_ name: String) -> Bool {
        guard name.utf8.count >= cookie.count else { return false }
        return holds(name, cookie)
    }

    /// Whether cookies are set by a field of that name: with attributes.
    static func sets(_ name: String) -> Bool { holds(name, set) }

    /// Without case, and without making another text of it.
    private static func holds(_ name: String, _ word: [UInt8]) -> Bool {
        let octets = name.utf8
        var start = octets.startIndex
        while start < octets.endIndex {
            if octets[start] | 0x20 == word[0],
                octets[start...].prefix(word.count).elementsEqual(word, by: { $0 | 0x20 == $1 })
            {
                return true
            }
            start = octets.index(after: start)
        }
        return false
    }

    func shown(_ value: String) -> String {
        let octets = Array(value.utf8)
        guard octets.contains(where: CookieRedaction.endsLine) else {
            return String(decoding: line(octets[...]), as: UTF8.self)
        }
        var out: [UInt8] = []
        var rest = octets[...]
        while true {
            let one = rest.prefix { !CookieRedaction.endsLine($0) }
            out += line(one)
            rest = rest.dropFirst(one.count)
            guard let end = rest.popFirst() else { return String(decoding: out, as: UTF8.self) }
            out.append(end)
        }
    }

    private func line(_ octets: ArraySlice<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        var rest = octets
        var isFirst = true
        while true {
            let part = CookieRedaction.part(rest)
            out += isFirst || !isSet ? pair(part) : attribute(part)
            isFirst = false
            rest = rest.dropFirst(part.count)
            guard let semicolon = rest.popFirst() else { return out }
            out.append(semicolon)
        }
    }

    /// All to the next semicolon that is none of a value in quotation marks.
    private static func part(_ rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let plain = rest.prefix { $0 != 0x3B }
        guard let equals = plain.firstIndex(of: 0x3D) else { return plain }
        let value = rest[equals...].dropFirst().drop(while: isBlank)
        guard value.first == 0x22 else { return plain }
        var isEscaped = false
        for place in value.indices.dropFirst() {
            if isEscaped {
                isEscaped = false
            } else if value[place] == 0x5C {
                isEscaped = true
            } else if value[place] == 0x22 {
                return rest[..<place] + rest[place...].prefix { $0 != 0x3B }
            }
        }
        return rest
    }

    private func pair(_ part: ArraySlice<UInt8>) -> [UInt8] {
        let blank = part.prefix(while: CookieRedaction.isBlank)
        let rest = part.dropFirst(blank.count)
        guard !rest.isEmpty else { return Array(part) }
        let placeholder = Array(CaptureRedaction.placeholder.utf8)
        guard let equals = rest.firstIndex(of: 0x3D), CookieRedaction.isName(rest[..<equals])
        else { return blank + placeholder }
        // Base64 may end so, and its cookie has no name.
        let isPadding = rest[equals...].allSatisfy { $0 == 0x3D || $0 <= 0x20 }
        guard !isPadding || equals - rest.startIndex < SecretNames.machineMadeOctets else {
            return blank + placeholder
        }
        return blank + rest[...equals] + placeholder
    }

    private func attribute(_ part: ArraySlice<UInt8>) -> [UInt8] {
        let text = String(decoding: part, as: UTF8.self)
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = CookieRedaction.trimmed(sides[0])
        let value = sides.count > 1 ? CookieRedaction.trimmed(sides[1]) : ""
        guard !name.isEmpty || !value.isEmpty else { return Array(part) }
        guard let form = CookieRedaction.attributes[name.lowercased()] else {
            return CookieRedaction.placeholder(behind: part)
        }
        let isFlag = form == .none
        guard isFlag ? value.isEmpty : form.fits(value) else {
            return Array("\(sides[0])=\(CaptureRedaction.placeholder)".utf8)
        }
        guard form == .path else { return Array(part) }
        let shown = shownPath(String(value))
        return shown == value ? Array(part) : Array("\(sides[0])=\(shown)".utf8)
    }

    private static func placeholder(behind part: ArraySlice<UInt8>) -> [UInt8] {
        Array(part.prefix(while: isBlank)) + Array(CaptureRedaction.placeholder.utf8)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let text = text.drop { $0 == " " || $0 == "\t" }
        let end = text.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { text[...$0] } ?? ""
    }

    /// Source: RFC 9110 §5.6.2; of a cookie's name RFC 6265 §4.1.1.
    private static func isName(_ octets: ArraySlice<UInt8>) -> Bool {
        !octets.isEmpty
            && octets.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: marks.contains(octet)
                }
            }
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    private static func endsLine(_ octet: UInt8) -> Bool { octet == 0x0A || octet == 0x0D }

    /// Source: RFC 6265bis §4.1.2, RFC 2965 §3.2.2 for `Version`; `Priority` and `Partitioned` as
    /// browsers have them.
    private static let attributes: [String: Form] = [
        "path": .path, "domain": .domain, "expires": .moment, "max-age": .seconds,
        "secure": .none, "httponly": .none, "partitioned": .none, "samesite": .words,
        "priority": .words, "version": .number,
    ]

    private static let marks = Set("!#$%&'*+-.^_`|~".utf8)
    private static let cookie = Array("cookie".utf8)
    private static let set = Array("set".utf8)
}

extension CookieRedaction {
    /// What the value of an attribute may be.
    fileprivate enum Form: Hashable {
        case none, path, domain, moment, seconds, words, number

        func fits(_ value: Substring) -> Bool {
            let octets = value.utf8
            switch self {
            case .none: return false
            case .path: return octets.first == 0x2F && octets.allSatisfy(Form.isOfPath)
            case .domain:
                return octets.count <= Form.longestDomain && octets.allSatisfy(Form.isOfDomain)
            case .moment: return Form.isMoment(value)
            case .seconds:
                let digits = octets.first == 0x2D ? octets.dropFirst() : octets[...]
                return digits.count <= Form.mostDigits && digits.allSatisfy(Form.isDigit)
            case .words: return Form.known.contains(value.lowercased())
            case .number: return octets.count <= 2 && octets.allSatisfy(Form.isDigit)
            }
        }

        private static func isDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) }

        /// Source: RFC 3986 §3.3, but for `=` and the comma: those of a cookie that follows.
        private static func isOfPath(_ octet: UInt8) -> Bool {
            TextScanner.isAlphanumeric(octet) || ofPath.contains(octet)
        }

        private static func isOfDomain(_ octet: UInt8) -> Bool {
            TextScanner.isAlphanumeric(octet) || octet == 0x2D || octet == 0x2E
        }

        /// Nothing but what moments are made of. Source: RFC 6265 §5.1.1.
        private static func isMoment(_ value: Substring) -> Bool {
            let parts = value.lowercased().utf8.split { octet in
                [0x20, 0x2C, 0x2D, 0x2F, 0x3A, 0x2B].contains(octet)
            }
            guard value.utf8.count <= longestMoment else { return false }
            return parts.allSatisfy { part in
                part.allSatisfy(isDigit)
                    ? part.count <= 4
                    : ofMoments.contains(String(decoding: part, as: UTF8.self))
            }
        }

        private static let ofPath = Set("/-._~%!$&'()*+:@".utf8)
        private static let known: Set<String> = [
            "lax", "strict", "none", "low", "medium", "high",
        ]
        private static let ofMoments: Set<String> = [
            "mon", "tue", "wed", "thu", "fri", "sat", "sun", "monday", "tuesday", "wednesday",
            "thursday", "friday", "saturday", "sunday", "jan", "feb", "mar", "apr", "may", "jun",
            "jul", "aug", "sep", "oct", "nov", "dec", "gmt", "utc",
        ]
        /// Because: `Wednesday, 31-December-2037 23:59:59 GMT` is the longest that is written.
        private static let longestMoment = 48
        /// Source: RFC 1035 §2.3.4, and a dot before it.
        private static let longestDomain = 254
        /// Because: no 64-bit number has more.
        private static let mostDigits = 19
    }
}
