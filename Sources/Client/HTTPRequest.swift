public import HTTPDNSCaching
public import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames

/// A request as its author means it: the logical URL, no address anywhere.
///
/// Of its fields `Host`, `Content-Length` and `Transfer-Encoding` follow from URL and body: they may say
/// the same, `Transfer-Encoding: chunked` sends a body of known length in chunks, and anything else is
/// ``ExchangeFailure/Cause/unsendable(_:)``. `Expect: 100-continue` is ``expectsContinue``. How a
/// connection is used is the transport's business: `Connection`, `Keep-Alive`, `Proxy-Connection`,
/// `Upgrade`, `HTTP2-Settings` and a `TE` other than `trailers` are not sent. All others go out as they
/// are, each in a line of its own.
public struct HTTPRequest: Sendable {
    public var head: RequestHead
    public var body: RequestBody
    public var limits = ExchangeLimits()
    /// Follow redirects, at most ``RedirectRules/maximumHops``; false hands them over.
    public var followsRedirects = true
    public var redirects = RedirectRules()
    /// Send cookies of the client's jar and keep those of the response.
    public var usesCookies = true
    /// Ask the server with `Expect: 100-continue` whether it wants the body before that is sent; on
    /// HTTP/1.1 only.
    ///
    /// Off: servers that do not know it cost a second each time.
    public var expectsContinue = false
    /// Through which proxies; nil: as the client does otherwise.
    public var proxies: ProxyPolicy?
    /// How it uses the cache of responses; nil: as the client does otherwise.
    public var cacheMode: CacheMode?
    /// Undo the codings of a body though the request asks for them itself, as `URLSession` does;
    /// those of a part (206) stay.
    package var decodesAlways = false
    /// Hand bodies on as they come, and ask for no coding that the request does not ask for: for who
    /// only carries them.
    package var passesCodings = false
    /// The server as a whole is meant, and no resource of it: `*` is sent in the place of the path.
    /// For `OPTIONS` alone. Source: RFC 9112 §3.2.4.
    package var asksServer = false
    /// Sent to their own origin, unless the request has an `Authorization` field of its own.
    package var credentials: OriginCredentials?
    /// Where to connect, instead of asking the resolver; for the first hop alone.
    package var addresses: [IPAddress]?
    /// Sees what a host leads to, and says what is left of it; nil: the host is not to be reached.
    package var screen: (@Sendable (ResolvedHost) -> ResolvedHost?)?
    /// The octets of a streamed body where they are in memory; made when they are asked for.
    package var knownBody: (@Sendable () -> [UInt8]?)?
    /// Who started it, for captures; nil: the application.
    package var origin: RequestOrigin?
    /// Who watches it; nil: whoever watches the client.
    package var tap: (any ExchangeTap)?
    /// Whoever is to watch it does, or nobody is to: for exchanges that are made of others.
    package var isWatched = false
    /// Sees a streamed body go out.
    package var bodyWatch: (any BodyWatch)?

    public init(
        _ method: HTTPMethod = .get, _ url: HTTPURL, fields: HTTPFields = HTTPFields(),
        body: RequestBody = .none
    ) {
        head = RequestHead(method: method, url: url, fields: fields)
        self.body = body
    }
}

/// Time and size limits of one request, all redirects included where not said otherwise.
public struct ExchangeLimits: Sendable, Hashable {
    /// From the start to the last octet of the body; nil for none.
    public var total: Duration? = .seconds(120)
    /// Resolution, per hop.
    public var resolve: Duration = .seconds(5)
    /// TCP and TLS, per connection attempt.
    public var connect: Duration = .seconds(10)
    /// The longest silence up and down, per hop.
    public var idle: Duration = .seconds(60)
    /// Body octets as delivered, after decoding; nil for no limit.
    public var maximumBodyOctets: Int64?
    /// Header sections of one hop, interim ones and trailers included.
    ///
    /// Because: what common servers take from clients is 8 to 64 KiB, and cookies are many.
    public var maximumHeadOctets = 262_144
    /// How many times its size on the wire a coded body (gzip, deflate, br, zstd) may have when it
    /// is decoded, beyond the first 16 MiB.
    ///
    /// Because: text seldom shrinks to less than a fiftieth; what is made to fill memories does to
    /// a thousandth.
    public var maximumExpansion = 200
    /// Octets of a coded body after decoding, whatever its size on the wire.
    ///
    /// Because: 4 GiB is more than any document, and what is larger is not compressed on the fly.
    public var maximumDecodedOctets: Int64 = 4_294_967_296

    public init() {}
}
