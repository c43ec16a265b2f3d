package import HTTPDNSExchange
package import HTTPDNSNames
package import HTTPDNSTrust

/// One HTTP exchange with one origin over one route: what goes on the wire, no more, no less.
///
/// No redirect is followed, no cookie kept, no name resolved, no proxy taken from the environment.
package struct TransportRequest: Sendable {
    /// Who we mean: SNI, `Host` or `:authority`, and the name the certificate must prove.
    package var origin: Origin
    /// Where we connect: tried in order, a dead one passed over. Source: RFC 8305.
    package var route: Route
    package var method: HTTPMethod
    /// Begins with `/`; sent as it is.
    package var target: String
    /// All fields but `Host`, `Content-Length`, `Transfer-Encoding` and connection options.
    package var fields: HTTPFields
    package var body: RequestBody
    /// Required for `https`; ignored for `http`.
    package var verifier: (any PeerVerifier)?
    package var limits: TransportLimits
    /// Highest version to offer. `.http2` is offered by ALPN, with 1.1 as the other choice.
    package var version: HTTPVersion
    /// Decode gzip, deflate, br by `Accept-Encoding`; false delivers bodies as they come.
    package var decodesContent: Bool

    package init(
        origin: Origin, route: Route, method: HTTPMethod, target: String,
        fields: HTTPFields = HTTPFields(), body: RequestBody = .none,
        verifier: (any PeerVerifier)?, limits: TransportLimits = TransportLimits(),
        version: HTTPVersion = .http2, decodesContent: Bool = true
    ) {
        self.origin = origin
        self.route = route
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
        self.verifier = verifier
        self.limits = limits
        self.version = version
        self.decodesContent = decodesContent
    }
}

/// Time and size limits of one exchange. Every number is in docs/timeouts.md.
package struct TransportLimits: Sendable, Hashable {
    /// The whole exchange must end by then; `.distantFuture` for none.
    package var deadline = Monotonic.distantFuture
    /// TCP and TLS together, all addresses of the route included.
    package var connectMilliseconds: Int64 = 10_000
    /// The longest silence: no octet up or down.
    package var idleMilliseconds: Int64 = 60_000
    /// Header section, in octets.
    package var maximumHeadOctets = 256 * 1024
    /// Body as delivered (after decoding), in octets; nil for no limit.
    package var maximumBodyOctets: Int64?

    package init() {}
}

/// Told what happens to one exchange.
///
/// Calls come one at a time on the transport's own thread and must return at once; none comes after
/// ``finished(_:)``, which comes exactly once, also after a cancel.
package protocol TransferObserver: AnyObject, Sendable {
    /// The peer proved that it is the origin, or `nil` for plain `http`. Before any request octet.
    /// Again when a kept connection turned out to be dead and the request goes out on a fresh one.
    func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts)
    /// The final response head (1xx are not reported).
    func received(_ head: ResponseHead)
    /// Some of the body, never empty. After `.pause` nothing more comes until ``Transfer/resume()``.
    func received(body: UnsafeRawBufferPointer) -> Flow
    /// May come while paused: all of the body had been delivered.
    func finished(_ result: Result<TransferFacts, TransportFailure>)
    /// The address whose connection failed, where there was one; right before a failed `finished`.
    /// Not called after a cancel, nor when no address could be connected to.
    func failed(at remote: Endpoint)
}

extension TransferObserver {
    package func failed(at remote: Endpoint) {}
}

package enum Flow: Sendable, Hashable {
    case more
    case pause
}

/// The connection a request goes out on.
package struct ConnectionFacts: Sendable, Hashable {
    /// The address really connected to.
    package var remote: Endpoint
    package var isReused: Bool
    package var tlsVersion: String?

    package init(remote: Endpoint, isReused: Bool, tlsVersion: String? = nil) {
        self.remote = remote
        self.isReused = isReused
        self.tlsVersion = tlsVersion
    }
}

/// What a finished exchange took.
package struct TransferFacts: Sendable, Hashable {
    package var remote: Endpoint?
    package var isReused = false
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
    /// The peer broke HTTP; the text says how.
    case malformedResponse(String)
    case headTooLarge
    case bodyTooLarge
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
}
