internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// What one armed `SSL_CTX` verifies; lives as long as it.
final class Arming: Sendable {
    let verifier: OpenSSLVerifier
    let host: Host
    /// Nil: no session is kept, and none is gone on with.
    let sessionKey: SessionStore.Key?
    let onVerdict: @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void

    init(
        verifier: OpenSSLVerifier, host: Host, resuming scope: ResumptionScope?,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) {
        self.verifier = verifier
        self.host = host
        sessionKey = scope.map { SessionStore.Key(host: host, scope: $0) }
        self.onVerdict = onVerdict
    }
}

/// What one connection has shown; lives as long as its `SSL`.
final class Showing: Sendable {
    /// Certificates only, until the staple has been judged, or the whole proof.
    enum Extent {
        case examined(ExaminedPeer)
        case proved(VerifiedPeer)
        /// A session of an earlier connection is offered; its peer had stapled this.
        case offered(staple: [UInt8])
    }

    let extent: Extent
    /// What the peer has stapled, for whoever goes on with the session.
    let staple: [UInt8]
    let farewell: Farewell
    /// What the gate said last: it lets many requests of one second through, and looks at them alike.
    let passed = Locked<Passed?>(nil)

    struct Passed {
        /// The judge, whose rules never change.
        let verifier: OpenSSLVerifier
        let host: Host
        let second: WallTime
        let peer: VerifiedPeer
    }

    init(_ extent: Extent, staple: [UInt8] = [], farewell: Farewell = Farewell()) {
        self.extent = extent
        self.staple = staple
        self.farewell = farewell
    }

    var peer: VerifiedPeer? {
        if case .proved(let peer) = extent { peer } else { nil }
    }
}

final class Farewell: PeerFarewell {
    private let said = Locked(false)

    var isSaid: Bool { said.withLock { $0 } }

    func note() { said.withLock { $0 = true } }
}

/// Where our objects hang on OpenSSL's: application data that OpenSSL releases with its owner.
enum Slots {
    static let context = chttpdns_context_index(refuseCopy, releaseObject)
    static let connection = chttpdns_connection_index(refuseCopy, releaseObject)

    static func keep(_ arming: Arming, in context: OpaquePointer) -> Bool {
        let old = SSL_CTX_get_ex_data(context, Self.context)
        let retained = Unmanaged.passRetained(arming)
        guard SSL_CTX_set_ex_data(context, Self.context, retained.toOpaque()) == 1 else {
            retained.release()
            return false
        }
        if let old { Unmanaged<AnyObject>.fromOpaque(old).release() }
        return true
    }

    /// Replaces what the connection has shown; nil takes it away.
    static func keep(_ showing: Showing?, in connection: OpaquePointer) -> Bool {
        let old = SSL_get_ex_data(connection, Self.connection)
        let retained = showing.map { Unmanaged.passRetained($0) }
        guard SSL_set_ex_data(connection, Self.connection, retained?.toOpaque()) == 1 else {
            retained?.release()
            return false
        }
        if let old { Unmanaged<AnyObject>.fromOpaque(old).release() }
        return true
    }

    static func arming(of connection: OpaquePointer) -> Arming? {
        SSL_get_SSL_CTX(connection).flatMap { SSL_CTX_get_ex_data($0, context) }.map {
            Unmanaged<Arming>.fromOpaque($0).takeUnretainedValue()
        }
    }

    static func showing(of connection: OpaquePointer) -> Showing? {
        SSL_get_ex_data(connection, Self.connection).map {
            Unmanaged<Showing>.fromOpaque($0).takeUnretainedValue()
        }
    }
}

/// Called by OpenSSL in the handshake, on the transport's thread; must not block or keep `context`.
/// `argument` is the ``Arming`` that the connection's `SSL_CTX` keeps alive.
func judgePeer(_ context: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let context, let argument else { return 0 }
    LastError.clear()
    defer { LastError.clear() }
    let arming = Unmanaged<Arming>.fromOpaque(argument).takeUnretainedValue()
    guard
        let slot = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx())
    else { return 0 }
    let connection = OpaquePointer(slot)
    // A second handshake on the connection must not live on the proof of the first.
    guard Slots.keep(nil, in: connection) else { return 0 }
    let (examined, verifyError) = arming.verifier.examined(context, host: arming.host)
    // Staple and time stamps come later in the handshake: then judgeStaple has the last word.
    if arming.verifier.asksMore(of: arming.host), case .success(let peer) = examined {
        let isKept = Slots.keep(Showing(.examined(peer)), in: connection)
        X509_STORE_CTX_set_error(context, isKept ? X509_V_OK : X509_V_ERR_OUT_OF_MEM)
        return isKept ? 1 : 0
    }
    let verdict = examined.flatMap { arming.verifier.concluded($0, staple: .notAsked) }
    var accepted = false
    if case .success(let peer) = verdict {
        accepted = Slots.keep(Showing(.proved(peer)), in: connection)
    }
    X509_STORE_CTX_set_error(
        context, accepted || verifyError != X509_V_OK ? verifyError : X509_V_ERR_OUT_OF_MEM)
    arming.onVerdict(verdict)
    return accepted ? 1 : 0
}

