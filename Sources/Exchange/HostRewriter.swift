public import HTTPDNSNames

/// What goes on the wire when a request for a host name is sent to an address.
///
/// Whoever has an HTTP stack of their own sends exactly this, offers ``serverName`` in the TLS
/// handshake and accepts only a certificate for ``verifyAs``; the address is in ``url`` alone.
public struct RewrittenRequest: Sendable, Hashable {
    public let method: HTTPMethod
    /// The URL to connect to: the address in the place of the host, IPv6 in brackets. It holds no
    /// userinfo and no fragment.
    public let url: String
    /// Where to connect, for stacks that open their own sockets.
    public let endpoint: Endpoint
    /// The `Host` field, or `:authority`: the logical host, with its port unless it is the
    /// scheme's own. Source: RFC 9110 §7.2.
    public let authority: String
    /// The name for SNI; nil for `http`, and where the logical host is itself an address.
    /// Source: RFC 6066 §3.
    public let serverName: HostName?
    /// Whom the certificate must name: the logical host, never the address connected to.
    public let verifyAs: Host
    /// The request line's target, or `:path`; no fragment.
    public let target: String
    /// All fields but `Host`, which is ``authority``.
    public let fields: HTTPFields
}

/// Rewrites a request to go to an address while it stays a request for its own host.
///
/// It is pure: the same request, address and cookies give the same rewriting.
public struct HostRewriter: Sendable {
    public init() {}

    /// The request as it is to be sent to `address`.
    ///
    /// - Parameters:
    ///   - request: as its author means it, with the logical URL.
    ///   - address: where to connect.
    ///   - cookies: the `Cookie` value that belongs to the logical URL, as
    ///     ``CookieJar/cookieHeader(for:now:)`` gives it. A `Cookie` field that the request already
    ///     carries stays, and this one is then not added.
    /// - Returns: what to send, which name to offer and which to verify.
    /// - Throws: ``RewriteFault``.
    public func rewrite(
        _ request: RequestHead, to address: IPAddress, cookies: String? = nil
    ) throws(RewriteFault) -> RewrittenRequest {
        guard address.zone == nil else { throw .zone }
        let origin = request.url.origin
        return RewrittenRequest(
            method: request.method,
            url: origin.scheme.rawValue + "://" + address.uriText
                + (origin.port == origin.scheme.defaultPort ? "" : ":\(origin.port)")
                + request.url.target,
            endpoint: Endpoint(address: address, port: origin.port),
            authority: origin.authority,
            serverName: HostRewriter.serverName(of: origin),
            verifyAs: origin.host,
            target: request.url.target,
            fields: try fields(of: request, cookies: cookies))
    }

    /// The fields to send, without `Host`; for transports that take the URL as it is.
    ///
    /// - Throws: ``RewriteFault``, as ``rewrite(_:to:cookies:)``.
    public func fields(
        of request: RequestHead, cookies: String? = nil
    ) throws(RewriteFault) -> HTTPFields {
        try fields(of: request, cookieField: cookies.map { FieldText($0) })
    }

    /// The same with cookies that may be no UTF-8.
    package func fields(
        of request: RequestHead, cookieField cookies: FieldText?
    ) throws(RewriteFault) -> HTTPFields {
        for host in request.fields.all("Host") {
            guard HostRewriter.names(host, request.url.origin) else {
                throw .hostFieldDiffers(
                    given: RewriteFault.printable(host), authority: request.url.origin.authority)
            }
        }
        var fields = request.fields
        fields.remove("Host")
        if let userinfo = request.url.userinfo, !fields.contains("Authorization") {
            let credentials = try HostRewriter.basicCredentials(userinfo)
            do { try fields.append("Authorization", credentials) } catch {
                throw .unusableUserinfo
            }
        }
        if let cookies, !cookies.isEmpty, !fields.contains("Cookie") {
            do { try fields.append("Cookie", cookies) } catch { throw .unusableCookies }
        }
        return fields
    }

    private static func serverName(of origin: Origin) -> HostName? {
        guard origin.scheme == .https, case .name(let name) = origin.host else { return nil }
        return name
    }

    /// True when a `Host` value means that origin; case, one trailing dot and the default port
    /// make no difference.
    private static func names(_ value: String, _ origin: Origin) -> Bool {
        let text = value.drop { $0 == " " || $0 == "\t" }
        guard !text.contains(where: { "/\\?#@%".contains($0) }),
            let url = try? HTTPURL(origin.scheme.rawValue + "://" + text)
        else { return false }
        return url.origin == origin
    }

    /// `user:password` as `Basic` credentials.
    ///
    /// Source: RFC 7617 §2: no colon in the user, no control characters; UTF-8.
    private static func basicCredentials(_ userinfo: String) throws(RewriteFault) -> String {
        let parts = userinfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let user = PercentEncoding.decoded(parts[0].utf8)
        let password = parts.count > 1 ? PercentEncoding.decoded(parts[1].utf8) : []
        guard !user.contains(0x3A), !(user + password).contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { throw .unusableUserinfo }
        return "Basic " + Base64.encoded(user + [0x3A] + password)
    }
}

/// Why a request cannot be rewritten. No secret is repeated.
public enum RewriteFault: Error, Sendable, Hashable {
    /// The caller set a `Host` that is not the URL's own.
    case hostFieldDiffers(given: String, authority: String)
    /// The address has a zone, which must not leave this machine. Source: RFC 6874 §1.
    case zone
    /// The URL's userinfo cannot be sent as `Basic` credentials.
    case unusableUserinfo
    /// The given cookies hold a control character.
    case unusableCookies
    /// The caller set a `Content-Length` that is not that of the body.
    case lengthDiffers(given: String)
    /// The caller set a `Transfer-Encoding` other than `chunked`, or one beside a `Content-Length`.
    case transferCoding(String)
    /// The caller set an `Expect` other than `100-continue`.
    case expectation(String)

    /// Text of a caller, short and without control characters.
    static func printable(_ text: String) -> String {
        text.unicodeScalars.prefix(100).map { $0.escaped(asASCII: true) }.joined()
    }
}

extension RewriteFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .hostFieldDiffers(let given, let authority):
            "the request sets Host to \"\(given)\", but its URL names \(authority): the Host field "
                + "follows from the URL, and so does the name the certificate must prove; leave "
                + "Host out, and put the name you mean into the URL"
        case .zone:
            "the address has a zone (the part after '%'), which cannot stand in a URL; use an "
                + "address without one"
        case .unusableUserinfo:
            "the URL's user has a colon, or its user or password a control character, which Basic "
                + "credentials cannot carry; set Authorization yourself"
        case .lengthDiffers(let given):
            "the request sets Content-Length to \"\(given)\", which is not the length of its body; "
                + "leave the field out: it follows from the body"
        case .transferCoding(let coding):
            "the request sets Transfer-Encoding to \"\(coding)\", which is not sent; leave the field "
                + "out, and a body of unknown length goes out in chunks"
        case .expectation(let text):
            "the request sets Expect to \"\(text)\"; there is no expectation but 100-continue"
        case .unusableCookies: "the cookies hold a control character; a Cookie field cannot"
        }
    }
}
