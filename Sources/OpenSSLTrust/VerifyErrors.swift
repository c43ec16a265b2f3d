internal import CHTTPDNSOpenSSL
internal import HTTPDNSTrust

extension ChainEvidence.Refusal {
    /// OpenSSL's verdict on a chain (`X509_V_ERR_*`) in our terms.
    init(verifyError: Int32) {
        let words = String(cString: X509_verify_cert_error_string(Int(verifyError)))
        self.init(Self.code(verifyError), detail: words)
    }

    private static func code(_ verifyError: Int32) -> TrustFailure.Code {
        switch verifyError {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED,
            X509_V_ERR_CERT_REJECTED:
            .unknownIssuer
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
            X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH,
            X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY:
            .badSignature
        case X509_V_ERR_CA_MD_TOO_WEAK: .weakSignature
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: .weakKey
        case X509_V_ERR_INVALID_PURPOSE: .notForServers
        case X509_V_ERR_INVALID_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
            X509_V_ERR_INVALID_NON_CA:
            .notACA
        case X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_CERT_CHAIN_TOO_LONG: .pathTooLong
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION,
            X509_V_ERR_SUBTREE_MINMAX, X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX, X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            .nameConstraint
        case X509_V_ERR_CERT_REVOKED: .revoked
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongName
        case X509_V_ERR_OUT_OF_MEM, X509_V_ERR_INVALID_CALL, X509_V_ERR_STORE_LOOKUP:
            .unexpected
        default: .badCertificate
        }
    }
}
