package import HTTPDNSNames
package import HTTPDNSTrust

/// The connection a request goes out on.
package struct ConnectionFacts: Sendable, Hashable {
    /// The address really connected to.
    package var remote: Endpoint
    /// Of this machine's end.
    package var localPort: Port?
    package var isReused: Bool
    package var tlsVersion: String?
    /// TLS went on with a session of an earlier connection.
    package var isResumed = false
    /// Tried before, for this connection.
    package var passedOver: [PassedOver] = []

    package init(remote: Endpoint, isReused: Bool, tlsVersion: String? = nil) {
        self.remote = remote
        self.isReused = isReused
        self.tlsVersion = tlsVersion
    }
}

/// An address of the route that could not be connected to, so that the next one was tried.
package struct PassedOver: Sendable, Hashable {
    package let address: IPAddress
    /// It said nothing at all, and may only be slow; else it refused.
    package let wasSilent: Bool

    package init(_ address: IPAddress, wasSilent: Bool) {
        self.address = address
        self.wasSilent = wasSilent
    }

    /// As what a failure of the whole transfer would be told.
    package var failure: TransportFailure {
        wasSilent ? .timedOut(phase: .connect) : .cannotConnect("refused or broken off")
    }
}

/// The addresses at which a transfer failed.
package struct FailedAddresses: Sendable, Hashable {
    /// Those that were passed over before.
    package var before: [PassedOver]
    /// The last; nil where the transport could not say, or none was tried.
    package var remote: IPAddress?

    package init(_ remote: IPAddress? = nil, before: [PassedOver] = []) {
        self.remote = remote
        self.before = before
    }
}

extension ExchangeReport.Hop {
    mutating func take(_ response: ResponseHead) {
        status = response.status
        version = response.version
        reason = response.reason
    }

    mutating func take(_ peer: VerifiedPeer?, _ connection: ConnectionFacts) {
        self.peer = peer
        remote = connection.remote
        localPort = connection.localPort
        isReusedConnection = connection.isReused
        tlsVersion = connection.tlsVersion
        isResumedSession = connection.isResumed
        attempts += connection.passedOver.map { RouteAttempt($0) }
    }
}

extension ExchangeMachine {
    /// A transfer is over that passed no address over.
    package mutating func finished(
        _ result: TransferResult, remote: IPAddress?, now: Monotonic
    ) -> [Action] { finished(result, FailedAddresses(remote), now: now) }
}

/// What a finished exchange took.
package struct TransferFacts: Sendable, Hashable {
    package var remote: Endpoint?
    package var isReused = false
    /// TLS went on with a session of an earlier connection.
    package var isResumed = false
    /// Milliseconds from the start of the exchange; nil for a step that did not happen.
    package var connectedMilliseconds: Double?
    package var securedMilliseconds: Double?
    package var firstByteMilliseconds: Double?
    package var totalMilliseconds: Double = 0
    /// Octets on the wire as libcurl counts them: heads and bodies.
    package var sentOctets: Int64 = 0
    package var receivedOctets: Int64 = 0

    package init() {}
}

/// Why an exchange failed.
package enum TransportFailure: Error, Sendable, Hashable {
    /// Nothing was sent: no address of the route could be connected to.
    case cannotConnect(String)
    /// Nothing was sent: the peer did not prove that it is the origin.
    case untrusted(TrustFailure)
    /// Nothing was sent: the TLS handshake failed before a certificate could be judged.
    case handshakeFailed(String)
    /// `phase` says what was being waited for.
    case timedOut(phase: Phase)
    /// The connection broke; `hadResponse` when a head had come (then the body is short).
    case connectionLost(String, hadResponse: Bool)
    /// The request was let out, and is lost; see ``RequestLoss``. No octet of a response came.
    case requestLost(RequestLoss, String)
    /// The peer broke HTTP; the text says how.
    case malformedResponse(String)
    case headTooLarge
    case bodyTooLarge
    /// A coded body grows without end when it is decoded.
    case bodyExpandsTooFar(String)
    /// The request's own body source broke.
    case bodySourceFailed(String)
    case cancelled
    /// This exchange cannot be tried: the text says what is missing (libcurl, a verifier).
    case unavailable(String)
    /// A fault of ours, with libcurl's code.
    case unexpected(String)

    package enum Phase: String, Sendable, Hashable {
        case connect, response, idle, total
    }

    /// A bounded label, safe in metrics and JSON.
    package var label: String {
        switch self {
        case .cannotConnect: "cannot_connect"
        case .untrusted(let failure): failure.label
        case .handshakeFailed: "handshake_failed"
        case .timedOut: "timed_out"
        case .connectionLost: "connection_lost"
        case .requestLost(.unprocessed, _): "not_processed"
        case .requestLost(.stale, _): "stale_connection"
        case .malformedResponse: "malformed_response"
        case .headTooLarge: "head_too_large"
        case .bodyTooLarge: "body_too_large"
        case .bodyExpandsTooFar: "body_expands_too_far"
        case .bodySourceFailed: "body_source_failed"
        case .cancelled: "cancelled"
        case .unavailable: "unavailable"
        case .unexpected: "unexpected"
        }
    }

    /// True when no octet of the request can have left, so that it may be sent again elsewhere.
    package var provesNothingWasSent: Bool {
        switch self {
        case .cannotConnect, .untrusted, .handshakeFailed, .timedOut(.connect): true
        default: false
        }
    }
}

/// A receiver's word after each piece of a body.
package enum Flow: Sendable, Hashable {
    case more
    case pause
}
