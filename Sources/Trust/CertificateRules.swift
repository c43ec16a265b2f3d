package import HTTPDNSNames

// The rules for each certificate alone.
extension ChainRules {
    /// The first rule that `certificate` breaks wherever its chain leads.
    package func fault(
        of certificate: CertificateFacts, at place: Place, now: WallTime
    ) -> ChainFault? {
        validity(of: certificate, now: now)
            ?? form(of: certificate.particulars, at: place)
            ?? key(of: certificate.particulars, at: place)
            ?? constraintForm(of: certificate.particulars)
            ?? (place.isLeaf
                ? leaf(certificate, isAnchor: place.isAnchor)
                : authority(certificate.particulars, isAnchor: place.isAnchor))
    }

    /// Both ends of a validity period belong to it. Source: RFC 5280 §4.1.2.5.
    private func validity(of certificate: CertificateFacts, now: WallTime) -> ChainFault? {
        guard certificate.notBefore <= now else {
            return ChainFault(.notYetValid, "certificate is not yet valid")
        }
        guard now <= certificate.notAfter || acceptsExpired else {
            return ChainFault(.expired, "certificate has expired")
        }
        return nil
    }

    private func form(of particulars: CertificateParticulars, at place: Place) -> ChainFault? {
        switch particulars.extensionFault {
        case .unknownCritical(let name):
            return bad("the critical extension \(name) is unknown", "RFC 5280 §4.2")
        case .repeated(let name):
            return bad("the extension \(name) is there more than once", "RFC 5280 §4.2")
        case .unreadable: return bad("an extension is malformed", "RFC 5280 §4.2")
        case .malformed(let name) where profile == .publicWeb:
            return bad("the extension \(name) is malformed", "RFC 5280 §4.2")
        case .malformed, nil: break
        }
        guard profile == .publicWeb else { return nil }
        if particulars.version != 3 {
            return bad("version \(particulars.version); 3 is needed", "RFC 5280 §4.1.2.1")
        }
        if particulars.policyConstraintsCritical == false {
            return bad("policy constraints are not critical", "RFC 5280 §4.2.1.11")
        }
        if particulars.authorityIsHalfNamed {
            return bad("an authority named by half of its name", "RFC 5280 §4.2.1.1")
        }
        // Of the roots that systems trust several have the number 0, and one such a time.
        guard !place.isAnchor else { return nil }
        if !particulars.hasSoundTimes {
            return bad("a time before 2050 that is no UTCTime", "RFC 5280 §4.1.2.5")
        }
        return serial(of: particulars)
    }

    /// Source: RFC 5280 §4.1.2.2.
    private func serial(of particulars: CertificateParticulars) -> ChainFault? {
        let serial = particulars.serial
        if serial.isNegative { return bad("a negative serial number", "RFC 5280 §4.1.2.2") }
        if serial.octets == 0 { return bad("serial number 0", "RFC 5280 §4.1.2.2") }
        if serial.octets > ChainRules.longestSerial {
            return bad("a serial number of \(serial.octets) octets", "RFC 5280 §4.1.2.2")
        }
        return nil
    }

    private func key(of particulars: CertificateParticulars, at place: Place) -> ChainFault? {
        if !place.isAnchor, !strength.allowsWeakHashes,
            case .weak(let hash) = particulars.signatureHash
        {
            // The signature of an anchor on itself proves nothing and is not relied upon.
            return ChainFault(.weakSignature, "signed with \(hash) (RFC 9155 §2)")
        }
        return publicKey(of: particulars, isAnchor: place.isAnchor)
    }

    /// What the key alone breaks: nothing is to be verified with such a key, which may be one that was
    /// made to cost time.
    package func keyFault(of certificate: CertificateFacts, isAnchor: Bool) -> ChainFault? {
        publicKey(of: certificate.particulars, isAnchor: isAnchor)
    }

    private func publicKey(
        of particulars: CertificateParticulars, isAnchor: Bool
    ) -> ChainFault? {
        switch particulars.key {
        case .rsa(let bits, let exponent):
            return rsa(bits: bits, exponent: exponent, isAnchor: isAnchor)
        case .elliptic(let curve):
            // Source: CA/B BR §6.1.5. Elsewhere the TLS library's security level decides.
            guard profile == .publicWeb, !ChainRules.publicCurves.contains(curve) else {
                return nil
            }
            return ChainFault(.weakKey, "a key on the curve \(curve) (CA/B BR §6.1.5)")
        case .edwards: return nil
        case .outdated(let what):
            return ChainFault(.weakKey, "\(what) (RFC 5480 §2.1.1, NIST SP 800-186 §3.3)")
        case .other(let name, let securityBits):
            guard profile == .publicWeb || securityBits < ChainRules.leastSecurityBits else {
                return nil
            }
            return ChainFault(.weakKey, "a key of the kind \(name) (CA/B BR §6.1.5)")
        }
    }

