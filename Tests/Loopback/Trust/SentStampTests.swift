import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTrust
import Testing

/// Time stamps that come beside the certificate: in the handshake, and in the stapled response.
@Suite struct SentStampTests {
    private let root: TestAuthority
    private let leaf: TestIdentity
    private let logs: [TestLog]
    private let host: Host

    init() throws {
        root = try TestAuthority("Test Root")
        leaf = try root.leaf(["api.example.com"])
        logs = try (1...2).map { try TestLog("Log \($0)") }
        host = .name(try HostName("api.example.com"))
    }

    private func policy(
        _ mode: TransparencyPolicy.Mode, revocation: RevocationPolicy.Mode = .ifPresent
    ) -> TrustPolicy {
        var policy = TrustPolicy(roots: .pem(root.certificatePEM))
        policy.revocation.mode = revocation
        policy.transparency = TransparencyPolicy(
            mode, logs: [.text(logs.map(\.listLine).joined())])
        return policy
    }

    private func connected(
        _ policy: TrustPolicy, to identity: TestIdentity, versions: LabTLSVersions = .current
    ) throws -> Result<VerifiedPeer, TrustFailure> {
        try connected(OpenSSLVerifier(policy: policy), to: identity, versions: versions)
    }

    private func connected(
        _ verifier: OpenSSLVerifier, to identity: TestIdentity,
        versions: LabTLSVersions = .current
    ) throws -> Result<VerifiedPeer, TrustFailure> {
        let server = try LabServer(security: .tls(identity, versions: versions)) { _ in .text("") }
        try server.start()
        defer { server.stop() }
        let probe = TLSProbe(verifier: verifier)
        let endpoint = Endpoint(address: server.address, port: server.port)
        do throws(TLSProbe.Failure) {
            return .success(try probe.connect(to: endpoint, host: host).peer)
        } catch {
            guard case .untrusted(let failure) = error else { throw error }
            return .failure(failure)
        }
    }

    private func sending(_ stamps: [UInt8]...) -> TestIdentity {
        var identity = leaf
        identity.stamps = stamps
        return identity
    }

    private func stapling(_ stamps: [UInt8]...) throws -> TestIdentity {
        var identity = leaf
        identity.staple = try root.ocspResponse(
            root.ocspResponse(for: leaf), stampedWith: stamps)
        return identity
    }

    @Test(arguments: [LabTLSVersions.tls12Only, .tls13Only])
    func `time stamps in the handshake and in the staple count`(
        versions: LabTLSVersions
    ) throws {
        var identity = try stapling(logs[1].stamp(leaf))
        identity.stamps = [try logs[0].stamp(leaf)]
        for revocation in [RevocationPolicy.Mode.off, .ifPresent, .required] {
            let report = try connected(
                policy(.require(minimumLogs: 2), revocation: revocation), to: identity,
                versions: versions
            ).get().transparency
            #expect(report.logs.count == 2)
            #expect(report.embeddedCount == 0)
            #expect(report.handshakeCount == 1)
            #expect(report.stapledCount == 1)
            #expect(report.summary.contains("(1 in the handshake, 1 in the staple)"))
        }
    }

    @Test func `a log counts once, wherever it promised`() throws {
        var identity = try root.embedding([logs[0]], in: leaf)
        identity.stamps = [try logs[0].stamp(identity)]
        let report = try connected(policy(.report), to: identity).get().transparency
        #expect(report.logs.count == 1)
        #expect(report.embeddedCount == 1)
        #expect(report.handshakeCount == 1)
        identity.stamps.append(try logs[1].stamp(identity))
        let both = try connected(policy(.require(minimumLogs: 2)), to: identity).get()
        #expect(both.transparency.logs.count == 2)
    }

    @Test func `what is wrong, of another certificate, or malformed counts for nothing`() throws {
        let other = try root.leaf(["api.example.com"])
        let demand = policy(.require(minimumLogs: 1))
        for identity in try [
            leaf, sending(logs[0].stamp(leaf, isWrong: true)), sending(logs[0].stamp(other)),
            sending(TestLog("Unknown").stamp(leaf)), sending([1, 2, 3]),
            stapling(logs[0].stamp(other)),
        ] {
            let result = try connected(demand, to: identity)
            guard case .failure(let failure) = result else {
                Issue.record("accepted")
                continue
            }
            #expect(failure.code == .notLogged)
        }
        let report = try connected(
            policy(.report), to: sending(logs[0].stamp(other), TestLog("Unknown").stamp(leaf))
        ).get().transparency
        #expect(report.logs == [])
        #expect(report.unknownCount == 1)
        #expect(report.invalidCount == 1)
    }

    @Test func `time stamps of one handshake are not remembered for the next`() throws {
        let memo = VerificationMemo()
        let verifier = try OpenSSLVerifier(
            policy: policy(.require(minimumLogs: 1)), memo: memo)
        let identity = try sending(logs[0].stamp(leaf))
        _ = try connected(verifier, to: identity).get()
        _ = try connected(verifier, to: identity).get()
        #expect(memo.counts.found == 1)
        guard case .failure(let failure) = try connected(verifier, to: leaf) else {
            Issue.record("accepted without a time stamp")
            return
        }
        #expect(failure.code == .notLogged)
        #expect(memo.counts.found == 2)
    }

    @Test func `an exempt host is asked for none, and without a handshake none came`() throws {
        var exempt = policy(.require(minimumLogs: 1), revocation: .off)
        exempt.transparency.exempt = [try HostPattern("**.example.com")]
        let identity = try sending(logs[0].stamp(leaf))
        let report = try connected(exempt, to: identity).get().transparency
        #expect(report.status == .exempt)
        #expect(report.handshakeCount == 0)
        let verifier = try OpenSSLVerifier(policy: policy(.require(minimumLogs: 1)))
        let failure = #expect(throws: TrustFailure.self) {
            try verifier.verify(
                leaf: Certificate(der: leaf.certificate), intermediates: [], host: host,
                at: SystemWallClock().now())
        }
        #expect(failure?.code == .notLogged)
    }
}
