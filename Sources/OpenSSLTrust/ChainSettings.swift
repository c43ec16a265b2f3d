internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// What OpenSSL is asked to check of a chain; the defaults are those of a client.
package struct ChainSettings: Sendable {
    /// 112 bits: RSA of 2048 bits, no SHA-1. Source: SSL_CTX_set_security_level(3), NIST SP 800-57.
    package var securityLevel: Int32 = 2
    /// 80 bits: RSA of 1024 bits, but still no SHA-1. Source: SSL_CTX_set_security_level(3).
    static let weakSecurityLevel: Int32 = 1
    /// A certificate among the roots is trusted although another has issued it.
    ///
    /// Because: who puts it there says so, and other clients take it for that. Source: RFC 5280
    /// §6.1.1 (d), CURLOPT_SSL_OPTIONS(3), which knows CURLSSLOPT_NO_PARTIALCHAIN.
    package var endsAtAnyTrusted = true
    /// Object identifiers of certificate policies of which a chain needs one; none: only what its
    /// authorities demand.
    package var policies: [String] = []

    package init() {}
}

/// Owns one `X509_STORE_CTX`: one verification.
struct StoreContext: ~Copyable {
    let raw: OpaquePointer

    init?(store: RootStore, leaf: OpaquePointer?, untrusted: OpaquePointer?) {
        guard let raw = X509_STORE_CTX_new() else { return nil }
        guard X509_STORE_CTX_init(raw, store.raw, leaf, untrusted) == 1 else {
            X509_STORE_CTX_free(raw)
            return nil
        }
        self.raw = raw
    }

    deinit { X509_STORE_CTX_free(raw) }

    /// False when OpenSSL does not take the settings.
    func configure(
        _ settings: ChainSettings, _ rules: ChainRules, time: WallTime
    ) -> Bool {
        guard let parameters = X509_STORE_CTX_get0_param(raw),
            // No purpose: ChainRules judge usages. The trust setting is for what a file says of its
            // roots ("TRUSTED CERTIFICATE").
            X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER) == 1
        else { return false }
        // TRUSTED_FIRST: prefer a root we have over a longer path the peer suggests.
        // X509_STRICT: certificates that break RFC 5280 are refused, not worked around.
        // POLICY_CHECK: an authority may demand policies of what is below it, whether we ask for any
        // or not. Source: RFC 5280 §6.1.5 (g).
        var flags = X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_X509_STRICT | X509_V_FLAG_POLICY_CHECK
        if settings.endsAtAnyTrusted { flags |= X509_V_FLAG_PARTIAL_CHAIN }
        if !settings.policies.isEmpty { flags |= X509_V_FLAG_EXPLICIT_POLICY }
        X509_VERIFY_PARAM_clear_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        guard X509_VERIFY_PARAM_set_flags(parameters, UInt(flags)) == 1,
            add(settings.policies, to: parameters)
        else { return false }
        X509_VERIFY_PARAM_set_depth(parameters, Int32(clamping: rules.longestPath - 2))
        X509_VERIFY_PARAM_set_auth_level(parameters, settings.securityLevel)
        X509_VERIFY_PARAM_set_time(parameters, Int(time.secondsSince1970))
        guard !rules.acceptsExpired || X509_STORE_CTX_set_ex_data(raw, 0, endedMark) == 1 else {
            return false
        }
        switch rules.profile {
        case .publicWeb: X509_STORE_CTX_set_verify_cb(raw, passOverJudged)
        case .privateAuthority: X509_STORE_CTX_set_verify_cb(raw, passOverForm)
        }
        return true
    }

    /// Without any OpenSSL finds no policy sufficient: then it is "any policy". Source: RFC 5280
    /// §4.2.1.4.
    private func add(_ policies: [String], to parameters: OpaquePointer) -> Bool {
        if policies.isEmpty {
            // One of OpenSSL's own objects, which are never freed.
            return X509_VERIFY_PARAM_add0_policy(parameters, OBJ_nid2obj(NID_any_policy)) == 1
        }
        for policy in policies {
            guard let object = OBJ_txt2obj(policy, 1) else { return false }
            guard X509_VERIFY_PARAM_add0_policy(parameters, object) == 1 else {
                ASN1_OBJECT_free(object)
                return false
            }
        }
        return true
    }
}

/// The application's data of a context in which certificates may have ended: any pointer but none.
private var endedMark: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 1) }

/// Called by OpenSSL for each finding, on the thread that verifies; must not keep the context.
///
/// Passes over what ``ChainRules`` judge afterwards, by RFC 5280 and the same on every version of
/// OpenSSL: a chain is accepted only when they accept it, so nothing gets through that nobody looked
/// at.
private func passOverJudged(_ ok: Int32, _ context: OpaquePointer?) -> Int32 {
    guard ok != 1, let context else { return ok }
    switch X509_STORE_CTX_get_error(context) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        if X509_STORE_CTX_get_ex_data(context, 0) != nil { break }
        // OpenSSL counts the second of `notAfter` as expired. Source: RFC 5280 §4.1.2.5.
        guard let certificate = X509_STORE_CTX_get_current_cert(context) else { return ok }
        var now = X509_VERIFY_PARAM_get_time(X509_STORE_CTX_get0_param(context)) - 1
        guard X509_cmp_time(X509_get0_notAfter(certificate), &now) > 0 else { return ok }
    case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION,
        X509_V_ERR_SUBTREE_MINMAX, X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE,
        X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX, X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
        // OpenSSL holds the common name against them, too, which is never matched here; and it
        // reads mailboxes and empty constraints in its own way.
        break
    default: return ok
    }
    X509_STORE_CTX_set_error(context, X509_V_OK)
    return 1
}

/// Called by OpenSSL for each finding, on the thread that verifies; must not keep the context.
///
/// Passes over what ``TrustPolicy/Profile/privateAuthority`` does not demand, as well.
private func passOverForm(_ ok: Int32, _ context: OpaquePointer?) -> Int32 {
    guard ok != 1, let context else { return ok }
    switch X509_STORE_CTX_get_error(context) {
    case X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER, X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER,
        X509_V_ERR_CA_CERT_MISSING_KEY_USAGE, X509_V_ERR_CA_BCONS_NOT_CRITICAL,
        X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL, X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA,
        X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN:
        // The last one also stands for a key usage that is not there; one that is, ChainRules judge.
        X509_STORE_CTX_set_error(context, X509_V_OK)
        return 1
    default: return passOverJudged(ok, context)
    }
}
