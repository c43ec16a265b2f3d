import CHTTPDNSOpenSSL
import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSTransport
import HTTPDNSTrust
import TestSupport
import Testing

/// Staples, client certificates and the policy of reuse, through libcurl.
@Suite(.timeLimit(.minutes(2))) struct PolicyTransportTests {
    private let lab: TrustedLab

    init() throws { lab = try TrustedLab() }

    private func verifier(
        adjust: (inout TrustPolicy) throws -> Void = { _ in }
    ) throws -> OpenSSLVerifier {
        var policy = TrustPolicy(roots: .pem(lab.root.certificatePEM))
        try adjust(&policy)
        return try OpenSSLVerifier(policy: policy)
    }

    private func server(
        versions: LabTLSVersions = .current, adjust: (inout TestIdentity) throws -> Void
    ) throws -> LabServer {
        var identity = try lab.root.leaf(["shop.example.test", "other.example.test"])
        try adjust(&identity)
        let server = try LabServer(security: .tls(identity, versions: versions)) {
            .text("hello \($0.host ?? "")")
        }
        try server.start()
        return server
    }

    private func staple(
        _ staple: StatusMint.Staple, _ identity: TestIdentity
    ) throws -> [UInt8] {
        try staple.minted(about: Minted(identity), of: Minted(lab.root.identity))
    }

    @Test(arguments: [LabTLSVersions.tls12Only, .tls13Only])
    func `a staple is judged before the first octet of the request`(
        versions: LabTLSVersions
    ) async throws {
        let required = try verifier { $0.revocation.mode = .required }
        let good = try server(versions: versions) { $0.staple = try staple(.good, $0) }
        defer { good.stop() }
        let story = await run(
            try secureRequest(to: "shop.example.test", at: good.endpoint, verifier: required))
        #expect(story.text == "hello shop.example.test", "\(story.results)")
        guard case .good(.staple, _)? = story.peers.first??.revocation.leaf else {
            Issue.record("\(story.peers)")
            return
        }
        let revoked = try server(versions: versions) { $0.staple = try staple(.revoked, $0) }
        defer { revoked.stop() }
        for verifier in [required, lab.verifier] {
            let refused = await run(
                try secureRequest(
                    to: "shop.example.test", at: revoked.endpoint, verifier: verifier))
            #expect(refused.refusal?.code == .revoked, "\(refused.results)")
            #expect(refused.connections.isEmpty)
        }
        #expect(revoked.awaitConnectionsEnded())
        #expect(revoked.record.receivedOctets == 0)
    }

    @Test(arguments: [LabTLSVersions.tls12Only, .tls13Only])
    func `no staple is no request where one is required`(versions: LabTLSVersions) async throws {
        let server = try server(versions: versions) { _ in }
        defer { server.stop() }
        let refused = await run(
            try secureRequest(
                to: "shop.example.test", at: server.endpoint,
                verifier: verifier { $0.revocation.mode = .required }))
        #expect(refused.refusal?.code == .revocationUnknown, "\(refused.results)")
        let accepted = await run(
            try secureRequest(
                to: "shop.example.test", at: server.endpoint, verifier: lab.verifier))
        #expect(accepted.peers.first??.revocation.leaf == .notChecked(.nothingPresent))
        #expect(server.record.requests.count == 1)
    }

    @Test(arguments: [LabTLSVersions.tls12Only, .tls13Only])
    func `a server that demands a certificate gets that of its host`(
        versions: LabTLSVersions
    ) async throws {
        let clients = try TestAuthority("Clients")
        let client = try clients.leaf(["a client"])
        let server = try server(versions: versions) {
            $0.clientAuthority = clients.identity.certificate
        }
        defer { server.stop() }
        let armed = try verifier {
            $0.clientIdentities = [
                try HostPattern("shop.example.test"): ClientIdentity(
                    .pem(certificates: client.certificatePEM, key: Secret(client.privateKeyPEM)))
            ]
        }
        let story = await run(
            try secureRequest(to: "shop.example.test", at: server.endpoint, verifier: armed))
        #expect(story.text == "hello shop.example.test", "\(story.results)")
        for (host, verifier) in [
            ("other.example.test", armed), ("shop.example.test", lab.verifier),
        ] {
            let refused = await run(
                try secureRequest(to: host, at: server.endpoint, verifier: verifier))
            #expect(refused.failure != nil)
        }
        #expect(server.record.requests.count == 1)
    }

    @Test func `a connection is used again under its policy alone, whatever part of it differs`()
        async throws
    {
        let server = try server { _ in }
        defer { server.stop() }
        let pattern = try HostPattern("x.example")
        let root = lab.root.certificatePEM
        let policies = try [
            verifier(), verifier { $0.revocation.mode = .off },
            verifier { $0.transparency.mode = .report },
            verifier { $0.rootsByHost = [pattern: .pem(root)] },
            verifier { $0.minimumTLS = .tls13 },
            verifier {
                try $0.dangerous.accept(.matchesCommonName, for: pattern, because: "a test")
            },
        ]
        let transport = Transport()
        for (index, verifier) in policies.enumerated() {
            for isReused in [false, true] {
                let story = await run(
                    try secureRequest(
                        to: "shop.example.test", at: server.endpoint, verifier: verifier),
                    transport)
                #expect(story.connections.map(\.isReused) == [isReused], "policy \(index)")
            }
        }
        #expect(server.record.connections == policies.count)
    }
}

extension Minted {
    /// The laboratory's identity as OpenSSL has it.
    convenience init(_ identity: TestIdentity) throws {
        let certificate = identity.certificate.withUnsafeBufferPointer { octets in
            var cursor = octets.baseAddress
            return d2i_X509(nil, &cursor, octets.count)
        }
        let key = identity.privateKey.withUnsafeBufferPointer { octets in
            var cursor = octets.baseAddress
            return d2i_AutoPrivateKey(nil, &cursor, octets.count)
        }
        self.init(certificate: try #require(certificate), key: try #require(key))
    }
}
