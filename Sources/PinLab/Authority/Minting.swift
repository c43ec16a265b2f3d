internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames

/// A certificate in the making; owns the C builder.
struct CertificateMaking: ~Copyable {
    private let raw: OpaquePointer

    init() throws(LabError) {
        guard let raw = httpdns_lab_certificate_new() else {
            throw openSSLRefused("begin a certificate")
        }
        self.raw = raw
    }

    deinit { httpdns_lab_certificate_free(raw) }

    func setSubject(_ name: String) throws(LabError) {
        let octets = Array(name.utf8)
        guard (1...64).contains(octets.count) else { throw .commonName(name) }
        guard httpdns_lab_certificate_subject(raw, octets, octets.count) == 1 else {
            throw openSSLRefused("set the common name \"\(name)\"")
        }
    }

    /// Random unless it is set.
    func setSerial(_ octets: [UInt8]) throws(LabError) {
        guard httpdns_lab_certificate_serial(raw, octets, octets.count) == 1 else {
            throw openSSLRefused("set the serial number")
        }
    }

    func setDigest(_ digest: TestDigest) {
        let number =
            switch digest {
            case .sha256: HTTPDNS_LAB_DIGEST_SHA256
            case .sha384: HTTPDNS_LAB_DIGEST_SHA384
            case .sha512: HTTPDNS_LAB_DIGEST_SHA512
            case .sha1: HTTPDNS_LAB_DIGEST_SHA1
            case .md5: HTTPDNS_LAB_DIGEST_MD5
            }
        httpdns_lab_certificate_digest(raw, Int32(number))
    }

    func setValidity(_ validity: TestValidity) throws(LabError) {
        let from = validity.notBefore
        let to = validity.notAfter
        guard
            httpdns_lab_certificate_validity(
                raw, from.secondsSince1970, to.secondsSince1970) == 1
        else { throw .validity(notBefore: from, notAfter: to) }
    }

    func add(_ name: TestName) throws(LabError) {
        let isAddress: Int32
        switch name.kind {
        case .dns: isAddress = 0
        case .address: isAddress = 1
        }
        guard
            httpdns_lab_certificate_name(raw, isAddress, name.octets, name.octets.count) == 1
        else { throw openSSLRefused("add a subject alternative name") }
    }

    func add(extension name: String, _ value: String) throws(LabError) {
        guard httpdns_lab_certificate_extension(raw, name, value) == 1 else {
            throw openSSLRefused("add the extension \(name)=\(value)")
        }
    }

    /// The DER of the certificate, signed by the issuer, or by itself when there is none.
    func signed(
        key: [UInt8], issuer: [UInt8]?, issuerKey: [UInt8]
    ) throws(LabError) -> [UInt8] {
        let made =
            if let issuer {
                httpdns_lab_certificate_sign(
                    raw, key, key.count, issuer, issuer.count, issuerKey, issuerKey.count)
            } else {
                httpdns_lab_certificate_sign(
                    raw, key, key.count, nil, 0, issuerKey, issuerKey.count)
            }
        return try octets(made, or: "sign a certificate")
    }
}

/// A new private key as PKCS#8 DER: the one that the seed stands for, or a random one without it.
func newKey(_ kind: TestKeyKind, seed: [UInt8]? = nil) throws(LabError) -> [UInt8] {
    let number: Int32
    switch kind {
    case .p256: number = Int32(HTTPDNS_LAB_KEY_P256)
    case .p384: number = Int32(HTTPDNS_LAB_KEY_P384)
    case .ed25519: number = Int32(HTTPDNS_LAB_KEY_ED25519)
    case .rsa1024: number = 1_024
    case .rsa2048: number = 2_048
    case .rsa4096: number = 4_096
    case .rsa8192: number = 8_192
    }
    let made =
        if let seed { httpdns_lab_new_key(number, seed, seed.count) } else {
            httpdns_lab_new_key(number, nil, 0)
        }
    return try octets(made, or: "make a \(kind) key")
}

/// SHA-256 of the SubjectPublicKeyInfo of a DER certificate.
func keyDigest(certificate: [UInt8]) throws(LabError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    guard httpdns_lab_key_digest(certificate, certificate.count, &digest) == 1 else {
        throw openSSLRefused("hash a public key")
    }
    return digest
}

func pem(_ label: String, _ der: [UInt8]) throws(LabError) -> String {
    let text = try octets(httpdns_lab_pem(label, der, der.count), or: "write PEM")
    return String(decoding: text, as: UTF8.self)
}

/// The newest error of this thread's OpenSSL queue, with what was being tried.
func openSSLRefused(_ operation: String) -> LabError {
    var text = [CChar](repeating: 0, count: 256)
    httpdns_lab_last_error(&text, text.count)
    let octets = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return .openSSL(operation: operation, reason: String(decoding: octets, as: UTF8.self))
}

func octets(
    _ made: httpdns_lab_octets, or operation: String
) throws(LabError) -> [UInt8] {
    guard let start = made.octets else { throw openSSLRefused(operation) }
    defer { httpdns_lab_release(made) }
    return Array(UnsafeBufferPointer(start: start, count: made.count))
}
