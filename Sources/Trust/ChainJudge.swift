package import HTTPDNSNames

/// What the TLS library found out about a peer's certificates, before anyone judges it.
package struct ChainEvidence: Sendable, Hashable {
    /// Why the library built no chain to a trusted root.
    package struct Refusal: Sendable, Hashable {
        package let code: TrustFailure.Code
        /// The library's own words.
        package let detail: String

        package init(_ code: TrustFailure.Code, detail: String) {
            self.code = code
            self.detail = detail
        }
    }

    /// The verified chain, leaf first, root last; the chain as presented where there is a refusal.
    package let chain: [CertificateFacts]
    package let refusal: Refusal?
    /// A second opinion: whether the library's own matcher accepts the host, too.
    package let libraryAcceptsName: Bool
    /// Where the root of a verified chain comes from.
    package var root = RootOrigin.policy
    /// The chain as the peer sent it, where somebody asked to keep it: for reports alone.
    package var served: [CertificateFacts] = []

    package init(
        chain: [CertificateFacts], refusal: Refusal? = nil, libraryAcceptsName: Bool = true
    ) {
        self.chain = chain
        self.refusal = refusal
        self.libraryAcceptsName = libraryAcceptsName
    }
}

/// Decides whether a peer is the host we mean, under one policy. Does no I/O.
///
/// Rules, in this order; the first that is broken is the failure:
/// 1. The chain: built, signed and fit for a server, as the TLS library found it, and every
///    certificate valid now. No pin and no name outweighs a bad chain. Source: RFC 7469 §2.6.
/// 2. The name: see ``NameMatcher``; the TLS library's matcher has to agree.
/// 3. The pins: where the policy pins the host, one certificate of the *verified* chain has a
///    pinned key, or the rule says in so many words what else will do; see ``PinOutcome``. A
///    certificate that the peer merely sent along counts for nothing: anyone can append the pinned
///    certificate to a chain of his own.
package struct ChainJudge: Sendable {
    package let policy: TrustPolicy
    package let fingerprint: PolicyFingerprint
    private let matcher: NameMatcher

    /// - Parameters:
    ///   - policy: what peers must prove.
    ///   - rootsEdition: tells readings of roots under one path apart; part of the fingerprint.
    ///   - matcher: for the names.
    package init(
        policy: TrustPolicy, rootsEdition: UInt64? = nil, matcher: NameMatcher = NameMatcher()
    ) {
        self.policy = policy
        let named = policy.fingerprint
        fingerprint =
            rootsEdition.map { PolicyFingerprint(text: "\(named.text) edition:\($0)") } ?? named
        self.matcher = matcher
    }

    /// - Throws: ``TrustFailure``, the first rule that is broken.
    package func judge(
        host: Host, evidence: ChainEvidence, now: WallTime
    ) throws(TrustFailure) -> VerifiedPeer {
        var facts = TrustFailure.Facts(host: host)
        facts.chain = evidence.chain
        facts.now = now
        if let refusal = evidence.refusal {
            facts.detail = refusal.detail
            throw TrustFailure(code: refusal.code, facts: facts)
        }
        let validUntil = try validity(of: evidence.chain, now: now, facts: facts)
        let matchedName = try name(host: host, evidence: evidence, facts: facts)
        let pinning = try pinning(host: host, evidence, now: now, facts: facts)
        return VerifiedPeer.assertion(
            host: host, evidence, matchedName: matchedName, pinning: pinning,
            until: VerifiedPeer.Term(policy: fingerprint, validUntil: validUntil))
    }

    /// Judges a proof anew: whether it still holds now, for this host, under this policy.
    ///
    /// - Throws: ``TrustFailure``: `policy_changed` when the proof was made under another policy or
    ///   for another host.
    package func confirm(
        _ peer: VerifiedPeer, host: Host, now: WallTime
    ) throws(TrustFailure) -> VerifiedPeer {
        guard peer.host == host, peer.policy == fingerprint else {
            var facts = TrustFailure.Facts(host: host)
            facts.chain = peer.chain
            facts.now = now
            facts.detail =
                peer.host == host
                ? "the connection was verified under another policy"
                : "the connection was verified for \(peer.host)"
            throw TrustFailure(code: .policyChanged, facts: facts)
        }
        var evidence = ChainEvidence(chain: peer.chain)
        evidence.root = peer.root
        if case .mismatched(let mismatch) = peer.pinning { evidence.served = mismatch.served }
        return try judge(host: host, evidence: evidence, now: now)
    }

    /// The earliest `notAfter`. Both ends of a validity period belong to it. Source: RFC 5280
    /// §4.1.2.5.
    private func validity(
        of chain: [CertificateFacts], now: WallTime, facts: TrustFailure.Facts
    ) throws(TrustFailure) -> WallTime {
        guard var validUntil = chain.first?.notAfter else {
            throw TrustFailure(code: .noCertificate, facts: facts)
        }
        for certificate in chain {
            guard certificate.notBefore <= now else {
                throw TrustFailure(code: .notYetValid, facts: facts)
            }
            guard now <= certificate.notAfter else {
                throw TrustFailure(code: .expired, facts: facts)
            }
            validUntil = min(validUntil, certificate.notAfter)
        }
        return validUntil
    }

    private func name(
        host: Host, evidence: ChainEvidence, facts: TrustFailure.Facts
    ) throws(TrustFailure) -> String {
        var facts = facts
        guard let leaf = evidence.chain.first else {
            throw TrustFailure(code: .noCertificate, facts: facts)
        }
        switch matcher.match(host, leaf) {
        case .malformed(let fault):
            facts.detail = fault
            throw TrustFailure(code: .malformedName, facts: facts)
        case .mismatched: throw TrustFailure(code: .wrongName, facts: facts)
        case .matched(let name):
            guard evidence.libraryAcceptsName else {
                facts.detail = "OpenSSL's matcher refuses \"\(name)\" for \(host)"
                throw TrustFailure(code: .wrongName, facts: facts)
            }
            return name
        }
    }

    private func pinning(
        host: Host, _ evidence: ChainEvidence, now: WallTime, facts: TrustFailure.Facts
    ) throws(TrustFailure) -> PinOutcome {
        do { return try policy.pins.outcome(for: host, evidence, now: now) } catch {
            var facts = facts
            facts.configuredPins = error.mismatch.rule.sortedPins
            facts.pinPattern = error.mismatch.pattern.description
            facts.mismatch = error.mismatch
            throw TrustFailure(code: error.code, facts: facts)
        }
    }
}
