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
    /// The earliest `notAfter` of the chain: the proof is void after it.
    public let validUntil: WallTime

    /// The configured pin that matched; nil when none had to, or when the rule only reports.
    public var matchedPin: Pin? {
        if case .matched(let pin, _) = pinning { pin } else { nil }
    }

    /// Under which policy a proof holds, and until when.
    struct Term {
        let policy: PolicyFingerprint
        let validUntil: WallTime
    }

    /// The one place where trust is asserted; see ``ChainJudge``.
    static func assertion(
        host: Host, _ evidence: ChainEvidence, matchedName: String, pinning: PinOutcome,
        until term: Term
    ) -> VerifiedPeer {
        VerifiedPeer(
            host: host, evidence, matchedName: matchedName, pinning: pinning, until: term)
    }

    private init(
        host: Host, _ evidence: ChainEvidence, matchedName: String, pinning: PinOutcome,
        until term: Term
    ) {
        self.host = host
        chain = evidence.chain
        self.matchedName = matchedName
        self.pinning = pinning
        root = evidence.root
        policy = term.policy
        validUntil = term.validUntil
    }
}
