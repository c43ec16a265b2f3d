/// What a peer must prove, besides its name.
public struct TrustPolicy: Sendable, Hashable {
    /// Whom chains must lead to.
    public enum Roots: Sendable, Hashable {
        /// The system's hashed directory or bundle; `SSL_CERT_FILE` and `SSL_CERT_DIR` are
        /// honoured.
        case system
        /// A PEM file.
        case file(String)
        /// A directory hashed by `openssl rehash`.
        case directory(String)
        /// PEM text.
        case pem(String)
    }

    /// How much of the form that RFC 5280 demands a chain must have. Names, signatures, dates, keys
    /// and who may issue what are checked alike in both.
    public enum Profile: String, Sendable, Hashable {
        /// All of it, as authorities under the public rules deliver it.
        case publicWeb
        /// What certificates made with a plain `openssl` command lack may be missing: key
        /// identifiers, an authority's key usage, "critical" on its basic constraints and on the
        /// SAN of an empty subject. Nor are held against a chain the form of serial numbers and of
        /// extensions that nothing here reads, a common name that is not in the SAN, an authority's
        /// certificate as a server's, and "any" usage. Because: none of these decides whom a chain
        /// leads to.
        case privateAuthority
    }

    public var roots: Roots = .system
    public var pins = PinSet()
    public var minimumTLS = TLSVersion.tls12
    /// Starts as `publicWeb` with the system's roots, as `privateAuthority` with given ones.
    public var profile: Profile

    public init(roots: Roots = .system, pins: PinSet = PinSet()) {
        self.roots = roots
        self.pins = pins
        profile = roots == .system ? .publicWeb : .privateAuthority
    }

    /// Names this policy: equal policies have equal fingerprints, and no others.
    ///
    /// The lengths before free text keep two policies from having one text.
    public var fingerprint: PolicyFingerprint {
        let pinText = pins.canonicalText
        return PolicyFingerprint(
            text:
                "tls>=\(minimumTLS.rawValue) \(profile.rawValue) "
                + "pins:\(pinText.utf8.count):\(pinText) roots:\(roots.identity)")
    }
}

extension TrustPolicy.Roots {
    var identity: String {
        switch self {
        case .system: "system"
        case .file(let path): "file:\(path.utf8.count):\(path)"
        case .directory(let path): "directory:\(path.utf8.count):\(path)"
        case .pem(let text): "pem:\(text.utf8.count):\(text)"
        }
    }
}

/// Versions below 1.2 do not exist here. Source: RFC 8996.
public enum TLSVersion: String, Sendable, Hashable {
    case tls12 = "1.2"
    case tls13 = "1.3"
}
