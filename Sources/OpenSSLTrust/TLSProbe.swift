internal import CHTTPDNSOpenSSL
package import HTTPDNSNames
internal import HTTPDNSPlatform
package import HTTPDNSTrust

/// One TLS connection made only to judge the peer: no request is sent. Blocks; not for the
/// cooperative pool.
package struct TLSProbe {
    /// What was connected, and the proof.
    package struct Success: Sendable, Hashable {
        package let peer: VerifiedPeer
        /// `TLSv1.3`.
        package let version: String
        package let cipher: String
    }

    package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// No TCP connection; the text is the reason.
        case unreachable(Endpoint, String)
        /// Nothing in time; the text is what was waited for.
        case timedOut(Endpoint, waitingFor: String)
        /// The peer or its TLS did not do; the text is OpenSSL's.
        case handshake(Endpoint, String)
        case untrusted(TrustFailure)
        /// No connection could be set up on our side.
        case unexpected(String)

        package var description: String {
            switch self {
            case .unreachable(let endpoint, let reason): "cannot connect to \(endpoint): \(reason)"
            case .timedOut(let endpoint, let what): "no \(what) from \(endpoint) in time"
            case .handshake(let endpoint, let reason):
                "the TLS handshake with \(endpoint) failed: "
                    + LibraryWords.explained(reason, LibraryWords.handshakes)
            case .untrusted(let failure): failure.description
            case .unexpected(let reason): "cannot set up a TLS connection: \(reason)"
            }
        }
    }

    private let verifier: any PeerVerifier
    /// For the TCP connection, and again for the handshake.
    private let timeoutMilliseconds: Int64
    private let isWanted: @Sendable () -> Bool

    /// - Parameters:
    ///   - timeoutMilliseconds: for the TCP connection, and again for the handshake.
    ///   - isWanted: asked a few times a second; once it says no, the probe ends as timed out.
    package init(
        verifier: any PeerVerifier, timeoutMilliseconds: Int64 = 5_000,
        isWanted: @escaping @Sendable () -> Bool = { true }
    ) {
        self.verifier = verifier
        self.timeoutMilliseconds = timeoutMilliseconds
        self.isWanted = isWanted
    }

    /// Connects to `endpoint` and lets the peer prove that it is `host`.
    ///
    /// - Parameters:
    ///   - endpoint: where.
    ///   - host: whom the peer must prove to be.
    ///   - sendsName: whether the peer is told so in clear (SNI).
    ///   - end: when all of it must be over, in place of the probe's own time-outs.
    /// - Throws: ``Failure``.
    package func connect(
        to endpoint: Endpoint, host: Host, sendsName: Bool = true, by end: Monotonic? = nil
    ) throws(Failure) -> Success {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let socket = try Socket(endpoint)
        try socket.awaitConnection(to: endpoint, patience: patience(end))
        let context = try Context()
        let verdict = Locked<Result<VerifiedPeer, TrustFailure>?>(nil)
        let armed = verifier.arm(sslContext: UnsafeMutableRawPointer(context.raw), for: host) {
            result in verdict.withLock { $0 = result }
        }
        guard armed else { throw .unexpected("the context cannot be armed") }
        let connection = try Connection(context)
        try connection.prepare(socket, naming: sendsName ? host : nil)
        do throws(Failure) {
            try connection.shakeHands(socket, endpoint: endpoint, patience: patience(end))
        } catch {
            if case .failure(let failure) = verdict.withLock({ $0 }) { throw .untrusted(failure) }
            throw error
        }
        let peer: VerifiedPeer
        do throws(TrustFailure) {
            peer = try verifier.proof(ssl: UnsafeMutableRawPointer(connection.raw), for: host)
        } catch { throw .untrusted(error) }
        return Success(peer: peer, version: connection.version, cipher: connection.cipher)
    }

    private func patience(_ end: Monotonic?) -> Patience {
        let usual = SystemMonotonicClock().now().adding(milliseconds: timeoutMilliseconds)
        return Patience(deadline: end ?? usual, isWanted: isWanted)
    }
}

/// How long something is waited for.
private struct Patience {
    let deadline: Monotonic
    let isWanted: @Sendable () -> Bool

