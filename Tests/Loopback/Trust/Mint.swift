import CHTTPDNSOpenSSL
import HTTPDNSOpenSSLTrust
import HTTPDNSTrust
import Testing

/// A certificate made in memory, with its key.
final class Minted: @unchecked Sendable {
    // Safety: not changed after it is made; OpenSSL counts references under its own lock.
    let certificate: OpaquePointer
    let key: OpaquePointer

    init(certificate: OpaquePointer, key: OpaquePointer) {
        self.certificate = certificate
        self.key = key
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    var pem: String { pem { PEM_write_bio_X509($0, certificate) } }

    /// With the trust settings of OpenSSL: `TRUSTED CERTIFICATE`.
    var auxiliaryPEM: String { pem { PEM_write_bio_X509_AUX($0, certificate) } }

    /// The same, with the word that it is not to be trusted for servers.
    func rejectedForServers() throws -> String {
        let copy = try #require(X509_dup(certificate))
        defer { X509_free(copy) }
        let servers = try #require(OBJ_nid2obj(NID_server_auth))
        #expect(X509_add1_reject_object(copy, servers) == 1)
        return pem { PEM_write_bio_X509_AUX($0, copy) }
    }

    /// The same with another version, signed by its own key.
    func withVersion(_ version: Int) throws -> Minted {
        let copy = try #require(X509_dup(certificate))
        #expect(X509_set_version(copy, version) == 1)
        #expect(X509_sign(copy, key, EVP_sha256()) > 0)
        #expect(EVP_PKEY_up_ref(key) == 1)
        return Minted(certificate: copy, key: key)
    }

    private func pem(_ write: (OpaquePointer) -> Int32) -> String {
        guard let sink = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(sink) }
        #expect(write(sink) == 1)
        var text = [UInt8](repeating: 0, count: 16_384)
        let count = BIO_read(sink, &text, Int32(text.count))
        return String(decoding: text.prefix(Int(max(0, count))), as: UTF8.self)
    }

    /// As the library reads it.
    func parsed() throws -> Certificate { try Certificate.all(pem: pem)[0] }

    /// `sha256/…` of its key.
    func pin() throws -> String { try CertificateReader.facts(of: parsed()).pin.description }
}

/// What to put in a certificate.
struct Recipe {
    var subject: String
    var names: [[UInt8]] = []
    var addresses: [[UInt8]] = []
    var isAuthority = false
    /// Seconds from now.
    var validity: ClosedRange<Int> = -3_600...3_600
    /// Without key identifiers and key usage, as a plain `openssl` command makes them.
    var isPlain = false
    var key = KeyKind.elliptic("P-256")
    /// More extensions, as OpenSSL's configuration writes them.
    var extra: [String: String] = [:]
    /// More extensions, by number and in the words of OpenSSL's configuration.
    var extensions: [(kind: Int32, text: String)] = []

    enum KeyKind {
        case elliptic(String)
        /// On P-256, with the parameters of the curve in place of its name.
        case spelledOut
        case rsa
    }

    static func leaf(_ names: String..., addresses: [[UInt8]] = []) -> Recipe {
        Recipe(
            subject: names.first ?? "leaf", names: names.map { Array($0.utf8) },
            addresses: addresses)
    }

    static func authority(_ subject: String) -> Recipe {
        Recipe(subject: subject, isAuthority: true, validity: -7_200...7_200)
    }

    /// A certificate signed by `issuer`, or by itself; with its own new key, or that of `owner`.
    func minted(by issuer: Minted? = nil, keyOf owner: Minted? = nil) throws -> Minted {
        let key = try owner.map { try Recipe.retained($0.key) } ?? newKey()
        let certificate = try #require(X509_new())
        let minted = Minted(certificate: certificate, key: key)
        X509_set_version(certificate, 2)
        let serial = try #require(ASN1_INTEGER_new())
        ASN1_INTEGER_set(serial, Int.random(in: 1..<Int(Int32.max)))
        X509_set_serialNumber(certificate, serial)
        ASN1_INTEGER_free(serial)
        X509_gmtime_adj(X509_getm_notBefore(certificate), validity.lowerBound)
        X509_gmtime_adj(X509_getm_notAfter(certificate), validity.upperBound)
        X509_set_pubkey(certificate, key)
        let name = try #require(X509_NAME_new())
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_FLAG | 1, subject, -1, -1, 0)
        X509_set_subject_name(certificate, name)
        X509_NAME_free(name)
        let authority = issuer ?? minted
        X509_set_issuer_name(certificate, X509_get_subject_name(authority.certificate))
        try extend(certificate, by: authority.certificate)
        #expect(X509_sign(certificate, authority.key, EVP_sha256()) > 0)
        return minted
    }

    private func extend(_ certificate: OpaquePointer, by issuer: OpaquePointer) throws {
        var texts = [
            (NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE")
        ]
        if !isPlain {
            texts.append((NID_subject_key_identifier, "hash"))
            // OpenSSL would leave it empty in a root.
            if issuer != certificate { texts.append((NID_authority_key_identifier, "keyid")) }
            let usage = isAuthority ? "keyCertSign,cRLSign" : "digitalSignature"
            texts.append((NID_key_usage, "critical," + usage))
        }
        for (kind, text) in texts + extensions {
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
            let made = try #require(X509V3_EXT_conf_nid(nil, &context, kind, text))
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
        for (name, text) in extra {
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
            let made = try #require(X509V3_EXT_conf(nil, &context, name, text))
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
        guard !names.isEmpty || !addresses.isEmpty else { return }
        let list = try #require(GENERAL_NAMES_new())
        defer { GENERAL_NAMES_free(list) }
        for (kind, entries) in [(GEN_DNS, names), (GEN_IPADD, addresses)] {
            for entry in entries {
                let value = try #require(
                    ASN1_STRING_type_new(
                        kind == GEN_DNS ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING))
                ASN1_STRING_set(value, entry, Int32(entry.count))
                let name = try #require(GENERAL_NAME_new())
                GENERAL_NAME_set0_value(name, kind, value)
                OPENSSL_sk_push(list, name)
            }
        }
        #expect(
            X509_add1_ext_i2d(
                certificate, NID_subject_alt_name, UnsafeMutableRawPointer(list), 0, 0) == 1)
    }

    private static func retained(_ key: OpaquePointer) throws -> OpaquePointer {
        try #require(EVP_PKEY_up_ref(key) == 1 ? key : nil)
    }

    private func newKey() throws -> OpaquePointer {
        var kind = "EC"
        if case .rsa = self.key { kind = "RSA" }
        let context = try #require(EVP_PKEY_CTX_new_from_name(nil, kind, nil))
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        #expect(EVP_PKEY_keygen_init(context) == 1)
        switch self.key {
        case .elliptic(let curve): #expect(EVP_PKEY_CTX_set_group_name(context, curve) == 1)
        case .spelledOut:
            #expect(EVP_PKEY_CTX_set_group_name(context, "P-256") == 1)
            #expect(EVP_PKEY_CTX_set_ec_param_enc(context, 0) == 1)
        case .rsa: #expect(EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2_048) == 1)
        }
        #expect(EVP_PKEY_generate(context, &key) == 1)
        return try #require(key)
    }
}
