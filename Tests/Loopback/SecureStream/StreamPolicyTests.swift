import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSSecureStream
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport
import Testing

/// Staples and client certificates of a policy, on the streams to resolvers.
@Suite(.timeLimit(.minutes(2))) struct StreamPolicyTests {
    private let lab: StreamLab

    init() throws { lab = try StreamLab() }

    private func server(_ adjust: (inout TestIdentity) throws -> Void) throws -> RawTLSServer {
        var identity = try lab.identity()
        try adjust(&identity)
        return try RawTLSServer(identity, .dot) { MessageScript(StreamLab.answer) }
    }

    private func verifier(
        _ adjust: (inout TrustPolicy) throws -> Void
    ) throws -> OpenSSLVerifier {
        var policy = TrustPolicy(roots: .pem(lab.lab.root.certificatePEM))
        try adjust(&policy)
        return try OpenSSLVerifier(policy: policy)
    }

    @Test func `a resolver whose staple says revoked gets no octet`() async throws {
        let root = try Minted(lab.lab.root.identity)
        let revoked = try server {
            $0.staple = try StatusMint.Staple.revoked.minted(about: Minted($0), of: root)
        }
        #expect(await (try lab.dot(at: revoked)).failure("ok", .a)?.label == "untrusted")
        #expect(revoked.record.octets == 0)
        let good = try server {
            $0.staple = try StatusMint.Staple.good.minted(about: Minted($0), of: root)
        }
        let required = try verifier { $0.revocation.mode = .required }
        let backend = try lab.dot(at: good, verifier: required)
        #expect(try await backend.asked("ok", .a).answers.count == 2)
        let silent = try server { _ in }
        let refused = try lab.dot(at: silent, verifier: required)
        #expect(await refused.failure("ok", .a)?.label == "untrusted")
        #expect(silent.record.octets == 0)
    }

    @Test func `a resolver that demands a certificate gets that of its host`() async throws {
        let clients = try TestAuthority("Clients")
        let client = try clients.leaf(["a client"])
        let server = try server { $0.clientAuthority = clients.identity.certificate }
        let armed = try verifier {
            $0.clientIdentities = [
                try HostPattern(StreamLab.name): ClientIdentity(
                    .pem(certificates: client.certificatePEM, key: Secret(client.privateKeyPEM)))
            ]
        }
        let backend = try lab.dot(at: server, verifier: armed)
        #expect(try await backend.asked("ok", .a).answers.count == 2)
        #expect(await (try lab.dot(at: server)).failure("ok", .a) != nil)
    }

    @Test(arguments: StreamForm.allCases)
    func `a policy that changes during a handshake holds for what waits for it`(
        form: StreamForm
    ) async throws {
        let handshakes = BlockedCalls()
        let release = ReleaseAtEnd(handshakes)
        let identity = try lab.identity()
        let server =
            switch form {
            case .dot:
                try RawTLSServer(identity, .dot) {
                    handshakes.block()
                    return MessageScript(StreamLab.answer)
                }
            case .doh:
                try RawTLSServer(identity, .http2) {
                    handshakes.block()
                    return HTTP2Script(begin: { $0.settings([]) }, respond: StreamLab.answer)
                }
            }
        let judge = ChangingVerifier(lab.lab.verifier)
        let backend = try form.backend(lab, at: server, verifier: judge)
        let asking = Task { await backend.failure("ok", .a) }
        await handshakes.begun(1)
        let pin = try #require(Pin(sha256: [UInt8](repeating: 7, count: 32)))
        judge.change(to: try lab.lab.pinned(to: pin))
        backend.networkDidChange()
        handshakes.release()
        #expect(await asking.value?.label == "untrusted")
        #expect(server.record.octets == 0)
        // What waited loses nothing by it: the next policy is not an obstacle of its own.
        judge.change(to: lab.lab.verifier)
        backend.networkDidChange()
        #expect(try await backend.asked("ok", .a).answers.count == 2)
        withExtendedLifetime(release) {}
    }
}

/// Judges as the last one it was given; a connection keeps the one that it began with.
private final class ChangingVerifier: PeerVerifier {
    private let current: Locked<any PeerVerifier>
    let fingerprint = PolicyFingerprint(text: "changing")

    init(_ verifier: any PeerVerifier) { current = Locked(verifier) }

    func change(to verifier: any PeerVerifier) { current.withLock { $0 = verifier } }

    var settled: any PeerVerifier { current.withLock { $0 } }

    func arm(
        sslContext: UnsafeMutableRawPointer, for host: Host,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) -> Bool { settled.arm(sslContext: sslContext, for: host, onVerdict: onVerdict) }

    func proof(
        ssl: UnsafeMutableRawPointer, for host: Host
    ) throws(TrustFailure) -> VerifiedPeer { try settled.proof(ssl: ssl, for: host) }
}
