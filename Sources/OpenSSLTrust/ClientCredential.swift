internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// A client's certificate and key, parsed and found to belong together.
final class ClientCredential: @unchecked Sendable {
    // Safety: neither is changed after `init`; OpenSSL counts references to both.
    private let certificates: [Certificate]
    private let key: OpaquePointer
    /// Names the certificates, so that a connection made as somebody else is never used again.
    let material: String

    /// - Throws: ``TrustSetupError``: what cannot be read, or does not belong together.
    init(_ identity: ClientIdentity, for pattern: HostPattern) throws(TrustSetupError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let texts = try ClientCredential.texts(identity.source)
        let what = "client certificate for \(pattern)"
        let certificates: [Certificate]
        do {
            certificates = try Certificate.all(
                pem: String(decoding: texts.certificates, as: UTF8.self))
        } catch {
            throw .unusable(what: what, source: texts.certificatePlace, reason: error.description)
        }
        guard let leaf = certificates.first else {
            throw .unusable(what: what, source: texts.certificatePlace, reason: "there is none")
        }
        material = try PolicyFile.digest(texts.certificates)
        let key = try ClientCredential.key(
            texts.key, identity.passphrase, what: "key of the " + what, place: texts.keyPlace)
        guard X509_check_private_key(leaf.raw, key) == 1 else {
            EVP_PKEY_free(key)
            throw .unusable(
                what: what, source: texts.certificatePlace,
                reason: "the key in \(texts.keyPlace) belongs to another certificate")
        }
        self.certificates = certificates
        self.key = key
        // What OpenSSL would refuse in each handshake, it refuses now: a weak key, for example.
        guard let trial = SSL_CTX_new(TLS_client_method()) else {
            throw .unexpected(LastError.text)
        }
        defer { SSL_CTX_free(trial) }
        guard arm(trial) else {
            throw .unusable(
                what: what, source: texts.certificatePlace, reason: LastError.text)
        }
    }

    deinit { EVP_PKEY_free(key) }

    /// Lets connections of `context` present it when a server asks. False when OpenSSL refuses.
    func arm(_ context: OpaquePointer) -> Bool {
        guard let leaf = certificates.first, let chain = chttpdns_certificates_new() else {
            return false
        }
        defer { chttpdns_certificates_free(chain) }
        for certificate in certificates.dropFirst() {
            guard chttpdns_certificates_push(chain, certificate.raw) == 1 else { return false }
        }
        return SSL_CTX_use_cert_and_key(context, leaf.raw, key, chain, 1) == 1
    }

    private struct Texts {
        let certificates: [UInt8]
        let certificatePlace: String
        let key: [UInt8]
        let keyPlace: String
    }

    private static func texts(_ source: ClientIdentity.Source) throws(TrustSetupError) -> Texts {
        switch source {
        case .files(let certificates, let key):
            return Texts(
                certificates: try PolicyFile.read(certificates, as: "client certificate"),
                certificatePlace: certificates,
                key: try PolicyFile.read(key, as: "key of a client certificate"), keyPlace: key)
        case .pem(let certificates, let key):
            return Texts(
                certificates: Array(certificates.utf8), certificatePlace: "the given PEM text",
                key: Array(key.revealed.utf8), keyPlace: "the given key text")
        }
    }

    private static func key(
        _ octets: [UInt8], _ passphrase: Secret?, what: String, place: String
    ) throws(TrustSetupError) -> OpaquePointer {
        var lacksPassphrase: Int32 = 0
        let read = { (passphrase: UnsafePointer<CChar>?) -> OpaquePointer? in
            octets.withUnsafeBytes { octets in
                guard let base = octets.baseAddress else { return nil }
                return chttpdns_private_key(
                    base.assumingMemoryBound(to: CChar.self), octets.count, passphrase,
                    &lacksPassphrase)
            }
        }
        if let key = passphrase.map({ $0.revealed.withCString(read) }) ?? read(nil) { return key }
        let reason =
            if lacksPassphrase == 1 {
                "it is encrypted, and no passphrase is given"
            } else if passphrase != nil {
                "it is not a private key in PEM, or the passphrase is another"
            } else {
                "it is not a private key in PEM"
            }
        throw .unusable(what: what, source: place, reason: reason)
    }
}