    /// After how long it is asked again whether anybody waits.
    ///
    /// Because: a thread that nobody needs is free again within a blink, for ten calls a second.
    static let askMilliseconds: Int64 = 100
}

/// Waits until `descriptor` is ready; false when the deadline passed first, or nobody waits for it.
///
/// Past the deadline nothing is ready: a peer that always has one octet more must not outlast it.
private func wait(_ descriptor: Int32, forWrite: Bool, _ patience: Patience) -> Bool {
    while true {
        let left = patience.deadline.millisecondsLeft(from: SystemMonotonicClock().now())
        guard left > 0, patience.isWanted() else { return false }
        let slice = min(left, Patience.askMilliseconds)
        // A failure of poll shows itself in the call that follows.
        if chttpdns_wait(descriptor, forWrite ? 1 : 0, Int32(clamping: slice)) != 0 { return true }
    }
}

/// Owns a TCP socket that does not block.
private struct Socket: ~Copyable {
    let descriptor: Int32

    /// Begins to connect.
    init(_ endpoint: Endpoint) throws(TLSProbe.Failure) {
        let octets = endpoint.address.octets
        let descriptor = chttpdns_connect_begin(octets, octets.count, endpoint.port.number)
        guard descriptor >= 0 else {
            throw .unreachable(endpoint, systemWord())
        }
        self.descriptor = descriptor
    }

    deinit { chttpdns_close(descriptor) }

    func awaitConnection(
        to endpoint: Endpoint, patience: Patience
    ) throws(TLSProbe.Failure) {
        guard wait(descriptor, forWrite: true, patience) else {
            throw .timedOut(endpoint, waitingFor: "connection")
        }
        let error = chttpdns_connect_error(descriptor)
        guard error == 0 else {
            throw .unreachable(endpoint, String(cString: chttpdns_error_text(error)))
        }
    }
}

/// Owns an `SSL_CTX` for clients.
private struct Context: ~Copyable {
    let raw: OpaquePointer

    init() throws(TLSProbe.Failure) {
        guard let raw = SSL_CTX_new(TLS_client_method()) else { throw .unexpected(LastError.text) }
        self.raw = raw
    }

    deinit { SSL_CTX_free(raw) }
}

/// Owns an `SSL` on a socket that outlives it.
private struct Connection: ~Copyable {
    let raw: OpaquePointer

    init(_ context: borrowing Context) throws(TLSProbe.Failure) {
        guard let raw = SSL_new(context.raw) else { throw .unexpected(LastError.text) }
        self.raw = raw
    }

    deinit { SSL_free(raw) }

    func prepare(_ socket: borrowing Socket, naming host: Host?) throws(TLSProbe.Failure) {
        guard SSL_set_fd(raw, socket.descriptor) == 1 else { throw .unexpected(LastError.text) }
        // An address is never sent as a server name. Source: RFC 6066 §3.
        if case .name(let name) = host {
            guard chttpdns_connection_set_server_name(raw, name.text) == 1 else {
                throw .unexpected(LastError.text)
            }
        }
    }

    var version: String { String(cString: SSL_get_version(raw)) }
    var cipher: String {
        SSL_CIPHER_get_name(SSL_get_current_cipher(raw)).map { String(cString: $0) } ?? "?"
    }

    func shakeHands(
        _ socket: borrowing Socket, endpoint: Endpoint, patience: Patience
    ) throws(TLSProbe.Failure) {
        while true {
            ERR_clear_error()
            let result = chttpdns_connection_shake_hands(raw)
            if result == 1 { return }
            let waitsForWrite: Bool
            switch SSL_get_error(raw, result) {
            case SSL_ERROR_WANT_READ: waitsForWrite = false
            case SSL_ERROR_WANT_WRITE: waitsForWrite = true
            case SSL_ERROR_SYSCALL where ERR_peek_last_error() == 0:
                throw .handshake(endpoint, "unexpected eof: the peer closed the connection")
            default: throw .handshake(endpoint, LastError.text)
            }
            guard wait(socket.descriptor, forWrite: waitsForWrite, patience) else {
                throw .timedOut(endpoint, waitingFor: "TLS handshake")
            }
        }
    }
}
