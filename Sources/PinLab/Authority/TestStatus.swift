internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames

/// What a responder says of a certificate. Source: RFC 6960 §2.2.
public enum TestStatus: Sendable, Hashable {
    /// Not revoked.
    case good
    /// Revoked when the response was made.
    case revoked
    /// The responder does not know it.
    case unknown

    fileprivate var number: Int32 {
        switch self {
        case .good: 0
        case .revoked: 1
        case .unknown: 2
        }
    }
}

extension TestAuthority {
    /// An OCSP response about a certificate of this authority, for a server to staple.
    ///
    /// - Parameters:
    ///   - identity: The certificate; one of another authority gives a response about nothing.
    ///   - status: What is said.
    ///   - validity: From when to when it may be used; a response of ``TestValidity/expired`` is one
    ///     that nobody should take.
    ///   - signer: Who signs: this authority; or another, a delegate or an impostor.
    /// - Returns: the DER of an OCSPResponse.
    /// - Throws: ``LabError``.
    public func ocspResponse(
        for identity: TestIdentity, _ status: TestStatus = .good,
        validity: TestValidity = .current, signer: TestIdentity? = nil
    ) throws(LabError) -> [UInt8] {
        let signer = signer ?? self.identity
        var said = TestAuthority.status(status.number, validity)
        let made = lend(identity.certificate) { subject in
            lend(self.identity.certificate) { issuer in
                lend(signer.certificate) { signing in
                    lend(signer.privateKey) { key in
                        httpdns_lab_ocsp_response(subject, issuer, signing, key, &said)
                    }
                }
            }
        }
        return try octets(made, or: "make an OCSP response")
    }

    /// A list of revoked certificates of this authority. Source: RFC 5280 §5.
    ///
    /// - Returns: the list in PEM.
    /// - Throws: ``LabError``.
    public func revocationList(
        _ revoked: [TestIdentity], validity: TestValidity = .current
    ) throws(LabError) -> String {
        var said = TestAuthority.status(0, validity)
        let made = lend(identity.certificate) { issuer in
            lend(identity.privateKey) { key in
                lend(revoked.map(\.certificate)[...]) { list in
                    httpdns_lab_revocation_list(
                        issuer, key, list.baseAddress, list.count, &said)
                }
            }
        }
        return try pem("X509 CRL", try octets(made, or: "make a revocation list"))
    }

    private static func status(_ number: Int32, _ validity: TestValidity) -> httpdns_lab_status {
        httpdns_lab_status(
            status: number, this_update: validity.notBefore.secondsSince1970,
            next_update: validity.notAfter.secondsSince1970)
    }
}

/// The octets in place for one call.
func lend<Result>(
    _ octets: [UInt8], _ body: (UnsafePointer<httpdns_lab_der>) -> Result
) -> Result {
    octets.withUnsafeBufferPointer { buffer in
        let empty = [UInt8](repeating: 0, count: 1)
        return empty.withUnsafeBufferPointer { none in
            // An array's pointer is nil only when it is empty.
            guard let start = buffer.baseAddress ?? none.baseAddress else {
                preconditionFailure("an array of one octet has a pointer")
            }
            var der = httpdns_lab_der(octets: start, count: buffer.count)
            return body(&der)
        }
    }
}

private func lend<Result>(
    _ list: ArraySlice<[UInt8]>, _ lent: [httpdns_lab_der] = [],
    _ body: (UnsafeBufferPointer<httpdns_lab_der>) -> Result
) -> Result {
    guard let first = list.first else { return lent.withUnsafeBufferPointer(body) }
    return lend(first) { der in lend(list.dropFirst(), lent + [der.pointee], body) }
}
