internal import CHTTPDNSOpenSSL
package import HTTPDNSNames
package import HTTPDNSPlatform
package import HTTPDNSTrust

/// Judges TLS peers inside the handshake, with OpenSSL for the chain and the core for the rest.
///
/// The transport's library has to use the process's libssl: `SSL_CTX` and `SSL` are its own
/// objects. Any thread may call; nothing here blocks but the lazy reading of a root from the hashed
/// directory.
package final class OpenSSLVerifier: PeerVerifier {
    package let fingerprint: PolicyFingerprint
    let judge: ChainJudge
    let chains: ChainVerifier
    private let origins: RootOrigins
    private let clock: any WallSource

    /// Loads the roots of `policy`, so that no handshake has to.
    ///
    /// - Parameters:
    ///   - policy: what peers must prove.
    ///   - isPublicSuffix: whether anybody may register under a name (`co.uk`): no wildcard may
    ///     stand directly before one.
    ///   - clock: what decides about validity.
    /// - Throws: ``TrustSetupError``.
    package init(
        policy: TrustPolicy, isPublicSuffix: @escaping @Sendable (String) -> Bool = { _ in false },
        clock: any WallSource = SystemWallClock()
    ) throws(TrustSetupError) {
        chains = try ChainVerifier(policy: policy)
        origins = try RootOrigins(policy)
        judge = ChainJudge(
            policy: policy, rootsEdition: chains.rootsEdition,
            matcher: NameMatcher(isPublicSuffix: isPublicSuffix))
        fingerprint = judge.fingerprint
        self.clock = clock
    }

    package func arm(
        sslContext: UnsafeMutableRawPointer, for host: Host,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let context = OpaquePointer(sslContext)
        let minimum = judge.policy.minimumTLS == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        let arming = Arming(verifier: self, host: host, onVerdict: onVerdict)
        guard Slots.context >= 0, Slots.connection >= 0,
            chttpdns_context_set_minimum_version(context, minimum) == 1,
            Slots.keep(arming, in: context)
        else { return false }
        chttpdns_context_forget_sessions(context)
        // Source: RFC 9113 §9.2.1, for HTTP/2; no request of ours needs one in HTTP/1.1 either.
        chttpdns_context_refuse_renegotiation(context)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_info_callback(context, noteFarewell)
        SSL_CTX_set_cert_verify_callback(
            context, judgePeer, Unmanaged.passUnretained(arming).toOpaque())
        return true
    }

    package func proof(
        ssl: UnsafeMutableRawPointer, for host: Host
    ) throws(TrustFailure) -> VerifiedPeer {
        guard let proof = Slots.proof(of: OpaquePointer(ssl)) else {
            var facts = TrustFailure.Facts(host: host)
            facts.detail = "no certificate was verified on this connection"
            throw TrustFailure(code: .policyChanged, facts: facts)
        }
        return try judge.confirm(proof.peer, host: host, now: clock.now())
    }

    package func farewell(ssl: UnsafeMutableRawPointer) -> (any PeerFarewell)? {
        Slots.proof(of: OpaquePointer(ssl))?.farewell
    }

    /// Judges certificates that came without a handshake.
    ///
    /// - Throws: ``TrustFailure``.
    package func verify(
        leaf: Certificate, intermediates: [Certificate], host: Host, at time: WallTime
    ) throws(TrustFailure) -> VerifiedPeer {
        var evidence = chains.evidence(
            leaf: leaf, intermediates: intermediates, host: host, time: time)
        evidence.root = origins.origin(of: evidence.chain.last)
        evidence.served = ([leaf] + intermediates).compactMap {
            try? CertificateReader.facts(of: $0)
        }
        return try judge.judge(host: host, evidence: evidence, now: time)
    }

    /// The verdict on the peer of a handshake, and the verify code OpenSSL is to report.
    fileprivate func verdict(
        on context: OpaquePointer, host: Host
    ) -> (verdict: Result<VerifiedPeer, TrustFailure>, verifyError: Int32) {
        let now = clock.now()
        guard let leaf = X509_STORE_CTX_get0_cert(context) else {
            let evidence = ChainEvidence(
                chain: [], refusal: .init(.noCertificate, detail: "the peer sent no certificate"))
            return (judged(evidence, host: host, now: now), X509_V_ERR_UNSPECIFIED)
        }
        let untrusted = X509_STORE_CTX_get0_untrusted(context)
        let found = chains.evidence(leaf: leaf, untrusted: untrusted, host: host, time: now)
        var evidence = found.evidence
        if evidence.refusal == nil {
            evidence.root = origins.origin(of: evidence.chain.last)
            if judge.policy.pins.match(for: host)?.rule != nil {
                evidence.served = ChainVerifier.presented(leaf: leaf, untrusted: untrusted)
            }
        }
        let verdict = judged(evidence, host: host, now: now)
        guard case .failure(let failure) = verdict else { return (verdict, X509_V_OK) }
        if found.verifyError != X509_V_OK { return (verdict, found.verifyError) }
        let isName = failure.code == .wrongName || failure.code == .malformedName
        return (
            verdict, isName ? X509_V_ERR_HOSTNAME_MISMATCH : X509_V_ERR_APPLICATION_VERIFICATION
        )
    }

    private func judged(
        _ evidence: ChainEvidence, host: Host, now: WallTime
    ) -> Result<VerifiedPeer, TrustFailure> {
        do { return .success(try judge.judge(host: host, evidence: evidence, now: now)) } catch {
            return .failure(error)
        }
    }
}

