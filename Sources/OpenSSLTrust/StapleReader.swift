internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// Reads the OCSP response that a peer stapled to its handshake.
enum StapleReader {
    /// What `octets` say about `leaf`, signed for by its verified `issuer`.
    static func evidence(
        _ octets: UnsafeBufferPointer<UInt8>, leaf: Certificate, issuer: Certificate, now: WallTime
    ) -> StapleEvidence {
        guard let base = octets.baseAddress, !octets.isEmpty else { return .absent }
        ERR_clear_error()
        defer { ERR_clear_error() }
        var facts = chttpdns_staple()
        chttpdns_staple_read(
            base, octets.count, leaf.raw, issuer.raw, now.secondsSince1970, &facts)
        switch Int(facts.outcome) {
        case CHTTPDNS_STAPLE_GOOD: return read(facts, .good)
        case CHTTPDNS_STAPLE_UNKNOWN: return read(facts, .unknown)
        case CHTTPDNS_STAPLE_REVOKED:
            return read(facts, .revoked(since: time(facts.revoked_at), reason: reason(facts)))
        default: return .unusable(fault(facts))
        }
    }

    private static func read(
        _ facts: chttpdns_staple, _ status: StapleFacts.Status
    ) -> StapleEvidence {
        guard let thisUpdate = time(facts.this_update) else { return .unusable("names no time") }
        return .read(
            StapleFacts(
                status: status, thisUpdate: thisUpdate, nextUpdate: time(facts.next_update)))
    }

    private static func time(_ seconds: Int64) -> WallTime? {
        seconds == Int64.min ? nil : WallTime(secondsSince1970: seconds)
    }

    private static func reason(_ facts: chttpdns_staple) -> String? {
        facts.detail < 0 ? nil : word(facts)
    }

    private static func word(_ facts: chttpdns_staple) -> String {
        var facts = facts
        return String(cString: chttpdns_staple_word(&facts))
    }

    /// Completes "the staple …".
    private static func fault(_ facts: chttpdns_staple) -> String {
        switch Int(facts.outcome) {
        case CHTTPDNS_STAPLE_UNSUCCESSFUL:
            "holds no answer: " + word(facts)
        case CHTTPDNS_STAPLE_OTHER: "speaks of another certificate"
        case CHTTPDNS_STAPLE_UNSIGNED: "is not signed by the issuer or one it appointed"
        case CHTTPDNS_STAPLE_UNAUTHORIZED:
            "is signed by one whom the issuer did not appoint (id-kp-OCSPSigning)"
        case CHTTPDNS_STAPLE_SIGNER_ENDED: "is signed by a certificate that is not valid now"
        case CHTTPDNS_STAPLE_WEAK: "is signed too weakly"
        default: "is malformed"
        }
    }
}
