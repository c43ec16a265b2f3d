internal import CHTTPDNSOpenSSL

/// What a ``LabServer`` speaks below HTTP.
public enum LabSecurity: Sendable, Hashable {
    /// HTTP without TLS.
    case plain
    /// TLS with one identity, whatever the client asks for. Or, for some server names (lower case),
    /// with another; a client that sends no name gets the first.
    case tls(
        TestIdentity, byName: [String: TestIdentity] = [:], versions: LabTLSVersions = .current,
        features: LabTLSFeatures = LabTLSFeatures())
}

/// What a ``LabServer`` does in TLS besides showing a certificate; each at its usual value.
public struct LabTLSFeatures: Sendable, Hashable {
    /// What is done about a client's own certificate.
    public enum ClientCertificate: Sendable, Hashable {
        /// None is asked for.
        case ignored
        /// One is asked for; any is taken, and none, too.
        case asked
        /// One is asked for; any is taken, but without one the handshake fails.
        case demanded
    }

    /// The ciphers up to TLS 1.2, in the words of OpenSSL's ciphers(1); nil for its usual ones.
    public var ciphers: String?
    /// The bits of the Diffie-Hellman group: 512, 1,024 or 2,048; nil for no such key exchange.
    public var groupBits: Int?
    /// Whether a client may go on with an earlier session.
    public var resumes = true
    /// What is done about a client's own certificate.
    public var clientCertificate = ClientCertificate.ignored
    /// Whether HTTP/2 is spoken with clients that offer it.
    public var speaksHTTP2 = false

    /// The usual values.
    public init() {}
}

/// The TLS versions a ``LabServer`` offers.
public enum LabTLSVersions: Sendable, Hashable {
    /// TLS 1.2 and 1.3.
    case current
    /// TLS 1.2 alone.
    case tls12Only
    /// TLS 1.3 alone.
    case tls13Only
    /// TLS 1.1 alone, which no client should accept. Source: RFC 8996 §5.
    case tls11Only
    /// TLS 1.0 alone, which no client should accept. Source: RFC 8996 §4.
    case tls10Only
}

/// How a ``LabServer`` fails a client before HTTP begins.
public enum LabConnectionFault: Sendable, Hashable {
    /// It does not.
    case none
    /// Reads the ClientHello and never answers it.
    case stallsHandshake
    /// Reads the ClientHello and resets the connection.
    case resetsInHandshake
    /// Reads the ClientHello and closes the connection.
    case closesInHandshake
    /// Reads the ClientHello and sends the fatal alert `handshake_failure`.
    case alertsInHandshake
    /// Answers whatever comes first with a plain HTTP response, as a portal on port 443 does.
    case speaksPlainHTTP
}

/// An identity ready for handshakes.
final class TLSContext: @unchecked Sendable {
    // Safety: an SSL_CTX is reference counted with atomics, and nothing changes it after init.
    let raw: OpaquePointer

    init(
        _ identity: TestIdentity, versions: LabTLSVersions,
        features: LabTLSFeatures = LabTLSFeatures()
    ) throws(LabError) {
        let key = identity.privateKey
        let leaf = identity.certificate
        guard let raw = httpdns_lab_context_new(key, key.count, leaf, leaf.count) else {
            throw openSSLRefused("serve the certificate: does the key belong to it?")
        }
        self.raw = raw
        for issuer in identity.issuers {
            guard httpdns_lab_context_add(raw, issuer, issuer.count) == 1 else {
                throw openSSLRefused("add an issuer to the chain")
            }
        }
        if let authority = identity.clientAuthority {
            guard httpdns_lab_context_ask_clients(raw, authority, authority.count, 1) == 1 else {
                throw openSSLRefused("ask clients for a certificate")
            }
        }
        let (minimum, maximum) =
            switch versions {
            case .current: (TLS1_2_VERSION, TLS1_3_VERSION)
            case .tls12Only: (TLS1_2_VERSION, TLS1_2_VERSION)
            case .tls13Only: (TLS1_3_VERSION, TLS1_3_VERSION)
            case .tls11Only: (TLS1_1_VERSION, TLS1_1_VERSION)
            case .tls10Only: (TLS1_VERSION, TLS1_VERSION)
            }
        guard httpdns_lab_context_versions(raw, minimum, maximum) == 1 else {
            throw openSSLRefused("offer the versions \(versions)")
        }
        if let staple = identity.staple {
            guard httpdns_lab_context_staple(raw, staple, staple.count) == 1 else {
                throw openSSLRefused("staple an OCSP response")
            }
        }
        if !identity.stamps.isEmpty {
            let list = TestIdentity.list(identity.stamps)
            guard httpdns_lab_context_stamps(raw, list, list.count) == 1 else {
                throw openSSLRefused("send time stamps")
            }
        }
        try apply(features)
    }

    deinit { SSL_CTX_free(raw) }

    private func apply(_ features: LabTLSFeatures) throws(LabError) {
        if let ciphers = features.ciphers {
            guard httpdns_lab_context_ciphers(raw, ciphers) == 1 else {
                throw .notServed("the ciphers \(ciphers)")
            }
        }
        if let bits = features.groupBits {
            guard httpdns_lab_context_group(raw, Int32(clamping: bits)) == 1 else {
                throw .notServed("a Diffie-Hellman group of \(bits) bits")
            }
        }
        httpdns_lab_context_resumption(raw, features.resumes ? 1 : 0)
        switch features.clientCertificate {
        case .ignored: break
        case .asked: httpdns_lab_context_client(raw, 0)
        case .demanded: httpdns_lab_context_client(raw, 1)
        }
        if features.speaksHTTP2 {
            httpdns_lab_context_protocol(raw, Int32(HTTPDNS_LAB_PROTOCOL_HTTP2_OR_1))
        }
    }
}

/// The identities of one server, by the name that a client asks for.
struct TLSIdentities: Sendable {
    private let standard: TLSContext
    private let byName: [String: TLSContext]

    /// Nil for a plain server.
    init?(_ security: LabSecurity) throws(LabError) {
        guard case .tls(let identity, let others, let versions, let features) = security else {
            return nil
        }
        standard = try TLSContext(identity, versions: versions, features: features)
        var contexts: [String: TLSContext] = [:]
        for (name, other) in others {
            contexts[name.lowercased()] = try TLSContext(
                other, versions: versions, features: features)
        }
        byName = contexts
    }

    var first: TLSContext { standard }

    func context(for serverName: String?) -> TLSContext {
        serverName.flatMap { byName[$0.lowercased()] } ?? standard
    }
}
