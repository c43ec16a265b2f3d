public import HTTPDNSNames

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
    /// Roots that the owner of a machine added beside ``roots``: a company's, a debugging proxy's.
    /// A chain may lead to them as well; what pins then mean says ``PinRule/userRoots``.
    ///
    /// With the system's roots, those count as added, too, that `update-ca-certificates` and its like
    /// take from the machine's local folder (`/usr/local/share/ca-certificates`).
    public var userRoots: Roots?
    public var pins = PinSet()
    public var minimumTLS = TLSVersion.tls12
    /// Starts as `publicWeb` with the system's roots, as `privateAuthority` with given ones.
    public var profile: Profile
    /// Roots of their own for some hosts, in place of ``roots`` and, unless they are the system's, of
    /// ``userRoots``; the most specific pattern counts.
    /// ``Profile`` goes by them: `publicWeb` for the system's, `privateAuthority` for given ones.
    public var rootsByHost: [HostPattern: Roots] = [:]
    public var revocation = RevocationPolicy()
    public var transparency = TransparencyPolicy()
    /// Whom we say we are, by host; the most specific pattern counts.
    public var clientIdentities: [HostPattern: ClientIdentity] = [:]
    /// What makes a check weaker, by host; shows in every result.
    public var dangerous = DangerousOptions()

    public init(roots: Roots = .system, pins: PinSet = PinSet()) {
        self.roots = roots
        self.pins = pins
        profile = roots == .system ? .publicWeb : .privateAuthority
    }

    /// Names this policy: equal policies have equal fingerprints, and no others. The key of a client's
    /// certificate is not in it; the certificate, which names the key, is.
    ///
    /// The lengths before free text keep two policies from having one text.
    public var fingerprint: PolicyFingerprint {
        let pinText = pins.canonicalText
        return PolicyFingerprint(
            text:
                "tls>=\(minimumTLS.rawValue) \(profile.rawValue) "
                + "pins:\(pinText.utf8.count):\(pinText) "
                + "users:\(userRoots?.identity ?? "none") roots:\(roots.identity)"
                + TrustPolicy.counted("roots-by-host", byHost(rootsByHost, \.identity))
                + TrustPolicy.counted("revocation", revocation.canonicalText)
                + TrustPolicy.counted("transparency", transparency.canonicalText)
                + TrustPolicy.counted("clients", byHost(clientIdentities, \.identity))
                + TrustPolicy.counted("dangerous", dangerous.canonicalText))
    }

    private static func counted(_ name: String, _ text: String) -> String {
        " \(name):\(text.utf8.count):\(text)"
    }

    private func byHost<Value>(
        _ entries: [HostPattern: Value], _ identity: (Value) -> String
    ) -> String {
        entries.map { pattern, value in
            let text = identity(value)
            return "\(pattern.distinctText)=\(text.utf8.count):\(text)"
        }.sorted().joined(separator: ";")
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
