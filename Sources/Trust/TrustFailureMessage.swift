internal import HTTPDNSNames

/// The message for people: what failed, what was presented, what was configured, what to do next.
extension TrustFailure {
    var message: String { message(route: nil) }

    /// The same with the way to the peer in the first line: `connected to 203.0.113.7, an address
    /// given by google`. The caller's words: no part of a verdict knows an address.
    package func message(route: String?) -> String {
        var lines = [route.map { headline(with: $0) } ?? headline]
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
        lines.append(advice)
        if code == .noPinMatched { lines += whatToPaste }
        return lines.joined(separator: "\n")
    }

    private func headline(with route: String) -> String {
        headline.last == "." ? headline.dropLast() + " (\(route))." : headline + " (\(route))"
    }

    /// The entry as it would have to be if the new key is meant: its pin, and what was configured.
    private var whatToPaste: [String] {
        guard let leaf = facts.chain.first, let pattern = facts.pinPattern else { return [] }
        let pins = ([leaf.pin] + facts.configuredPins).map { "\"\($0)\"" }
            .joined(separator: ", ")
        return [
            "  Policy file:      {\"pattern\": \"\(pattern)\", \"pins\": [\(pins)]}",
            "  Swift:            try policy.pins.add([\(pins)], for: \"\(pattern)\")",
        ]
    }

    private var headline: String {
        let host = facts.host
        switch code {
        case .noPinMatched: return "No pin matched for \(host)."
        case .pinsExpired: return "The pins of \(host) have expired\(pinExpiry)."
        case .userRootRefused:
            return "The certificate of \(host) leads to a root that was added to this machine."
        case .wrongName: return "The certificate is not for \(host)."
        case .badReferenceName: return "\(host) is not a name a certificate could prove."
        case .malformedName: return "The certificate for \(host) contains a malformed name."
        case .expired: return "The certificate chain of \(host) has expired\(moment(\.notAfter))."
        case .notYetValid:
            return "The certificate chain of \(host) is not valid yet\(moment(\.notBefore))."
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
        case .policyChanged: return "The open connection to \(host) proves nothing here."
        case .badCertificate: return "The certificate chain of \(host) breaks a rule."
        default: return "\(host) could not be verified (\(label))."
        }
    }

    private var advice: String {
        switch code {
        case .noPinMatched:
            "If the key was rotated on purpose, paste one of these; otherwise treat this as "
                + "interception."
        case .pinsExpired:
            "Renew the pin policy: its rule for \(facts.pinPattern ?? "this host") fails closed. "
                + "Check this machine's clock, too."
        case .userRootRefused:
            "A proxy that reads along looks like this. If it may, the rule's userRoots has to say "
                + "so; nothing was sent to it."
        case .wrongName:
            "Check that the address belongs to \(facts.host): this is what a hijacked name looks "
                + "like."
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
    private var pinExpiry: String {
        guard let expiry = facts.mismatch?.rule.expiry, let now = facts.now else { return "" }
        return " (\(expiry.at.iso8601); now \(now.iso8601))"
    }

    /// ` (2025-01-01T00:00:00Z, now 2026-…)`: the first bound in the chain that `now` breaks.
    private func moment(_ bound: KeyPath<CertificateFacts, WallTime>) -> String {
        guard let now = facts.now else { return "" }
        let broken = facts.chain.map { $0[keyPath: bound] }
            .first { bound == \.notAfter ? $0 < now : now < $0 }
        return broken.map { " (\($0.iso8601); now \(now.iso8601))" } ?? ""
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
