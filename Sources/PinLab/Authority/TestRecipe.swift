/// What a certificate is to say: right in everything that is not changed.
///
///     var recipe = TestRecipe(["shop.example.test"])
///     recipe.usage = "clientAuth"
///     let wrong = try authority.certificate(recipe)
public struct TestRecipe: Sendable, Hashable {
    /// What the basic constraints say.
    public enum Role: Sendable, Hashable {
        /// No authority.
        case server
        /// An authority, below which at most so many others may follow; nil for no limit.
        case authority(pathLength: Int?)
    }

    /// What the basic constraints and the key usage say.
    public var role = Role.server
    /// The subject alternative names; without any there is no such extension.
    public var names: [TestName]
    /// The common name; nil for an empty subject.
    public var commonName: String?
    /// The kind of its key; of no effect where a key is reused.
    public var key = TestKeyKind.p256
    /// The digest that its issuer signs.
    public var digest = TestDigest.sha256
    /// When it is valid; nil: ``TestValidity/current``, or ``TestValidity/seeded`` with a seed.
    public var validity: TestValidity?
    /// The extended key usage in OpenSSL's words; nil leaves the extension out.
    public var usage: String? = "serverAuth"
    /// Further extensions, in order.
    public var extensions: [TestExtension] = []
    /// Tells apart what is otherwise equal: with a seed, equal recipes give equal certificates.
    public var variant = 0

    /// A server's certificate for these names.
    public init(_ names: [TestName], commonName: String? = nil) {
        self.names = names
        self.commonName = commonName
    }

    /// An authority's certificate.
    public static func authority(_ commonName: String, pathLength: Int? = nil) -> TestRecipe {
        var recipe = TestRecipe([], commonName: commonName)
        recipe.role = .authority(pathLength: pathLength)
        recipe.usage = nil
        return recipe
    }

    /// All that it says, as text: equal for equal recipes, and for no others.
    var canonicalText: String {
        let fields: [String] =
            ["\(role)", "\(key)", "\(digest)", "\(variant)", usage ?? "-", commonName ?? "-"]
            + [validity.map { "\($0.notBefore)…\($0.notAfter)" } ?? "-"]
            + names.map { "\($0.kind) \($0.octets)" }
            + extensions.map { "\($0.name)=\($0.value)" }
        return fields.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
    }
}

/// An extension of a certificate, in the words of OpenSSL's configuration.
/// Source: x509v3_config(5).
public struct TestExtension: Sendable, Hashable {
    /// `nameConstraints`, `tlsfeature`, an object identifier.
    public let name: String
    /// `critical,permitted;DNS:example.test`.
    public let value: String

    /// Nothing is checked before a certificate is made with it.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The server must staple an OCSP response. Source: RFC 7633.
    public static let mustStaple = TestExtension("tlsfeature", "status_request")

    /// An authority may issue for these names and those below them, and no others.
    /// Source: RFC 5280 §4.2.1.10.
    public static func permits(_ names: [String]) -> TestExtension {
        let list = names.map { "permitted;DNS:\($0)" }.joined(separator: ",")
        return TestExtension("nameConstraints", "critical," + list)
    }

    /// An authority may not issue for these names and those below them.
    /// Source: RFC 5280 §4.2.1.10.
    public static func excludes(_ names: [String]) -> TestExtension {
        let list = names.map { "excluded;DNS:\($0)" }.joined(separator: ",")
        return TestExtension("nameConstraints", "critical," + list)
    }

    /// A policy that the certificate was issued under. Source: RFC 5280 §4.2.1.4.
    public static func policy(_ identifier: String) -> TestExtension {
        TestExtension("certificatePolicies", identifier)
    }
}

/// What keys and serial numbers are derived from, so that they are the same in every run.
struct TestSeed: Sendable, Hashable {
    private let text: String

    init(_ text: String) { self.text = text }

    /// 32 octets for one purpose of one certificate of one issuer.
    func octets(_ purpose: String, _ recipe: TestRecipe, issuer: String) -> [UInt8] {
        let parts = [text, purpose, issuer, recipe.canonicalText]
        let joined = parts.map { "\($0.utf8.count):\($0)" }.joined(separator: "|")
        return LabDigest.sha256(Array(joined.utf8))
    }
}
