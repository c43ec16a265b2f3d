internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// Owns one TLS connection of a client and its non-blocking socket. Confined to the engine's thread,
/// which hears no SIGPIPE.
///
/// Sessions are never resumed: the verifier turns tickets off, so that every connection is judged anew.
final class TLSStream {
    enum Step {
        /// The handshake is done, or so many octets moved.
        case done(Int)
        case wantsRead
        case wantsWrite
        /// The peer has ended, or it broke; `isProtocolRefused`: the peer speaks none that was offered.
        case over(String, isProtocolRefused: Bool)
    }

    let descriptor: Int32
    private let context: OpaquePointer
    private let raw: OpaquePointer

    /// Takes the socket over; closes it when this fails.
    ///
    /// The verifier's own word on a peer is kept in `verdict`.
    init?(_ descriptor: Int32, for service: SecureService, verdict: VerdictBox) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            chttpdns_close(descriptor)
            return nil
        }
        chttpdns_context_prepare_stream(context)
        let isArmed = service.verifier.arm(
            sslContext: UnsafeMutableRawPointer(context), for: service.host
        ) { verdict.failure = $0.failure }
        guard isArmed, let raw = SSL_new(context) else {
            SSL_CTX_free(context)
            chttpdns_close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.context = context
        self.raw = raw
        chttpdns_stream_no_delay(descriptor)
        guard prepare(service) else { return nil }
    }

    deinit {
        SSL_free(raw)
        SSL_CTX_free(context)
        chttpdns_close(descriptor)
    }

    private func prepare(_ service: SecureService) -> Bool {
        SSL_set_connect_state(raw)
        let protocols = service.protocols
        // Unlike its neighbours, SSL_set_alpn_protos answers 0 for success.
        guard SSL_set_fd(raw, descriptor) == 1,
            SSL_set_alpn_protos(raw, protocols, UInt32(protocols.count)) == 0
        else { return false }
        // An address is never sent as a server name. Source: RFC 6066 §3.
        guard case .name(let name) = service.host else { return true }
        return chttpdns_connection_set_server_name(raw, name.text) == 1
    }

    func shakeHands() -> Step { step(chttpdns_stream_handshake(raw)) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        guard let base = buffer.baseAddress else { return .wantsRead }
        return step(chttpdns_stream_read(raw, base, Int32(clamping: buffer.count)))
    }

    func write(_ octets: UnsafeRawBufferPointer) -> Step {
        guard let base = octets.baseAddress, !octets.isEmpty else { return .done(0) }
        return step(chttpdns_stream_write(raw, base, Int32(clamping: octets.count)))
    }

    /// More has been read from the socket than was handed out.
    var holdsMore: Bool { SSL_has_pending(raw) == 1 }

    /// What was agreed on; empty when nothing was.
    var agreedProtocol: [UInt8] {
        var octets: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(raw, &octets, &count)
        return Array(UnsafeBufferPointer(start: octets, count: octets == nil ? 0 : Int(count)))
    }

    /// The last gate: see ``PeerVerifier/proof(ssl:for:)``.
    func prove(_ service: SecureService) throws(TrustFailure) {
        _ = try service.verifier.proof(ssl: UnsafeMutableRawPointer(raw), for: service.host)
    }

    func sayGoodbye() { chttpdns_stream_goodbye(raw) }

    private func step(_ result: Int32) -> Step {
        if result >= 0 { return .done(Int(result)) }
        switch result {
        case Int32(CHTTPDNS_STREAM_WANTS_READ): return .wantsRead
        case Int32(CHTTPDNS_STREAM_WANTS_WRITE): return .wantsWrite
        default:
            var isProtocolRefused = false
            let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
                guard let base = buffer.baseAddress else { return "it broke" }
                isProtocolRefused = chttpdns_stream_trouble(result, base, buffer.count) == 1
                return String(cString: base)
            }
            return .over(text, isProtocolRefused: isProtocolRefused)
        }
    }
}

/// What the verifier said of a peer. Written and read on the engine's thread alone.
final class VerdictBox: @unchecked Sendable {
    // Safety: `PeerVerifier` calls back during the handshake, on the thread that performs it.
    var failure: TrustFailure?
}

extension Result where Failure == TrustFailure {
    fileprivate var failure: TrustFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

/// Plain sockets on their way to an address.
enum Dialling {
    /// -1 when the system refuses; then ``trouble(_:)`` of the errno says why.
    static func begin(_ address: IPAddress, _ port: Port) -> Result<Int32, DialFailure> {
        let octets = address.octets
        let socket = chttpdns_connect_begin(octets, octets.count, port.number)
        guard socket >= 0 else {
            return .failure(DialFailure(reason: word(chttpdns_last_error())))
        }
        return .success(socket)
    }

    /// Nil when the socket is connected.
    static func trouble(_ socket: Int32) -> DialFailure? {
        let error = chttpdns_connect_error(socket)
        return error == 0 ? nil : DialFailure(reason: word(error))
    }

    static func close(_ socket: Int32) { chttpdns_close(socket) }

    private static func word(_ error: Int32) -> String {
        String(cString: chttpdns_error_text(error))
    }
}

/// The system's word.
struct DialFailure: Error {
    let reason: String
}
