/// Takes the secrets out of records. One thread's own: it remembers what it has judged.
final class Redactor {
    /// Nil: nothing is taken out.
    private(set) var names: SecretNames?
    /// Values of fields that came before, and what they became.
    private var known: [String: String] = [:]

    init(_ redaction: CaptureRedaction) {
        names = redaction.revealsAllBecause == nil ? SecretNames(redaction) : nil
    }

    /// Everything but the bodies, which have passed a ``BodyScanner``.
    func redact(_ record: inout CaptureRecord) {
        guard names != nil else { return }
        for place in record.hops.indices { redact(&record.hops[place]) }
        if let failure = record.failure {
            record.failure?.message = text(failure.message)
        }
        if let reason = record.reason { record.reason = text(reason) }
    }

    private func redact(_ hop: inout CaptureRecord.Hop) {
        hop.url = url(hop.url)
        for place in hop.requestFields.indices { redact(&hop.requestFields[place]) }
        for place in hop.responseFields.indices { redact(&hop.responseFields[place]) }
        for place in hop.attempts.indices {
            hop.attempts[place].message = text(hop.attempts[place].message)
        }
        if let proxy = hop.proxy { hop.proxy = url(proxy) }
    }

    private func redact(_ field: inout CaptureRecord.Field) {
        let name = field.name
        if let value = known[field.value], names?.verdict(field: name) == .clear {
            field.value = value
            return
        }
        let given = field.value
        field.value = value(of: name, given)
        // Only of fields that anybody may see, so that a value is never looked up under another's
        // rule.
        guard names?.verdict(field: name) == .clear, given.utf8.count <= Redactor.longestKnown,
            !Redactor.isCookie(name), !Redactor.holdsURL(name)
        else { return }
        if known.count >= Redactor.mostKnown { known = [:] }
        known[given] = field.value
    }

    /// The value of a field as it may be shown.
    func value(of name: String, _ value: String) -> String {
        guard let names else { return value }
        if Redactor.isCookie(name) { return cookies(value, isSet: name.utf8.count > 7) }
        if names.verdict(field: name) == .secret { return credentials(value) }
        if Redactor.holdsURL(name), !value.contains(" ") { return url(value) }
        return text(value)
    }

    /// A URL or reference without its userinfo, and without secrets in its path, query and
    /// fragment.
    func url(_ url: String) -> String {
        guard names != nil, Redactor.mayHoldSecret(url) else { return url }
        var out: [UInt8] = []
        var rest = Array(url.utf8)[...]
        if let mark = url.firstRange(of: "//") {
            let start = url.utf8.distance(from: url.startIndex, to: mark.upperBound)
            out += rest[..<start]
            rest = rest[start...]
            let authority = rest.prefix { ![0x2F, 0x3F, 0x23, 0x5C].contains($0) }
            if let at = authority.lastIndex(of: 0x40) {
                out.append(contentsOf: (CaptureRedaction.placeholder + "@").utf8)
                rest = rest[(at + 1)...]
            }
        }
        let path = rest.prefix { $0 != 0x3F && $0 != 0x23 }
        scan(path, .text, &out)
        rest = rest.dropFirst(path.count)
        while let mark = rest.popFirst() {
            out.append(mark)
            let part = rest.prefix { $0 != 0x23 }
            scan(part, .form, &out)
            rest = rest.dropFirst(part.count)
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Words of whatever kind.
    func text(_ text: String) -> String {
        guard names != nil, Redactor.mayHoldSecret(text) else { return text }
        var out: [UInt8] = []
        scan(Array(Redactor.withoutUserinfo(text).utf8)[...], .text, &out)
        return String(decoding: out, as: UTF8.self)
    }

    private func scan(
        _ octets: ArraySlice<UInt8>, _ manner: TextScanner.Manner, _ out: inout [UInt8]
    ) {
        guard let names else {
            out += octets
            return
        }
        var scanner = TextScanner(manner, names)
        for octet in octets { scanner.take(octet, &out) }
        scanner.finishWhole(&out)
    }

    /// `Bearer REDACTED`: the scheme says something, and is no secret.
    private func credentials(_ value: String) -> String {
        let scheme = value.prefix { $0.isASCII && ($0.isLetter || $0 == "-") }
        let isScheme =
            scheme.utf8.count <= Redactor.longestScheme
            && value.dropFirst(scheme.count).first == " "
        return (isScheme && !scheme.isEmpty ? scheme + " " : "") + CaptureRedaction.placeholder
    }

    /// Names and attributes stay.
    private func cookies(_ value: String, isSet: Bool) -> String {
        var parts = value.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        for place in parts.indices where !isSet || place == 0 {
            guard let equals = parts[place].firstIndex(of: "=") else {
                // A cookie without a name is all value.
                let isBlank = parts[place].allSatisfy { $0 == " " }
                if !isBlank { parts[place] = CaptureRedaction.placeholder }
                continue
            }
            parts[place] = parts[place][...equals] + CaptureRedaction.placeholder
        }
        return parts.joined(separator: ";")
    }

    /// Userinfo of every URL in a text.
    private static func withoutUserinfo(_ text: String) -> String {
        guard text.utf8.contains(0x40), text.contains("//") else { return text }
        var out = ""
        var rest = text[...]
        while let mark = rest.firstRange(of: "//") {
            out += rest[..<mark.upperBound]
            rest = rest[mark.upperBound...]
            let authority = rest.prefix { !"/?#\\ \t\n\"'<>,;".contains($0) }
            guard let at = authority.lastIndex(of: "@") else { continue }
            out += CaptureRedaction.placeholder + "@"
            rest = rest[rest.index(after: at)...]
        }
        return out + rest
    }

    /// False for nearly everything, at little cost: a secret in a text stands behind `=`, `:`, a
    /// space or `@`, or begins with `eyJ`.
    private static func mayHoldSecret(_ text: String) -> Bool {
        var last: UInt8 = 0
        for octet in text.utf8 {
            // The colon of `https://` is none of a secret.
            if last == 0x3A, octet != 0x2F { return true }
            switch octet {
            case 0x3D, 0x40, 0x3F, 0x23, 0x22: return true
            case 0x79 where last == 0x65: return true
            case 0x20 where last | 0x20 == 0x72 || last | 0x20 == 0x63: return true
            default: break
            }
            last = octet
        }
        return false
    }

    private static func isCookie(_ name: String) -> Bool {
        switch name.utf8.count {
        case 6: name.lowercased() == "cookie"
        case 7: name.lowercased() == "cookie2"
        case 10: name.lowercased() == "set-cookie"
        case 11: name.lowercased() == "set-cookie2"
        default: false
        }
    }

    private static func holdsURL(_ name: String) -> Bool {
        switch name.utf8.count {
        case 5: name.lowercased() == ":path"
        case 7: name.lowercased() == "referer"
        case 8: name.lowercased() == "location"
        case 16: name.lowercased() == "content-location"
        default: false
        }
    }

    /// Because: the longest registered scheme has 13 letters.
    private static let longestScheme = 16
    /// Because: what comes again and again (types, dates, names of servers) is short.
    private static let longestKnown = 256
    /// Because: a few hundred such values are in use at once.
    private static let mostKnown = 1_024
}
