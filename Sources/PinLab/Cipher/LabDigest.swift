internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames

/// The digests by which vendors check who asks: the laboratory's own calls of OpenSSL. An empty text
/// stands for a digest that this OpenSSL does not offer, so that no signature equals it.
enum LabDigest {
    /// 32 lower-case digits.
    static func md5(_ text: String) -> String {
        let octets = Array(text.utf8)
        var digest = [UInt8](repeating: 0, count: 16)
        guard httpdns_lab_md5(octets, octets.count, &digest) == 1 else { return "" }
        return Hex.encoded(digest)
    }

    /// 64 lower-case digits.
    static func sha256(_ text: String) -> String {
        let octets = Array(text.utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        guard httpdns_lab_sha256(octets, octets.count, &digest) == 1 else { return "" }
        return Hex.encoded(digest)
    }

    /// 32 octets.
    static func sha256(_ octets: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = httpdns_lab_sha256(octets, octets.count, &digest)
        return digest
    }

    /// 64 lower-case digits. The key is written in hexadecimal digits; any other text is no key.
    static func hmacSHA256(hexKey: String, _ text: String) -> String {
        guard let key = Hex.decoded(hexKey), !key.isEmpty else { return "" }
        let octets = Array(text.utf8)
        var code = [UInt8](repeating: 0, count: 32)
        guard httpdns_lab_hmac_sha256(key, key.count, octets, octets.count, &code) == 1 else {
            return ""
        }
        return Hex.encoded(code)
    }
}
