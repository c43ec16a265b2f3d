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
    private let material: PolicyMaterial
    private let clock: any WallSource
    private let memo: VerificationMemo
    private let sessions = SessionStore()
    /// Names the policy in the memo: a digest, since the fingerprint may hold all roots as text.
    private let policyDigest: [UInt8]
    /// Whether peers are asked for more than certificates; then nothing is proved before that is judged.
    func asksMore(of host: Host) -> Bool {
        judge.policy.revocation.mode != .off || asksStamps(of: host)
    }

    private func asksStamps(of host: Host) -> Bool {
        judge.policy.transparency.mode != .off && !judge.policy.transparency.isExempt(host)
    }

    /// Loads what `policy` names, so that no handshake has to.
    ///
    /// - Parameters:
    ///   - policy: what peers must prove.
    ///   - isPublicSuffix: whether anybody may register under a name (`co.uk`): no wildcard may
    ///     stand directly before one.
    ///   - clock: what decides about validity.
    ///   - memo: peers examined before; shared only between verifiers of one `isPublicSuffix`.
    /// - Throws: ``TrustSetupError``.
    package init(
        policy: TrustPolicy, isPublicSuffix: @escaping @Sendable (String) -> Bool = { _ in false },
        clock: any WallSource = SystemWallClock(), memo: VerificationMemo = VerificationMemo()
    ) throws(TrustSetupError) {
        if let wide = policy.dangerous.widest(isPublicSuffix) {
            throw .unusable(
                what: "dangerous option", source: "the policy for \(wide.pattern)",
                reason: "it speaks for all that is registered under \(wide.suffix.text), a public "
                    + "suffix; name the hosts that are yours")
        }
        material = try PolicyMaterial(policy)
        judge = ChainJudge(
            policy: policy, rootsEdition: material.chains.rootsEdition, material: material.name,
            matcher: NameMatcher(isPublicSuffix: isPublicSuffix))
        fingerprint = judge.fingerprint
        self.clock = clock
        self.memo = memo
        guard let digest = PolicyFile.sha256(Array(fingerprint.text.utf8)) else {
            throw .unexpected("SHA-256 is not available")
        }
        policyDigest = digest
    }

    package func arm(
        sslContext: UnsafeMutableRawPointer, for host: Host,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) -> Bool {
        arm(
            OpaquePointer(sslContext),
            Arming(verifier: self, host: host, resuming: nil, onVerdict: onVerdict))
    }

    package func arm(
        sslContext: UnsafeMutableRawPointer, for host: Host, resuming scope: ResumptionScope,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) -> Bool {
        arm(
            OpaquePointer(sslContext),
            // The stamps of a handshake are not in its session.
            Arming(
                verifier: self, host: host, resuming: asksStamps(of: host) ? nil : scope,
                onVerdict: onVerdict))
    }

    private func arm(_ context: OpaquePointer, _ arming: Arming) -> Bool {
        LastError.clear()
        defer { LastError.clear() }
        let minimum = judge.policy.minimumTLS == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        guard Slots.context >= 0, Slots.connection >= 0,
            chttpdns_context_set_minimum_version(context, minimum) == 1,
            Slots.keep(arming, in: context)
        else { return false }
        if arming.sessionKey == nil {
            chttpdns_context_forget_sessions(context)
        } else {
            chttpdns_context_remember_sessions(context, keepSession)
        }
        // Source: RFC 9113 §9.2.1, for HTTP/2; no request of ours needs one in HTTP/1.1 either.
        chttpdns_context_refuse_renegotiation(context)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_info_callback(context, watch)
        let argument = Unmanaged.passUnretained(arming).toOpaque()
        SSL_CTX_set_cert_verify_callback(context, judgePeer, argument)
        // Time stamps may come in a staple as well.
        if asksMore(of: arming.host),
            chttpdns_context_ask_staple(context, judgeStaple, argument) != 1
        {
            return false
        }
        if asksStamps(of: arming.host), chttpdns_context_ask_stamps(context) != 1 { return false }
        return material.credential(for: arming.host)?.arm(context) ?? true
    }

    package func proof(
        ssl: UnsafeMutableRawPointer, for host: Host
    ) throws(TrustFailure) -> VerifiedPeer {
        let connection = OpaquePointer(ssl)
        let showing = Slots.showing(of: connection)
        if SSL_session_reused(connection) == 1, showing?.peer == nil {
            return try proofOfResumed(connection, host: host)
        }
        guard let showing, let peer = showing.peer else {
            var facts = TrustFailure.Facts(host: host)
            facts.detail = "no certificate was verified on this connection"
            throw TrustFailure(code: .policyChanged, facts: facts)
        }
        let now = clock.now()
        let known = showing.passed.withLock { passed -> VerifiedPeer? in
            guard let passed, passed.second == now, passed.verifier === self, passed.host == host
            else { return nil }
            return passed.peer
        }
        if let known { return known }
        let confirmed = try judge.confirm(peer, host: host, now: now)
        let passed = Showing.Passed(verifier: self, host: host, second: now, peer: confirmed)
        showing.passed.withLock { $0 = passed }
        return confirmed
    }

    package func farewell(ssl: UnsafeMutableRawPointer) -> (any PeerFarewell)? {
        Slots.showing(of: OpaquePointer(ssl))?.farewell
    }

    /// Judges certificates that came without a handshake, and so without a staple.
    ///
    /// - Throws: ``TrustFailure``.
    package func verify(
        leaf: Certificate, intermediates: [Certificate], host: Host, at time: WallTime
    ) throws(TrustFailure) -> VerifiedPeer {
        LastError.clear()
        defer { LastError.clear() }
        guard let untrusted = CertificateStack(intermediates.map(\.raw)) else {
            throw OpenSSLVerifier.outOfMemory(host)
        }
        let outcome = examined(leaf.raw, untrusted.raw, host: host, now: time).peer
        let peer = try withExtendedLifetime((leaf, untrusted)) { () throws(TrustFailure) in
            try outcome.get()
        }
        return try judge.conclude(peer.provisional, staple: .notAsked, now: time)
    }

    /// What became of the certificates of a handshake, and the verify code OpenSSL is to report.
    func examined(
        _ context: OpaquePointer, host: Host
    ) -> (peer: Result<ExaminedPeer, TrustFailure>, verifyError: Int32) {
        let now = clock.now()
        guard let leaf = X509_STORE_CTX_get0_cert(context) else {
            let evidence = ChainEvidence(
                chain: [], refusal: .init(.noCertificate, detail: "the peer sent no certificate"))
            let peer = provisional(evidence, host: host, now: now).flatMap { _ in
                Result<ExaminedPeer, TrustFailure>.failure(OpenSSLVerifier.outOfMemory(host))
            }
            return (peer, X509_V_ERR_UNSPECIFIED)
        }
        return examined(leaf, X509_STORE_CTX_get0_untrusted(context), host: host, now: now)
    }

    /// The last word on a peer, with what it has stapled (no octets: nothing) and the time stamps that
    /// it sent on `connection`.
    func concluded(
        _ peer: ExaminedPeer, stapled octets: UnsafeBufferPointer<UInt8>,
        on connection: OpaquePointer
    ) -> Result<VerifiedPeer, TrustFailure> {
        let now = clock.now()
        return concluded(
            peer, staple: peer.staple(octets, now: now),
            stamps: material.sentStamps(on: connection, peer, now: now))
    }

    func concluded(
        _ peer: ExaminedPeer, staple: StapleEvidence, stamps: TransparencyReport? = nil
    ) -> Result<VerifiedPeer, TrustFailure> {
        do throws(TrustFailure) {
            return .success(
                try judge.conclude(
                    peer.provisional, staple: staple, stamps: stamps, now: clock.now()))
        } catch { return .failure(error) }
    }
}

