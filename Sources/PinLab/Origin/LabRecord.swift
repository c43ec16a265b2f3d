/// One handshake that a ``LabServer`` saw begin.
public struct LabHandshake: Sendable, Hashable {
    /// Which connection, counted from 0.
    public let connection: Int
    /// The server name in the ClientHello; nil when there was none.
    public let serverName: String?
    /// True once the client has accepted the certificate and sent its `Finished`.
    public internal(set) var isComplete: Bool
    /// True when the ClientHello asked for an OCSP response. Source: RFC 6066 §8.
    public internal(set) var asksForStatus = false
    /// True when it went on with an earlier session, so that no certificate was sent.
    public internal(set) var isResumed = false
    /// True when HTTP/2 was agreed on.
    public internal(set) var isHTTP2 = false
    /// True when the client sent a certificate of its own.
    public internal(set) var hasClientCertificate = false

    init(connection: Int, serverName: String?, asksForStatus: Bool) {
        self.connection = connection
        self.serverName = serverName
        self.asksForStatus = asksForStatus
        isComplete = false
    }
}

/// What a ``LabServer`` has seen until now.
public struct LabRecord: Sendable, Hashable {
    /// Connections accepted.
    public internal(set) var connections = 0
    /// Handshakes of which the ClientHello arrived, in order.
    public internal(set) var handshakes: [LabHandshake] = []
    /// Octets of HTTP that arrived, inside TLS or plain: 0 proves that no request was sent. Of HTTP/2
    /// those of requests: a client may greet before it has anything to ask.
    public internal(set) var receivedOctets = 0
    /// Requests that arrived whole, in order; recorded before the handler is asked.
    public internal(set) var requests: [LabRequest] = []

    /// The server names of the handshakes, in order; "" where there was none.
    public var serverNames: [String] { handshakes.map { $0.serverName ?? "" } }
}
