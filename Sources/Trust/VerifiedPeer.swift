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
    /// The configured pin that matched; nil when no pins apply to this host.
    public let matchedPin: Pin?
    public let policy: PolicyFingerprint
    /// The earliest `notAfter` of the chain: the proof is void after it.
    public let validUntil: WallTime

    /// The one place where trust is asserted; see ``ChainJudge``.
    static func assertion(
        host: Host, chain: [CertificateFacts], matchedName: String, matchedPin: Pin?,
        policy: PolicyFingerprint, validUntil: WallTime
    ) -> VerifiedPeer {
        VerifiedPeer(
            host: host, chain: chain, matchedName: matchedName, matchedPin: matchedPin,
            policy: policy, validUntil: validUntil)
    }

    private init(
        host: Host, chain: [CertificateFacts], matchedName: String, matchedPin: Pin?,
        policy: PolicyFingerprint, validUntil: WallTime
    ) {
        self.host = host
        self.chain = chain
        self.matchedName = matchedName
        self.matchedPin = matchedPin
        self.policy = policy
        self.validUntil = validUntil
    }
}