// Sessions that are gone on with
extension OpenSSLVerifier {
    package func isResumed(ssl: UnsafeMutableRawPointer) -> Bool {
        SSL_session_reused(OpaquePointer(ssl)) == 1
    }

    func keep(_ session: TLSSession, staple: [UInt8], for key: SessionStore.Key) {
        sessions.keep(session, staple: staple, for: key, now: clock.now())
    }

    /// Offers the youngest session whose certificate would be accepted if it were shown now.
    func offerSession(to connection: OpaquePointer, _ key: SessionStore.Key) {
        guard let kept = sessions.take(for: key, now: clock.now()),
            SSL_set_session(connection, kept.session.raw) == 1
        else { return }
        switch judgedSession(of: connection, host: key.host, staple: kept.staple) {
        case .success:
            if Slots.keep(Showing(.offered(staple: kept.staple)), in: connection) { return }
        case .failure: sessions.forget(key)
        }
        // A full handshake then, which says what is wrong.
        SSL_set_session(connection, nil)
    }

    /// The proof of a connection that goes on with a session: its certificate is judged as if it were
    /// shown now. The attack: a session from before a pin was changed, or a certificate ran out.
    func proofOfResumed(
        _ connection: OpaquePointer, host: Host
    ) throws(TrustFailure) -> VerifiedPeer {
        LastError.clear()
        defer { LastError.clear() }
        guard let showing = Slots.showing(of: connection),
            case .offered(let staple) = showing.extent,
            Slots.arming(of: connection)?.verifier.fingerprint == fingerprint
        else {
            var facts = TrustFailure.Facts(host: host)
            facts.detail = "the connection goes on with a session of another policy"
            throw TrustFailure(code: .policyChanged, facts: facts)
        }
        let peer = try judgedSession(of: connection, host: host, staple: staple).get()
        let proved = Showing(.proved(peer), staple: staple, farewell: showing.farewell)
        guard Slots.keep(proved, in: connection) else { throw OpenSSLVerifier.outOfMemory(host) }
        return peer
    }

