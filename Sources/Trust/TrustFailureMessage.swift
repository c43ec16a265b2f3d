internal import HTTPDNSNames

/// The message for people: what failed, what was presented, what was configured, what to do next.
extension TrustFailure {
    var message: String { message(route: nil) }

    /// The same with the way to the peer in the first line: `connected to 203.0.113.7, an address
    /// given by google`. The caller's words: no part of a verdict knows an address.
    ///
    /// - Parameters:
    ///   - route: The way to the peer.
    ///   - isAsOf: The moment was chosen, and is no reading of this machine's clock.
    package func message(route: String?, isAsOf: Bool = false) -> String {
        let head = headline(clock: isAsOf ? "as of" : "now")
        var lines = [route.map { TrustFailure.joined(head, $0) } ?? head]
        if let detail = facts.detail { lines.append("  Found:            \(detail)") }
        let namesWhoAnswered: [Code] = [.wrongName, .malformedName, .unknownIssuer, .selfSigned]
        if namesWhoAnswered.contains(code), let leaf = facts.chain.first {
            lines += TrustFailure.column("Names in it:", TrustFailure.names(of: leaf))
        }
        lines += TrustFailure.column(chainTitle, facts.chain.map(TrustFailure.line))
        if !facts.configuredPins.isEmpty {
            let pattern = facts.pinPattern.map { "   (\($0))" } ?? ""
            var pins = facts.configuredPins.map(\.description)
            pins[pins.count - 1] += pattern
            lines += TrustFailure.column("Configured pins:", pins)
        }
        lines.append("  Rule:             \(code.rule)")
        lines += TrustFailure.column("Dangerous:", facts.dangerous.map(\.label))
        lines.append(advice(isAsOf: isAsOf))
        if code == .noPinMatched { lines += whatToReplace }
        return lines.joined(separator: "\n")
    }

    private static func joined(_ headline: String, _ route: String) -> String {
        headline.last == "." ? headline.dropLast() + " (\(route))." : headline + " (\(route))"
    }

    /// The entry as it would have to be if the new key is meant.
    private var whatToReplace: [String] {
        guard let leaf = facts.chain.first, let pattern = facts.pinPattern else { return [] }
        let rule = facts.mismatch?.rule ?? PinRule(facts.configuredPins)
        let replacement = PinReplacement(leaf.pin, in: rule, under: pattern)
        return TrustFailure.column("Policy file:", [replacement.policyEntry])
            + TrustFailure.column("Swift:", replacement.swiftLines)
    }

    private func headline(clock: String) -> String {
        let host = facts.host
        switch code {
        case .noPinMatched: return "No pin matched for \(host)."
        case .pinsExpired: return "The pins of \(host) have expired\(pinExpiry(clock))."
        case .userRootRefused:
            return "The certificate of \(host) leads to a root that was added to this machine."
        case .wrongName: return "The certificate is not for \(host)."
        case .badReferenceName: return "\(host) is not a name a certificate could prove."
        case .malformedName: return "The certificate for \(host) contains a malformed name."
        case .expired: return broken(\.notAfter, "has expired", clock)
        case .notYetValid: return broken(\.notBefore, "is not valid yet", clock)
        case .unknownIssuer: return "The certificate of \(host) leads to no trusted root."
        case .selfSigned: return "The certificate of \(host) is self-signed and not trusted."
        case .badSignature: return "A signature in the certificate chain of \(host) is wrong."
        case .weakSignature: return "A signature in the certificate chain of \(host) is too weak."
        case .weakKey: return "A key in the certificate chain of \(host) is too weak."
        case .notForServers: return "The certificate of \(host) is not meant for servers."
        case .notACA: return "The certificate of \(host) was issued by one that is no authority."
        case .authorityAsServer: return "\(host) presented the certificate of an authority."
        case .tooCostly: return "The certificate chain of \(host) would cost too much to check."
        case .pathTooLong: return "The certificate chain of \(host) is longer than allowed."
        case .nameConstraint: return "An authority of \(host) may not issue for that name."
        case .revoked: return "A certificate in the chain of \(host) was revoked."
        case .revocationUnknown:
            return "Nothing shows that the certificate of \(host) was not revoked."
        case .stapleMissing: return "\(host) stapled no OCSP response to its certificate."
        case .stapleInvalid: return "The OCSP response that \(host) stapled proves nothing."
        case .notLogged:
            return "The certificate of \(host) is not in enough Certificate Transparency logs."
        case .noCertificate: return "\(host) presented no certificate."
        case .pinnedOverHTTP: return "\(host) is pinned, and over http nobody shows a key."
        case .policyChanged: return "The open connection to \(host) proves nothing here."
        case .badCertificate: return "The certificate chain of \(host) breaks a rule."
        default: return "\(host) could not be verified (\(label))."
        }
    }

