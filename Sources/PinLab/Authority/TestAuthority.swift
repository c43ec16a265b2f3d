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
    /// The OCSP response, DER, good or bad, that a server staples for a client that asks; nil for
    /// none. See ``TestAuthority/ocspResponse(for:_:validity:signer:)``.
    public var staple: [UInt8]?
    /// Time stamps of logs that a server sends in the handshake to a client that asks for them: what
    /// ``TestLog/stamp(_:isWrong:)`` made.
    public var stamps: [[UInt8]] = []
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
///
/// With a seed, keys, serial numbers, dates and signatures follow from the seed and from what is asked
/// for: the same calls give the same certificates, in any order, in every run. Who knows the seed has
/// the keys, so never trust a seeded root outside a test.
public struct TestAuthority: Sendable, Hashable {
    /// The authority's own certificate, key and issuers.
    public let identity: TestIdentity
    /// True for a self-signed authority.
    public let isRoot: Bool
    /// The subject's common name.
    public let commonName: String
    private let seed: TestSeed?

    /// What a client must trust: the certificate in PEM.
    public var certificatePEM: String { identity.certificatePEM }

    /// A new root.
    ///
    /// - Parameters:
    ///   - commonName: Its subject, 1 to 64 octets.
    ///   - kind: The kind of its key.
    ///   - validity: When it is valid; nil: ``TestValidity/current``, or ``TestValidity/seeded`` with a
    ///     seed.
    ///   - seed: What keys and serial numbers follow from; nil: they are random.
    /// - Throws: ``LabError`` when the name or the validity cannot be written, or OpenSSL refuses.
    public init(
        _ commonName: String = "Lab Root", key kind: TestKeyKind = .p256,
        validity: TestValidity? = nil, seed: String? = nil
    ) throws(LabError) {
        var recipe = TestRecipe.authority(commonName)
        recipe.key = kind
        recipe.validity = validity
        self.seed = seed.map { TestSeed($0) }
        self.commonName = commonName
        identity = try Minting(seed: self.seed, issuer: nil).made(recipe)
        isRoot = true
    }

    private init(identity: TestIdentity, commonName: String, seed: TestSeed?) {
        self.identity = identity
        self.commonName = commonName
        self.seed = seed
        isRoot = false
    }

    /// A server that signs as if it were an authority, with the key it has.
    init(misusing identity: TestIdentity) {
        self.init(identity: identity, commonName: "", seed: nil)
    }

    /// A new certificate of this authority, as the recipe says.
    ///
    /// - Parameters:
    ///   - recipe: What it says.
    ///   - other: Whose key it has: renewed, or stolen; nil for a new key.
    /// - Throws: ``LabError``.
    public func certificate(
        _ recipe: TestRecipe, reusingKeyOf other: TestIdentity? = nil
    ) throws(LabError) -> TestIdentity {
        try Minting(seed: seed, issuer: self).made(recipe, key: other?.privateKey)
    }

    /// A new authority below this one, as the recipe says.
    ///
    /// - Throws: ``LabError``.
    public func authority(_ recipe: TestRecipe) throws(LabError) -> TestAuthority {
        TestAuthority(
            identity: try certificate(recipe), commonName: recipe.commonName ?? "", seed: seed)
    }

    /// A new authority below this one; at most `pathLength` authorities may follow below it, nil
    /// for no limit.
    ///
    /// - Throws: ``LabError``.
    public func intermediate(
        _ commonName: String = "Lab Intermediate", key kind: TestKeyKind = .p256,
        validity: TestValidity? = nil, pathLength: Int? = nil
    ) throws(LabError) -> TestAuthority {
        var recipe = TestRecipe.authority(commonName, pathLength: pathLength)
        recipe.key = kind
        recipe.validity = validity
        return try authority(recipe)
    }

    /// This authority once more, with the same name and key, but vouched for by another: what it issues
    /// leads to the other's root. Source: RFC 5280 §3.2 (cross-certificates).
    ///
    /// - Throws: ``LabError``.
    public func crossSigned(by other: TestAuthority) throws(LabError) -> TestAuthority {
        let certificate = try other.certificate(.authority(commonName), reusingKeyOf: identity)
        return TestAuthority(identity: certificate, commonName: commonName, seed: seed)
    }

