extension CaptureRecord {
    /// One request of a chain of redirects, and its answer.
    public struct Hop: Sendable, Hashable {
        public var method: String
        /// The logical URL; it never holds the address that was connected to.
        public var url: String
        /// The URL that was asked for, where a rule sent the request to ``url`` instead.
        public var mappedFrom: String?
        /// As they went out, with what the transport adds (`Host`, which is `:authority` in HTTP/2,
        /// `Accept-Encoding`, `Content-Length` …); for what was not sent, as the application gave
        /// them.
        public var requestFields: [Field]
        /// 100...999; nil when no answer came.
        public var status: Int?
        /// The words that the server wrote beside the status; nil where there are none, as in HTTP/2 and
        /// in answers of a stub or of the cache.
        public var statusText: String?
        /// `1.0`, `1.1`, `2`; in files of other programs also others.
        public var version: String?
        public var responseFields: [Field] = []
        /// Whom the addresses came from.
        public var resolution: Resolution?
        public var resolveMilliseconds: Double?
        /// Resolvers that were asked before everybody had failed; see
        /// ``CaptureRecord/Resolution/attempts`` for those that failed before one that did not.
        public var resolverFailures: [Attempt] = []
        /// The address and port really connected to: `192.0.2.7:443`.
        public var remote: String?
        /// The proxy that the connection went through; ``remote`` is its address then.
        public var proxy: String?
        public var isReusedConnection = false
        public var isResumedSession = false
        public var tlsVersion: String?
        /// What the peer proved; nil for plain `http` and where nothing was proved.
        public var peer: Peer?
        public var timings = Timings()
        /// Addresses that were tried in vain, and requests that were lost and sent again.
        public var attempts: [Attempt] = []
        /// The host was looked up a second time, past what was kept.
        public var wasRefreshed = false
        /// Why a redirect that names where to go on was handed over instead.
        public var notFollowed: String?
        /// Why the system was asked for the addresses after all.
        public var systemFallback: String?
        /// The names of the rules that acted on it, in order.
        public var rules: [String] = []
        /// What the cache of responses had to do with the answer: `hit`, `validated` …; nil:
        /// nothing.
        public var cache: String?
        /// Octets on the wire: heads and body.
        public var sentOctets: Int64 = 0
        /// Octets on the wire: heads and body.
        public var receivedOctets: Int64 = 0
        /// How many of ``sentOctets`` were the head's; nil where nobody says.
        public var sentHeadOctets: Int64?
        /// How many of ``receivedOctets`` were the head's; nil where nobody says.
        public var receivedHeadOctets: Int64?
        /// Names the connection that it went over: the port of this machine's end, in what this library
        /// records; what another program calls it, in files of others. Nil without a connection.
        public var connection: String?

        public init(method: String = "GET", url: String, requestFields: [Field] = []) {
            self.method = method
            self.url = url
            self.requestFields = requestFields
        }

        /// The first value of that name, compared without case.
        public func responseField(_ name: String) -> String? {
            CaptureRecord.first(name, of: responseFields)
        }

        /// The first value of that name, compared without case.
        public func requestField(_ name: String) -> String? {
            CaptureRecord.first(name, of: requestFields)
        }
    }

    /// Where the addresses of a host came from.
    public struct Resolution: Sendable, Hashable {
        /// The back-end's label.
        public var resolver: String
        /// `udp`, `tls`, `https`, `httpdns`, `cache` …
        public var transport: String
        /// The server that answered, where the transport says.
        public var server: String?
        public var addresses: [String]
        /// The alias chain.
        public var aliases: [String] = []
        public var ttlSeconds: UInt32
        /// From the resolver's cache.
        public var isCached = false
        public var isStale = false
        /// Resolvers that gave nothing usable before.
        public var attempts: [Attempt] = []

        public init(resolver: String, transport: String, addresses: [String], ttlSeconds: UInt32) {
            self.resolver = resolver
            self.transport = transport
            self.addresses = addresses
            self.ttlSeconds = ttlSeconds
        }
    }

    /// What a peer proved.
    public struct Peer: Sendable, Hashable {
        /// Whom it was judged against.
        public var host: String
        /// The name of the certificate that matched.
        public var matchedName: String
        public var subject: String
        public var issuer: String
        /// The first moment at which the certificate is no longer valid.
        public var notAfter: CaptureTime
        /// The configured pin that matched: `sha256/…`.
        public var pin: String?
        /// What the pins had to say: `unpinned`, `exempt`, `matched`, `mismatched`, `lapsed`,
        /// `waived`.
        public var pinning: String

        public init(
            host: String, matchedName: String, subject: String, issuer: String,
            notAfter: CaptureTime, pin: String? = nil, pinning: String = "unpinned"
        ) {
            self.host = host
            self.matchedName = matchedName
            self.subject = subject
            self.issuer = issuer
            self.notAfter = notAfter
            self.pin = pin
            self.pinning = pinning
        }
    }

    /// What was tried in vain.
    public struct Attempt: Sendable, Hashable {
        /// The address, or the resolver's label; nil where nobody can say.
        public var at: String?
        /// A bounded label.
        public var label: String
        public var message: String

        public init(at: String?, label: String, message: String) {
            self.at = at
            self.label = label
            self.message = message
        }
    }

    /// Milliseconds from the start of a hop's transfer, after its resolution; nil for what did not
    /// happen.
    public struct Timings: Sendable, Hashable {
        /// How long it waited before that start, as other programs say it.
        public var blocked: Double?
        /// TCP is connected.
        public var connected: Double?
        /// TLS is done, and the peer has proved itself.
        public var secured: Double?
        /// The request has gone out, as other programs say it.
        public var sent: Double?
        /// The first octet of the answer.
        public var firstByte: Double?
        /// The last octet, or when it broke off.
        public var total: Double?

        public init() {}
    }

    static func first(_ name: String, of fields: [Field]) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
