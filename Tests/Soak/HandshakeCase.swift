import HTTPDNSPinLab

/// One way in which a server meets a client, and what both transports have to make of it.
enum HandshakeCase: String, CaseIterable, Sendable {
    case sound
    case wrongName = "wrong-name"
    case expired
    case untrustedRoot = "untrusted-root"
    case selfSigned = "self-signed"
    /// A sound server under a policy that wants another key.
    case pinMismatch = "pin-mismatch"
    /// A sound server under two policies in turn, to which both would resume.
    case otherPolicy = "other-policy"
    case reset
    /// Cut off in the handshake, without a word.
    case cut
    case alert
    /// It never answers; a short deadline ends the wait.
    case stalled
    /// It never answers; the caller leaves.
    case abandoned
    case plainHTTP = "plain-http"

    /// Servers of their own; the other cases go to one of these.
    static let served: [HandshakeCase] = allCases.filter { $0.server == $0 }

    var server: HandshakeCase {
        switch self {
        case .pinMismatch, .otherPolicy: .sound
        case .abandoned: .stalled
        default: self
        }
    }

    /// How a server of this case fails its clients.
    var fault: LabConnectionFault {
        switch self {
        case .reset: .resetsInHandshake
        case .cut: .closesInHandshake
        case .alert: .alertsInHandshake
        case .stalled: .stallsHandshake
        case .plainHTTP: .speaksPlainHTTP
        default: .none
        }
    }

    /// How an exchange has to end: any other way is a fault. What the streams say of a broken
    /// handshake and of a peer that proves nothing is the resolvers' word for it.
    func end(by way: HandshakeClients.Way) -> String {
        let isStream = way == .stream
        return switch self {
        case .sound, .otherPolicy: "ok"
        case .wrongName: isStream ? "untrusted" : "wrong_name"
        case .expired: isStream ? "untrusted" : "expired"
        case .untrustedRoot: isStream ? "untrusted" : "unknown_issuer"
        case .selfSigned: isStream ? "untrusted" : "self_signed"
        case .pinMismatch: isStream ? "untrusted" : "no_pin_matched"
        case .reset, .cut, .alert, .plainHTTP: isStream ? "unreachable" : "handshake_failed"
        case .stalled: "timed_out"
        case .abandoned: "cancelled"
        }
    }
}