/// What one armed `SSL_CTX` verifies; lives as long as it.
private final class Arming: Sendable {
    let verifier: OpenSSLVerifier
    let host: Host
    let onVerdict: @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void

    init(
        verifier: OpenSSLVerifier, host: Host,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) {
        self.verifier = verifier
        self.host = host
        self.onVerdict = onVerdict
    }
}

/// The proof of one connection; lives as long as its `SSL`.
private final class Proof: Sendable {
    let peer: VerifiedPeer
    let farewell = Farewell()

    init(_ peer: VerifiedPeer) { self.peer = peer }
}

private final class Farewell: PeerFarewell {
    private let said = Locked(false)

    var isSaid: Bool { said.withLock { $0 } }

    func note() { said.withLock { $0 = true } }
}

/// Where our objects hang on OpenSSL's: application data that OpenSSL releases with its owner.
private enum Slots {
    static let context = chttpdns_context_index(refuseCopy, releaseObject)
    static let connection = chttpdns_connection_index(refuseCopy, releaseObject)

    static func keep(_ arming: Arming, in context: OpaquePointer) -> Bool {
        let old = SSL_CTX_get_ex_data(context, Self.context)
        let retained = Unmanaged.passRetained(arming)
        guard SSL_CTX_set_ex_data(context, Self.context, retained.toOpaque()) == 1 else {
            retained.release()
            return false
        }
        if let old { Unmanaged<AnyObject>.fromOpaque(old).release() }
        return true
    }

    /// Replaces the connection's proof; nil takes it away.
    static func keep(_ proof: Proof?, in connection: OpaquePointer) -> Bool {
        let old = SSL_get_ex_data(connection, Self.connection)
        let retained = proof.map { Unmanaged.passRetained($0) }
        guard SSL_set_ex_data(connection, Self.connection, retained?.toOpaque()) == 1 else {
            retained?.release()
            return false
        }
        if let old { Unmanaged<AnyObject>.fromOpaque(old).release() }
        return true
    }

    static func proof(of connection: OpaquePointer) -> Proof? {
        SSL_get_ex_data(connection, Self.connection).map {
            Unmanaged<Proof>.fromOpaque($0).takeUnretainedValue()
        }
    }
}

/// Called by OpenSSL in the handshake, on the transport's thread; must not block or keep `context`.
/// `argument` is the ``Arming`` that the connection's `SSL_CTX` keeps alive.
private func judgePeer(_ context: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let context, let argument else { return 0 }
    ERR_clear_error()
    defer { ERR_clear_error() }
    let arming = Unmanaged<Arming>.fromOpaque(argument).takeUnretainedValue()
    guard
        let slot = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx())
    else { return 0 }
    let connection = OpaquePointer(slot)
    // A second handshake on the connection must not live on the proof of the first.
    guard Slots.keep(nil, in: connection) else { return 0 }
    let (verdict, verifyError) = arming.verifier.verdict(on: context, host: arming.host)
    var accepted = false
    if case .success(let peer) = verdict { accepted = Slots.keep(Proof(peer), in: connection) }
    X509_STORE_CTX_set_error(
        context, accepted || verifyError != X509_V_OK ? verifyError : X509_V_ERR_OUT_OF_MEM)
    arming.onVerdict(verdict)
    return accepted ? 1 : 0
}

/// Called by OpenSSL at each step of a connection, on the transport's thread; must not block.
///
/// libcurl takes an end without `close_notify` for an end like any other. The attack: cut a body short
/// that only the end of its connection ends.
private func noteFarewell(_ connection: OpaquePointer?, _ step: Int32, _ alert: Int32) {
    let isAlertRead = step & SSL_CB_READ_ALERT == SSL_CB_READ_ALERT
    // The lower octet is the alert's description, the upper one its level.
    guard isAlertRead, alert & 0xFF == SSL_AD_CLOSE_NOTIFY, let connection else { return }
    Slots.proof(of: connection)?.farewell.note()
}

/// Called by OpenSSL when it frees an `SSL_CTX` or `SSL`, on whatever thread does so.
private func releaseObject(
    _ parent: UnsafeMutableRawPointer?, _ object: UnsafeMutableRawPointer?,
    _ data: UnsafeMutablePointer<CRYPTO_EX_DATA>?, _ index: Int32, _ number: Int,
    _ argument: UnsafeMutableRawPointer?
) {
    if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
}

/// Called by OpenSSL when an `SSL` is duplicated: the copy has proved nothing.
private func refuseCopy(
    _ to: UnsafeMutablePointer<CRYPTO_EX_DATA>?, _ from: UnsafePointer<CRYPTO_EX_DATA>?,
    _ object: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ index: Int32, _ number: Int,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    object?.pointee = nil
    return 1
}
