internal import CHTTPDNSOpenSSL
package import HTTPDNSNames
package import HTTPDNSTrust

/// Builds and checks a certificate chain with OpenSSL and reports what it found; judging is the
/// core's. Also for certificates that came from a file rather than from a handshake.
package struct ChainVerifier: Sendable {
    private let store: RootStore
    /// Certificates between leaf and root.
    ///
    /// Because: public chains have at most 4, and a longer one only costs time. Configurable for
    /// conformance suites.
    package var maximumIntermediates: Int32 = 10
    private let profile: TrustPolicy.Profile
    var rootsEdition: UInt64? { store.edition }
    /// Tells this reading of the roots from every other in the process.
    var rootsGeneration: UInt64 { store.generation }

    /// - Throws: ``TrustSetupError`` when the roots cannot be loaded.
    package init(policy: TrustPolicy) throws(TrustSetupError) {
        self.init(store: try RootStore.shared(policy.roots), profile: policy.profile)
    }

    init(store: RootStore, profile: TrustPolicy.Profile) {
        self.store = store
        self.profile = profile
    }

    /// What OpenSSL finds out about `leaf`, with `intermediates` to build from, at `time`.
    ///
    /// Without a host, names are not looked at.
    package func evidence(
        leaf: Certificate, intermediates: [Certificate], host: Host?, time: WallTime
    ) -> ChainEvidence {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let untrusted = chttpdns_certificates_new() else { return .refused(.outOfMemory) }
        defer { chttpdns_certificates_free(untrusted) }
        for certificate in intermediates {
            guard chttpdns_certificates_push(untrusted, certificate.raw) == 1 else {
                return .refused(.outOfMemory)
            }
        }
        return withExtendedLifetime(leaf) {
            evidence(leaf: leaf.raw, untrusted: untrusted, host: host, time: time).evidence
        }
    }

    /// The same for OpenSSL's own objects, and the verify code to report to it. `inspect` is called
    /// with OpenSSL's verified chain, where there is one.
    func evidence(
        leaf: OpaquePointer, untrusted: OpaquePointer?, host: Host?, time: WallTime,
        inspect: (OpaquePointer) -> Void = { _ in }
    ) -> (evidence: ChainEvidence, verifyError: Int32) {
        guard let context = StoreContext(store: store, leaf: leaf, untrusted: untrusted),
            context.configure(profile, depth: maximumIntermediates, time: time)
        else { return (.refused(.outOfMemory), X509_V_ERR_UNSPECIFIED) }
        let verified = X509_verify_cert(context.raw) == 1
        let error = X509_STORE_CTX_get_error(context.raw)
        guard verified, error == X509_V_OK else {
            let code = error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error
            let presented = ChainVerifier.presented(leaf: leaf, untrusted: untrusted)
            return (
                ChainEvidence(chain: presented, refusal: .init(verifyError: code)), code
            )
        }
        do {
            let verified = X509_STORE_CTX_get0_chain(context.raw)
            let chain = try ChainVerifier.facts(verified)
            if let verified { inspect(verified) }
            let accepts = host.map { ChainVerifier.accepts(leaf, $0) } ?? true
            return (
                ChainEvidence(chain: chain, libraryAcceptsName: accepts),
                accepts ? X509_V_OK : X509_V_ERR_HOSTNAME_MISMATCH
            )
        } catch {
            let refusal = ChainEvidence.Refusal(.badCertificate, detail: error.description)
            let presented = ChainVerifier.presented(leaf: leaf, untrusted: untrusted)
            return (
                ChainEvidence(chain: presented, refusal: refusal), X509_V_ERR_INVALID_EXTENSION
            )
        }
    }

    /// OpenSSL's own opinion whether the certificate is for `host`.
    ///
    /// A name and an address go to different functions: an address given to the name function would
    /// match a `dNSName` that merely looks like it.
    package static func accepts(_ certificate: Certificate, _ host: Host) -> Bool {
        accepts(certificate.raw, host)
    }

    private static func accepts(_ leaf: OpaquePointer, _ host: Host) -> Bool {
        defer { ERR_clear_error() }
        switch host {
        case .name(let name):
            // Without these flags the common name counts where there is no SAN, and
            // `w*.example.com` is a wildcard. Source: X509_check_host(3).
            let flags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
            return X509_check_host(leaf, name.text, name.text.utf8.count, UInt32(flags), nil) == 1
        case .address(let address):
            return X509_check_ip(leaf, address.octets, address.octets.count, 0) == 1
        }
    }

    private static func facts(_ chain: OpaquePointer?) throws(CertificateError)
        -> [CertificateFacts]
    {
        var facts: [CertificateFacts] = []
        for index in 0..<max(0, chttpdns_certificates_count(chain)) {
            guard let raw = chttpdns_certificates_at(chain, index) else { continue }
            facts.append(try KnownFacts.facts(of: raw))
        }
        return facts
    }

    /// What the peer sent, for the message; certificates that cannot be read are left out.
    private static func presented(
        leaf: OpaquePointer, untrusted: OpaquePointer?
    ) -> [CertificateFacts] {
        var presented: [CertificateFacts] = []
        if let facts = try? CertificateReader.facts(of: leaf) { presented.append(facts) }
        // Because: a message of more lines helps nobody, and the peer chooses how many it sends.
        let shown = min(20, max(0, chttpdns_certificates_count(untrusted)))
        for index in 0..<shown {
            // In a handshake the list begins with the leaf itself.
            guard let raw = chttpdns_certificates_at(untrusted, index), X509_cmp(raw, leaf) != 0,
                let facts = try? CertificateReader.facts(of: raw)
            else { continue }
            presented.append(facts)
        }
        return presented
    }
}

