/// The SHA-256 of a certificate's SubjectPublicKeyInfo (DER). Source: RFC 7469 §2.4.
public struct Pin: Sendable, Hashable, CustomStringConvertible {
    /// Exactly 32 octets.
    public let sha256: [UInt8]

    /// Nil unless there are exactly 32 octets.
    public init?(sha256: some Collection<UInt8>) {
        guard sha256.count == 32 else { return nil }
        self.sha256 = Array(sha256)
    }

    /// `sha256/` and 44 characters of base64. Source: RFC 7469 §2.4 as OkHttp and curl spell it.
    public var description: String { "sha256/" + Base64.encoded(sha256) }
}
