internal import CHTTPDNSOpenSSL

/// How an encrypted answer is damaged.
public enum LabCipherFault: String, Sendable, Hashable, CaseIterable {
    /// Encrypted with another key.
    case wrongKey
    /// Ends in the middle of the initialisation vector.
    case truncatedVector
    /// The last octet of the padding says more than a block.
    case badPadding
    /// One bit of the authentication tag is another.
    case flippedTag
}

/// A cipher of a vendor with its key, in the laboratory's own words: padding is done here, so that it
/// can be done wrongly.
struct LabCipher {
    enum Algorithm {
        /// DES-ECB with PKCS#5 padding.
        case des
        /// AES-128-CBC with PKCS#7 padding, the vector of 16 octets in front.
        case aes128CBC
        /// AES-128-GCM, the vector of 12 octets in front and the tag of 16 behind.
        case aes128GCM
        /// AES-256-ECB with PKCS#7 padding.
        case aes256ECB
    }

    private let algorithm: Algorithm
    private let key: [UInt8]

    /// Nil for a key of another length than the cipher's.
    init?(_ algorithm: Algorithm, key: [UInt8]) {
        let count =
            switch algorithm {
            case .des: 8
            case .aes128CBC, .aes128GCM: 16
            case .aes256ECB: 32
            }
        guard key.count == count else { return nil }
        self.algorithm = algorithm
        self.key = key
    }

    /// False for DES where OpenSSL's legacy provider is not installed.
    var isAvailable: Bool { algorithm != .des || httpdns_lab_has_des() == 1 }

    /// Vector, ciphertext and tag; nil when OpenSSL refuses.
    func sealed(_ plain: [UInt8], _ fault: LabCipherFault? = nil) -> [UInt8]? {
        let key = fault == .wrongKey ? self.key.map { $0 ^ 0xA5 } : self.key
        var vector = [UInt8](repeating: 0, count: vectorOctets)
        guard httpdns_lab_random(&vector, vector.count) == 1 else { return nil }
        guard let body = encrypted(plain, key, vector, fault) else { return nil }
        if fault == .truncatedVector {
            return Array((vector + body).prefix(max(4, vectorOctets / 2)))
        }
        return vector + body
    }

    private func encrypted(
        _ plain: [UInt8], _ key: [UInt8], _ vector: [UInt8], _ fault: LabCipherFault?
    ) -> [UInt8]? {
        guard algorithm == .aes128GCM else {
            return blocks(padded(plain, fault), key, vector, encrypting: true)
        }
        var output = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: LabCipher.tagOctets)
        guard httpdns_lab_gcm(1, key, vector, plain, plain.count, &output, &tag) == 1 else {
            return nil
        }
        if fault == .flippedTag { tag[tag.count - 1] ^= 1 }
        return output + tag
    }

    /// The plain octets; nil for what this key did not seal.
    func opened(_ sealed: [UInt8]) -> [UInt8]? {
        let vector = Array(sealed.prefix(vectorOctets))
        let rest = Array(sealed.dropFirst(vectorOctets))
        guard vector.count == vectorOctets else { return nil }
        guard algorithm == .aes128GCM else {
            return blocks(rest, key, vector, encrypting: false).flatMap(unpadded)
        }
        guard rest.count >= LabCipher.tagOctets else { return nil }
        let text = Array(rest.dropLast(LabCipher.tagOctets))
        var tag = Array(rest.suffix(LabCipher.tagOctets))
        var output = [UInt8](repeating: 0, count: text.count)
        guard httpdns_lab_gcm(0, key, vector, text, text.count, &output, &tag) == 1 else {
            return nil
        }
        return output
    }

    private func blocks(
        _ input: [UInt8], _ key: [UInt8], _ vector: [UInt8], encrypting: Bool
    ) -> [UInt8]? {
        guard !input.isEmpty, input.count % blockOctets == 0 else { return nil }
        let number =
            switch algorithm {
            case .des: HTTPDNS_LAB_DES_ECB
            case .aes256ECB: HTTPDNS_LAB_AES256_ECB
            case .aes128CBC, .aes128GCM: HTTPDNS_LAB_AES128_CBC
            }
        var output = [UInt8](repeating: 0, count: input.count)
        guard
            httpdns_lab_blocks(
                Int32(number), encrypting ? 1 : 0, key, vector, input, input.count, &output) == 1
        else { return nil }
        return output
    }

    /// Source: RFC 5652 §6.3.
    private func padded(_ plain: [UInt8], _ fault: LabCipherFault?) -> [UInt8] {
        let count = blockOctets - plain.count % blockOctets
        var octets = plain + [UInt8](repeating: UInt8(count), count: count)
        if fault == .badPadding { octets[octets.count - 1] = UInt8(blockOctets + 1) }
        return octets
    }

    private func unpadded(_ octets: [UInt8]) -> [UInt8]? {
        guard let last = octets.last, (1...blockOctets).contains(Int(last)),
            octets.suffix(Int(last)).allSatisfy({ $0 == last })
        else { return nil }
        return octets.dropLast(Int(last))
    }

    private var blockOctets: Int { algorithm == .des ? 8 : 16 }

    private var vectorOctets: Int {
        switch algorithm {
        case .aes128CBC: 16
        case .aes128GCM: 12
        case .des, .aes256ECB: 0
        }
    }

    /// Source: NIST SP 800-38D §5.2.1.2, the longest tag.
    private static let tagOctets = 16
}
