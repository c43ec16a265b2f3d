internal import HTTPDNSExchange
internal import HTTPDNSRedaction

/// Takes the secrets out of records. One thread's own: it remembers what it has judged.
final class Redactor {
    /// Nil: nothing is taken out.
    let names: SecretNames?
    private let words: TextRedactor?
    /// Values of fields that came before, and what they became.
    private var known: [String: String] = [:]
    private var knownURLs: [String: String] = [:]

    init(_ redaction: CaptureRedaction) {
        names =
            redaction.revealsAllBecause == nil
            ? SecretNames(
                added: redaction.names, addedFields: redaction.fields,
                revealed: redaction.revealed) : nil
        words = names.map { TextRedactor($0) }
    }

    /// Everything but the bodies, which have passed a ``BodyScanner``.
    func redact(_ record: inout CaptureRecord) {
        guard names != nil else { return }
        for place in record.hops.indices { redact(&record.hops[place]) }
        if let failure = record.failure {
            record.failure?.message = text(failure.message)
        }
        if let reason = record.reason { record.reason = text(reason) }
        if let rule = record.rule { record.rule = text(rule) }
    }

    private func redact(_ hop: inout CaptureRecord.Hop) {
        hop.url = url(hop.url)
        hop.mappedFrom = hop.mappedFrom.map { url($0) }
        if let words = hop.statusText { hop.statusText = text(words) }
        for place in hop.requestFields.indices { redact(&hop.requestFields[place]) }
        for place in hop.responseFields.indices { redact(&hop.responseFields[place]) }
        for place in hop.attempts.indices {
            hop.attempts[place].message = text(hop.attempts[place].message)
        }
        for place in hop.resolverFailures.indices {
            hop.resolverFailures[place].message = text(hop.resolverFailures[place].message)
        }
        if let proxy = hop.proxy { hop.proxy = url(proxy) }
        if !hop.rules.isEmpty { hop.rules = hop.rules.map { text($0) } }
    }

    private func redact(_ field: inout CaptureRecord.Field) {
        let name = field.name
        // A value is never looked up under another's rule.
        let isPlain =
            !CookieRedaction.holdsCookies(name) && !Redactor.holdsURL(name)
            && !Redactor.holdsProtocols(name) && names?.verdict(field: name) == .clear
        if isPlain, let value = known[field.value] {
            field.value = value
            return
        }
        let given = field.value
        field.value = value(of: name, given)
        guard isPlain, given.utf8.count <= Redactor.longestKnown else { return }
        if known.count >= Redactor.mostKnown { known = [:] }
        known[given] = field.value
    }

    /// Fields as they may be shown; what was made of them the last time, if they are the same.
    func fields(
        _ given: [HTTPFields.Field],
        _ last: inout MadeFields?
    ) -> [CaptureRecord.Field] {
        if let last, last.given == given { return last.result }
        let made = given.map { field in
            var made = CaptureRecord.Field(field.name, field.value)
            if names != nil { redact(&made) }
            return made
        }
        last = MadeFields(of: given, made)
        return made
    }

    /// True for most bodies that are whole, at little cost: nothing would be taken out.
    func isPlain(_ octets: [UInt8], _ form: BodyForm) -> Bool {
        guard let names, let words else { return true }
        guard case .text = BodyScanner.kind(of: form, beginning: octets, names) else {
            return false
        }
        return words.isPlain(octets: octets)
    }

    /// The value of a field as it may be shown.
    func value(of name: String, _ value: String) -> String {
        guard let names else { return value }
        if CookieRedaction.holdsCookies(name), !names.reveals(field: name) {
            return cookies(value, isSet: CookieRedaction.sets(name))
        }
        if Redactor.holdsProtocols(name) { return protocols(value, names) }
        switch names.verdict(field: name) {
        case .secret: return credentials(value)
        case .suspect: return text(value, of: .suspect)
        case .clear: break
        }
        if Redactor.holdsURL(name), !value.contains(" ") { return url(value) }
        return text(value)
    }

    /// A URL or reference without its userinfo, and without secrets in its path, query and
    /// fragment.
    func url(_ url: String) -> String {
        guard let words else { return url }
        if let known = knownURLs[url] { return known }
        let shown = words.url(url)
        guard url.utf8.count <= Redactor.longestKnown else { return shown }
        if knownURLs.count >= Redactor.mostKnown { knownURLs = [:] }
        knownURLs[url] = shown
        return shown
    }

    /// Words of whatever kind.
    ///
    /// - Parameter verdict: of what they are the value of.
    func text(_ text: String, of verdict: SecretNames.Verdict = .clear) -> String {
        words?.text(text, of: verdict) ?? text
    }

    /// Words of this library about something: ``TextRedactor/message(_:)``.
    func message(_ message: String) -> String { words?.message(message) ?? message }

    /// `Bearer REDACTED`: the scheme says something, and is no secret.
    private func credentials(_ value: String) -> String {
        let scheme = value.utf8.prefix(Redactor.longestScheme + 1).firstIndex(of: 0x20).map {
            value[..<$0]
        }
        guard let scheme, Redactor.schemes.contains(scheme.lowercased()) else {
            return CaptureRedaction.placeholder
        }
        return scheme + " " + CaptureRedaction.placeholder
    }

    /// Names stay, and attributes.
    private func cookies(_ value: String, isSet: Bool) -> String {
        CookieRedaction(isSet: isSet, shownPath: url).shown(value)
    }

    /// Browsers can send a token nowhere else when they open a WebSocket: behind a protocol that is
    /// called like one (`bearer, …`), or in its name (`base64url.bearer.authorization.k8s.io.…`).
    private func protocols(_ value: String, _ names: SecretNames) -> String {
        var isDue = false
        let items = value.split(separator: ",", omittingEmptySubsequences: false).map { item in
            let blank = item.prefix { $0 == " " || $0 == "\t" }
            let name = item.dropFirst(blank.count)
            let lower = name.lowercased()
            let holdsToken = ["bearer.", "authorization.", "token."].contains { lower.contains($0) }
            let isOfToken = isDue || holdsToken
            isDue = !isOfToken && names.verdict(Array(lower.utf8)) == .secret
            guard isOfToken, !name.isEmpty else { return text(String(item)) }
            return blank + CaptureRedaction.placeholder
        }
        return items.joined(separator: ",")
    }

    private static func holdsProtocols(_ name: String) -> Bool {
        name.utf8.count == 22 && name.lowercased() == "sec-websocket-protocol"
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

    /// A word that is none of them may be half of a secret with a blank in it.
    ///
    /// Source: IANA HTTP Authentication Scheme Registry, 2026; what AWS, Azure, GitHub, Django and Hawk
    /// document.
    private static let schemes: Set = [
        "basic", "bearer", "concealed", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate",
        "oauth", "privatetoken", "scram-sha-1", "scram-sha-256", "vapid", "ntlm", "kerberos",
        "token", "apikey", "hawk", "signature", "aws", "aws4-hmac-sha256", "sharedkey",
        "sharedkeylite", "googlelogin", "jwt", "key",
    ]
    private static let longestScheme = 16
    /// Because: what comes again and again (types, dates, names of servers) is short.
    private static let longestKnown = 256
    /// Because: a few hundred such values are in use at once.
    private static let mostKnown = 1_024
}
