internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames

/// Message digests by OpenSSL, for signed provider requests and certificate fingerprints.
package enum Digest {
    /// 16 octets. For protocols that prescribe it, never for security. Source: RFC 1321, RFC 6151.
    ///
    /// - Throws: ``DigestError/unavailable(_:)`` where the system's policy forbids MD5 (FIPS mode).
    package static func md5(_ octets: some Sequence<UInt8>) throws(DigestError) -> [UInt8] {
        try digest(Array(octets), by: EVP_md5(), named: "MD5")
    }

    /// 32 lower-case hexadecimal digits, the form in which providers take MD5 signatures.
    package static func md5Hex(_ octets: some Sequence<UInt8>) throws(DigestError) -> String {
        Hex.encoded(try md5(octets))
    }

    /// 32 octets. Source: FIPS 180-4 §6.2.
    package static func sha256(_ octets: some Sequence<UInt8>) throws(DigestError) -> [UInt8] {
        try digest(Array(octets), by: EVP_sha256(), named: "SHA-256")
    }

    /// 32 octets: SHA-512/256, which begins elsewhere than SHA-512. Source: FIPS 180-4 §6.7.
    package static func sha512Half(
        _ octets: some Sequence<UInt8>
    ) throws(DigestError) -> [UInt8] {
        try digest(Array(octets), by: EVP_sha512_256(), named: "SHA-512/256")
    }

    /// 32 octets. Source: RFC 2104 with SHA-256.
    package static func hmacSHA256(
        key: some Sequence<UInt8>, message: some Sequence<UInt8>
    ) throws(DigestError) -> [UInt8] {
        let key = Array(key)
        guard let keyCount = Int32(exactly: key.count) else { throw .tooLong }
        let message = Array(message)
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        // An empty key is a key: HMAC takes a null pointer for "the key of the last call".
        let made = (key.isEmpty ? [0] : key).withUnsafeBufferPointer { keyOctets in
            HMAC(
                EVP_sha256(), keyOctets.baseAddress, keyCount, message, message.count, &code, &count
            )
        }
        guard made != nil, count == 32 else {
            ERR_clear_error()
            throw .unavailable("HMAC-SHA-256")
        }
        return Array(code.prefix(32))
    }

    private static func digest(
        _ octets: [UInt8], by algorithm: OpaquePointer?, named name: String
    ) throws(DigestError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard let algorithm,
            EVP_Digest(octets, octets.count, &digest, &count, algorithm, nil) == 1
        else {
            ERR_clear_error()
            throw .unavailable(name)
        }
        return Array(digest.prefix(Int(count)))
    }
}

/// Why a digest could not be made.
package enum DigestError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The TLS library refuses the algorithm, as in FIPS mode.
    case unavailable(String)
    /// The key is longer than OpenSSL takes (2 GiB).
    case tooLong

    package var description: String {
        switch self {
        case .unavailable(let name):
            "\(name) is not available from this system's OpenSSL (is it in FIPS mode?)"
        case .tooLong: "the key is longer than 2 GiB"
        }
    }
}
