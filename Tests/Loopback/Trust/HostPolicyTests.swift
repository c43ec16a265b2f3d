import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSTrust
import Testing

/// What a policy says for some hosts only: roots of their own, dangerous options.
@Suite struct HostPolicyTests {
    private let root: Minted
    private let privateRoot: Minted
    private let host: Host
    private let inner: Host

    init() throws {
        root = try Recipe.authority("Test Root").minted()
        privateRoot = try Recipe.authority("Private Root").minted()
        host = .name(try HostName("api.example.com"))
        inner = .name(try HostName("db.corp.example.com"))
    }

    private func failure(
        _ policy: TrustPolicy, _ leaf: Minted, as host: Host
    ) throws -> TrustFailure? {
        let verifier = try OpenSSLVerifier(policy: policy)
        let handshake = try Handshake(verifier, host: host, sending: [leaf])
        let failure = try handshake.failure()
        #expect(handshake.isComplete == (failure == nil))
        return failure
    }

    @Test func `a host with roots of its own is proved by them alone`() throws {
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.rootsByHost = [try HostPattern("**.corp.example.com"): .pem(privateRoot.pem)]
        let names = ["api.example.com", "db.corp.example.com"]
        var recipe = Recipe.leaf()
        recipe.names = names.map { Array($0.utf8) }
        let byRoot = try recipe.minted(by: root)
        let byPrivate = try recipe.minted(by: privateRoot)
        #expect(try failure(policy, byRoot, as: host) == nil)
        #expect(try failure(policy, byPrivate, as: inner) == nil)
        #expect(try failure(policy, byPrivate, as: host)?.code == .unknownIssuer)
        #expect(try failure(policy, byRoot, as: inner)?.code == .unknownIssuer)
    }

    @Test func `the most specific pattern says which roots`() throws {
        let third = try Recipe.authority("Third Root").minted()
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.rootsByHost = [
            try HostPattern("**.example.com"): .pem(privateRoot.pem),
            try HostPattern("db.corp.example.com"): .pem(third.pem),
        ]
        let leaf = try Recipe.leaf("db.corp.example.com").minted(by: third)
        #expect(try failure(policy, leaf, as: inner) == nil)
        let other = try Recipe.leaf("api.example.com").minted(by: privateRoot)
        #expect(try failure(policy, other, as: host) == nil)
    }

    @Test func `roots that cannot be read are a fault of the set-up`() throws {
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.rootsByHost = [try HostPattern("**.corp.example.com"): .file("/nonexistent.pem")]
        #expect(throws: TrustSetupError.self) { _ = try OpenSSLVerifier(policy: policy) }
    }

    @Test func `a policy may demand TLS 1.3, and nobody gets below 1.2`() throws {
        let leaf = try Recipe.leaf("api.example.com").minted(by: root)
        for (minimum, version, isComplete) in [
            (TLSVersion.tls12, TLS1_2_VERSION, true), (.tls13, TLS1_2_VERSION, false),
            (.tls13, TLS1_3_VERSION, true), (.tls12, TLS1_1_VERSION, false),
        ] {
            var policy = TrustPolicy(roots: .pem(root.pem))
            policy.minimumTLS = minimum
            let handshake = try Handshake(
                OpenSSLVerifier(policy: policy), host: host, sending: [leaf],
                maximumVersion: version)
            #expect(handshake.isComplete == isComplete)
        }
    }

    /// A certificate of the old kind: a common name, no alternative names.
    private func old(_ name: String, names: [String] = []) throws -> Minted {
        var recipe = Recipe.leaf()
        recipe.subject = name
        recipe.names = names.map { Array($0.utf8) }
        return try recipe.minted(by: root)
    }

    private func danger(_ pattern: String) throws -> TrustPolicy {
        var policy = TrustPolicy(roots: .pem(root.pem))
        try policy.dangerous.accept(
            .matchesCommonName, for: try HostPattern(pattern), because: "an old appliance")
        return policy
    }

