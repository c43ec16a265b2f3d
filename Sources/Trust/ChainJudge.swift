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
    package var revocation = RevocationEvidence()
    /// What the time stamps in the leaf are worth, not those that the peer sent beside it; nil: they
    /// were not checked.
    package var transparency: TransparencyReport?
    /// The common names in the leaf's subject; read only where an option lets them count.
    package var commonNames: [[UInt8]] = []

    package init(
        chain: [CertificateFacts], refusal: Refusal? = nil, libraryAcceptsName: Bool = true
    ) {
        self.chain = chain
        self.refusal = refusal
        self.libraryAcceptsName = libraryAcceptsName
    }
}

/// A peer whose chain, name and pins hold, and of whose revocation nobody has spoken yet. Permits
/// nothing: only ``ChainJudge/conclude(_:staple:stamps:now:)`` makes a proof of it.
package struct ProvisionalPeer: Sendable, Hashable {
    package let host: Host
    package let chain: [CertificateFacts]
    package let matchedName: String
    package let pinning: PinOutcome
    package let root: RootOrigin
    package let policy: PolicyFingerprint
    package let revocation: RevocationEvidence
    /// Of the certificate alone, until ``ChainJudge/conclude(_:staple:stamps:now:)``.
    package fileprivate(set) var transparency: TransparencyReport
    package let dangerous: [DangerousOptions.Option]
    package let commonNames: [[UInt8]]
    /// The time in which every certificate of the chain is valid.
    package let validity: ClosedRange<WallTime>

    fileprivate init(
        _ evidence: ChainEvidence, host: Host, validity: ClosedRange<WallTime>,
        match: (name: String, pinning: PinOutcome),
        judge: (PolicyFingerprint, TransparencyReport, [DangerousOptions.Option])
    ) {
        self.host = host
        chain = evidence.chain
        (matchedName, pinning) = match
        root = evidence.root
        (policy, transparency, dangerous) = judge
        revocation = evidence.revocation
        commonNames = dangerous.contains(.matchesCommonName) ? evidence.commonNames : []
        self.validity = validity
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
/// 4. The time stamps: see ``TransparencyPolicy``.
/// 5. Revocation: see ``RevocationJudge``.
///
/// In a handshake the last two come at its end, when all that the peer sends is there.
package struct ChainJudge: Sendable {
    package let policy: TrustPolicy
    package let fingerprint: PolicyFingerprint
    private let matcher: NameMatcher

    /// - Parameters:
    ///   - policy: what peers must prove.
    ///   - rootsEdition: tells readings of roots under one path apart; part of the fingerprint.
    ///   - material: names what was read from files for the policy: lists, client certificates, the
    ///     roots of some hosts; part of the fingerprint.
    ///   - matcher: for the names.
    package init(
        policy: TrustPolicy, rootsEdition: UInt64? = nil, material: String = "",
        matcher: NameMatcher = NameMatcher()
    ) {
        self.policy = policy
        fingerprint = PolicyFingerprint(
            text: policy.fingerprint.text + (rootsEdition.map { " edition:\($0)" } ?? "")
                + (material.isEmpty ? "" : " material:" + material))
        self.matcher = matcher
    }

    /// Judges a peer of which no more is to come: from a file, not from a handshake.
    ///
    /// - Throws: ``TrustFailure``, the first rule that is broken.
    package func judge(
        host: Host, evidence: ChainEvidence, now: WallTime
    ) throws(TrustFailure) -> VerifiedPeer {
        try conclude(
            examine(host: host, evidence: evidence, now: now), staple: .notAsked, now: now)
    }

    /// All rules but those of time stamps and revocation.
    ///
    /// - Throws: ``TrustFailure``, the first rule that is broken.
    package func examine(
        host: Host, evidence: ChainEvidence, now: WallTime
    ) throws(TrustFailure) -> ProvisionalPeer {
        // Made only for a failure.
        let facts = { self.facts(host: host, chain: evidence.chain, now: now) }
        if let refusal = evidence.refusal {
            var facts = facts()
            facts.detail = refusal.detail
            throw TrustFailure(code: refusal.code, facts: facts)
        }
        let dangerous = policy.dangerous.options(for: host)
        let validity = try validity(
            of: evidence.chain, now: now, acceptsExpired: dangerous.contains(.acceptsExpired),
            facts: facts)
        let matchedName = try name(
            host: host, evidence: evidence, dangerous: dangerous, facts: facts)
        let pinning = try pinning(host: host, evidence, now: now, facts: facts)
        let transparency = transparency(of: evidence, host: host)
        return ProvisionalPeer(
            evidence, host: host, validity: validity, match: (matchedName, pinning),
            judge: (fingerprint, transparency, dangerous))
    }

    /// The rules of time stamps and revocation, and the proof.
    ///
    /// - Parameters:
    ///   - peer: the peer, examined.
    ///   - staple: what it stapled.
    ///   - stamps: the time stamps that it sent beside its certificate; nil: none.
    ///   - now: the moment.
    /// - Throws: ``TrustFailure``; `policy_changed` for a peer that was examined under another policy.
    package func conclude(
        _ peer: ProvisionalPeer, staple: StapleEvidence, stamps: TransparencyReport? = nil,
        now: WallTime
    ) throws(TrustFailure) -> VerifiedPeer {
        func failure(_ code: TrustFailure.Code, _ detail: String? = nil) -> TrustFailure {
            var facts = facts(host: peer.host, chain: peer.chain, now: now)
            facts.detail = detail
            return TrustFailure(code: code, facts: facts)
        }
        guard peer.policy == fingerprint else {
            throw failure(.policyChanged, "the peer was examined under another policy")
        }
        let acceptsExpired = policy.dangerous.options(for: peer.host).contains(.acceptsExpired)
        guard now <= peer.validity.upperBound || acceptsExpired else { throw failure(.expired) }
        guard peer.validity.lowerBound <= now else { throw failure(.notYetValid) }
        var peer = peer
        if let stamps, peer.transparency.status == .checked {
            peer.transparency = peer.transparency.adding(stamps)
        }
        if let shortage = shortage(of: peer.transparency) { throw failure(.notLogged, shortage) }
        let report: RevocationReport
        do {
            report = try RevocationJudge.judge(
                peer.revocation, staple: staple, mode: policy.revocation.mode, now: now)
        } catch { throw failure(error.code, error.detail) }
        return assert(peer, report)
    }

    private func assert(_ peer: ProvisionalPeer, _ report: RevocationReport) -> VerifiedPeer {
        var validUntil = peer.validity.upperBound
        if report.isRequired, case .good(_, let until?) = report.leaf {
            validUntil = min(validUntil, until.adding(seconds: RevocationJudge.skewSeconds))
        }
        return VerifiedPeer.assertion(peer, revocation: report, validUntil: validUntil)
    }

    private func facts(
        host: Host, chain: [CertificateFacts], now: WallTime
    ) -> TrustFailure.Facts {
        var facts = TrustFailure.Facts(host: host)
        facts.chain = chain
        facts.now = now
        facts.dangerous = policy.dangerous.options(for: host)
        return facts
    }

    /// Judges a proof anew: whether it still holds now, for this host, under this policy.
    ///
    /// - Throws: ``TrustFailure``: `policy_changed` when the proof was made under another policy or
    ///   for another host.
    package func confirm(
        _ peer: VerifiedPeer, host: Host, now: WallTime
    ) throws(TrustFailure) -> VerifiedPeer {
        var facts = facts(host: host, chain: peer.chain, now: now)
        guard peer.host == host, peer.policy == fingerprint else {
            facts.detail =
                peer.host == host
                ? "the connection was verified under another policy"
                : "the connection was verified for \(peer.host)"
            throw TrustFailure(code: .policyChanged, facts: facts)
        }
        var evidence = ChainEvidence(chain: peer.chain)
        evidence.root = peer.root
        if case .mismatched(let mismatch) = peer.pinning { evidence.served = mismatch.served }
        evidence.transparency = peer.transparency
        evidence.commonNames = peer.commonNames
        let held = try examine(host: host, evidence: evidence, now: now)
        if let shortage = shortage(of: held.transparency) {
            facts.detail = shortage
            throw TrustFailure(code: .notLogged, facts: facts)
        }
        do { try RevocationJudge.confirm(peer.revocation, now: now) } catch {
            facts.detail = error.detail
            throw TrustFailure(code: error.code, facts: facts)
        }
        return assert(held, peer.revocation)
    }

    private func transparency(
        of evidence: ChainEvidence, host: Host
    ) -> TransparencyReport {
        let rule = policy.transparency
        guard rule.mode != .off else { return TransparencyReport(status: .off) }
        guard !rule.isExempt(host) else { return TransparencyReport(status: .exempt) }
        return evidence.transparency ?? TransparencyReport(status: .notChecked)
    }

    /// What is missing where logs are required.
    private func shortage(of report: TransparencyReport) -> String? {
        guard case .require(let wanted) = policy.transparency.mode, report.status != .exempt,
            report.logs.count < max(1, wanted)
        else { return nil }
        return "\(max(1, wanted)) logs are required: \(report.summary)"
    }

    /// When all are valid. Both ends of a validity period belong to it. Source: RFC 5280 §4.1.2.5.
    ///
    /// One that has ended and may have says nothing of the end; where all have, it is this moment.
    private func validity(
        of chain: [CertificateFacts], now: WallTime, acceptsExpired: Bool,
        facts: () -> TrustFailure.Facts
    ) throws(TrustFailure) -> ClosedRange<WallTime> {
        guard var validFrom = chain.first?.notBefore else {
            throw TrustFailure(code: .noCertificate, facts: facts())
        }
        var validUntil: WallTime?
        for depth in chain.indices {
            let (notBefore, notAfter) = (chain[depth].notBefore, chain[depth].notAfter)
            guard notBefore <= now else {
                throw TrustFailure(code: .notYetValid, facts: facts())
            }
            validFrom = max(validFrom, notBefore)
            guard now <= notAfter else {
                guard acceptsExpired else { throw TrustFailure(code: .expired, facts: facts()) }
                continue
            }
            validUntil = min(validUntil ?? notAfter, notAfter)
        }
        // Both hold `now` between them.
        return validFrom...(validUntil ?? now)
    }

    private func name(
        host: Host, evidence: ChainEvidence, dangerous: [DangerousOptions.Option],
        facts: () -> TrustFailure.Facts
    ) throws(TrustFailure) -> String {
        func failure(_ code: TrustFailure.Code, _ detail: String? = nil) -> TrustFailure {
            var facts = facts()
            facts.detail = detail
            return TrustFailure(code: code, facts: facts)
        }
        guard let leaf = evidence.chain.first else { throw failure(.noCertificate) }
        switch matcher.match(host, leaf) {
        case .malformed(let fault): throw failure(.malformedName, fault)
        case .mismatched:
            guard dangerous.contains(.matchesCommonName),
                let name = commonName(host, evidence, leaf)
            else { throw failure(.wrongName) }
            // A name that counts is under the constraints of the authorities like any other.
            var named = leaf
            named.dnsNames = [Array(name.utf8)]
            let chain = [named] + evidence.chain.dropFirst()
            if let fault = ChainRules(profile: policy.profile).constraints(of: chain) {
                throw failure(fault.code, fault.detail)
            }
            return name
        case .matched(let name):
            guard evidence.libraryAcceptsName else {
                throw failure(.wrongName, "OpenSSL's matcher refuses \"\(name)\" for \(host)")
            }
            return name
        }
    }

    private func pinning(
        host: Host, _ evidence: ChainEvidence, now: WallTime, facts: () -> TrustFailure.Facts
    ) throws(TrustFailure) -> PinOutcome {
        do { return try policy.pins.outcome(for: host, evidence, now: now) } catch {
            var facts = facts()
            facts.configuredPins = error.mismatch.rule.sortedPins
            facts.pinPattern = error.mismatch.pattern.description
            facts.mismatch = error.mismatch
            throw TrustFailure(code: error.code, facts: facts)
        }
    }

    /// The subject's one common name, where it is the host.
    private func commonName(
        _ host: Host, _ evidence: ChainEvidence, _ leaf: CertificateFacts
    ) -> String? {
        guard leaf.dnsNames.isEmpty, leaf.ipAddresses.isEmpty, evidence.commonNames.count == 1,
            case .name(let name) = host,
            let octets = evidence.commonNames.first,
            let presented = try? HostName(String(decoding: octets, as: UTF8.self)),
            presented == name
        else { return nil }
        return name.text
    }
}