    /// A new server certificate for these subject alternative names; without names it has no such
    /// extension, without a common name an empty subject.
    ///
    /// - Throws: ``LabError``.
    public func leaf(
        _ names: [TestName], commonName: String? = nil, key kind: TestKeyKind = .p256,
        validity: TestValidity? = nil
    ) throws(LabError) -> TestIdentity {
        var recipe = TestRecipe(names, commonName: commonName)
        recipe.key = kind
        recipe.validity = validity
        return try certificate(recipe)
    }

    /// A new server certificate for a key that another certificate has: renewed, or stolen.
    ///
    /// - Throws: ``LabError``.
    public func leaf(
        _ names: [TestName], commonName: String? = nil, reusingKeyOf other: TestIdentity,
        validity: TestValidity? = nil
    ) throws(LabError) -> TestIdentity {
        var recipe = TestRecipe(names, commonName: commonName)
        recipe.validity = validity
        return try certificate(recipe, reusingKeyOf: other)
    }

    /// A certificate that signs itself and is nobody's: what a captive portal often has.
    ///
    /// - Throws: ``LabError``.
    public static func selfSigned(
        _ names: [TestName], commonName: String = "Self-signed", key kind: TestKeyKind = .p256,
        validity: TestValidity? = nil
    ) throws(LabError) -> TestIdentity {
        var recipe = TestRecipe(names, commonName: commonName)
        recipe.key = kind
        recipe.validity = validity
        return try Minting(seed: nil, issuer: nil).made(recipe)
    }
}

/// Makes certificates of one issuer; without an issuer they sign themselves.
private struct Minting {
    let seed: TestSeed?
    let issuer: TestAuthority?

    func made(_ recipe: TestRecipe, key given: [UInt8]? = nil) throws(LabError) -> TestIdentity {
        let above = issuer.map { "\($0.identity.pin)" } ?? ""
        let key: [UInt8]
        if let given {
            key = given
        } else {
            key = try newKey(
                recipe.key, seed: seed?.octets("key", recipe, issuer: above))
        }
        let making = try CertificateMaking()
        if let commonName = recipe.commonName { try making.setSubject(commonName) }
        try making.setValidity(recipe.validity ?? (seed == nil ? .current : .seeded))
        making.setDigest(recipe.digest)
        if let seed {
            // A positive number that does not begin with a zero octet. Source: RFC 5280 §4.1.2.2.
            var serial = Array(seed.octets("serial", recipe, issuer: above).prefix(16))
            serial[0] = serial[0] & 0x7F | 0x40
            try making.setSerial(serial)
        }
        try making.addExtensions(recipe, isSelfSigned: issuer == nil)
        let certificate = try making.signed(
            key: key, issuer: issuer?.identity.certificate,
            issuerKey: issuer?.identity.privateKey ?? key)
        var issuers: [[UInt8]] = []
        if let issuer, !issuer.isRoot {
            issuers = [issuer.identity.certificate] + issuer.identity.issuers
        }
        return try TestIdentity(certificate: certificate, privateKey: key, issuers: issuers)
    }
}

extension CertificateMaking {
    /// Source: RFC 5280 §4.2.1 (§4.2.1.1: a root may leave out who signed it); the CA/Browser Forum's
    /// profile of a server certificate.
    fileprivate func addExtensions(_ recipe: TestRecipe, isSelfSigned: Bool) throws(LabError) {
        switch recipe.role {
        case .authority(let pathLength):
            let limit = pathLength.map { ",pathlen:\($0)" } ?? ""
            try add(extension: "basicConstraints", "critical,CA:TRUE" + limit)
            try add(extension: "keyUsage", "critical,digitalSignature,keyCertSign,cRLSign")
        case .server:
            try add(extension: "basicConstraints", "critical,CA:FALSE")
            // Source: CA/B BR §7.1.2.7.11: an RSA key may also be encrypted to.
            let encipherment = recipe.key.isRSA ? ",keyEncipherment" : ""
            try add(extension: "keyUsage", "critical,digitalSignature" + encipherment)
        }
        if let usage = recipe.usage { try add(extension: "extendedKeyUsage", usage) }
        try add(extension: "subjectKeyIdentifier", "hash")
        if !isSelfSigned { try add(extension: "authorityKeyIdentifier", "keyid") }
        for each in recipe.extensions { try add(extension: each.name, each.value) }
        for name in recipe.names { try add(name) }
    }
}
