internal import CHTTPDNSOpenSSL
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// The facts of a certificate, kept with OpenSSL's object as long as it lives: a root is read once, not
/// once a connection. For objects that are made anew in each handshake: ``KnownCertificates``.
enum KnownFacts {
    private final class Kept: Sendable {
        let facts: CertificateFacts

        init(_ facts: CertificateFacts) { self.facts = facts }
    }

    private static let slot = chttpdns_certificate_index(refuseCopy, releaseObject)
    /// OpenSSL does not lock application data, and threads share the roots.
    private static let access = Locked(())

    /// - Throws: ``CertificateError``; that is not kept.
    static func facts(of raw: OpaquePointer) throws(CertificateError) -> CertificateFacts {
        if let known = access.withLock({ _ in kept(raw) }) { return known.facts }
        let facts = try KnownCertificates.facts(of: raw)
        guard slot >= 0 else { return facts }
        let new = Kept(facts)
        access.withLock { _ in
            // Another thread may have been faster.
            guard X509_get_ex_data(raw, slot) == nil else { return }
            let retained = Unmanaged.passRetained(new)
            if X509_set_ex_data(raw, slot, retained.toOpaque()) != 1 { retained.release() }
        }
        return facts
    }

    private static func kept(_ raw: OpaquePointer) -> Kept? {
        guard slot >= 0 else { return nil }
        return X509_get_ex_data(raw, slot).map {
            Unmanaged<Kept>.fromOpaque($0).takeUnretainedValue()
        }
    }
}
