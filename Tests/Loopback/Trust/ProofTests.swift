import CHTTPDNSOpenSSL
import Glibc
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSTrust
import TestSupport
import Testing

@Suite struct ProofTests {
    private let root: Minted
    private let leaf: Minted
    private let host: Host

    init() throws {
        root = try Recipe.authority("Test Root").minted()
        leaf = try Recipe.leaf("api.example.com", "www.example.com").minted(by: root)
        host = .name(try HostName("api.example.com"))
    }

    private func code(
        of verifier: OpenSSLVerifier, on connection: OpaquePointer, for host: Host
    ) -> TrustFailure.Code? {
        do throws(TrustFailure) {
            _ = try verifier.proof(ssl: UnsafeMutableRawPointer(connection), for: host)
            return nil
        } catch { return error.code }
    }

    @Test func `a proof is refused under another policy and for another host`() throws {
        let policy = TrustPolicy(roots: .pem(root.pem))
        let verifier = try OpenSSLVerifier(policy: policy)
        let handshake = try Handshake(verifier, host: host, sending: [leaf])
        #expect(code(of: verifier, on: handshake.client, for: host) == nil)
        var stricter = policy
        try stricter.pins.add([root.pin()], for: "api.example.com", backup: .waived)
        let other = try OpenSSLVerifier(policy: stricter)
        #expect(code(of: other, on: handshake.client, for: host) == .policyChanged)
        let sibling = Host.name(try HostName("www.example.com"))
        #expect(code(of: verifier, on: handshake.client, for: sibling) == .policyChanged)
        // An equal policy is the same policy, whoever holds it.
        let equal = try OpenSSLVerifier(policy: policy)
        #expect(code(of: equal, on: handshake.client, for: host) == nil)
    }

    @Test func `a proof ends with the certificate while the connection is open`() throws {
        let clock = SetWallClock()
        let verifier = try OpenSSLVerifier(
            policy: TrustPolicy(roots: .pem(root.pem)), clock: clock)
        let handshake = try Handshake(verifier, host: host, sending: [leaf])
        #expect(code(of: verifier, on: handshake.client, for: host) == nil)
        clock.set(secondsFromNow: 7_200)
        #expect(code(of: verifier, on: handshake.client, for: host) == .expired)
    }

