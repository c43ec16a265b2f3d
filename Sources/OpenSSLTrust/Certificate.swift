internal import CHTTPDNSOpenSSL
internal import HTTPDNSTrust

/// A parsed certificate: one reference to OpenSSL's own, released with the last owner.
package final class Certificate: @unchecked Sendable {
    // Safety: an X509 is not changed after parsing; OpenSSL counts its references and fills its
    // caches under a lock of its own.
    let raw: OpaquePointer

    /// Takes over the caller's reference.
    init(owning raw: OpaquePointer) { self.raw = raw }

    /// Takes a reference of its own.
    convenience init?(sharing raw: OpaquePointer) {
        guard X509_up_ref(raw) == 1 else { return nil }
        self.init(owning: raw)
    }

    deinit { X509_free(raw) }

    /// Parses one certificate in DER; octets after its end are refused.
    ///
    /// - Throws: ``CertificateError``.
    package convenience init(der: [UInt8]) throws(CertificateError) {
        defer { ERR_clear_error() }
        let parsed = der.withUnsafeBufferPointer { octets -> OpaquePointer? in
            guard var cursor = octets.baseAddress.map(Optional.some) else { return nil }
            guard let raw = d2i_X509(nil, &cursor, octets.count) else { return nil }
            guard cursor == octets.baseAddress?.advanced(by: octets.count) else {
                X509_free(raw)
                return nil
            }
            return raw
        }
        guard let parsed else { throw .malformed(number: 1, LastError.ofFile) }
        self.init(owning: parsed)
    }

    /// Parses every certificate in PEM text, in order; text between the blocks is passed over.
    ///
    /// - Throws: ``CertificateError``, also when there is none.
    package static func all(pem: String) throws(CertificateError) -> [Certificate] {
        try all(Array(pem.utf8))
    }

    /// The same for octets that may be no text.
    static func all(_ octets: [UInt8]) throws(CertificateError) -> [Certificate] {
        defer { ERR_clear_error() }
        guard let count = Int32(exactly: octets.count), count > 0 else { throw .none }
        guard let source = BIO_new_mem_buf(octets, count) else {
            throw .malformed(number: 0, LastError.text)
        }
        defer { BIO_free(source) }
        // BIO_new_mem_buf borrows the octets.
        return try withExtendedLifetime(octets) { () throws(CertificateError) in
            try all(from: source)
        }
    }

    /// Whether `issuer` has issued it: by name, identifiers and signature.
    package func isIssued(by issuer: Certificate) -> Bool {
        defer { ERR_clear_error() }
        guard X509_check_issued(issuer.raw, raw) == X509_V_OK,
            let key = X509_get0_pubkey(issuer.raw)
        else { return false }
        return X509_verify(raw, key) == 1
    }

    private static func all(from source: OpaquePointer) throws(CertificateError) -> [Certificate] {
        ERR_clear_error()
        var certificates: [Certificate] = []
        // AUX: a file may say for what a root is trusted, or no longer; other readers pass that over.
        while let raw = PEM_read_bio_X509_AUX(source, nil, nil, nil) {
            certificates.append(Certificate(owning: raw))
        }
        // A PEM text ends with "no start line"; any other error is a broken block.
        guard chttpdns_error_is_end_of_pem(ERR_peek_last_error()) == 1 else {
            throw .malformed(number: certificates.count + 1, LastError.ofFile)
        }
        guard !certificates.isEmpty else { throw .none }
        return certificates
    }
}

/// Why octets are not a certificate.
package enum CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
    case none
    /// Counted from 1; the text is OpenSSL's.
    case malformed(number: Int, String)
    /// It parses, but this part of it does not.
    case part(String)

    package var description: String {
        switch self {
        case .none: "no certificate: expected '-----BEGIN CERTIFICATE-----' (PEM) or DER"
        case .malformed(let number, let text): "certificate \(number) is malformed: \(text)"
        case .part(let what): "the certificate's \(what)"
        }
    }
}

/// The newest entry of OpenSSL's error queue, as text.
enum LastError {
    /// Clearing an empty queue takes several times as long as looking into it.
    static func clear() { if ERR_peek_error() != 0 { ERR_clear_error() } }

    static var text: String { text(of: ERR_peek_last_error()) }

    /// What it means for a file of PEM or DER, with OpenSSL's own words as the detail.
    static var ofFile: String { LibraryWords.explained(text, LibraryWords.files) }

    private static func text(of code: UInt) -> String {
        guard code != 0 else { return "unknown error" }
        var buffer = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &buffer, buffer.count)
        let octets = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: octets, as: UTF8.self)
    }
}
