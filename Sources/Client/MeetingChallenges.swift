internal import HTTPDNSDigest
package import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSTransport

extension DigestChallenge.Algorithm {
    /// False where the TLS library refuses it: MD5 in FIPS mode.
    package var isAvailable: Bool { (try? hash([])) != nil }

    fileprivate func hash(_ octets: [UInt8]) throws(DigestError) -> [UInt8] {
        switch self {
        case .md5: try Digest.md5(octets)
        case .sha256: try Digest.sha256(octets)
        case .sha512Half: try Digest.sha512Half(octets)
        }
    }
}

extension OriginCredentials {
    /// What shows the origin of that request who asks.
    ///
    /// - Parameter use: how often the challenge was met, this time among them.
    /// - Throws: ``DigestError`` where the algorithm is not there.
    func authorization(
        for request: TransportRequest, use: UInt32
    ) throws(DigestError) -> TransportRequest.Authorization {
        switch way {
        case .basic:
            let text = "Basic " + Base64.encoded(Array("\(user):\(password.revealed)".utf8))
            return TransportRequest.Authorization(.basic, Array(text.utf8))
        case .digest(let challenge):
            let use = DigestChallenge.Use(
                method: request.method, target: request.asksServer ? "*" : request.target,
                count: use,
                clientNonce: Hex.encoded(Cipher.randomOctets(OriginCredentials.ownNonceOctets)))
            let octets = try challenge.answer(user, password, for: use) {
                octets throws(DigestError) in try challenge.algorithm.hash(octets)
            }
            return TransportRequest.Authorization(.digest, octets)
        }
    }

    /// Because: 128 bits are guessed by nobody.
    private static let ownNonceOctets = 16
}