    @Test func `there is no proof before a handshake, nor after one that failed`() throws {
        let verifier = try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(root.pem)))
        let context = try #require(SSL_CTX_new(TLS_client_method()))
        defer { SSL_CTX_free(context) }
        let armed = verifier.arm(
            sslContext: UnsafeMutableRawPointer(context), for: host, onVerdict: { _ in })
        #expect(armed)
        let connection = try #require(SSL_new(context))
        defer { SSL_free(connection) }
        #expect(code(of: verifier, on: connection, for: host) == .policyChanged)
        let stranger = Host.name(try HostName("other.test"))
        let failed = try Handshake(verifier, host: stranger, sending: [leaf])
        #expect(code(of: verifier, on: failed.client, for: stranger) == .policyChanged)
    }

    @Test func `a server that cannot do the minimum version proves nothing`() throws {
        var policy = TrustPolicy(roots: .pem(root.pem))
        let older = { (policy: TrustPolicy, version: Int32) in
            try Handshake(
                OpenSSLVerifier(policy: policy), host: host, sending: [leaf],
                maximumVersion: version
            ).isComplete
        }
        #expect(try older(policy, TLS1_2_VERSION))
        #expect(try !older(policy, TLS1_1_VERSION))
        policy.minimumTLS = .tls13
        #expect(try !older(policy, TLS1_2_VERSION))
        #expect(try older(policy, TLS1_3_VERSION))
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `no session is left to resume`(version: Int32) throws {
        let verifier = try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(root.pem)))
        let handshake = try Handshake(
            verifier, host: host, sending: [leaf], maximumVersion: version)
        #expect(handshake.isComplete)
        let context = SSL_get_SSL_CTX(handshake.client)
        #expect(SSL_CTX_ctrl(context, SSL_CTRL_SESS_NUMBER, 0, nil) == 0)
        #expect(SSL_CTX_ctrl(context, SSL_CTRL_GET_SESS_CACHE_MODE, 0, nil) == 0)
        #expect(SSL_CTX_get_options(context) & UInt64(1 << 14) != 0)
    }

    @Test func `a server cannot begin a second handshake`() throws {
        let verifier = try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(root.pem)))
        let handshake = try Handshake(
            verifier, host: host, sending: [leaf], maximumVersion: TLS1_2_VERSION)
        #expect(handshake.isComplete)
        #expect(SSL_renegotiate(handshake.server) == 1)
        var octet: UInt8 = 0
        for _ in 0..<10 {
            SSL_do_handshake(handshake.server)
            SSL_read(handshake.client, &octet, 1)
        }
        ERR_clear_error()
        #expect(SSL_ctrl(handshake.client, SSL_CTRL_GET_NUM_RENEGOTIATIONS, 0, nil) == 0)
    }

    @Test func `roots read again from a changed file are another policy`() throws {
        let directory = try TemporaryDirectory()
        let policy = TrustPolicy(roots: .file(try directory.write("roots.pem", "")))
        func fingerprint(_ pem: String) throws -> PolicyFingerprint {
            try directory.write("roots.pem", pem)
            return try OpenSSLVerifier(policy: policy).fingerprint
        }
        let before = try fingerprint(root.pem)
        let after = try fingerprint(Recipe.authority("Another Root").minted().pem)
        #expect(before != after)
        let kept = try OpenSSLVerifier(policy: policy)
        #expect(try OpenSSLVerifier(policy: policy).fingerprint == kept.fingerprint)
        withExtendedLifetime(kept) {}
    }

    @Test func `what a context keeps is released with it, armed twice or not`() throws {
        final class Witness: Sendable {}
        weak var gone: Witness?
        do {
            let witness = Witness()
            gone = witness
            let verifier = try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(root.pem)))
            let context = try #require(SSL_CTX_new(TLS_client_method()))
            for _ in 0..<2 {
                let armed = verifier.arm(
                    sslContext: UnsafeMutableRawPointer(context), for: host,
                    onVerdict: { _ in withExtendedLifetime(witness) {} })
                #expect(armed)
            }
            SSL_CTX_free(context)
        }
        #expect(gone == nil)
    }

    @Test func `OpenSSL works on while the process ends, for threads that are not done`() async {
        await #expect(processExitsWith: .success) {
            // Called after all that is registered later; OpenSSL was asked for nothing by anybody else.
            atexit {
                let context = SSL_CTX_new(TLS_client_method())
                if context == nil { _exit(1) }
                SSL_CTX_free(context)
            }
            SSL_CTX_free(SSL_CTX_new(TLS_client_method()))
            exit(0)
        }
    }

    @Test func `nothing stays in the error queue`() throws {
        let verifier = try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(root.pem)))
        ERR_clear_error()
        _ = try? Certificate.all(pem: "-----BEGIN CERTIFICATE-----\nAAAA\n")
        #expect(ERR_peek_error() == 0)
        _ = try? OpenSSLVerifier(policy: TrustPolicy(roots: .file("/nonexistent")))
        #expect(ERR_peek_error() == 0)
        _ = try? verifier.verify(
            leaf: leaf.parsed(), intermediates: [], host: host,
            at: WallTime(secondsSince1970: 0))
        #expect(ERR_peek_error() == 0)
    }

    @Test func `many threads verify with one verifier`() async throws {
        let verifier = try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(root.pem)))
        let (leaf, host) = (leaf, host)
        let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<32 {
                group.addTask { try Handshake(verifier, host: host, sending: [leaf]).isComplete }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 32)
    }
}