/// Called by OpenSSL once in each handshake, after the certificates and before our side says that it is
/// done, whether a staple came or not; on the transport's thread; must not block.
func judgeStaple(_ connection: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let connection, let argument else { return 0 }
    LastError.clear()
    defer { LastError.clear() }
    let arming = Unmanaged<Arming>.fromOpaque(argument).takeUnretainedValue()
    // TLS 1.3 asks in resumed handshakes, too, where nothing is shown.
    if SSL_session_reused(connection) == 1 { return judgeResumed(connection, arming) }
    guard case .examined(let peer)? = Slots.showing(of: connection)?.extent else { return 0 }
    var count = 0
    let octets = chttpdns_connection_staple(connection, &count)
    let stapled = UnsafeBufferPointer(start: octets, count: octets == nil ? 0 : count)
    let verdict = arming.verifier.concluded(peer, stapled: stapled, on: connection)
    var accepted = false
    switch verdict {
    case .success(let peer):
        let kept = arming.sessionKey == nil ? [] : Array(stapled)
        accepted = Slots.keep(Showing(.proved(peer), staple: kept), in: connection)
    case .failure(let failure):
        let code =
            switch failure.code {
            case .revoked: X509_V_ERR_CERT_REVOKED
            case .notLogged: X509_V_ERR_NO_VALID_SCTS
            default: X509_V_ERR_OCSP_VERIFY_FAILED
            }
        SSL_set_verify_result(connection, Int(code))
    }
    arming.onVerdict(verdict)
    return accepted ? 1 : 0
}

private func judgeResumed(_ connection: OpaquePointer, _ arming: Arming) -> Int32 {
    do throws(TrustFailure) {
        _ = try arming.verifier.proofOfResumed(connection, host: arming.host)
        return 1
    } catch {
        arming.onVerdict(.failure(error))
        return 0
    }
}

/// Called by OpenSSL when a connection has a session to give, on the transport's thread; must not block.
/// 1 takes the session over.
func keepSession(_ connection: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    guard let connection, let session, let arming = Slots.arming(of: connection),
        let key = arming.sessionKey, let showing = Slots.showing(of: connection),
        showing.peer != nil, SSL_SESSION_is_resumable(session) == 1
    else { return 0 }
    arming.verifier.keep(TLSSession(owning: session), staple: showing.staple, for: key)
    return 1
}

/// Called by OpenSSL at each step of a connection, on the transport's thread; must not block.
func watch(_ connection: OpaquePointer?, _ step: Int32, _ alert: Int32) {
    guard let connection else { return }
    if step & SSL_CB_HANDSHAKE_START != 0 {
        limitReads(of: connection)
        return offerSession(connection)
    }
    noteFarewell(connection, step, alert)
}

/// libcurl reads HTTP/2 frames as long as there are some, and looks at no clock meanwhile (7.88).
/// The attack: frames without end that say nothing, which hold up the thread and whatever else it
/// serves.
private func limitReads(of connection: OpaquePointer) {
    guard let source = SSL_get_rbio(connection) else { return }
    BIO_set_callback_ex(source, allowRead)
}

/// What OpenSSL asks for when it begins a record. Source: RFC 8446 §5.1.
private let recordHeaderOctets = 5

/// Called by OpenSSL before and after each operation; what it returns is the operation's result.
private func allowRead(
    _ source: OpaquePointer?, _ operation: Int32, _ octets: UnsafePointer<CChar>?, _ capacity: Int,
    _ command: Int32, _ argument: Int, _ result: Int32, _ count: UnsafeMutablePointer<Int>?
) -> Int {
    switch operation {
    case BIO_CB_READ
    where ReadAllowance.isOverdrawn
        || (ReadAllowance.isSpent && capacity == recordHeaderOctets):
        // As a socket says that nothing came yet: it is asked again when the loop comes round.
        BIO_set_flags(source, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        return -1
    case BIO_CB_READ | BIO_CB_RETURN:
        if result > 0, let count { ReadAllowance.take(count.pointee) }
    default: break
    }
    return Int(result)
}

/// Before our first message: later no session would be offered any more.
private func offerSession(_ connection: OpaquePointer) {
    guard SSL_is_init_finished(connection) == 0, Slots.showing(of: connection) == nil,
        let arming = Slots.arming(of: connection), let key = arming.sessionKey
    else { return }
    LastError.clear()
    defer { LastError.clear() }
    arming.verifier.offerSession(to: connection, key)
}

/// libcurl takes an end without `close_notify` for an end like any other. The attack: cut a body short
/// that only the end of its connection ends.
private func noteFarewell(_ connection: OpaquePointer, _ step: Int32, _ alert: Int32) {
    let isAlertRead = step & SSL_CB_READ_ALERT == SSL_CB_READ_ALERT
    // The lower octet is the alert's description, the upper one its level.
    guard isAlertRead, alert & 0xFF == SSL_AD_CLOSE_NOTIFY else { return }
    Slots.showing(of: connection)?.farewell.note()
}

/// Called by OpenSSL when it frees an `SSL_CTX`, an `SSL` or an `X509`, on whatever thread does so.
func releaseObject(
    _ parent: UnsafeMutableRawPointer?, _ object: UnsafeMutableRawPointer?,
    _ data: UnsafeMutablePointer<CRYPTO_EX_DATA>?, _ index: Int32, _ number: Int,
    _ argument: UnsafeMutableRawPointer?
) {
    if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
}

/// Called by OpenSSL when one of these is duplicated: the copy has shown nothing.
func refuseCopy(
    _ to: UnsafeMutablePointer<CRYPTO_EX_DATA>?, _ from: UnsafePointer<CRYPTO_EX_DATA>?,
    _ object: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ index: Int32, _ number: Int,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    object?.pointee = nil
    return 1
}
