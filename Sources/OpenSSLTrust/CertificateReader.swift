internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
package import HTTPDNSTrust

/// Reads certificates into facts: what the core judges and people see.
package enum CertificateReader {
    /// - Throws: ``CertificateError`` when a part that matters cannot be read.
    package static func facts(
        of certificate: Certificate
    ) throws(CertificateError) -> CertificateFacts {
        try facts(of: certificate.raw, withOtherNames: true)
    }

    /// - Parameter withOtherNames: see ``ParticularsReader``.
    static func facts(
        of raw: OpaquePointer, withOtherNames: Bool
    ) throws(CertificateError) -> CertificateFacts {
        var facts = try parts(of: raw, withOtherNames: withOtherNames)
        facts.der = der(raw)
        return facts
    }

    private static func der(_ raw: OpaquePointer) -> [UInt8] {
        var start: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(raw, &start)
        guard count > 0, let start else { return [] }
        defer { CRYPTO_free(start, #file, #line) }
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    private static func parts(
        of raw: OpaquePointer, withOtherNames: Bool
    ) throws(CertificateError) -> CertificateFacts {
        defer { ERR_clear_error() }
        let names = try alternativeNames(raw)
        var facts = CertificateFacts(
            subject: text(of: X509_get_subject_name(raw)),
            issuer: text(of: X509_get_issuer_name(raw)), dnsNames: names.dns,
            ipAddresses: names.addresses, otherNameKinds: names.others,
            notBefore: try time(X509_get0_notBefore(raw), "notBefore"),
            notAfter: try time(X509_get0_notAfter(raw), "notAfter"), pin: try pin(raw),
            fingerprint: try fingerprint(raw), key: key(raw),
            signatureAlgorithm: name(ofObject: X509_get_signature_nid(raw)), serial: serial(raw),
            isCA: X509_get_extension_flags(raw) & UInt32(EXFLAG_CA) != 0)
        facts.particulars = ParticularsReader.particulars(of: raw, withOtherNames: withOtherNames)
        return facts
    }

    /// RFC 4514 text; control and non-ASCII octets are escaped, so that it is safe on a terminal.
    static func text(of name: OpaquePointer?) -> String {
        guard let name, let sink = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(sink) }
        chttpdns_distinguished_name_print(sink, name)
        return contents(of: sink)
    }

    private static func contents(of sink: OpaquePointer) -> String {
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while true {
            let count = BIO_read(sink, &buffer, Int32(buffer.count))
            guard count > 0 else { break }
            octets += buffer.prefix(Int(count))
        }
        return String(decoding: octets, as: UTF8.self)
    }

    private struct Names {
        var dns: [[UInt8]] = []
        var addresses: [[UInt8]] = []
        var others: [String] = []
    }

    private static func alternativeNames(_ raw: OpaquePointer) throws(CertificateError) -> Names {
        var found: Int32 = 0
        guard let list = X509_get_ext_d2i(raw, NID_subject_alt_name, &found, nil) else {
            // -1: there is none. -2: there are several. Otherwise: it does not parse.
            guard found == -1 else {
                throw .part("subjectAltName is malformed or there is more than one")
            }
            return Names()
        }
        let entries = OpaquePointer(list)
        defer { GENERAL_NAMES_free(entries) }
        var names = Names()
        for index in 0..<max(0, chttpdns_names_count(entries)) {
            var octets: UnsafePointer<UInt8>?
            var count = 0
            let kind = chttpdns_name_at(entries, index, &octets, &count)
            let value = Array(UnsafeBufferPointer(start: octets, count: octets == nil ? 0 : count))
            switch kind {
            case GEN_DNS: names.dns.append(value)
            case GEN_IPADD: names.addresses.append(value)
            default: names.others.append(name(ofKind: kind))
            }
        }
        return names
    }

    /// Source: RFC 5280 §4.2.1.6, GeneralName.
    private static func name(ofKind kind: Int32) -> String {
        switch kind {
        case GEN_OTHERNAME: "otherName"
        case GEN_EMAIL: "rfc822Name"
        case GEN_X400: "x400Address"
        case GEN_DIRNAME: "directoryName"
        case GEN_EDIPARTY: "ediPartyName"
        case GEN_URI: "uniformResourceIdentifier"
        case GEN_RID: "registeredID"
        default: "unknown"
        }
    }

    private static func time(
        _ value: UnsafePointer<ASN1_TIME>?, _ part: String
    ) throws(CertificateError) -> WallTime {
        guard let value, let epoch = ASN1_TIME_set(nil, 0) else {
            throw .part(part + " is missing")
        }
        defer { ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, value) == 1 else {
            throw .part(part + " is not a time")
        }
        return WallTime(secondsSince1970: Int64(days) * 86_400 + Int64(seconds))
    }

    /// SHA-256 of the whole SubjectPublicKeyInfo, for every kind of key. Source: RFC 7469 §2.4.
    private static func pin(_ raw: OpaquePointer) throws(CertificateError) -> Pin {
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(raw), &der)
        guard count > 0, let der else { throw .part("public key cannot be encoded") }
        defer { CRYPTO_free(der, #file, #line) }
        var digest = [UInt8](repeating: 0, count: 32)
        guard chttpdns_sha256(der, Int(count), &digest) == 1,
            let pin = Pin(sha256: digest)
        else { throw .part("public key cannot be hashed") }
        return pin
    }

    static func fingerprint(_ raw: OpaquePointer) throws(CertificateError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard chttpdns_certificate_digest(raw, &digest) == 1 else {
            throw .part("octets cannot be hashed")
        }
        return digest
    }

    private static func key(_ raw: OpaquePointer) -> String {
        guard let key = X509_get0_pubkey(raw) else { return "unknown key" }
        let kind = EVP_PKEY_get_base_id(key)
        switch kind {
        case EVP_PKEY_RSA: return "RSA \(EVP_PKEY_get_bits(key))"
        case EVP_PKEY_RSA_PSS: return "RSA-PSS \(EVP_PKEY_get_bits(key))"
        case EVP_PKEY_EC:
            return curve(of: key).map { "EC " + $0 } ?? "EC"
        default: return self.name(ofObject: kind, short: true)
        }
    }

    /// `P-256`; nil when the key's parameters are its own.
    static func curve(of key: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return nil }
        let group = text(name)
        return curves[group] ?? group
    }

    static func text(_ characters: [CChar]) -> String {
        String(
            decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// What people call the curves that OpenSSL names after X9.62 and SEC 2. Source: FIPS 186-4
    /// §D.1.2.
    private static let curves = [
        "prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521",
    ]

    static func name(ofObject identifier: Int32, short: Bool = false) -> String {
        guard let text = short ? OBJ_nid2sn(identifier) : OBJ_nid2ln(identifier) else { return "?" }
        return String(cString: text)
    }

    private static func serial(_ raw: OpaquePointer) -> String {
        guard let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(raw), nil) else { return "" }
        defer { BN_free(number) }
        guard let text = BN_bn2hex(number) else { return "" }
        defer { CRYPTO_free(text, #file, #line) }
        return String(cString: text)
    }
}
