internal import CHTTPDNSOpenSSL
internal import HTTPDNSTrust

/// Reads what only the chain rules ask for. OpenSSL has parsed most of it when it built the chain.
enum ParticularsReader {
    /// - Parameter withOtherNames: whether an authority of the chain constrains names: only then
    ///   are names read that no host can have.
    static func particulars(
        of raw: OpaquePointer, withOtherNames: Bool
    ) -> CertificateParticulars {
        // Fills OpenSSL's caches.
        let flags = X509_get_extension_flags(raw)
        var particulars = CertificateParticulars()
        // The peer's number, as large as it likes: 0 says version 1.
        particulars.version = max(-1, min(254, X509_get_version(raw))) + 1
        particulars.serial = serial(raw)
        particulars.isSelfIssued = flags & UInt32(EXFLAG_SI) != 0
        particulars.basicConstraints = basicConstraints(raw, flags)
        particulars.keyUsage = keyUsage(raw, flags)
        particulars.isOldForOthers =
            chttpdns_is_old_server(raw) == 0 && flags & UInt32(EXFLAG_CA) == 0
        particulars.extendedUsages = extendedUsages(raw, flags)
        particulars.subjectKeyID = octets(X509_get0_subject_key_id(raw))
        particulars.authorityKeyID = octets(X509_get0_authority_key_id(raw))
        particulars.authorityIsHalfNamed =
            (X509_get0_authority_issuer(raw) == nil) != (X509_get0_authority_serial(raw) == nil)
        particulars.namesOtherIssuer =
            particulars.isSelfIssued && flags & UInt32(EXFLAG_SS) == 0
        particulars.authorityNamesNoKey =
            particulars.authorityKeyID == nil
            && chttpdns_extension_is_critical(raw, NID_authority_key_identifier) >= 0
        particulars.hasSoundTimes = [X509_get0_notBefore(raw), X509_get0_notAfter(raw)].allSatisfy {
            isSound($0)
        }
        particulars.nameConstraints = NameConstraintsReader.constraints(of: raw)
        let policies = chttpdns_extension_is_critical(raw, NID_policy_constraints)
        particulars.policyConstraintsCritical = policies < 0 ? nil : policies == 1
        particulars.extensionFault = extensionFault(raw, flags)
        particulars.key = key(raw)
        particulars.signatureHash = signatureHash(raw)
        particulars.commonNames = commonNames(raw)
        if withOtherNames { particulars.names = NameConstraintsReader.otherNames(of: raw) }
        return particulars
    }

    private static func serial(_ raw: OpaquePointer) -> CertificateParticulars.Serial {
        guard let number = X509_get0_serialNumber(raw) else { return .init(octets: 0) }
        let isNegative = ASN1_STRING_type(number) == V_ASN1_NEG_INTEGER
        guard let octets = octets(number) else { return .init(octets: 0) }
        return .init(octets: octets.drop { $0 == 0 }.count, isNegative: isNegative)
    }

    /// Until 2049 a time is a UTCTime. Source: RFC 5280 §4.1.2.5.
    private static func isSound(_ time: UnsafePointer<ASN1_TIME>?) -> Bool {
        guard let time, ASN1_STRING_type(time) == V_ASN1_GENERALIZEDTIME,
            let data = ASN1_STRING_get0_data(time), ASN1_STRING_length(time) >= 4
        else { return true }
        let year = UnsafeBufferPointer(start: data, count: 4)
        return !year.lexicographicallyPrecedes("2050".utf8)
    }

    private static func basicConstraints(
        _ raw: OpaquePointer, _ flags: UInt32
    ) -> CertificateParticulars.BasicConstraints? {
        guard flags & UInt32(EXFLAG_BCONS) != 0 else { return nil }
        let length = X509_get_pathlen(raw)
        return .init(
            isCA: flags & UInt32(EXFLAG_CA) != 0, pathLength: length < 0 ? nil : Int(length))
    }

