public import HTTPDNSTrust

/// A certificate with its private key and the certificates above it, all made in memory.
///
/// The keys are for tests: they are kept as plain octets and handed out as text.
public struct TestIdentity: Sendable, Hashable {
    /// The certificate, DER.
    public let certificate: [UInt8]
    /// The private key, PKCS#8 DER.
    public let privateKey: [UInt8]
    /// The certificates that a server sends after its own, nearest first; the root is not among
    /// them. Change it to send a broken chain.
    public var issuers: [[UInt8]]
    /// An OCSP response, DER, good or bad, that a server staples to handshakes which ask for one.
    public var staple: [UInt8]?
    /// The authority, DER, of which a server demands a certificate of each client; nil: it asks for
    /// none.
    public var clientAuthority: [UInt8]?
    /// The SHA-256 pin of the certificate's key; its `description` is the `sha256/…` text.
    public let pin: Pin

    /// The certificate in PEM.
    public let certificatePEM: String
    /// The private key in PEM, not encrypted.
    public let privateKeyPEM: String

    /// The certificate and its issuers in PEM, in the order a server sends them.
    public var chainPEM: String {
        get throws(LabError) {
            var text = certificatePEM
            for issuer in issuers { text += try pem("CERTIFICATE", issuer) }
            return text
        }
    }

    init(certificate: [UInt8], privateKey: [UInt8], issuers: [[UInt8]]) throws(LabError) {
        self.certificate = certificate
        self.privateKey = privateKey
        self.issuers = issuers
        guard let pin = Pin(sha256: try keyDigest(certificate: certificate)) else {
            throw openSSLRefused("hash a public key")
        }
        self.pin = pin
        certificatePEM = try pem("CERTIFICATE", certificate)
        privateKeyPEM = try pem("PRIVATE KEY", privateKey)
    }
}

/// A certificate authority for tests: mints intermediates and leaves, good and bad.
///
///     let root = try TestAuthority()
///     let shop = try root.leaf(["shop.example.test"])
///     let server = try LabServer(security: .tls(shop)) { _ in .text("hello") }
///
/// Nothing touches a file or the network. A root takes about a millisecond with P-256.
public struct TestAuthority: Sendable, Hashable {
    /// The authority's own certificate, key and issuers.
    public let identity: TestIdentity
    /// True for a self-signed authority.
    public let isRoot: Bool

    /// What a client must trust: the certificate in PEM.
    public var certificatePEM: String { identity.certificatePEM }

    /// A new root.
    ///
    /// - Throws: ``LabError`` when the name or the validity cannot be written, or OpenSSL refuses.
    public init(
        _ commonName: String = "Lab Root", key kind: TestKeyKind = .p256,
        validity: TestValidity = .current
    ) throws(LabError) {
        let key = try newKey(kind)
        let making = try CertificateMaking()
        try making.setSubject(commonName)
        try making.setValidity(validity)
        try making.addAuthorityExtensions(pathLength: nil, isRoot: true)
        let certificate = try making.signed(key: key, issuer: nil, issuerKey: key)
        identity = try TestIdentity(certificate: certificate, privateKey: key, issuers: [])
        isRoot = true
    }

    private init(identity: TestIdentity) {
        self.identity = identity
        isRoot = false
    }

    /// A new authority below this one; at most `pathLength` authorities may follow below it, nil
    /// for no limit.
    ///
    /// - Throws: ``LabError``.
    public func intermediate(
        _ commonName: String = "Lab Intermediate", key kind: TestKeyKind = .p256,
        validity: TestValidity = .current, pathLength: Int? = nil
    ) throws(LabError) -> TestAuthority {
        let making = try CertificateMaking()
        try making.setSubject(commonName)
        try making.setValidity(validity)
        try making.addAuthorityExtensions(pathLength: pathLength, isRoot: false)
        return TestAuthority(identity: try signed(making, key: try newKey(kind)))
    }

    /// A new server certificate for these subject alternative names; without names it has no such
    /// extension, without a common name an empty subject.
    ///
    /// - Throws: ``LabError``.
    public func leaf(
        _ names: [TestName], commonName: String? = nil, key kind: TestKeyKind = .p256,
        validity: TestValidity = .current
    ) throws(LabError) -> TestIdentity {
        try leaf(names, commonName: commonName, privateKey: try newKey(kind), validity: validity)
    }

    /// A new server certificate for a key that another certificate has: renewed, or stolen.
    ///
    /// - Throws: ``LabError``.
    public func leaf(
        _ names: [TestName], commonName: String? = nil, reusingKeyOf other: TestIdentity,
        validity: TestValidity = .current
    ) throws(LabError) -> TestIdentity {
        try leaf(
            names, commonName: commonName, privateKey: other.privateKey, validity: validity)
    }

    /// A certificate that signs itself and is nobody's: what a captive portal often has.
    ///
    /// - Throws: ``LabError``.
    public static func selfSigned(
        _ names: [TestName], commonName: String = "Self-signed", key kind: TestKeyKind = .p256,
        validity: TestValidity = .current
    ) throws(LabError) -> TestIdentity {
        let key = try newKey(kind)
        let making = try CertificateMaking()
        try making.setSubject(commonName)
        try making.setValidity(validity)
        try making.addLeafExtensions(names, isSelfSigned: true)
        let certificate = try making.signed(key: key, issuer: nil, issuerKey: key)
        return try TestIdentity(certificate: certificate, privateKey: key, issuers: [])
    }

    private func leaf(
        _ names: [TestName], commonName: String?, privateKey: [UInt8], validity: TestValidity
    ) throws(LabError) -> TestIdentity {
        let making = try CertificateMaking()
        if let commonName { try making.setSubject(commonName) }
        try making.setValidity(validity)
        try making.addLeafExtensions(names)
        return try signed(making, key: privateKey)
    }

    private func signed(
        _ making: borrowing CertificateMaking, key: [UInt8]
    ) throws(LabError) -> TestIdentity {
        let certificate = try making.signed(
            key: key, issuer: identity.certificate, issuerKey: identity.privateKey)
        let issuers = isRoot ? [] : [identity.certificate] + identity.issuers
        return try TestIdentity(certificate: certificate, privateKey: key, issuers: issuers)
    }
}

extension CertificateMaking {
    /// Source: RFC 5280 §4.2.1.1 (a root may leave out who signed it), §4.2.1.2,
    /// §4.2.1.3, §4.2.1.9.
    fileprivate func addAuthorityExtensions(pathLength: Int?, isRoot: Bool) throws(LabError) {
        let limit = pathLength.map { ",pathlen:\($0)" } ?? ""
        try add(extension: "basicConstraints", "critical,CA:TRUE" + limit)
        try add(extension: "keyUsage", "critical,keyCertSign,cRLSign")
        try add(extension: "subjectKeyIdentifier", "hash")
        if !isRoot { try add(extension: "authorityKeyIdentifier", "keyid") }
    }

    /// Source: RFC 5280 §4.2.1; the CA/Browser Forum's profile of a server certificate.
    fileprivate func addLeafExtensions(
        _ names: [TestName], isSelfSigned: Bool = false
    ) throws(LabError) {
        try add(extension: "basicConstraints", "critical,CA:FALSE")
        try add(extension: "keyUsage", "critical,digitalSignature")
        try add(extension: "extendedKeyUsage", "serverAuth")
        try add(extension: "subjectKeyIdentifier", "hash")
        if !isSelfSigned { try add(extension: "authorityKeyIdentifier", "keyid") }
        for name in names { try add(name) }
    }
}
