internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames

/// A log of Certificate Transparency for tests: promises to show a certificate, by a signed time stamp.
/// Source: RFC 6962 §3.
///
///     let log = try TestLog()
///     let logged = try authority.embedding([log], in: authority.leaf(["shop.example.test"]))
///     // … a client that knows log.listLine takes it …
public struct TestLog: Sendable, Hashable {
    /// The public key: SubjectPublicKeyInfo, DER.
    public let publicKey: [UInt8]
    private let privateKey: [UInt8]

    /// The log in a list of logs, as `--ct-logs` takes it: its key in base64, a line.
    public var listLine: String { Base64.encoded(publicKey) + "\n" }

    /// A new log with a key of its own.
    ///
    /// - Parameters:
    ///   - name: Tells logs of one seed apart.
    ///   - seed: What its key follows from; nil: it is random.
    /// - Throws: ``LabError``.
    public init(_ name: String = "Lab Log", seed: String? = nil) throws(LabError) {
        let recipe = TestRecipe([], commonName: name)
        let key = try newKey(
            .p256, seed: seed.map { TestSeed($0).octets("log", recipe, issuer: "") })
        privateKey = key
        publicKey = try octets(lend(key) { httpdns_lab_public_key_of($0) }, or: "read a log's key")
    }

    /// A time stamp about a certificate as it stands: for ``TestIdentity/stamps``, or for an OCSP
    /// response.
    ///
    /// - Parameters:
    ///   - identity: The certificate.
    ///   - isWrong: Whether the signature is wrong.
    /// - Throws: ``LabError``.
    public func stamp(
        _ identity: TestIdentity, isWrong: Bool = false
    ) throws(LabError) -> [UInt8] {
        let made = lend(identity.certificate) { certificate in
            signing(isWrong) { httpdns_lab_sent_stamp(certificate, $0) }
        }
        return try octets(made, or: "make a time stamp")
    }

    /// The log in place for one call.
    fileprivate func signing<Result>(
        _ isWrong: Bool, _ body: (UnsafePointer<httpdns_lab_log>) -> Result
    ) -> Result {
        // A while ago: a log dates nothing ahead.
        let moment = (labWallTime().secondsSince1970 - TestLog.ageSeconds) * 1_000
        return lend(privateKey) { key in
            var log = httpdns_lab_log(
                key: key.pointee, at_milliseconds: moment, is_wrong: isWrong ? 1 : 0)
            return body(&log)
        }
    }

    /// Because: certificates of the laboratory are valid from an hour ago on.
    private static let ageSeconds: Int64 = 600
}

extension TestAuthority {
    /// A certificate of this authority with time stamps of the logs embedded, each in turn, and signed
    /// anew over SHA-256.
    ///
    /// - Parameters:
    ///   - logs: Who promises to show it.
    ///   - identity: The certificate.
    ///   - isWrong: Whether the logs' signatures are wrong.
    /// - Throws: ``LabError``.
    public func embedding(
        _ logs: [TestLog], in identity: TestIdentity, isWrong: Bool = false
    ) throws(LabError) -> TestIdentity {
        var certificate = identity.certificate
        for log in logs {
            let made = lend(certificate) { leaf in
                lend(self.identity.certificate) { issuer in
                    lend(self.identity.privateKey) { key in
                        log.signing(isWrong) { httpdns_lab_embed_stamp(leaf, issuer, key, $0) }
                    }
                }
            }
            certificate = try octets(made, or: "embed a time stamp")
        }
        var stamped = try TestIdentity(
            certificate: certificate, privateKey: identity.privateKey, issuers: identity.issuers)
        stamped.staple = identity.staple
        stamped.clientAuthority = identity.clientAuthority
        stamped.stamps = identity.stamps
        return stamped
    }

    /// An OCSP response of this authority with time stamps in it. Source: RFC 6962 §3.3.
    ///
    /// - Parameters:
    ///   - response: One that ``ocspResponse(for:_:validity:signer:)`` made.
    ///   - stamps: What ``TestLog/stamp(_:isWrong:)`` made.
    /// - Throws: ``LabError``.
    public func ocspResponse(
        _ response: [UInt8], stampedWith stamps: [[UInt8]]
    ) throws(LabError) -> [UInt8] {
        let made = lend(response) { response in
            lend(identity.certificate) { signer in
                lend(identity.privateKey) { key in
                    lend(TestIdentity.list(stamps)) {
                        httpdns_lab_stamp_response(response, signer, key, $0)
                    }
                }
            }
        }
        return try octets(made, or: "put time stamps into an OCSP response")
    }
}

extension TestIdentity {
    /// Each time stamp after its length. Source: RFC 6962 §3.3, SerializedSCT.
    static func list(_ stamps: [[UInt8]]) -> [UInt8] {
        stamps.flatMap { stamp in
            [UInt8(truncatingIfNeeded: stamp.count >> 8), UInt8(truncatingIfNeeded: stamp.count)]
                + stamp
        }
    }
}
