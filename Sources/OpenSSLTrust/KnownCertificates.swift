internal import CHTTPDNSOpenSSL
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// The facts of certificates that were in a verified chain, for the next handshake: servers show the
/// same few, and reading one takes ten times as long as finding it.
///
/// By SHA-256 of the whole certificate, so that no other can be taken for it; what a peer merely
/// sends along is never kept.
enum KnownCertificates {
    private static let known = Locked<[[UInt8]: CertificateFacts]>([:])
    /// Because: 100 servers with a leaf and a few authorities; at most a few megabytes.
    private static let most = 256
    /// Because: certificates have 1 to 3 KB; larger ones are rare, and need not be quick.
    private static let largestOctets: Int32 = 16_384

    /// - Throws: ``CertificateError`` when a part that matters cannot be read.
    static func facts(of raw: OpaquePointer) throws(CertificateError) -> CertificateFacts {
        let fingerprint = try CertificateReader.fingerprint(raw)
        if let facts = known.withLock({ $0[fingerprint] }) { return facts }
        let facts = try CertificateReader.facts(of: raw, withOtherNames: true)
        guard i2d_X509(raw, nil) <= largestOctets else { return facts }
        known.withLock { known in
            // Rather all anew than a list of ages: it is only time that is lost.
            if known.count >= most { known.removeAll(keepingCapacity: true) }
            known[fingerprint] = facts
        }
        return facts
    }
}