extension ChainEvidence {
    fileprivate static func refused(_ refusal: Refusal) -> ChainEvidence {
        ChainEvidence(chain: [], refusal: refusal)
    }
}

extension ChainEvidence.Refusal {
    fileprivate static let outOfMemory = Self(.unexpected, detail: "out of memory")
}

/// Owns one `X509_STORE_CTX`: one verification.
private struct StoreContext: ~Copyable {
    let raw: OpaquePointer

    init?(store: RootStore, leaf: OpaquePointer, untrusted: OpaquePointer?) {
        guard let raw = X509_STORE_CTX_new() else { return nil }
        guard X509_STORE_CTX_init(raw, store.raw, leaf, untrusted) == 1 else {
            X509_STORE_CTX_free(raw)
            return nil
        }
        self.raw = raw
    }

    deinit { X509_STORE_CTX_free(raw) }

    /// False when OpenSSL does not take the settings.
    func configure(_ profile: TrustPolicy.Profile, depth: Int32, time: WallTime) -> Bool {
        guard X509_STORE_CTX_set_default(raw, "ssl_server") == 1,
            let parameters = X509_STORE_CTX_get0_param(raw)
        else { return false }
        // TRUSTED_FIRST: prefer a root we have over a longer path the peer suggests.
        // X509_STRICT: certificates that break RFC 5280 are refused, not worked around.
        let flags = X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_X509_STRICT
        X509_VERIFY_PARAM_clear_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        guard X509_VERIFY_PARAM_set_flags(parameters, UInt(flags)) == 1 else { return false }
        X509_VERIFY_PARAM_set_depth(parameters, depth)
        X509_VERIFY_PARAM_set_auth_level(parameters, authLevel)
        X509_VERIFY_PARAM_set_time(parameters, Int(time.secondsSince1970))
        switch profile {
        case .publicWeb: X509_STORE_CTX_set_verify_cb(raw, tolerateLastSecond)
        case .privateAuthority: X509_STORE_CTX_set_verify_cb(raw, tolerateForm)
        }
        return true
    }
}

/// 112 bits: RSA of 2048 bits, no SHA-1. Source: SSL_CTX_set_security_level(3), NIST SP 800-57.
private let authLevel: Int32 = 2

/// Called by OpenSSL for each finding, on the thread that verifies; must not keep the context.
///
/// OpenSSL counts the second of `notAfter` as expired; it still belongs to the validity period.
/// Source: RFC 5280 §4.1.2.5.
private func tolerateLastSecond(_ ok: Int32, _ context: OpaquePointer?) -> Int32 {
    guard ok != 1, let context,
        X509_STORE_CTX_get_error(context) == X509_V_ERR_CERT_HAS_EXPIRED,
        let certificate = X509_STORE_CTX_get_current_cert(context)
    else { return ok }
    var now = X509_VERIFY_PARAM_get_time(X509_STORE_CTX_get0_param(context)) - 1
    guard X509_cmp_time(X509_get0_notAfter(certificate), &now) > 0 else { return ok }
    X509_STORE_CTX_set_error(context, X509_V_OK)
    return 1
}

/// Called by OpenSSL for each finding, on the thread that verifies; must not keep the context.
///
/// Passes over what ``TrustPolicy/Profile/privateAuthority`` does not demand.
private func tolerateForm(_ ok: Int32, _ context: OpaquePointer?) -> Int32 {
    guard ok != 1, let context else { return ok }
    switch X509_STORE_CTX_get_error(context) {
    case X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER, X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER,
        X509_V_ERR_CA_CERT_MISSING_KEY_USAGE, X509_V_ERR_CA_BCONS_NOT_CRITICAL,
        X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL:
        X509_STORE_CTX_set_error(context, X509_V_OK)
        return 1
    default: return tolerateLastSecond(ok, context)
    }
}