    /// What the certificates of the connection's session are worth at this moment.
    private func judgedSession(
        of connection: OpaquePointer, host: Host, staple: [UInt8]
    ) -> Result<VerifiedPeer, TrustFailure> {
        let now = clock.now()
        guard let leaf = SSL_get0_peer_certificate(connection) else {
            var facts = TrustFailure.Facts(host: host)
            facts.detail = "the session holds no certificate"
            return .failure(TrustFailure(code: .noCertificate, facts: facts))
        }
        let untrusted = SSL_get_peer_cert_chain(connection)
        return examined(leaf, untrusted, host: host, now: now).peer.flatMap { peer in
            guard asksMore(of: host) else { return concluded(peer, staple: .notAsked) }
            return staple.withUnsafeBufferPointer {
                concluded(peer, staple: peer.staple($0, now: now))
            }
        }
    }
}

// What the memo saves
extension OpenSSLVerifier {
    private func examined(
        _ leaf: OpaquePointer, _ untrusted: OpaquePointer?, host: Host, now: WallTime
    ) -> (peer: Result<ExaminedPeer, TrustFailure>, verifyError: Int32) {
        let chains = material.chains(for: host)
        let key =
            memo.remembers
            ? key(leaf, untrusted, host: host, generation: chains.rootsGeneration) : nil
        if let key, let known = memo.peer(for: key, now: now) {
            return (.success(known), X509_V_OK)
        }
        var inspection = PolicyMaterial.Inspection()
        var found = chains.evidence(leaf: leaf, untrusted: untrusted, host: host, time: now) {
            inspection = material.inspect($0, host: host, now: now)
        }
        if found.evidence.refusal == nil {
            found.evidence.root = chains.origin(of: found.evidence.chain.last)
        }
        found.evidence.revocation = inspection.revocation
        found.evidence.transparency = inspection.transparency
        found.evidence.commonNames = inspection.commonNames
        var judged = provisional(found.evidence, host: host, now: now)
        if judged.isMismatched {
            // What was sent is for the report alone: it is read only where there is one.
            found.evidence.served = ChainVerifier.presented(leaf: leaf, untrusted: untrusted)
            judged = provisional(found.evidence, host: host, now: now)
        }
        switch judged {
        case .failure(let failure):
            if found.verifyError != X509_V_OK { return (.failure(failure), found.verifyError) }
            let isName = failure.code == .wrongName || failure.code == .malformedName
            return (
                .failure(failure),
                isName ? X509_V_ERR_HOSTNAME_MISMATCH : X509_V_ERR_APPLICATION_VERIFICATION
            )
        case .success(let provisional):
            guard let leaf = inspection.leaf else {
                return (.failure(OpenSSLVerifier.outOfMemory(host)), X509_V_ERR_OUT_OF_MEM)
            }
            let peer = ExaminedPeer(
                provisional, leaf: leaf, issuer: inspection.issuer, now: now,
                pinsUntil: judge.policy.pins.match(for: host)?.rule?.expiry?.at)
            if let key, peer.isLasting { memo.keep(peer, for: key) }
            return (.success(peer), X509_V_OK)
        }
    }

    private func provisional(
        _ evidence: ChainEvidence, host: Host, now: WallTime
    ) -> Result<ProvisionalPeer, TrustFailure> {
        do throws(TrustFailure) {
            return .success(try judge.examine(host: host, evidence: evidence, now: now))
        } catch { return .failure(error) }
    }

    /// Nil when there is none: then everything is examined.
    private func key(
        _ leaf: OpaquePointer, _ untrusted: OpaquePointer?, host: Host, generation: UInt64
    ) -> VerificationMemo.Key? {
        var prefix = policyDigest
        withUnsafeBytes(of: generation.littleEndian) { prefix.append(contentsOf: $0) }
        // A name is never empty, and its octets are none of these two.
        switch host {
        case .name(let name):
            prefix.append(0)
            prefix.append(contentsOf: name.text.utf8)
        case .address(let address):
            prefix.append(1)
            prefix.append(contentsOf: address.description.utf8)
        }
        prefix.append(0xFF)
        return VerificationMemo.Key(prefix: prefix, leaf: leaf, untrusted: untrusted)
    }

    private static func outOfMemory(_ host: Host) -> TrustFailure {
        var facts = TrustFailure.Facts(host: host)
        facts.detail = "out of memory"
        return TrustFailure(code: .unexpected, facts: facts)
    }
}

extension Result<ProvisionalPeer, TrustFailure> {
    /// Whether the pins have something to report.
    fileprivate var isMismatched: Bool {
        switch self {
        case .success(let peer): if case .mismatched = peer.pinning { true } else { false }
        case .failure(let failure): failure.facts.mismatch != nil
        }
    }
}
