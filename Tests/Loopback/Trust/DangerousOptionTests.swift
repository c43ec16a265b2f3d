import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTrust
import Testing

/// Each dangerous option lets one thing pass, for its hosts, and nothing else.
@Suite struct DangerousOptionTests {
    private let root: TestAuthority
    private let host: Host

    init() throws {
        root = try TestAuthority("Test Root")
        host = .name(try HostName("old.corp.test"))
    }

    private func policy(
        _ options: DangerousOptions.Option..., pattern: String = "old.corp.test"
    ) throws -> TrustPolicy {
        var policy = TrustPolicy(roots: .pem(root.certificatePEM))
        for option in options {
            try policy.dangerous.accept(option, for: HostPattern(pattern), because: "a test")
        }
        return policy
    }

    private func leaf(
        _ name: String = "old.corp.test", by authority: TestAuthority? = nil,
        change: (inout TestRecipe) -> Void = { _ in }
    ) throws -> TestIdentity {
        var recipe = TestRecipe([.dns(name)])
        change(&recipe)
        return try (authority ?? root).certificate(recipe)
    }

    /// Over a socket.
    private func connected(
        _ policy: TrustPolicy, to identity: TestIdentity, memo: VerificationMemo = .init()
    ) throws -> Result<VerifiedPeer, TrustFailure> {
        let server = try LabServer(security: .tls(identity)) { _ in .text("") }
        try server.start()
        defer { server.stop() }
        let probe = TLSProbe(verifier: try OpenSSLVerifier(policy: policy, memo: memo))
        let endpoint = Endpoint(address: server.address, port: server.port)
        do throws(TLSProbe.Failure) {
            return .success(try probe.connect(to: endpoint, host: host).peer)
        } catch {
            guard case .untrusted(let failure) = error else { throw error }
            return .failure(failure)
        }
    }

    private func code(
        _ policy: TrustPolicy, _ identity: TestIdentity
    ) throws -> TrustFailure.Code? {
        switch try connected(policy, to: identity) {
        case .success(let peer):
            #expect(peer.dangerous == policy.dangerous.options(for: host))
            return nil
        case .failure(let failure):
            #expect(failure.facts.dangerous == policy.dangerous.options(for: host))
            return failure.code
        }
    }

    @Test func `a certificate that has ended passes only for the host of the option`() throws {
        let ended = try leaf { $0.validity = .expired }
        #expect(try code(policy(), ended) == .expired)
        #expect(try code(policy(.acceptsExpired), ended) == nil)
        #expect(try code(policy(.acceptsExpired, pattern: "new.corp.test"), ended) == .expired)
        #expect(try code(policy(.acceptsWeakKeys, .matchesCommonName), ended) == .expired)
    }

    @Test func `an authority and a root that have ended pass as well`() throws {
        let old = try TestAuthority("Old Root", validity: .expired)
        let between = try old.intermediate("Old Intermediate", validity: .expired)
        var policy = try policy(.acceptsExpired)
        policy.roots = .pem(old.certificatePEM)
        #expect(try code(policy, leaf(by: between)) == nil)
        policy.dangerous = DangerousOptions()
        #expect(try code(policy, leaf(by: between)) == .expired)
    }

    @Test func `nothing but the end is passed over`() throws {
        let lenient = try policy(.acceptsExpired)
        #expect(try code(lenient, leaf { $0.validity = .notYet }) == .notYetValid)
        let stranger = try TestAuthority("Stranger")
        #expect(try code(lenient, leaf(by: stranger) { $0.validity = .expired }) == .unknownIssuer)
        #expect(try code(lenient, leaf("www.corp.test") { $0.validity = .expired }) == .wrongName)
        let weak = try leaf {
            $0.validity = .expired
            $0.key = .rsa1024
        }
        #expect(try code(lenient, weak) == .weakKey)
        var pinned = lenient
        try pinned.pins.add([root.identity.pin.description], for: "old.corp.test", backup: .waived)
        #expect(try code(pinned, leaf { $0.validity = .expired }) == nil)
        pinned.pins = PinSet()
        try pinned.pins.add(
            [stranger.identity.pin.description], for: "old.corp.test", backup: .waived)
        #expect(try code(pinned, leaf { $0.validity = .expired }) == .noPinMatched)
        var revoking = lenient
        let ended = try leaf { $0.validity = .expired }
        revoking.revocation.lists = [.pem(try root.revocationList([ended]))]
        #expect(try code(revoking, ended) == .revoked)
    }

    @Test func `a weak key passes only for the host of the option, a weak signature never`()
        throws
    {
        let weak = try leaf { $0.key = .rsa1024 }
        #expect(try code(policy(), weak) == .weakKey)
        #expect(try code(policy(.acceptsWeakKeys), weak) == nil)
        #expect(try code(policy(.acceptsWeakKeys, pattern: "new.corp.test"), weak) == .weakKey)
        #expect(try code(policy(.acceptsExpired), weak) == .weakKey)
        let old = try TestAuthority("Old Root", key: .rsa1024)
        let between = try old.intermediate("Old Intermediate", key: .rsa1024)
        var policy = try policy(.acceptsWeakKeys)
        policy.roots = .pem(old.certificatePEM)
        #expect(try code(policy, leaf(by: between)) == nil)
        let signature = try leaf(by: between) { $0.digest = .sha1 }
        #expect(try code(policy, signature) == .weakSignature)
        #expect(try code(policy, leaf(by: between) { $0.validity = .expired }) == .expired)
    }

    @Test func `what passed under an option is not remembered for a policy without it`() throws {
        let memo = VerificationMemo()
        for (options, identity) in [
            (try policy(.acceptsExpired), try leaf { $0.validity = .expired }),
            (try policy(.acceptsWeakKeys), try leaf { $0.key = .rsa1024 }),
        ] {
            _ = try connected(options, to: identity, memo: memo).get()
            #expect(throws: TrustFailure.self) {
                try connected(policy(), to: identity, memo: memo).get()
            }
        }
        let all = try [
            policy(), policy(.acceptsExpired), policy(.acceptsWeakKeys), policy(.matchesCommonName),
            policy(.acceptsExpired, .acceptsWeakKeys),
        ]
        #expect(Set(all.map(\.fingerprint)).count == all.count)
    }

    @Test func `a proof of what has ended is asked for anew at each moment`() throws {
        let verifier = try OpenSSLVerifier(policy: policy(.acceptsExpired))
        let ended = try leaf { $0.validity = .expired }
        let now = SystemWallClock().now()
        let certificate = try Certificate(der: ended.certificate)
        let peer = try verifier.verify(leaf: certificate, intermediates: [], host: host, at: now)
        // What has not ended bounds it: the root.
        #expect(peer.validUntil == peer.chain.last?.notAfter)
        #expect(peer.validUntil > now)
        let late = WallTime(secondsSince1970: peer.validUntil.secondsSince1970 + 10)
        let later = try verifier.verify(leaf: certificate, intermediates: [], host: host, at: late)
        #expect(later.validUntil == late)
    }
}
