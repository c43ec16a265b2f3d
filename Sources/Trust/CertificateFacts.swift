public import HTTPDNSNames

/// What one certificate states, as far as judging and reporting need it. Facts, no handles.
public struct CertificateFacts: Sendable, Hashable {
    /// Distinguished names in RFC 4514 text, control characters escaped.
    public var subject: String
    public var issuer: String
    /// `dNSName` entries of the SAN as octets: they may hold anything, NUL included.
    public var dnsNames: [[UInt8]]
    /// `iPAddress` entries of the SAN as octets: 4 or 16 when well formed.
    public var ipAddresses: [[UInt8]]
    /// Kinds of the SAN's other entries (`rfc822Name`, `uniformResourceIdentifier` …).
    public var otherNameKinds: [String]
    public var notBefore: WallTime
    public var notAfter: WallTime
    /// The pin of its key.
    public var pin: Pin
    /// SHA-256 of the whole DER.
    public var fingerprint: [UInt8]
    /// The key for people: `EC P-256`, `RSA 2048`, `Ed25519`.
    public var key: String
    public var signatureAlgorithm: String
    /// Hexadecimal, upper case.
    public var serial: String
    public var isCA: Bool
    /// What only the chain rules look at.
    package var particulars = CertificateParticulars()
    /// The whole certificate in DER; empty where nobody has it.
    public var der: [UInt8] = []

    public init(
        subject: String, issuer: String, dnsNames: [[UInt8]], ipAddresses: [[UInt8]],
        otherNameKinds: [String] = [], notBefore: WallTime, notAfter: WallTime, pin: Pin,
        fingerprint: [UInt8] = [], key: String = "", signatureAlgorithm: String = "",
        serial: String = "", isCA: Bool = false
    ) {
        self.subject = subject
        self.issuer = issuer
        self.dnsNames = dnsNames
        self.ipAddresses = ipAddresses
        self.otherNameKinds = otherNameKinds
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.pin = pin
        self.fingerprint = fingerprint
        self.key = key
        self.signatureAlgorithm = signatureAlgorithm
        self.serial = serial
        self.isCA = isCA
    }
}
