/// One handshake that a ``LabServer`` saw begin.
public struct LabHandshake: Sendable, Hashable {
    /// Which connection, counted from 0.
    public let connection: Int
    /// The server name in the ClientHello; nil when there was none.
    public let serverName: String?
    /// True once the client has accepted the certificate and sent its `Finished`.
    public internal(set) var isComplete: Bool
}

/// What a ``LabServer`` has seen until now.
public struct LabRecord: Sendable, Hashable {
    /// Connections accepted.
    public internal(set) var connections = 0
    /// Handshakes of which the ClientHello arrived, in order.
    public internal(set) var handshakes: [LabHandshake] = []
    /// Octets of HTTP that arrived, inside TLS or plain: 0 proves that no request was sent.
    public internal(set) var receivedOctets = 0
    /// Requests that arrived whole, in order; recorded before the handler is asked.
    public internal(set) var requests: [LabRequest] = []

    /// The server names of the handshakes, in order; "" where there was none.
    public var serverNames: [String] { handshakes.map { $0.serverName ?? "" } }
}
