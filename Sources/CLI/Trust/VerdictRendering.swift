internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSTrust

extension PinOutcome {
    /// For people, in a line.
    var phrase: String {
        switch self {
        case .unpinned: "none is set for this host"
        case .exempt(let pattern): "none: \(pattern) is exempt"
        case .matched(let pin, let pattern): "\(pin) matched (\(pattern))"
        case .mismatched(let mismatch):
            "NONE MATCHED, and \(mismatch.pattern) only reports; configured pins: "
                + mismatch.rule.sortedPins.map(\.description).joined(separator: ", ")
        case .lapsed(let pattern, let moment):
            "none: those of \(pattern) ended \(moment.iso8601)"
        case .waived(let pattern):
            "none: \(pattern) waives them for a root that was added to this machine"
        }
    }

    /// For programs: `matched`, and so on.
    var label: String {
        switch self {
        case .unpinned: "unpinned"
        case .exempt: "exempt"
        case .matched: "matched"
        case .mismatched: "mismatched"
        case .lapsed: "expired"
        case .waived: "waived"
        }
    }

    var pattern: HostPattern? {
        switch self {
        case .unpinned: nil
        case .exempt(let pattern), .matched(_, let pattern), .lapsed(let pattern, _),
            .waived(let pattern):
            pattern
        case .mismatched(let mismatch): mismatch.pattern
        }
    }
}

/// A verdict as text and as JSON. Pure.
enum VerdictRendering {
    /// The certificates, then the verdict.
    static func lines(_ verdict: PeerVerdict, _ paint: Paint) -> [String] {
        var lines = [paint.bold(heading(verdict))]
        for (number, certificate) in verdict.chain.enumerated() {
            lines += certificateLines(certificate, number, paint)
        }
        switch verdict.result {
        case .success(let peer):
            let root = peer.root == .user ? ", by a root that was added to this machine" : ""
            lines.append(
                paint.green("trusted") + ": \(verdict.host) is \(peer.matchedName.printable) of "
                    + "the certificate, until \(peer.validUntil.iso8601)\(root)")
            lines.append("pins: " + peer.pinning.phrase)
            lines += besides(peer, paint)
        case .failure(.untrusted(let failure)):
            let message = verdict.message(failure)
                .split(separator: "\n", omittingEmptySubsequences: false).map { $0.description }
            lines.append(paint.red("not trusted") + ": " + (message.first ?? "").printable)
            lines += message.dropFirst().map(\.printable)
        case .failure(.unreached(_, let why, _)):
            lines.append(paint.red("not judged") + ": " + why.printable)
        }
        return lines
    }

    /// What a proof says besides whom it proves.
    static func besides(_ peer: VerifiedPeer, _ paint: Paint) -> [String] {
        var lines = ["revocation: " + peer.revocation.summary.printable]
        if peer.transparency.status != .off {
            lines.append("transparency: " + peer.transparency.summary.printable)
        }
        if !peer.dangerous.isEmpty {
            let options = peer.dangerous.map(\.label).joined(separator: ", ")
            lines.append(paint.red("DANGEROUS") + ": " + options)
        }
        return lines
    }

    private static func heading(_ verdict: PeerVerdict) -> String {
        let tls = [verdict.version, verdict.cipher].compactMap { $0 }.joined(separator: " ")
        return [
            verdict.subject, verdict.endpoint.map { "at \($0)" },
            verdict.giver.map { "(given by \($0))" }, tls.isEmpty ? nil : tls,
        ].compactMap { $0 }.joined(separator: " ").printable
    }

    private static func certificateLines(
        _ certificate: CertificateFacts, _ number: Int, _ paint: Paint
    ) -> [String] {
        let subject = certificate.subject.isEmpty ? "(no subject)" : certificate.subject
        let names = names(of: certificate)
        let rows: [(String, String)] = [
            ("issuer", certificate.issuer.isEmpty ? "(none)" : certificate.issuer),
            ("names", names.isEmpty ? "none" : names.joined(separator: ", ")),
            (
                "valid",
                "\(certificate.notBefore.iso8601) to \(certificate.notAfter.iso8601)"
            ),
            ("key", "\(certificate.key), signed with \(certificate.signatureAlgorithm)"),
            ("pin", certificate.pin.description),
        ]
        return [" \(number)  " + shortened(subject).printable]
            + rows.filter { $0.0 != "names" || !certificate.isCA }.map { name, value in
                "    " + paint.dim(name + String(repeating: " ", count: 8 - name.count))
                    + shortened(value).printable
            }
    }