    private func rsa(
        bits: Int, exponent: CertificateParticulars.PublicKey.Exponent, isAnchor: Bool
    ) -> ChainFault? {
        guard bits >= strength.minimumRSABits else {
            return ChainFault(
                .weakKey,
                "an RSA key of \(bits) bits; at least \(strength.minimumRSABits) are needed "
                    + "(CA/B BR §6.1.5)")
        }
        guard isAnchor || bits <= KeyStrength.maximumRSABits else {
            return ChainFault(.tooCostly, "an RSA key of \(bits) bits")
        }
        guard exponent == .sound else {
            return ChainFault(.weakKey, "an RSA key with an unsound exponent (CA/B BR §6.1.6)")
        }
        guard profile != .publicWeb || bits % 8 == 0 else {
            return ChainFault(
                .weakKey, "an RSA key of \(bits) bits, which 8 does not divide (CA/B BR §6.1.5)")
        }
        return nil
    }

    private func constraintForm(of particulars: CertificateParticulars) -> ChainFault? {
        guard let constraints = particulars.nameConstraints else { return nil }
        if let fault = constraints.fault {
            return ChainFault(.nameConstraint, "\(fault) (RFC 5280 §4.2.1.10)")
        }
        if particulars.basicConstraints?.isCA != true {
            return bad("name constraints in a certificate of no authority", "RFC 5280 §4.2.1.10")
        }
        return nil
    }

    private func authority(
        _ particulars: CertificateParticulars, isAnchor: Bool
    ) -> ChainFault? {
        // A version 1 root cannot say that it is one. Source: RFC 5280 §6.1.4 (k).
        let isOldRoot = isAnchor && particulars.version == 1 && profile == .privateAuthority
        guard particulars.basicConstraints?.isCA == true || isOldRoot else {
            return ChainFault(.notACA, "an issuer that is no authority (RFC 5280 §4.2.1.9)")
        }
        if let usage = particulars.keyUsage, !usage.contains(.certificateSigning) {
            return ChainFault(
                .notACA, "an authority that may not sign certificates (RFC 5280 §4.2.1.3)")
        }
        guard profile == .publicWeb, isAnchor else { return nil }
        return root(particulars)
    }

    /// Source: CA/B BR §7.1.2.1.
    private func root(_ particulars: CertificateParticulars) -> ChainFault? {
        guard particulars.isSelfIssued else { return nil }
        if particulars.authorityNamesNoKey {
            return bad("a root whose issuer's key identifier is empty", "CA/B BR §7.1.2.1.3")
        }
        let identifier = particulars.authorityKeyID ?? particulars.subjectKeyID
        if particulars.namesOtherIssuer || identifier != particulars.subjectKeyID {
            return bad("a root that names another key as its issuer's", "CA/B BR §7.1.2.1.3")
        }
        if particulars.extendedUsages != nil {
            return bad("a root with extended key usages", "CA/B BR §7.1.2.1.2")
        }
        return nil
    }

    private func leaf(_ certificate: CertificateFacts, isAnchor: Bool) -> ChainFault? {
        let particulars = certificate.particulars
        let forTLS: CertificateParticulars.KeyUsage = [
            .digitalSignature, .keyEncipherment, .keyAgreement,
        ]
        if particulars.isOldForOthers, !usages.isDisjoint(with: [.server, .client]) {
            return ChainFault(.notForServers, "the Netscape certificate type names no server")
        }
        if !usages.isDisjoint(with: [.server, .client]), let usage = particulars.keyUsage,
            usage.isDisjoint(with: forTLS)
        {
            return ChainFault(
                .notForServers, "the key usage allows nothing that TLS needs (RFC 5280 §4.2.1.3)")
        }
        guard profile == .publicWeb else { return nil }
        if particulars.basicConstraints?.isCA == true, !isAnchor {
            return ChainFault(
                .authorityAsServer, "an authority's certificate (CA/B BR §7.1.2.7.8)")
        }
        if particulars.extendedUsages?.contains(.critical) == true {
            return bad("extended key usages are critical", "CA/B BR §7.1.2.7.6")
        }
        // A name of one label is none that the public rules know.
        if certificate.dnsNames.contains(where: { $0.contains(0x5F) && $0.contains(0x2E) }) {
            return bad("a dNSName with an underscore", "CA/B BR §7.1.2.7.12, RFC 1034 §3.5")
        }
        return CommonNameRule.fault(in: certificate)
    }

    private func bad(_ what: String, _ source: String) -> ChainFault {
        ChainFault(.badCertificate, "\(what) (\(source))")
    }

    /// Source: RFC 5280 §4.1.2.2.
    private static let longestSerial = 20
    /// Source: CA/B BR §6.1.5.
    private static let publicCurves: Set<String> = ["P-256", "P-384", "P-521"]
    /// Source: NIST SP 800-57 part 1, §5.6.1.
    private static let leastSecurityBits = 112
}