    private static func keyUsage(
        _ raw: OpaquePointer, _ flags: UInt32
    ) -> CertificateParticulars.KeyUsage? {
        guard flags & UInt32(EXFLAG_KUSAGE) != 0 else { return nil }
        let bits = X509_get_key_usage(raw)
        let known: [(Int32, CertificateParticulars.KeyUsage)] = [
            (KU_DIGITAL_SIGNATURE, .digitalSignature), (KU_KEY_ENCIPHERMENT, .keyEncipherment),
            (KU_KEY_AGREEMENT, .keyAgreement), (KU_KEY_CERT_SIGN, .certificateSigning),
        ]
        var usage: CertificateParticulars.KeyUsage = []
        for (bit, member) in known where bits & UInt32(bit) != 0 { usage.insert(member) }
        return usage
    }

    private static func extendedUsages(
        _ raw: OpaquePointer, _ flags: UInt32
    ) -> CertificateParticulars.ExtendedUsages? {
        guard flags & UInt32(EXFLAG_XKUSAGE) != 0 else { return nil }
        let bits = X509_get_extended_key_usage(raw)
        let known: [(Int32, CertificateParticulars.ExtendedUsages)] = [
            (XKU_SSL_SERVER, .server), (XKU_SSL_CLIENT, .client), (XKU_SMIME, .email),
            (XKU_ANYEKU, .any),
        ]
        var usages: CertificateParticulars.ExtendedUsages = []
        for (bit, member) in known where bits & UInt32(bit) != 0 { usages.insert(member) }
        if chttpdns_extension_is_critical(raw, NID_ext_key_usage) == 1 { usages.insert(.critical) }
        return usages
    }

    private static func extensionFault(
        _ raw: OpaquePointer, _ flags: UInt32
    ) -> CertificateParticulars.ExtensionFault? {
        var name = [CChar](repeating: 0, count: 80)
        let fault = chttpdns_extension_fault(raw, &name, Int32(name.count))
        var text: String { CertificateReader.text(name) }
        switch Int(fault) {
        case CHTTPDNS_EXTENSION_UNKNOWN: return .unknownCritical(text)
        case CHTTPDNS_EXTENSION_REPEATED: return .repeated(text)
        case CHTTPDNS_EXTENSION_MALFORMED: return .malformed(text)
        default: return flags & UInt32(EXFLAG_INVALID) == 0 ? nil : .unreadable
        }
    }

    private static func key(_ raw: OpaquePointer) -> CertificateParticulars.PublicKey {
        guard let key = X509_get0_pubkey(raw) else { return .other("unknown", securityBits: 0) }
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            return .rsa(
                bits: Int(EVP_PKEY_get_bits(key)),
                exponent: chttpdns_key_exponent_is_sound(key) == 1 ? .sound : .unsound)
        case EVP_PKEY_EC:
            guard let curve = CertificateReader.curve(of: key),
                chttpdns_key_has_own_curve(key) == 0
            else {
                return .outdated("an EC key with parameters of its own")
            }
            guard chttpdns_key_is_binary(key) == 0 else {
                return .outdated("a key on the binary curve \(curve)")
            }
            return .elliptic(curve: curve)
        case EVP_PKEY_DSA: return .outdated("a DSA key")
        case EVP_PKEY_ED25519, EVP_PKEY_ED448, EVP_PKEY_X25519, EVP_PKEY_X448: return .edwards
        case let kind:
            return .other(
                CertificateReader.name(ofObject: kind),
                securityBits: Int(EVP_PKEY_get_security_bits(key)))
        }
    }

    private static func signatureHash(
        _ raw: OpaquePointer
    ) -> CertificateParticulars.SignatureHash {
        var hash: Int32 = 0
        guard X509_get_signature_info(raw, &hash, nil, nil, nil) == 1 else { return .sound }
        switch hash {
        case NID_md2, NID_md4, NID_md5, NID_mdc2, NID_md5_sha1, NID_sha1, NID_ripemd160:
            return .weak(CertificateReader.name(ofObject: hash, short: true))
        default: return .sound
        }
    }

    private static func commonNames(_ raw: OpaquePointer) -> [[UInt8]] {
        guard let name = X509_get_subject_name(raw) else { return [] }
        var names: [[UInt8]] = []
        var index = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        // Because: one is allowed, and more are the peer's own idea.
        while index >= 0, names.count < 4 {
            if let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)) {
                names.append(NameConstraintsReader.text(of: value))
            }
            index = X509_NAME_get_index_by_NID(name, NID_commonName, index)
        }
        return names
    }

    private static func octets(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8]? {
        guard let string, let data = ASN1_STRING_get0_data(string) else { return nil }
        return Array(UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(string))))
    }
}
