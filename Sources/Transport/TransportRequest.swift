internal import HTTPDNSCoding
package import HTTPDNSExchange
package import HTTPDNSNames
package import HTTPDNSTrust

/// One HTTP exchange with one origin over one route: what goes on the wire, no more, no less.
///
/// No redirect is followed, no cookie kept, no name resolved, no proxy used that is not named here.
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
    /// Decode gzip, deflate, br, zstd, and offer them where ``fields`` have no `Accept-Encoding`; false
    /// delivers bodies as they come.
    package var decodesContent: Bool
    /// The request asks for no coding, and its body comes as the peer sends it all the same.
    package var passesCodings = false
    /// `*` stands on the request line in the place of ``target``. Source: RFC 9112 §3.2.4.
    package var asksServer = false
    /// A range is asked for: no coding is offered, and a part (206) is delivered as it comes.
    package var wantsPart = false
    /// Use no connection that another exchange has used.
    package var needsFreshConnection = false
    /// The proxy that ``route`` leads to; nil: it leads to the origin.
    package var via: ProxyPath?
    /// Send `Expect: 100-continue` on HTTP/1.1, and the body after the answer or a second.
    package var expectsContinue = false
    /// Who asks; apart from ``fields``, which others are shown.
    package var authorization: Authorization?

    /// A value of `Authorization`.
    package struct Authorization: Sendable, CustomStringConvertible, CustomReflectable {
        package let scheme: AuthenticationChallenge.Scheme
        let octets: [UInt8]

        /// - Parameter octets: the whole value, without CR, LF and NUL.
        package init(_ scheme: AuthenticationChallenge.Scheme, _ octets: [UInt8]) {
            self.scheme = scheme
            self.octets = octets
        }

        package var description: String { "\(scheme.rawValue) (hidden)" }
        package var customMirror: Mirror { Mirror(self, children: ["scheme": scheme]) }
    }

    /// A proxy is asked by `CONNECT` before anything else.
    var asksProxy: Bool {
        via?.proxy.kind == .http && !isReadByProxy
    }

    /// The value of `Accept-Encoding` that is added where ``fields`` have none; nil: none is.
    package var acceptEncoding: String? {
        decodesContent && !wantsPart ? ContentCoding.acceptEncoding : nil
    }

    /// A proxy gets the whole URL, and reads the request; else it only carries a tunnel.
    package var isReadByProxy: Bool {
        guard let via, via.proxy.kind == .http else { return false }
        return origin.scheme == .http && via.address == nil
    }

    /// A peer may say over HTTP/2 which requests it did not process.
    var mayHear: Bool { origin.scheme == .https && version == .http2 }

    /// What that word is to a request.
    enum Hearing {
        case none
        case possible
        /// It decides whether the request goes out again.
        case needed
    }

    var hearing: Hearing {
        guard mayHear else { return .none }
        return method.isIdempotent ? .possible : .needed
    }

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
    /// How many times its size on the wire a coded body may grow to, beyond the first octets.
    package var maximumExpansion = 200
    /// A coded body after decoding, in octets.
    package var maximumDecodedOctets: Int64 = 4_294_967_296

    package init() {}
}

/// Told what happens to one exchange.
///
/// Calls come one at a time on the transport's own thread and must return at once; none comes after
/// ``finished(_:)``, which comes exactly once, also after a cancel.
package protocol TransferObserver: AnyObject, Sendable {
    /// The request goes out with other fields than it was given with: with conditions, or without them
    /// after all. Right before it does, on the thread of whoever starts it.
    func sends(_ fields: HTTPFields)
    /// The peer proved that it is the origin, or `nil` for plain `http`. Before any request octet.
    /// Again when a kept connection turned out to be dead and the request goes out on a fresh one.
    func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts)
    /// The request was let out to `remote`, no octet of a response came, and libcurl has another
    /// connection for it; false ends the exchange with ``TransportFailure/requestLost(_:_:)``.
    func mayRepeat(after loss: RequestLoss, sentTo remote: Endpoint?) -> Bool
    /// An interim response head (1xx, but never 101), before the final one.
    func received(interim head: ResponseHead)
    /// The final response head.
    func received(_ head: ResponseHead)
    /// Some of the body, never empty. After `.pause` nothing comes until ``Transfer/resume()``.
    func received(body: UnsafeRawBufferPointer) -> Flow
    /// May come while paused: all of the body had been delivered.
    func finished(_ result: Result<TransferFacts, TransportFailure>)
    /// What was seen of a request that was let out and came to no good end, or was cancelled; right
    /// before that `finished`.
    func brokeOff(_ facts: TransferFacts)
    /// The addresses that could not be connected to before the one that then failed; right before a
    /// failed `finished`. Before a good one they are ``ConnectionFacts/passedOver``.
    func passedOver(_ addresses: [PassedOver])
    /// The address whose connection failed, where there was one; right before a failed `finished`.
    /// Not called after a cancel, nor when no address could be connected to.
    func failed(at remote: Endpoint)
}

extension TransferObserver {
    /// Because: who does not say otherwise asks questions, which may be asked twice.
    package func mayRepeat(after loss: RequestLoss, sentTo remote: Endpoint?) -> Bool { true }

    package func sends(_ fields: HTTPFields) {}

    package func received(interim head: ResponseHead) {}

    package func brokeOff(_ facts: TransferFacts) {}

    package func failed(at remote: Endpoint) {}

    package func passedOver(_ addresses: [PassedOver]) {}
}