    /// The names and addresses of the SAN, safe to print.
    static func names(of certificate: CertificateFacts) -> [String] {
        certificate.dnsNames.map(NameMatcher.escaped)
            + certificate.ipAddresses.map { IPAddress(octets: $0)?.description ?? "?" }
            + certificate.otherNameKinds.map { "(\($0))" }
    }

    /// Because: a peer may write 100 KB into a name.
    private static func shortened(_ text: String) -> String {
        text.count > 2_000 ? text.prefix(2_000) + "…" : text
    }

    static func json(_ verdict: PeerVerdict) -> JSONValue {
        var object: JSONObject = [
            "subject": .string(verdict.subject), "host": .string(verdict.host.description),
            "address": text(verdict.endpoint?.address.description),
            "port": verdict.endpoint.map { .integer(Int64($0.port.number)) } ?? .null,
            "givenBy": text(verdict.giver), "tlsVersion": text(verdict.version),
            "cipher": text(verdict.cipher),
        ]
        var peer: VerifiedPeer?
        if case .success(let proof) = verdict.result { peer = proof }
        object["trusted"] = .bool(peer != nil)
        object["chain"] = .array(verdict.chain.map(json))
        object["name"] = text(peer?.matchedName)
        object["validUntil"] = text(peer?.validUntil.iso8601)
        object["root"] = text(peer?.root.rawValue)
        object["pinning"] = peer.map { json($0.pinning) } ?? .null
        object["revocation"] = peer.map { FetchRendering.revocation($0.revocation) } ?? .null
        object["transparency"] = peer.map { FetchRendering.transparency($0.transparency) } ?? .null
        object["dangerous"] = FetchRendering.dangerous(dangerous(verdict))
        object["error"] = error(verdict)
        return .object(object)
    }

    /// The keys of a result, for a command that could not even begin.
    static func json(_ fault: CommandFault, subject: String?) -> JSONValue {
        var object: JSONObject = [:]
        for name in [
            "subject", "host", "address", "port", "givenBy", "tlsVersion", "cipher",
        ] { object[name] = .null }
        object["subject"] = text(subject)
        object["trusted"] = false
        object["chain"] = []
        for name in ["name", "validUntil", "root", "pinning", "revocation", "transparency"] {
            object[name] = .null
        }
        object["dangerous"] = []
        object["error"] = [
            "code": "usage", "rule": nil, "message": .string(fault.message),
        ]
        return .object(object)
    }

    /// What is set for the host, needed or not.
    private static func dangerous(_ verdict: PeerVerdict) -> [DangerousOptions.Option] {
        switch verdict.result {
        case .success(let peer): peer.dangerous
        case .failure(.untrusted(let failure)): failure.facts.dangerous
        case .failure(.unreached): []
        }
    }

    private static func error(_ verdict: PeerVerdict) -> JSONValue {
        switch verdict.result {
        case .success: .null
        case .failure(.untrusted(let failure)):
            [
                "code": .string(failure.label), "rule": .string(failure.code.rule),
                "message": .string(verdict.message(failure)),
            ]
        case .failure(.unreached(let label, let why, _)):
            ["code": .string(label), "rule": nil, "message": .string(why)]
        }
    }

    static func json(_ certificate: CertificateFacts) -> JSONValue {
        [
            "subject": .string(certificate.subject), "issuer": .string(certificate.issuer),
            "dnsNames": .array(certificate.dnsNames.map { .string(NameMatcher.escaped($0)) }),
            "ipAddresses": .array(
                certificate.ipAddresses.map {
                    .string(IPAddress(octets: $0)?.description ?? "?")
                }),
            "notBefore": .string(certificate.notBefore.iso8601),
            "notAfter": .string(certificate.notAfter.iso8601), "key": .string(certificate.key),
            "signatureAlgorithm": .string(certificate.signatureAlgorithm),
            "serial": .string(certificate.serial), "isCA": .bool(certificate.isCA),
            "pin": .string(certificate.pin.description),
        ]
    }

    static func json(_ outcome: PinOutcome) -> JSONValue {
        var pin: Pin?
        if case .matched(let matched, _) = outcome { pin = matched }
        return [
            "outcome": .string(outcome.label), "pin": text(pin?.description),
            "pattern": text(outcome.pattern?.description),
        ]
    }

    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
