internal import CHTTPDNSOpenSSL
package import HTTPDNSTrust

/// A key that a file holds, and what it was found in.
package struct FoundKey: Sendable {
    package enum Kind: String, Sendable {
        case certificate
        case request = "certificate request"
        case publicKey = "public key"
    }

    package let kind: Kind
    package let pin: Pin
    /// Of a certificate or a request; empty for a bare key.
    package let subject: String
    /// Nil unless it is a certificate.
    package let certificate: Certificate?
}

/// Reads the keys of a file, whatever form they have: certificates in PEM or DER, certificate requests
/// and public keys in PEM.
package enum KeyReader {
    /// - Throws: ``KeyError``: none is there, one is malformed, or one is private.
    package static func keys(in octets: [UInt8]) throws(KeyError) -> [FoundKey] {
        defer { ERR_clear_error() }
        if octets.first == 0x30 {
            let certificate: Certificate
            do { certificate = try Certificate(der: octets) } catch {
                throw .malformed("\(error)")
            }
            return [try found(certificate)]
        }
        guard let count = Int32(exactly: octets.count), count > 0,
            let source = BIO_new_mem_buf(octets, count)
        else { throw .none }
        defer { BIO_free(source) }
        // BIO_new_mem_buf borrows the octets.
        return try withExtendedLifetime(octets) { () throws(KeyError) in
            var keys: [FoundKey] = []
            while let block = try nextBlock(source) {
                if let key = try key(block, number: keys.count + 1) { keys.append(key) }
            }
            guard !keys.isEmpty else { throw .none }
            return keys
        }
    }

    private struct Block {
        let label: String
        let octets: [UInt8]
    }

    private static func nextBlock(_ source: OpaquePointer) throws(KeyError) -> Block? {
        ERR_clear_error()
        var label: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(source, &label, &header, &data, &count) == 1 else {
            guard chttpdns_error_is_end_of_pem(ERR_peek_last_error()) == 1 else {
                throw .malformed(LastError.ofFile)
            }
            return nil
        }
        defer {
            CRYPTO_free(label, #file, #line)
            CRYPTO_free(header, #file, #line)
            CRYPTO_free(data, #file, #line)
        }
        guard let label, let data else { return nil }
        return Block(
            label: String(cString: label),
            octets: Array(UnsafeBufferPointer(start: data, count: count)))
    }

    /// Nil for a block without a key: parameters of a curve.
    private static func key(_ block: Block, number: Int) throws(KeyError) -> FoundKey? {
        switch block.label {
        case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE":
            return try certificate(block, number)
        case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST":
            return try request(block, number)
        case "PUBLIC KEY": return try publicKey(block, number)
        case let label where label.hasSuffix("PRIVATE KEY"): throw .isPrivate
        default: return nil
        }
    }

    private static func certificate(_ block: Block, _ number: Int) throws(KeyError) -> FoundKey {
        // What "TRUSTED CERTIFICATE" says of uses stands behind the certificate.
        let parsed = block.octets.withUnsafeBufferPointer { octets -> OpaquePointer? in
            var cursor = octets.baseAddress
            return d2i_X509(nil, &cursor, octets.count)
        }
        guard let parsed else { throw .malformed("certificate \(number): \(LastError.ofFile)") }
        return try found(Certificate(owning: parsed))
    }

    private static func found(_ certificate: Certificate) throws(KeyError) -> FoundKey {
        do {
            let facts = try CertificateReader.facts(of: certificate)
            return FoundKey(
                kind: .certificate, pin: facts.pin, subject: facts.subject,
                certificate: certificate)
        } catch { throw .malformed("\(error)") }
    }

    private static func request(_ block: Block, _ number: Int) throws(KeyError) -> FoundKey {
        let parsed = block.octets.withUnsafeBufferPointer { octets -> OpaquePointer? in
            var cursor = octets.baseAddress
            return d2i_X509_REQ(nil, &cursor, octets.count)
        }
        guard let parsed else { throw .malformed("request \(number): \(LastError.ofFile)") }
        defer { X509_REQ_free(parsed) }
        var start: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_REQ_get_X509_PUBKEY(parsed), &start)
        return FoundKey(
            kind: .request, pin: try pin(start, count),
            subject: CertificateReader.text(of: X509_REQ_get_subject_name(parsed)),
            certificate: nil)
    }

    private static func publicKey(_ block: Block, _ number: Int) throws(KeyError) -> FoundKey {
        let parsed = block.octets.withUnsafeBufferPointer { octets -> OpaquePointer? in
            var cursor = octets.baseAddress
            return d2i_PUBKEY(nil, &cursor, octets.count)
        }
        guard let parsed else { throw .malformed("key \(number): \(LastError.ofFile)") }
        defer { EVP_PKEY_free(parsed) }
        var start: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(parsed, &start)
        return FoundKey(
            kind: .publicKey, pin: try pin(start, count), subject: "", certificate: nil)
    }

    /// Of a SubjectPublicKeyInfo that OpenSSL encoded; frees it.
    private static func pin(
        _ start: UnsafeMutablePointer<UInt8>?, _ count: Int32
    ) throws(KeyError) -> Pin {
        guard count > 0, let start else { throw .malformed("a key cannot be encoded") }
        defer { CRYPTO_free(start, #file, #line) }
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(start, Int(count), &digest, nil, EVP_sha256(), nil) == 1,
            let pin = Pin(sha256: digest)
        else { throw .malformed("a key cannot be hashed") }
        return pin
    }
}

/// Why a file gives no pins.
package enum KeyError: Error, Sendable, Hashable, CustomStringConvertible {
    case none
    case malformed(String)
    case isPrivate

    package var description: String {
        switch self {
        case .none:
            "no certificate, certificate request or public key in it (PEM, or one certificate in "
                + "DER)"
        case .malformed(let what): what
        case .isPrivate:
            "it holds a private key, which no pin needs; make the public one with "
                + "'openssl pkey -in FILE -pubout'"
        }
    }
}
