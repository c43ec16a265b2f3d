import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSPlatform
import Testing

/// What authorities, responders and logs say about a certificate, made in memory.
enum StatusMint {
    struct Staple {
        var status = HTTPDNS_LAB_STATUS_GOOD
        /// Seconds from now.
        var from: Int64 = -60
        /// Seconds from now; nil: none.
        var to: Int64? = 3_600
        var isWeak = false
        /// By an RSA key, with the padding PSS.
        var isPSS = false

        static let good = Staple()
        static let revoked = Staple(status: HTTPDNS_LAB_STATUS_REVOKED)
        static let ended = Staple(from: -7_200, to: -3_600)

        /// About `subject`, signed by `signer` in the place of `issuer`.
        func minted(
            about subject: Minted, of issuer: Minted, signedBy signer: Minted? = nil
        ) throws -> [UInt8] {
            let signer = signer ?? issuer
            var making = httpdns_lab_ocsp(
                subject: subject.certificate, issuer: issuer.certificate,
                signer: signer.certificate, signer_key: signer.key, status: Int32(status),
                this_update: StatusMint.fromNow(from),
                next_update: to.map(StatusMint.fromNow) ?? .min, is_weak: isWeak ? 1 : 0,
                is_pss: isPSS ? 1 : 0)
            return try StatusMint.taken(httpdns_lab_status_response(&making))
        }
    }

    /// A revocation list in PEM; times in seconds from now.
    static func list(
        by issuer: Minted, naming revoked: Minted? = nil, from: Int64 = -60, to: Int64? = 3_600
    ) throws -> String {
        let made = try taken(
            httpdns_lab_list(
                issuer.certificate, issuer.key, revoked?.certificate, fromNow(from),
                to.map(fromNow) ?? .min))
        return String(decoding: made, as: UTF8.self)
    }

    /// Embeds a time stamp of each log and signs `subject` anew.
    static func stamp(
        _ subject: Minted, of issuer: Minted, by logs: [Minted], at seconds: Int64 = -600
    ) throws {
        for log in logs {
            try #require(
                httpdns_lab_stamp(
                    subject.certificate, issuer.certificate, issuer.key, log.key,
                    fromNow(seconds) * 1_000) == 1)
        }
    }

    /// SubjectPublicKeyInfo, DER.
    static func publicKey(_ minted: Minted) throws -> [UInt8] {
        try taken(httpdns_lab_public_key(minted.key))
    }

    /// PKCS#8 in PEM.
    static func privateKey(_ minted: Minted, passphrase: String? = nil) throws -> String {
        String(decoding: try taken(httpdns_lab_private_key(minted.key, passphrase)), as: UTF8.self)
    }

    static func taken(_ made: httpdns_lab_octets) throws -> [UInt8] {
        defer { httpdns_lab_release(made) }
        return Array(UnsafeBufferPointer(start: try #require(made.octets), count: made.count))
    }

    static func fromNow(_ seconds: Int64) -> Int64 {
        SystemWallClock().now().secondsSince1970 + seconds
    }
}
