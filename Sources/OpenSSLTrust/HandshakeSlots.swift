internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// What one armed `SSL_CTX` verifies; lives as long as it.
final class Arming: Sendable {
    let verifier: OpenSSLVerifier
    let host: Host
    let onVerdict: @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void

    init(
        verifier: OpenSSLVerifier, host: Host,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) {
        self.verifier = verifier
        self.host = host
        self.onVerdict = onVerdict
    }
}

/// What one connection has shown; lives as long as its `SSL`.
final class Showing: Sendable {
    /// Certificates only, until the staple has been judged, or the whole proof.
    enum Extent {
        case examined(ExaminedPeer)
        case proved(VerifiedPeer)
    }

    let extent: Extent
    let farewell = Farewell()

    init(_ extent: Extent) { self.extent = extent }

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
    guard let connection, let argument,
        case .examined(let peer)? = Slots.showing(of: connection)?.extent
    else { return 0 }
    LastError.clear()
    defer { LastError.clear() }
    let arming = Unmanaged<Arming>.fromOpaque(argument).takeUnretainedValue()
    var count = 0
    let octets = chttpdns_connection_staple(connection, &count)
    let verdict = arming.verifier.concluded(
        peer, stapled: UnsafeBufferPointer(start: octets, count: octets == nil ? 0 : count),
        on: connection)
    var accepted = false
    switch verdict {
    case .success(let peer): accepted = Slots.keep(Showing(.proved(peer)), in: connection)
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

/// Called by OpenSSL at each step of a connection, on the transport's thread; must not block.
///
/// libcurl takes an end without `close_notify` for an end like any other. The attack: cut a body short
/// that only the end of its connection ends.
func noteFarewell(_ connection: OpaquePointer?, _ step: Int32, _ alert: Int32) {
    let isAlertRead = step & SSL_CB_READ_ALERT == SSL_CB_READ_ALERT
    // The lower octet is the alert's description, the upper one its level.
    guard isAlertRead, alert & 0xFF == SSL_AD_CLOSE_NOTIFY, let connection else { return }
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
