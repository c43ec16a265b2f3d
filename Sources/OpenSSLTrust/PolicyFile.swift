internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Files that a policy names, read when it is put to use and never again.
enum PolicyFile {
    /// - Parameters:
    ///   - path: the file.
    ///   - what: what it should be, for the message: `revocation list`.
    /// - Throws: ``TrustSetupError``.
    static func read(_ path: String, as what: String) throws(TrustSetupError) -> [UInt8] {
        do throws(SmallFile.Fault) {
            return try SmallFile.whole(path, most: maximumOctets)
        } catch { throw .unusable(what: what, source: path, reason: "\(error)") }
    }

    /// Hexadecimal SHA-256.
    ///
    /// - Throws: ``TrustSetupError`` when OpenSSL refuses: two contents must not have one name.
    static func digest(_ octets: [UInt8]) throws(TrustSetupError) -> String {
        guard let digest = sha256(octets) else { throw .unexpected("SHA-256 is not available") }
        return Hex.encoded(digest)
    }

    static func sha256(_ octets: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        return chttpdns_sha256(octets, octets.count, &digest) == 1 ? digest : nil
    }

    /// Because: the largest revocation lists of public authorities have some 30 MB.
    static let maximumOctets = 67_108_864
}
