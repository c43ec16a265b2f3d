public import HTTPDNSNames
public import HTTPDNSTrust

/// What became of a TLS handshake; no request was sent.
public enum Handshake: Sendable, Hashable {
    /// The peer proved the name it was asked for. The chain is verified, leaf first.
    case proven(chain: [CertificateFacts], version: String)
    /// It showed a certificate that proves something else, or nothing.
    case untrusted(TrustFailure)
    /// It ended before there was a certificate.
    case cut(Cut)
    /// Nothing in time after the connection was there.
    case timedOut

    /// How a handshake can end early.
    public enum Cut: Sendable, Hashable {
        /// A TCP reset.
        case reset
        /// Closed without a word.
        case closed
        /// The peer said why, or what it speaks is not TLS; the text is the TLS library's.
        case refused(String)
    }

    /// The certificates that were shown, leaf first.
    public var chain: [CertificateFacts] {
        switch self {
        case .proven(let chain, _): chain
        case .untrusted(let failure): failure.facts.chain
        case .cut, .timedOut: []
        }
    }

    /// Whether the peer spoke TLS up to its certificate, or said why it would not.
    public var isSpoken: Bool {
        switch self {
        case .proven, .untrusted, .cut(.refused): true
        case .cut(.reset), .cut(.closed), .timedOut: false
        }
    }

    /// Whether it proved the name it was asked for.
    public var isProven: Bool { if case .proven = self { true } else { false } }
}

/// What is found at one address that some source gave for the name.
public struct PeerEvidence: Sendable, Hashable {
    /// What became of the TCP connection.
    public enum Connection: Sendable, Hashable {
        case connected
        /// The network's answer, and the system's word for it.
        case failed(Obstacle, String)
        /// Nothing came back.
        case timedOut
        /// No public host can be there, or the run may not go there; the text says which.
        case notDialled(String)
    }

    /// What kind of answer a connection met; the raw value is the JSON spelling.
    public enum Obstacle: String, Sendable, Hashable, CaseIterable {
        /// A reset: nobody listens there, or somebody in between says so.
        case refused
        /// A router, or the last link, says that there is no such host.
        case hostUnreachable = "host_unreachable"
        /// This machine, or a router, knows no way there.
        case networkUnreachable = "network_unreachable"
        /// A rule of this machine, or a router that says that it is not allowed.
        case forbidden
        case other
    }

    /// What became of a connection to another port, to which nothing was sent.
    public struct OtherPort: Sendable, Hashable {
        public let port: Port
        public let connection: Connection

        public init(port: Port, connection: Connection) {
            self.port = port
            self.connection = connection
        }
    }

    public let address: IPAddress
    public let port: Port
    public var connection: Connection
    /// Tried where there was no connection: whether it is the host that is gone, or the port.
    public var otherPort: OtherPort?
    /// With the server name under test. Nil where there was no connection, or no time.
    public var real: Handshake?
    /// Without a server name; tried when the first one failed. Judged against the name under test.
    public var withoutName: Handshake?
    /// With another server name; tried when the first one failed. Judged against that other name.
    public var otherName: Handshake?
    public var seen: Sighting

    public init(
        address: IPAddress, port: Port = .https, connection: Connection, real: Handshake? = nil,
        withoutName: Handshake? = nil, otherName: Handshake? = nil, seen: Sighting = .atOnce
    ) {
        self.address = address
        self.port = port
        self.connection = connection
        self.real = real
        self.withoutName = withoutName
        self.otherName = otherName
        self.seen = seen
    }
}

/// What one HTTP request brought.
public struct FetchEvidence: Sendable, Hashable {
    /// Why it was sent.
    public enum Purpose: String, Sendable, Hashable {
        /// To the probe URL, whose answer is known beforehand.
        case portalProbe = "portal_probe"
        /// In clear to an address that only suspect sources gave.
        case plain
        /// In clear to an address that a trusted source gave, whoever else did.
        case reference
        /// Over TLS, from the name under test itself.
        case verified
    }

    public var purpose: Purpose
    /// Where it went; nil for the probe, whose host the system resolves.
    public let address: IPAddress?
    public let url: String
    public let result: Result<Page, Failure>
    public let seen: Sighting

    public init(
        purpose: Purpose, address: IPAddress?, url: String, result: Result<Page, Failure>,
        seen: Sighting = .atOnce
    ) {
        self.purpose = purpose
        self.address = address
        self.url = url
        self.result = result
        self.seen = seen
    }

    /// Why there is no page; the text is for people.
    public struct Failure: Error, Sendable, Hashable {
        public let reason: String

        public init(reason: String) { self.reason = reason }
    }

    /// A response, cut down to what is compared.
    public struct Page: Sendable, Hashable {
        /// The HTTP status code.
        public var status: Int
        /// The `Location` field, without the secrets in it.
        public var location: String?
        /// Field names in lower case, in the order received, each once.
        public var fieldNames: [String]
        /// Octets of the body that were read.
        public var bodyOctets: Int
        /// SHA-256 of those octets.
        public var bodyDigest: [UInt8]
        /// The `Date` field, and what the page has aged in caches since.
        public var date: WallTime?
        /// The body's first octets, for people.
        public var excerpt: [UInt8]

        public init(
            status: Int, location: String? = nil, fieldNames: [String] = [], bodyOctets: Int = 0,
            bodyDigest: [UInt8] = [], date: WallTime? = nil, excerpt: [UInt8] = []
        ) {
            self.status = status
            self.location = location
            self.fieldNames = fieldNames
            self.bodyOctets = bodyOctets
            self.bodyDigest = bodyDigest
            self.date = date
            self.excerpt = excerpt
        }
    }
}
