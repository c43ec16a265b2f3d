/// What only ``ChainRules`` asks of a certificate: read once, by the TLS library's parsers.
///
/// The defaults are those of a sound server certificate.
package struct CertificateParticulars: Sendable, Hashable {
    /// As people count: 3 is the one with extensions.
    package var version = 3
    package var serial = Serial(octets: 16)
    /// Subject and issuer are the same name. Source: RFC 5280 §6.1.
    package var isSelfIssued = false
    package var basicConstraints: BasicConstraints?
    package var keyUsage: KeyUsage?
    /// The older way to say for what a certificate is, is there and does not say: for servers.
    /// Source: Netscape Certificate Extensions.
    package var isOldForOthers = false
    package var extendedUsages: ExtendedUsages?
    package var subjectKeyID: [UInt8]?
    package var authorityKeyID: [UInt8]?
    /// The authority key identifier has only one of its issuer's issuer and serial number.
    package var authorityIsHalfNamed = false
    /// Self-issued, but by its authority key identifier or the kind of its signature not by its key.
    package var namesOtherIssuer = false
    /// There is an authority key identifier, but no key in it.
    package var authorityNamesNoKey = false
    /// Both ends of the validity are written as their years want it.
    package var hasSoundTimes = true
    package var nameConstraints: NameConstraints?
    /// Whether they are critical; nil without policy constraints.
    package var policyConstraintsCritical: Bool?
    package var extensionFault: ExtensionFault?
    package var key = PublicKey.elliptic(curve: "P-256")
    package var signatureHash = SignatureHash.sound
    package var commonNames: [[UInt8]] = []
    package var names = OtherNames()

    package init() {}

    /// The first there is; the text names the extension.
    package enum ExtensionFault: Sendable, Hashable {
        case unknownCritical(String)
        case repeated(String)
        case malformed(String)
        /// One of those by which paths are built.
        case unreadable
    }

    package struct Serial: Sendable, Hashable {
        /// Of the number without its sign: 0 is zero.
        package var octets: Int
        package var isNegative = false

        package init(octets: Int, isNegative: Bool = false) {
            self.octets = octets
            self.isNegative = isNegative
        }
    }

    package struct BasicConstraints: Sendable, Hashable {
        package var isCA: Bool
        package var pathLength: Int?

        package init(isCA: Bool, pathLength: Int? = nil) {
            self.isCA = isCA
            self.pathLength = pathLength
        }
    }

    /// Source: RFC 5280 §4.2.1.3.
    package struct KeyUsage: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let digitalSignature = KeyUsage(rawValue: 1)
        package static let keyEncipherment = KeyUsage(rawValue: 2)
        package static let keyAgreement = KeyUsage(rawValue: 4)
        package static let certificateSigning = KeyUsage(rawValue: 8)
    }

    /// The usages told apart here; one of another kind is none of them. Source: RFC 5280 §4.2.1.12.
    package struct ExtendedUsages: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let server = ExtendedUsages(rawValue: 1)
        package static let client = ExtendedUsages(rawValue: 2)
        package static let email = ExtendedUsages(rawValue: 4)
        package static let any = ExtendedUsages(rawValue: 8)
        /// The extension is critical.
        package static let critical = ExtendedUsages(rawValue: 16)
    }

    package enum PublicKey: Sendable, Hashable {
        case rsa(bits: Int, exponent: Exponent)
        /// By its common name: `P-256`.
        case elliptic(curve: String)
        case edwards
        /// Of a kind that counts nowhere any more, however long it is; the text completes "it is …".
        case outdated(String)
        /// By its name: `dsaEncryption`.
        case other(String, securityBits: Int)

        package enum Exponent: Sendable, Hashable {
            case sound
            /// Even, or less than 3, or longer than 256 bits.
            case unsound
        }
    }

    package enum SignatureHash: Sendable, Hashable {
        case sound
        /// MD2 to MD5 and SHA-1, by name.
        case weak(String)
    }

    /// Names that are never matched, and are read only where an authority of the chain constrains.
    package struct OtherNames: Sendable, Hashable {
        package var emails: [[UInt8]] = []
        package var uris: [[UInt8]] = []
        /// Those in the SAN, and the subject unless it is empty.
        package var directories: [DirectoryName] = []
        /// Kinds of which there are more, none of which can be held against a constraint.
        package var kinds: Set<NameConstraints.Kind> = []

        package init() {}
    }
}

/// A distinguished name in a form that is equal for equal names: an element for each relative name,
/// with white space and case folded. Source: RFC 5280 §7.1.
package struct DirectoryName: Sendable, Hashable {
    package let relativeNames: [[UInt8]]

    package init(_ relativeNames: [[UInt8]]) { self.relativeNames = relativeNames }

    /// Whether the name stands in the tree below `other`, or is it. Source: RFC 5280 §4.2.1.10.
    package func isWithin(_ other: DirectoryName) -> Bool {
        relativeNames.starts(with: other.relativeNames)
    }
}
