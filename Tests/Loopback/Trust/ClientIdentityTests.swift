import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSTrust
import TestSupport
import Testing

@Suite struct ClientIdentityTests {
    private let root: Minted
    private let leaf: Minted
    private let clients: Minted
    private let client: Minted
    private let host: Host

    init() throws {
        root = try Recipe.authority("Test Root").minted()
        leaf = try Recipe.leaf("api.example.com").minted(by: root)
        clients = try Recipe.authority("Client Root").minted()
        client = try Recipe.leaf("a client").minted(by: clients)
        host = .name(try HostName("api.example.com"))
    }

    private func verifier(
        _ identity: ClientIdentity, for pattern: String = "api.example.com"
    ) throws -> OpenSSLVerifier {
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.clientIdentities = [try HostPattern(pattern): identity]
        return try OpenSSLVerifier(policy: policy)
    }

    private func identity(passphrase: String? = nil) throws -> ClientIdentity {
        ClientIdentity(
            .pem(
                certificates: client.pem,
                key: Secret(try StatusMint.privateKey(client, passphrase: passphrase))),
            passphrase: passphrase.map { Secret($0) })
    }

    /// The subject that the server saw, or nil; it demands one only when told so.
    private func shown(
        _ verifier: OpenSSLVerifier, asks: Bool = true, isDemanded: Bool = false,
        version: Int32 = TLS1_3_VERSION
    ) throws -> (subject: String?, isComplete: Bool) {
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(clients.certificate, &der)
        defer { CRYPTO_free(der, #file, #line) }
        let handshake = try Handshake(
            verifier, host: host, sending: [leaf], maximumVersion: version
        ) { context in
            guard asks, let der else { return }
            #expect(
                httpdns_lab_context_ask_clients(context, der, Int(count), isDemanded ? 1 : 0) == 1)
        }
        let isComplete = handshake.isComplete && SSL_is_init_finished(handshake.server) == 1
        guard let seen = SSL_get1_peer_certificate(handshake.server) else {
            return (nil, isComplete)
        }
        let minted = Minted(certificate: seen, key: try #require(EVP_PKEY_new()))
        return (try CertificateReader.facts(of: minted.parsed()).subject, isComplete)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `a server that asks sees the certificate of its host`(version: Int32) throws {
        let verifier = try verifier(identity())
        for isDemanded in [false, true] {
            let seen = try shown(verifier, isDemanded: isDemanded, version: version)
            #expect(seen.subject == "CN=a client")
            #expect(seen.isComplete)
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `another host and a server that does not ask see nothing`(version: Int32) throws {
        let elsewhere = try verifier(identity(), for: "**.other.example.com")
        #expect(try shown(elsewhere, version: version).subject == nil)
        #expect(try !shown(elsewhere, isDemanded: true, version: version).isComplete)
        let silent = try shown(verifier(identity()), asks: false, version: version)
        #expect(silent.subject == nil)
        #expect(silent.isComplete)
    }

    @Test func `a server that proves nothing sees no certificate`() throws {
        var policy = TrustPolicy(roots: .pem(clients.pem))
        policy.clientIdentities = [HostPattern(exactly: host): try identity()]
        let seen = try Handshake(
            OpenSSLVerifier(policy: policy), host: host, sending: [leaf],
            maximumVersion: TLS1_2_VERSION)
        #expect(!seen.isComplete)
        #expect(SSL_get1_peer_certificate(seen.server) == nil)
    }

    @Test func `the most specific pattern says who we are`() throws {
        let other = try Recipe.leaf("another client").minted(by: clients)
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.clientIdentities = [
            try HostPattern("**.example.com"): try identity(),
            HostPattern(exactly: host): ClientIdentity(
                .pem(
                    certificates: other.pem, key: Secret(try StatusMint.privateKey(other)))),
        ]
        #expect(try shown(OpenSSLVerifier(policy: policy)).subject == "CN=another client")
    }

    @Test func `an encrypted key is opened with its passphrase, from a file too`() throws {
        let encrypted = try StatusMint.privateKey(client, passphrase: "open sesame")
        #expect(encrypted.contains("ENCRYPTED"))
        let directory = try TemporaryDirectory()
        let files = ClientIdentity(
            .files(
                certificates: try directory.write("client.pem", client.pem),
                key: try directory.write("key.pem", encrypted)),
            passphrase: Secret("open sesame"))
        for identity in [try identity(passphrase: "open sesame"), files] {
            #expect(try shown(verifier(identity)).subject == "CN=a client")
        }
    }

    @Test func `what does not belong together is a fault of the set-up without a secret in it`()
        throws
    {
        let encrypted = try StatusMint.privateKey(client, passphrase: "open sesame")
        let stranger = try Recipe.leaf("stranger").minted()
        let cases: [(key: String, passphrase: String?, certificate: String, words: String)] = [
            (encrypted, nil, client.pem, "it is encrypted, and no passphrase is given"),
            (encrypted, "wrong", client.pem, "the passphrase is another"),
            ("no key", nil, client.pem, "it is not a private key in PEM"),
            (
                try StatusMint.privateKey(stranger), nil, client.pem,
                "belongs to another certificate"
            ),
            (try StatusMint.privateKey(client), nil, "no certificate", "no certificate"),
        ]
        for (key, passphrase, certificate, words) in cases {
            let identity = ClientIdentity(
                .pem(certificates: certificate, key: Secret(key)),
                passphrase: passphrase.map { Secret($0) })
            let error = #expect(throws: TrustSetupError.self) { _ = try verifier(identity) }
            let text = try #require(error?.description)
            #expect(text.contains(words))
            #expect(text.contains("api.example.com"))
            #expect(!text.contains("PRIVATE KEY") && !text.contains("sesame"))
        }
    }

    @Test func `a connection as somebody else is another policy`() throws {
        let other = try Recipe.leaf("another client").minted(by: clients)
        let directory = try TemporaryDirectory()
        let identity = ClientIdentity(
            .files(
                certificates: directory.path + "/client.pem", key: directory.path + "/key.pem"))
        func fingerprint(_ minted: Minted) throws -> PolicyFingerprint {
            try directory.write("client.pem", minted.pem)
            try directory.write("key.pem", try StatusMint.privateKey(minted))
            return try verifier(identity).fingerprint
        }
        let first = try fingerprint(client)
        #expect(try fingerprint(other) != first)
        #expect(try fingerprint(client) == first)
    }
}
