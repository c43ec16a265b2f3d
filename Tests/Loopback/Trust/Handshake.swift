import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSTrust
import Testing

/// A TLS handshake in memory: an armed client against a server that sends what it is told to.
final class Handshake {
    let client: OpaquePointer
    let server: OpaquePointer
    private let verdicts: Locked<[Result<VerifiedPeer, TrustFailure>]>
    /// Whether the client finished it.
    private(set) var isComplete = false
    /// `X509_V_OK`, or what the client reports to its user.
    var verifyCode: Int { SSL_get_verify_result(client) }

    init(
        _ verifier: OpenSSLVerifier, host: Host, sending chain: [Minted],
        maximumVersion: Int32 = TLS1_3_VERSION,
        prepareServer: (OpaquePointer) throws -> Void = { _ in }
    ) throws {
        let clientContext = try #require(SSL_CTX_new(TLS_client_method()))
        defer { SSL_CTX_free(clientContext) }
        let verdicts = Locked<[Result<VerifiedPeer, TrustFailure>]>([])
        self.verdicts = verdicts
        let armed = verifier.arm(sslContext: UnsafeMutableRawPointer(clientContext), for: host) {
            verdict in verdicts.withLock { $0.append(verdict) }
        }
        #expect(armed)
        let serverContext = try Handshake.serverContext(sending: chain)
        defer { SSL_CTX_free(serverContext) }
        _ = SSL_CTX_ctrl(serverContext, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(maximumVersion), nil)
        try prepareServer(serverContext)
        client = try #require(SSL_new(clientContext))
        server = try #require(SSL_new(serverContext))
        var clientEnd: OpaquePointer?
        var serverEnd: OpaquePointer?
        #expect(BIO_new_bio_pair(&clientEnd, 0, &serverEnd, 0) == 1)
        SSL_set_bio(client, clientEnd, clientEnd)
        SSL_set_bio(server, serverEnd, serverEnd)
        SSL_set_connect_state(client)
        SSL_set_accept_state(server)
        // Because: TLS 1.2 takes four flights; a few more rounds end every refusal as well.
        for _ in 0..<10 {
            isComplete = SSL_do_handshake(client) == 1
            if SSL_do_handshake(server) == 1, isComplete { break }
            ERR_clear_error()
        }
        ERR_clear_error()
    }

    deinit {
        SSL_free(client)
        SSL_free(server)
    }

    /// The one verdict; fails the test when there is none or more.
    func verdict() throws -> Result<VerifiedPeer, TrustFailure> {
        let all = verdicts.withLock { $0 }
        #expect(all.count == 1)
        return try #require(all.first)
    }

    /// Why the peer was refused; nil when it was not.
    func failure() throws -> TrustFailure? {
        switch try verdict() {
        case .success: nil
        case .failure(let failure): failure
        }
    }

    static func serverContext(sending chain: [Minted]) throws -> OpaquePointer {
        let context = try #require(SSL_CTX_new(TLS_server_method()))
        let leaf = try #require(chain.first)
        #expect(SSL_CTX_use_certificate(context, leaf.certificate) == 1)
        #expect(SSL_CTX_use_PrivateKey(context, leaf.key) == 1)
        for extra in chain.dropFirst() {
            // SSL_CTX_add1_chain_cert is a macro.
            #expect(
                SSL_CTX_ctrl(
                    context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(extra.certificate))
                    == 1)
        }
        return context
    }
}

/// A wall clock that stands where it is put.
final class SetWallClock: WallSource {
    private let time: Locked<WallTime>

    init(secondsFromNow: Int64 = 0) {
        time = Locked(SetWallClock.fromNow(secondsFromNow))
    }

    func now() -> WallTime { time.withLock { $0 } }

    func set(secondsFromNow: Int64) {
        time.withLock { $0 = SetWallClock.fromNow(secondsFromNow) }
    }

    private static func fromNow(_ seconds: Int64) -> WallTime {
        WallTime(secondsSince1970: SystemWallClock().now().secondsSince1970 + seconds)
    }
}
