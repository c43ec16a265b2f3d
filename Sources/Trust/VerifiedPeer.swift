public import HTTPDNSNames

/// Proof that a TLS peer is the host we mean, under a named policy.
///
/// Only ``ChainJudge`` makes one (`scripts/lint` counts the calls of `assertion`), from a chain
/// that the TLS library built to a trusted root. Holding one is what permits sending a request.
public struct VerifiedPeer: Sendable, Hashable {
    /// Whom the certificate was judged against: never the address connected to.
    public let host: Host
    /// The verified chain, leaf first, root last.
    public let chain: [CertificateFacts]
    /// The SAN entry that matched, as text.
    public let matchedName: String
    /// What the pins had to say.
    public let pinning: PinOutcome
    /// Where the root of the chain comes from.
    public let root: RootOrigin
    public let policy: PolicyFingerprint
    /// The earliest `notAfter` of the chain: the proof is void after it. Earlier where the policy or
    /// the certificate demands a proof that it was not revoked, and that one ends first. Certificates
    /// that have ended and may have (``DangerousOptions/Option/acceptsExpired``) do not count.
    public let validUntil: WallTime
    /// What was checked about revocation, and what was not.
    public let revocation: RevocationReport
    /// What was checked about Certificate Transparency.
    public let transparency: TransparencyReport
    /// The ``DangerousOptions`` that are set for the host, needed or not.
    public let dangerous: [DangerousOptions.Option]
    /// The common names of its subject, where an option lets them count; for judging anew.
    package let commonNames: [[UInt8]]

    /// The configured pin that matched; nil when none had to, or when the rule only reports.
    public var matchedPin: Pin? {
        if case .matched(let pin, _) = pinning { pin } else { nil }
    }

    /// The one place where trust is asserted; see ``ChainJudge``.
    static func assertion(
        _ provisional: ProvisionalPeer, revocation: RevocationReport, validUntil: WallTime
    ) -> VerifiedPeer {
        VerifiedPeer(provisional, revocation: revocation, validUntil: validUntil)
    }

    private init(
        _ provisional: ProvisionalPeer, revocation: RevocationReport, validUntil: WallTime
    ) {
        host = provisional.host
        chain = provisional.chain
        matchedName = provisional.matchedName
        pinning = provisional.pinning
        root = provisional.root
        policy = provisional.policy
        transparency = provisional.transparency
        dangerous = provisional.dangerous
        commonNames = provisional.commonNames
        self.revocation = revocation
        self.validUntil = validUntil
    }
}
