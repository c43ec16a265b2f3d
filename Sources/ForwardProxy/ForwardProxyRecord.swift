public import HTTPDNSCapture
public import HTTPDNSNames
public import HTTPDNSTrust

/// What became of one request: for logs, people and captures. Secrets are not in it: the URL of a plain
/// request is without its userinfo, a tunnel shows nothing of what it carries.
public struct ForwardProxyRecord: Sendable, Hashable {
    /// What the request was.
    public enum Kind: String, Sendable, Hashable {
        /// A plain request that went to its origin.
        case exchange
        /// A tunnel, by `CONNECT`.
        case tunnel
        /// Nothing was sent anywhere.
        case refused
        /// A page of the proxy itself.
        case own
    }

    /// Counts from 1 over the life of the proxy.
    public internal(set) var number: UInt64 = 0
    public internal(set) var kind = Kind.refused
    /// As the client wrote it; empty when it could not be read.
    public internal(set) var method = ""
    /// The URL of a plain request, `host:port` of a tunnel; empty when it could not be read.
    public internal(set) var target = ""
    /// Who is meant; nil when it could not be read.
    public internal(set) var host: Host?
    /// What the client was told, 100...999; nil when it left before.
    public internal(set) var status: Int?
    /// A bounded label for what went wrong, and the words for it.
    public internal(set) var reason: String?
    public internal(set) var message: String?
    /// Who gave the addresses.
    public internal(set) var resolver: String?
    public internal(set) var addresses: [IPAddress] = []
    /// The address really connected to.
    public internal(set) var remote: Endpoint?
    /// What the address proved before the tunnel was opened; nil for plain requests and unproven ports.
    public internal(set) var peer: VerifiedPeer?
    /// The proof is of an earlier handshake with the same address.
    public internal(set) var isProofKept = false
    /// Addresses that failed before.
    public internal(set) var attempts: [Attempt] = []
    /// Octets of bodies, or of the tunnel, from the client.
    public internal(set) var octetsUp: Int64 = 0
    /// The same to the client.
    public internal(set) var octetsDown: Int64 = 0
    /// When the request began.
    public internal(set) var startedAt = CaptureTime(microsecondsSince1970: 0)
    /// Milliseconds; nil for what did not happen.
    public internal(set) var resolveMilliseconds: Double?
    public internal(set) var proveMilliseconds: Double?
    /// Until the tunnel was open, or the head of the response came.
    public internal(set) var openedMilliseconds: Double?
    /// Until the end.
    public internal(set) var totalMilliseconds: Double = 0

    init() {}

    /// An address that was not used, and why.
    public struct Attempt: Sendable, Hashable {
        public let endpoint: Endpoint
        /// A bounded label: `wrong_name`, `cannot_connect` …
        public let label: String
        public let message: String
    }
}

/// What a proxy tells its observer.
public enum ForwardProxyEvent: Sendable {
    /// A tunnel is open; its record is not at its end.
    case opened(ForwardProxyRecord)
    /// A request, or a tunnel, has ended. Once for each.
    case ended(ForwardProxyRecord)
    /// No connection is accepted for a moment: the process has no descriptor left, or the limit of
    /// connections is reached. Told once, until none was needed for a minute.
    case acceptingPaused(String)
}

/// How much a proxy has done.
public struct ForwardProxyCounts: Sendable, Hashable {
    /// Connections of clients that were accepted, from the start.
    public internal(set) var connections: UInt64 = 0
    /// Those that are open now.
    public internal(set) var openConnections = 0
    /// Tunnels that are open now.
    public internal(set) var openTunnels = 0
    /// Requests that were begun, from the start.
    public internal(set) var requests: UInt64 = 0
    /// Those of them that were refused.
    public internal(set) var refusals: UInt64 = 0
    /// Octets of bodies and tunnels that have ended, from clients.
    public internal(set) var octetsUp: Int64 = 0
    /// The same to clients.
    public internal(set) var octetsDown: Int64 = 0

    init() {}
}
