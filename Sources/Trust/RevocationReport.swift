public import HTTPDNSNames

/// What was found out about the revocation of one certificate.
public enum RevocationStatus: Sendable, Hashable {
    /// Who says so.
    public enum Source: String, Sendable, Hashable {
        /// The OCSP response that the peer stapled to the handshake.
        case staple
        /// A revocation list that the policy gives.
        case list = "crl"
    }

    /// Why nothing was found out; never an assurance of any kind.
    public enum Reason: String, Sendable, Hashable {
        /// The policy says `off`.
        case off
        /// The certificate was judged without a handshake, and no list speaks of its issuer.
        case noHandshake = "no_handshake"
        /// The peer stapled nothing, and no list speaks of its issuer.
        case nothingPresent = "nothing_present"
        /// There was a staple or a list, and it proves nothing: ``RevocationReport/remarks`` say why.
        case unusable
    }

    /// Not revoked, as its issuer says, until this moment; nil: the source names none.
    case good(Source, until: WallTime?)
    case notChecked(Reason)

    /// `good`, or `not_checked`: a bounded set.
    public var label: String {
        switch self {
        case .good: "good"
        case .notChecked: "not_checked"
        }
    }
}

/// What was checked about the revocation of a peer's certificates, and what was not.
public struct RevocationReport: Sendable, Hashable {
    /// Of the peer's own certificate.
    public let leaf: RevocationStatus
    /// Of the authorities between leaf and root, lowest first. Only lists speak of these; the root
    /// is trusted because it is given, and nobody can revoke it.
    public let issuers: [RevocationStatus]
    /// What was present and proves nothing, in words: `the staple ended 2026-11-29T10:00:00Z`.
    public let remarks: [String]
    /// Whether the policy or the certificate itself demands that ``leaf`` is good.
    public let isRequired: Bool

    package init(
        leaf: RevocationStatus, issuers: [RevocationStatus] = [], remarks: [String] = [],
        isRequired: Bool = false
    ) {
        self.leaf = leaf
        self.issuers = issuers
        self.remarks = remarks
        self.isRequired = isRequired
    }

    /// For a policy that says `off`.
    package static let off = RevocationReport(leaf: .notChecked(.off))

    /// One line for people: `good, as the staple says until …`; `not checked: …`.
    public var summary: String {
        let words =
            switch leaf {
            case .good(let source, let until):
                "good, as the \(source == .staple ? "staple" : "revocation list") says"
                    + (until.map { " until \($0.iso8601)" } ?? "")
            case .notChecked(.off): "not checked: the policy says off"
            case .notChecked(.noHandshake): "not checked: no handshake, no list"
            case .notChecked(.nothingPresent): "not checked: no staple, no list of its issuer"
            case .notChecked(.unusable): "not checked: what is there proves nothing"
            }
        return ([words] + remarks).joined(separator: "; ")
    }
}