    @Test func `a common name counts only for a host with the dangerous option`() throws {
        let leaf = try old("db.corp.example.com")
        #expect(
            try failure(TrustPolicy(roots: .pem(root.pem)), leaf, as: inner)?.code == .wrongName)
        #expect(try failure(danger("db.corp.example.com"), leaf, as: inner) == nil)
        #expect(try failure(danger("other.example.com"), leaf, as: inner)?.code == .wrongName)
    }

    @Test func `a common name that counts is under the constraints of its authority`() throws {
        for (permitted, code) in [
            ("corp.example.com", nil), ("good.example", TrustFailure.Code.nameConstraint),
        ] {
            var recipe = Recipe.authority("bounded")
            recipe.extra = ["nameConstraints": "critical,permitted;DNS:" + permitted]
            let authority = try recipe.minted(by: root)
            var leafRecipe = Recipe.leaf()
            leafRecipe.subject = "db.corp.example.com"
            let leaf = try leafRecipe.minted(by: authority)
            let verifier = try OpenSSLVerifier(policy: danger("db.corp.example.com"))
            let handshake = try Handshake(verifier, host: inner, sending: [leaf, authority])
            #expect(try handshake.failure()?.code == code, "\(permitted)")
        }
    }

    @Test func `a common name counts whole, and only without alternative names`() throws {
        let policy = try danger("**.example.com")
        for (name, names) in [
            ("*.corp.example.com", []), ("api.example.com", []), ("db.corp.example.com.evil", []),
            ("db.corp.example.com", ["other.example.com"]),
        ] {
            let leaf = try old(name, names: names)
            #expect(try failure(policy, leaf, as: inner)?.code == .wrongName, "\(name)")
        }
    }

    @Test func `a dangerous option for all under a public suffix is a fault of the set-up`() throws
    {
        let isPublicSuffix: @Sendable (String) -> Bool = { $0 == "co.uk" }
        for pattern in ["**.co.uk", "*.co.uk"] {
            let error = #expect(throws: TrustSetupError.self) {
                try OpenSSLVerifier(policy: danger(pattern), isPublicSuffix: isPublicSuffix)
            }
            #expect(error?.description.contains("under co.uk, a public suffix") == true)
        }
        for pattern in ["**.example.co.uk", "api.co.uk"] {
            _ = try OpenSSLVerifier(policy: danger(pattern), isPublicSuffix: isPublicSuffix)
        }
    }

    @Test func `a dangerous option shows in every proof and failure of its host`() throws {
        let verifier = try OpenSSLVerifier(policy: danger("**.corp.example.com"))
        let leaf = try Recipe.leaf("db.corp.example.com", "api.example.com").minted(by: root)
        var recipe = Recipe.leaf()
        recipe.names = ["db.corp.example.com", "api.example.com"].map { Array($0.utf8) }
        let both = try recipe.minted(by: root)
        let verify = { (host: Host) in
            try verifier.verify(
                leaf: both.parsed(), intermediates: [], host: host,
                at: SystemWallClock().now())
        }
        #expect(try verify(inner).dangerous == [.matchesCommonName])
        #expect(try verify(host).dangerous == [])
        let handshake = try Handshake(verifier, host: inner, sending: [leaf])
        #expect(try handshake.verdict().get().dangerous == [.matchesCommonName])
        let wrong = try Recipe.leaf("www.example.com").minted(by: root)
        let refused = try #require(
            try Handshake(verifier, host: inner, sending: [wrong]).failure())
        #expect(refused.facts.dangerous == [.matchesCommonName])
        #expect(refused.description.contains("matches_common_name"))
    }

    @Test func `a proof by a common name holds at the last gate`() throws {
        let verifier = try OpenSSLVerifier(policy: danger("db.corp.example.com"))
        let handshake = try Handshake(
            verifier, host: inner, sending: [old("db.corp.example.com")])
        let peer = try handshake.verdict().get()
        #expect(
            try verifier.proof(ssl: UnsafeMutableRawPointer(handshake.client), for: inner) == peer)
    }
}
