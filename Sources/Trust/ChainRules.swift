package import HTTPDNSNames

/// The rules for a chain that the TLS library has built and whose signatures it has checked.
///
/// They stand beside the library's own, which differ from version to version and pass over some:
/// a chain is accepted only when both accept it.
///
/// - Rules for each certificate alone: ``fault(of:at:now:)``.
/// - Rules for the chain: path lengths, usages and name constraints.
package struct ChainRules: Sendable {
    /// Where in a chain a certificate stands. A leaf that is trusted itself is its own anchor.
    package enum Place: Sendable, Hashable {
        case leaf(isAnchor: Bool)
        case authority(isAnchor: Bool)

        var isAnchor: Bool {
            switch self {
            case .leaf(let isAnchor), .authority(let isAnchor): isAnchor
            }
        }

        var isLeaf: Bool { if case .leaf = self { true } else { false } }
    }

    package let profile: TrustPolicy.Profile
    /// What the chain has to be fit for; one of them is enough.
    package var usages: CertificateParticulars.ExtendedUsages = .server
    package var strength = KeyStrength.usual
    /// See ``DangerousOptions/Option/acceptsExpired``.
    package var acceptsExpired = false
    /// Authorities between leaf and anchor; self-issued ones do not count, as for path lengths.
    package var maximumIntermediates = 10

    package init(profile: TrustPolicy.Profile) { self.profile = profile }

    /// The first rule that the chain breaks: of the single certificates from the leaf up, then of
    /// the chain.
    package func fault(in chain: [CertificateFacts], at now: WallTime) -> ChainFault? {
        // By index here and below: a certificate has some thirty parts, all of which a copy retains.
        for depth in chain.indices {
            let place = ChainRules.place(of: depth, in: chain)
            if let fault = fault(of: chain[depth], at: place, now: now) {
                return fault.at(depth: depth)
            }
        }
        return usage(of: chain) ?? pathLength(of: chain) ?? constraints(of: chain)
    }

    /// Certificates in a chain, for who builds them: a few more than count.
    package var longestPath: Int { maximumIntermediates + 2 + ChainRules.mostSelfIssued }

    /// Because: an authority that changes its key issues itself one certificate, or two.
    private static let mostSelfIssued = 2

    static func place(of depth: Int, in chain: [CertificateFacts]) -> Place {
        let isAnchor = depth == chain.count - 1
        return depth == 0 ? .leaf(isAnchor: isAnchor) : .authority(isAnchor: isAnchor)
    }

    /// An authority's usages bound those of what it issues. Source: RFC 5280 §4.2.1.12, CA/B BR
    /// §7.1.2.2.3.
    private func usage(of chain: [CertificateFacts]) -> ChainFault? {
        guard !usages.contains(.any) else { return nil }
        var deepest = 0
        for usage in ChainRules.toldApart where usages.contains(usage) {
            let broken = chain.indices.first { depth in
                !allows(usage, chain[depth].particulars.extendedUsages, isLeaf: depth == 0)
            }
            guard let broken else { return nil }
            deepest = max(deepest, broken)
        }
        let who = deepest == 0 ? "the certificate" : "an authority"
        var fault = ChainFault(
            .notForServers, "the extended key usage of \(who) lacks serverAuth (RFC 5280 §4.2.1.12)"
        )
        fault.isOfPath = deepest > 0
        return fault.at(depth: deepest)
    }

    /// Whether an authority with these usages may issue for what is wanted.
    package func allowsUsage(of authority: CertificateFacts) -> Bool {
        usages.contains(.any)
            || ChainRules.toldApart.contains { usage in
                usages.contains(usage)
                    && allows(usage, authority.particulars.extendedUsages, isLeaf: false)
            }
    }

    private static let toldApart: [CertificateParticulars.ExtendedUsages] = [
        .server, .client, .email,
    ]

    /// "Any" does for an authority; a public server's certificate has to name the usage. Source:
    /// RFC 5280 §4.2.1.12, CA/B BR §7.1.2.7.10.
    private func allows(
        _ usage: CertificateParticulars.ExtendedUsages,
        _ usages: CertificateParticulars.ExtendedUsages?, isLeaf: Bool
    ) -> Bool {
        guard let usages, !usages.contains(usage) else { return true }
        return usages.contains(.any) && (!isLeaf || profile == .privateAuthority)
    }

    /// Source: RFC 5280 §4.2.1.9, §6.1.4 (l): self-issued certificates do not count.
    private func pathLength(of chain: [CertificateFacts]) -> ChainFault? {
        var authoritiesBelow = 0
        for depth in chain.indices.dropFirst() {
            if authoritiesBelow > maximumIntermediates {
                var fault = ChainFault(
                    .pathTooLong, "more than \(maximumIntermediates) authorities in between")
                fault.isOfPath = true
                return fault.at(depth: depth)
            }
            if let most = chain[depth].particulars.basicConstraints?.pathLength,
                authoritiesBelow > most
            {
                var fault = ChainFault(
                    .pathTooLong,
                    "\(authoritiesBelow) authorities below one that allows \(most) "
                        + "(RFC 5280 §4.2.1.9)")
                fault.isOfPath = true
                return fault.at(depth: depth)
            }
            if !chain[depth].particulars.isSelfIssued { authoritiesBelow += 1 }
        }
        return nil
    }

    /// Every authority's constraints hold for all certificates below it, but for self-issued
    /// authorities. Source: RFC 5280 §6.1.3 (b), (c).
    func constraints(of chain: [CertificateFacts]) -> ChainFault? {
        let constrained = chain.indices.dropFirst().compactMap { depth in
            chain[depth].particulars.nameConstraints.map { (depth, $0) }
        }
        guard let last = constrained.last?.0 else { return nil }
        var work = 0
        for depth in 0..<last where depth == 0 || !chain[depth].particulars.isSelfIssued {
            do throws(ChainFault) {
                let names = try ConstrainedNames(chain[depth])
                for (authority, constraints) in constrained where authority > depth {
                    let trees = constraints.permitted.count + constraints.excluded.count
                    work += names.count * trees
                    guard work <= ChainRules.mostComparisons else {
                        throw ChainFault(
                            .tooCostly, "more names and constraints than are worth comparing")
                    }
                    try names.check(constraints)
                }
            } catch { return error.at(depth: depth) }
        }
        return nil
    }

    /// Because: hundreds of names under hundreds of constraints, which no honest chain has; the
    /// attack is a certificate of thousands of each. Source: Go crypto/x509 has the same limit.
    static let mostComparisons = 250_000
}

/// How strong the keys and signatures of a chain have to be.
package struct KeyStrength: Sendable, Hashable {
    package var minimumRSABits: Int
    package var allowsWeakHashes: Bool

    package init(minimumRSABits: Int, allowsWeakHashes: Bool = false) {
        self.minimumRSABits = minimumRSABits
        self.allowsWeakHashes = allowsWeakHashes
    }

    /// Source: CA/B BR §6.1.5, NIST SP 800-57 part 1, table 2: 112 bits.
    package static let usual = KeyStrength(minimumRSABits: 2_048)
    /// See ``DangerousOptions/Option/acceptsWeakKeys``. Source: NIST SP 800-57 part 1, table 2: 80 bits.
    package static let weak = KeyStrength(minimumRSABits: 1_024)

    /// Because: a signature under a longer key costs milliseconds, and anybody can send one.
    static let maximumRSABits = 8_192
}
