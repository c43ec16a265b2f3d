public import HTTPDNSExchange

/// A request as its author means it: the logical URL, no address anywhere.
public struct HTTPRequest: Sendable {
    public var head: RequestHead
    public var body: RequestBody
    public var limits = ExchangeLimits()
    /// Follow redirects, at most ``RedirectRules/maximumHops``; false hands them over.
    public var followsRedirects = true
    public var redirects = RedirectRules()
    /// Send cookies of the client's jar and keep those of the response.
    public var usesCookies = true
    /// Sent to their own origin, unless the request has an `Authorization` field of its own.
    package var credentials: OriginCredentials?

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

    public init() {}
}
