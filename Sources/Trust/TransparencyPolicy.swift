public import HTTPDNSNames

/// Whether certificates must be on public record: Certificate Transparency, RFC 6962.
///
/// A log's promise to show a certificate to everybody is a signed time stamp (SCT): in the certificate
/// itself, in an extension of the handshake, or in the stapled OCSP response. All three count alike
/// (RFC 6962 §3.3). The logs are yours to name; none is built in, since a list that is not kept up
/// to date refuses good certificates after a year.
public struct TransparencyPolicy: Sendable, Hashable {
    /// What is demanded.
    public enum Mode: Sendable, Hashable {
        case off
        /// Checked and said in the result; nothing is refused.
        case report
        /// Time stamps of at least so many different logs must be valid; less than 1 counts as 1.
        case require(minimumLogs: Int)
    }

    /// Which logs are known.
    public enum Logs: Sendable, Hashable {
        /// A JSON file in the form of `log_list.json`, version 3
        /// (`operators[].logs[].{key,log_id,state}`), or public keys in PEM, or one key in base64 a
        /// line; read when the policy is put to use.
        case file(String)
        /// The same as text.
        case text(String)
    }

    public var mode: Mode
    public var logs: [Logs]
    /// Hosts of which nothing is demanded: those of a private authority, which no log takes.
    public var exempt: Set<HostPattern>

    public init(_ mode: Mode = .off, logs: [Logs] = [], exempt: Set<HostPattern> = []) {
        self.mode = mode
        self.logs = logs
        self.exempt = exempt
    }

    /// Different logs that ``Mode/require(minimumLogs:)`` usually asks for.
    ///
    /// Source: the Chrome Certificate Transparency policy: two for certificates of at most 180 days.
    public static let usualLogs = 2

    package func isExempt(_ host: Host) -> Bool { exempt.contains { $0.matches(host) } }

    var canonicalText: String {
        let demand =
            switch mode {
            case .off: "off"
            case .report: "report"
            case .require(let logs): "require\(logs)"
            }
        return demand + logs.map { "," + $0.identity }.joined()
            + exempt.map { ",-" + $0.distinctText }.sorted().joined()
    }
}

extension TransparencyPolicy.Logs {
    var identity: String {
        switch self {
        case .file(let path): "file:\(path.utf8.count):\(path)"
        case .text(let text): "text:\(text.utf8.count):\(text)"
        }
    }
}

/// What was found out about a certificate's time stamps.
public struct TransparencyReport: Sendable, Hashable {
    /// A log that has promised to show the certificate.
    public struct Log: Sendable, Hashable {
        /// As the list of logs names it; its identifier in hexadecimal where the list does not.
        public let name: String
        /// Who runs it; nil where the list does not say.
        public let runner: String?
        /// SHA-256 of its key. Source: RFC 6962 §3.2.
        package let identifier: [UInt8]

        package init(name: String, runner: String? = nil, identifier: [UInt8] = []) {
            self.name = name
            self.runner = runner
            self.identifier = identifier
        }
    }

    /// Whether it was looked for.
    public enum Status: String, Sendable, Hashable {
        case checked
        /// The policy says `off`.
        case off
        /// The policy exempts the host.
        case exempt
        /// There was no verified issuer to check against.
        case notChecked = "not_checked"
    }

    public let status: Status
    /// Those whose time stamp is valid, each once.
    public let logs: [Log]
    /// Time stamps in the certificate.
    public let embeddedCount: Int
    /// Time stamps in the handshake's extension `signed_certificate_timestamp`.
    public let handshakeCount: Int
    /// Time stamps in the stapled OCSP response.
    public let stapledCount: Int
    /// Those of logs that the policy does not know, or that have been retired.
    public let unknownCount: Int
    /// Those whose signature or time is wrong.
    public let invalidCount: Int

    package init(
        status: Status, logs: [Log] = [], embeddedCount: Int = 0, handshakeCount: Int = 0,
        stapledCount: Int = 0, unknownCount: Int = 0, invalidCount: Int = 0
    ) {
        self.status = status
        self.logs = logs
        self.embeddedCount = embeddedCount
        self.handshakeCount = handshakeCount
        self.stapledCount = stapledCount
        self.unknownCount = unknownCount
        self.invalidCount = invalidCount
    }

    /// `(2 in the handshake) `.
    private var beside: String {
        let parts = [(handshakeCount, "in the handshake"), (stapledCount, "in the staple")]
            .filter { $0.0 > 0 }.map { "\($0) \($1)" }
        return parts.isEmpty ? "" : "(\(parts.joined(separator: ", "))) "
    }

    /// With what the peer sent beside its certificate; a log that promised twice counts once.
    package func adding(_ sent: TransparencyReport) -> TransparencyReport {
        let new = sent.logs.filter { log in
            !logs.contains { $0.identifier == log.identifier && $0.name == log.name }
        }
        return TransparencyReport(
            status: status, logs: logs + new, embeddedCount: embeddedCount + sent.embeddedCount,
            handshakeCount: handshakeCount + sent.handshakeCount,
            stapledCount: stapledCount + sent.stapledCount,
            unknownCount: unknownCount + sent.unknownCount,
            invalidCount: invalidCount + sent.invalidCount)
    }

    /// One line for people.
    public var summary: String {
        switch status {
        case .off: return "not checked: the policy says off"
        case .exempt: return "not checked: the policy exempts the host"
        case .notChecked: return "not checked"
        case .checked:
            let names = logs.map(\.name).joined(separator: ", ")
            return "\(logs.count) logs" + (logs.isEmpty ? "" : " (\(names))")
                + ", of \(embeddedCount + handshakeCount + stapledCount) time stamps \(beside)"
                + "\(unknownCount) by unknown logs and \(invalidCount) invalid"
        }
    }
}