    private func advice(isAsOf: Bool) -> String {
        switch code {
        case .noPinMatched:
            "If nobody changed the key on purpose, treat this as interception. If somebody did, "
                + "replace the entry of \(facts.pinPattern ?? "this host") by:"
        case .pinsExpired:
            "Renew the pin policy: its rule for \(facts.pinPattern ?? "this host") fails closed."
                + (isAsOf ? "" : " Check this machine's clock, too.")
        case .userRootRefused:
            "A proxy that reads along looks like this. If it may, the rule's userRoots has to say "
                + "so; nothing was sent to it."
        case .wrongName where facts.chain.first.map(TrustFailure.namesNobody) ?? false:
            "The certificate has no name or address in a subjectAltName; reissue it with one. A "
                + "common name proves nothing."
        case .wrongName:
            "Check that the address belongs to \(facts.host): this is what a hijacked name looks "
                + "like."
        case .expired where isAsOf: "The server needs another certificate before then."
        case .notYetValid where isAsOf: "Before that the server needs another certificate."
        case .expired, .notYetValid:
            "Check this machine's clock; if it is right, the server needs a new certificate."
        case .unknownIssuer, .selfSigned:
            "If this authority is yours, add its certificate to the roots; if not, treat this as "
                + "interception. A server that leaves out its intermediate looks like this, too."
        case .authorityAsServer:
            "Give the server a certificate of its own; if this authority is yours, the profile "
                + "privateAuthority takes it as it is."
        case .tooCostly:
            "No honest server needs such a chain: treat this as an attack on the client."
        case .revoked:
            "Trust nothing that holds this key: it may have been stolen. The server needs a new "
                + "certificate."
        case .revocationUnknown:
            "Give the policy a current revocation list of the issuer, or have the server staple."
        case .stapleMissing, .stapleInvalid:
            "The server has to staple a current OCSP response; a peer that holds a stolen key would "
                + "rather not."
        case .notLogged:
            "An authority that signs in secret looks like this; so does a list of logs that is out "
                + "of date."
        case .pinnedOverHTTP:
            "Ask for it over https, or take the host out of the pins; nothing was sent to it."
        case .policyChanged: "Close the connection and open one under this policy."
        case .unexpected: "This is a fault of the library or of its set-up; please report it."
        default: "The server's certificate has to be replaced; nothing was sent to it."
        }
    }

    private var chainTitle: String {
        let judgedLast: [Code] = [
            .noPinMatched, .pinsExpired, .userRootRefused, .wrongName, .malformedName,
            .policyChanged,
        ]
        return judgedLast.contains(code) ? "Verified chain:" : "Chain:"
    }

    /// ` (2026-01-01T00:00:00Z; now 2026-…)`.
    private func pinExpiry(_ clock: String) -> String {
        guard let expiry = facts.mismatch?.rule.expiry, let now = facts.now else { return "" }
        return " (\(expiry.at.iso8601); \(clock) \(now.iso8601))"
    }

    /// `The certificate of … has expired (2025-01-01T00:00:00Z; now 2026-…).`: the first of the chain
    /// whose bound `now` breaks, by its subject where it is an authority's.
    private func broken(
        _ bound: KeyPath<CertificateFacts, WallTime>, _ words: String, _ clock: String
    ) -> String {
        let now = facts.now
        let found = facts.chain.firstIndex { certificate in
            guard let now else { return false }
            let moment = certificate[keyPath: bound]
            return bound == \.notAfter ? moment < now : now < moment
        }
        guard let found, let now else {
            return "The certificate chain of \(facts.host) \(words)."
        }
        let certificate = facts.chain[found]
        let subject = TrustFailure.shown(subject: certificate.subject)
        let whose =
            found == 0
            ? "The certificate of \(facts.host)"
            : "The authority \(subject) in the chain of \(facts.host)"
        let period = "\(certificate.notBefore.iso8601) to \(certificate.notAfter.iso8601)"
        return "\(whose) \(words) (valid from \(period); \(clock) \(now.iso8601))."
    }

    private static func namesNobody(_ certificate: CertificateFacts) -> Bool {
        certificate.dnsNames.isEmpty && certificate.ipAddresses.isEmpty
    }

    private static func line(_ certificate: CertificateFacts) -> String {
        "\(certificate.pin)  \(shown(subject: certificate.subject))"
    }

    /// A subject is the peer's own text, of any length.
    private static func shown(subject: String) -> String {
        if subject.isEmpty { return "(no subject)" }
        let octets = subject.utf8
        guard octets.count > shownSubjectOctets else { return subject }
        return String(decoding: octets.prefix(shownSubjectOctets), as: UTF8.self)
            + "… (\(octets.count) octets)"
    }

    private static func names(of certificate: CertificateFacts) -> [String] {
        let all =
            certificate.dnsNames.map(NameMatcher.escaped)
            + certificate.ipAddresses.map { octets in
                IPAddress(octets: octets)?.description ?? "an address of \(octets.count) octets"
            }
        guard !all.isEmpty else { return ["none (no dNSName or iPAddress in subjectAltName)"] }
        let shown = all.prefix(shownNames)
        return shown + (all.count > shown.count ? ["and \(all.count - shown.count) more"] : [])
    }

    private static func column(_ title: String, _ values: [String]) -> [String] {
        values.enumerated().map { index, value in
            let head = index == 0 ? title : ""
            let pad = String(repeating: " ", count: max(1, columnWidth - head.utf8.count))
            return "  " + head + pad + value
        }
    }

    /// Because: more would push the advice off the screen.
    private static let shownNames = 10
    /// Because: room for each attribute at its upper bound of 64. Source: RFC 5280 Appendix A.1.
    private static let shownSubjectOctets = 400
    /// Because: one more than the longest title.
    private static let columnWidth = 18
}

extension WallTime {
    /// `2026-11-30T02:01:07Z`. Source: RFC 3339 §5.6; days to dates as in Howard Hinnant's
    /// "chrono-compatible low-level date algorithms", `civil_from_days`.
    package var iso8601: String {
        let (days, second) = secondsSince1970.quotientAndRemainder(dividingBy: 86_400)
        let day = second < 0 ? days - 1 : days
        let secondOfDay = second < 0 ? second + 86_400 : second
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let two = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
        let padded = String(repeating: "0", count: max(0, 4 - "\(year)".utf8.count)) + "\(year)"
        return "\(padded)-\(two(month))-\(two(dayOfMonth))T\(two(secondOfDay / 3_600)):"
            + "\(two(secondOfDay / 60 % 60)):\(two(secondOfDay % 60))Z"
    }
}
