internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSRequestReading

/// What is done about a request.
enum ProxyDecision: Sendable, Hashable {
    case refuse(Refusal)
    /// Meant for the proxy itself.
    case answer(OwnPage)
    case tunnel(TunnelTarget)
    case forward(ForwardRequest)
}

/// What `CONNECT` asks for.
struct TunnelTarget: Sendable, Hashable {
    let host: Host
    let port: Port
    /// No proof is asked for: the operator lets this port go without.
    let isUnproven: Bool

    var text: String { "\(host.uriText):\(port)" }
}

/// A plain request, ready for the client of the library.
struct ForwardRequest: Sendable, Hashable {
    enum Body: Sendable, Hashable {
        case none
        case length(Int64)
        case chunked
    }

    let method: HTTPMethod
    let url: HTTPURL
    let fields: HTTPFields
    let body: Body
    let expectsContinue: Bool
    /// `OPTIONS` of a URL without a path and a query: the server is asked, and no resource of it.
    var asksServer = false
}

/// What the proxy answers by itself.
enum OwnPage: Sendable, Hashable {
    case welcome, autoConfiguration
    /// `OPTIONS` that ends here.
    case options
    /// `TRACE` that ends here: the request as it came, without what is secret.
    case trace(String)
}

/// Decides about one request. Does no I/O.
///
/// In this order: is it well framed, is it for the proxy itself, does the client show the token, has it
/// been here before, what does it ask for. Where it leads is asked once more when the host is resolved.
struct ProxyRules: Sendable {
    /// How this proxy calls itself in `Via`: no other has the same.
    let via: String
    var token: ProxyToken?
    var unprovenPorts: Set<Port> = []
    var allowsLocalTargets = false
    /// Where the proxy itself listens.
    var own: OwnPlace?

    func decide(_ head: ClientHead) -> ProxyDecision {
        do throws(Refusal) {
            let body = try framing(head)
            if let page = try ownPage(head, body) { return .answer(page) }
            try admit(head)
            guard head.method != "CONNECT" else { return .tunnel(try tunnel(head, body)) }
            return try forward(head, body)
        } catch { return .refuse(error) }
    }
}

// Framing
extension ProxyRules {
    /// A request whose end two readers could see in two places is refused. Source: RFC 9112 §6.3, §11.2.
    private func framing(_ head: ClientHead) throws(Refusal) -> ForwardRequest.Body {
        let hosts = head.fields.all("Host")
        guard hosts.count == 1 || (hosts.isEmpty && head.minorVersion == 0) else {
            throw .request(
                "host_field", hosts.isEmpty ? "There is no Host field." : "Host is there twice."
            ).ending()
        }
        let codings = head.fields.all("Transfer-Encoding")
        let lengths = head.fields.all("Content-Length")
        guard codings.isEmpty || lengths.isEmpty else {
            throw .request(
                "two_framings", "Transfer-Encoding and Content-Length stand side by side."
            ).ending()
        }
        if !codings.isEmpty { return try chunked(codings, head) }
        guard !head.isReadChunked else { throw ProxyRules.differing }
        guard let text = lengths.first else {
            guard head.readLength == nil else { throw ProxyRules.differing }
            return .none
        }
        guard lengths.count == 1, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int64(text)
        else {
            throw .request("content_length", "Content-Length is not one number.").ending()
        }
        guard head.readLength == UInt64(length) else { throw ProxyRules.differing }
        return length == 0 ? .none : .length(length)
    }

    private func chunked(
        _ codings: [String], _ head: ClientHead
    ) throws(Refusal) -> ForwardRequest.Body {
        guard codings.count == 1, head.minorVersion > 0 else {
            throw .request(
                "transfer_encoding", "Transfer-Encoding is there twice, or in HTTP/1.0."
            ).ending()
        }
        guard codings[0].lowercased() == "chunked" else {
            throw .request(
                "transfer_encoding", "Of transfer codings only chunked is known here.", status: 501
            ).ending()
        }
        guard head.isReadChunked else { throw ProxyRules.differing }
        return .chunked
    }

    private static let differing = Refusal.request(
        "framing", "The length of the body can be read in two ways."
    ).ending()
}

// Who asks, and for whom
extension ProxyRules {
    private func ownPage(
        _ head: ClientHead, _ body: ForwardRequest.Body
    ) throws(Refusal) -> OwnPage? {
        if head.target == "*", head.method == "OPTIONS" { return .options }
        guard head.target.hasPrefix("/"), head.method != "CONNECT" else { return nil }
        guard let host = head.fields.first("Host"), isOwn(host) else {
            // Sent by this proxy, to a name that leads back to it.
            guard !hasBeenHere(head) else { throw ProxyRules.loop }
            // A page of the web whose name leads here is not to talk to the proxy.
            throw .request(
                "not_a_proxy_request",
                "This is a proxy: the request line must hold the whole URL, http://host/path.",
                status: 421
            ).ending()
        }
        guard head.method == "GET" || head.method == "HEAD", body == .none else {
            throw .request("own_page", "The proxy's own pages are only read.", status: 405).ending()
        }
        switch head.target {
        case "/": return .welcome
        case "/proxy.pac": return .autoConfiguration
        default:
            throw .request("no_such_page", "The proxy has / and /proxy.pac.", status: 404)
        }
    }

    private func isOwn(_ host: String) -> Bool {
        guard let own, let url = try? HTTPURL("http://\(host)/"),
            url.origin.port == own.endpoint.port
        else { return false }
        if LocalTargets.contains(url.origin.host) { return true }
        guard case .address(let address) = url.origin.host else { return false }
        return own.isReached(by: address, own.endpoint.port)
    }

    private func admit(_ head: ClientHead) throws(Refusal) {
        if let token, !token.isShown(by: head.fields.all("Proxy-Authorization")) {
            var refusal = Refusal(
                407, "token_missing", "http_request_denied",
                "This proxy asks for its token, as the password of Basic or as Bearer.")
            refusal.fields = [
                ("Proxy-Authenticate", "Basic realm=\"httpdns\", charset=\"UTF-8\""),
                ("Proxy-Authenticate", "Bearer realm=\"httpdns\""),
            ]
            throw refusal
        }
        guard !hasBeenHere(head) else { throw ProxyRules.loop }
    }

    private func hasBeenHere(_ head: ClientHead) -> Bool {
        head.fields.all("Via").contains { value in
            value.split(separator: ",").contains { hop in
                let words = hop.split(separator: " ", omittingEmptySubsequences: true)
                return words.count > 1 && words[1] == via
            }
        }
    }

    private static let loop = Refusal(
        508, "loop", "proxy_loop_detected",
        "The request has been here before: the target leads back to this proxy.")

    private func refuseLocal(_ host: Host, _ port: Port) throws(Refusal) {
        if let own, port == own.endpoint.port {
            var isOwn = LocalTargets.contains(host)
            if case .address(let address) = host, own.isReached(by: address, port) { isOwn = true }
            guard !isOwn else {
                throw Refusal(
                    508, "loop", "proxy_loop_detected", "The target is this proxy itself.")
            }
        }
        guard !allowsLocalTargets, LocalTargets.contains(host) else { return }
        throw Refusal(
            403, "local_target", "destination_ip_prohibited",
            "\(host) is this machine. --allow-local lets clients reach it.")
    }

    /// What is left of a host's addresses: the proxy's own never is, whoever gives it, and those of this
    /// machine are the word of a resolver, and so of whoever owns the name (DNS rebinding), unless a
    /// table or a hosts file of ours gives them.
    func screened(_ found: ResolvedHost, _ port: Port) throws(Refusal) -> ResolvedHost {
        let found = try withoutOwn(found, port)
        guard !allowsLocalTargets, case .name = found.host,
            ![.hosts, .literal].contains(found.source.transport)
        else { return found }
        let kept = found.addresses.filter { !LocalTargets.contains($0) }
        return try leaving(kept, of: found) {
            Refusal(
                403, "local_target", "destination_ip_prohibited",
                "\(found.host) leads to this machine (\($0), by \(found.source.resolver)). "
                    + "--allow-local lets clients reach it, --resolve this name alone.")
        }
    }

    private func withoutOwn(_ found: ResolvedHost, _ port: Port) throws(Refusal) -> ResolvedHost {
        guard let own, port == own.endpoint.port else { return found }
        let kept = found.addresses.filter { !own.isReached(by: $0, port) }
        return try leaving(kept, of: found) {
            Refusal(
                508, "loop", "proxy_loop_detected",
                "\(found.host):\(port) leads to this proxy itself (\($0), by "
                    + "\(found.source.resolver)).")
        }
    }

    /// - Parameter refusal: made of the addresses where none is kept.
    private func leaving(
        _ kept: [IPAddress], of found: ResolvedHost, orElse refusal: (String) -> Refusal
    ) throws(Refusal) -> ResolvedHost {
        guard kept != found.addresses else { return found }
        guard kept.isEmpty else {
            return found.replacing(
                addresses: kept, synthesised: found.synthesised.filter { kept.contains($0) })
        }
        throw refusal(found.addresses.map(\.description).joined(separator: ", "))
    }
}

// CONNECT
extension ProxyRules {
    private func tunnel(
        _ head: ClientHead, _ body: ForwardRequest.Body
    ) throws(Refusal) -> TunnelTarget {
        guard body == .none else {
            throw .request("connect_with_body", "CONNECT has no body.").ending()
        }
        guard let (host, port) = ProxyRules.authority(head.target) else {
            throw .request("connect_target", "CONNECT asks for host:port.").ending()
        }
        try refuseLocal(host, port)
        return TunnelTarget(host: host, port: port, isUnproven: unprovenPorts.contains(port))
    }

    /// `host:port`; an IPv6 address in brackets. Source: RFC 9112 §3.2.3.
    static func authority(_ text: String) -> (Host, Port)? {
        guard let colon = text.utf8.lastIndex(of: 0x3A),
            let port = Port(text[text.index(after: colon)...]),
            text.utf8.allSatisfy({ !#"/?#@\%"#.utf8.contains($0) })
        else { return nil }
        guard let url = try? HTTPURL("http://\(text[..<colon]):\(port)/"),
            url.origin.port == port, url.target == "/"
        else { return nil }
        return (url.origin.host, port)
    }
}

// Plain requests
extension ProxyRules {
    private func forward(
        _ head: ClientHead, _ body: ForwardRequest.Body
    ) throws(Refusal) -> ProxyDecision {
        let url = try url(head)
        try refuseLocal(url.origin.host, url.origin.port)
        guard let method = HTTPMethod(head.method), head.method != "HEAD" || body == .none else {
            throw .request("head_with_body", "HEAD has no body.").ending()
        }
        if let page = try lastHop(head, body) { return .answer(page) }
        let upgrades = head.fields.all("Upgrade").map { $0.lowercased() }
        guard !upgrades.contains(where: { $0.contains("websocket") }) else {
            throw .request(
                "upgrade",
                "Connections are not upgraded here: ask for a tunnel by CONNECT, as browsers do.",
                status: 501)
        }
        let expectations = head.fields.all("Expect").map { $0.lowercased() }
        guard expectations.allSatisfy({ $0 == "100-continue" }) else {
            throw .request("expectation", "Only 100-continue can be expected.", status: 417)
        }
        do throws(FieldError) {
            return .forward(
                ForwardRequest(
                    method: method, url: url,
                    fields: try ForwardedFields.request(head, via: via), body: body,
                    // Who speaks HTTP/1.0 is not told to go on. Source: RFC 9110 §10.1.1.
                    expectsContinue: !expectations.isEmpty && body != .none
                        && head.minorVersion > 0,
                    asksServer: head.method == "OPTIONS" && ProxyRules.isBare(head.target)))
        } catch { throw .request("bad_field", "\(error)").ending() }
    }

    private func url(_ head: ClientHead) throws(Refusal) -> HTTPURL {
        let url: HTTPURL
        do throws(URLFault) { url = try HTTPURL(head.target) } catch {
            if case .unsupportedScheme(let scheme) = error {
                throw .request(
                    "scheme", "The scheme \(scheme) is not known here.", status: 501)
            }
            throw .request("bad_url", "The URL is refused: \(error).")
        }
        guard url.origin.scheme == .http else {
            throw .request(
                "https_in_the_clear",
                "https is reached by CONNECT, so that it stays encrypted on the way to the proxy.")
        }
        guard url.userinfo == nil, url.fragment == nil else {
            throw .request("bad_url", "A URL sent to a proxy has neither userinfo nor fragment.")
        }
        return url
    }

    /// Neither a path nor a query stands behind the authority. Source: RFC 9112 §3.2.4.
    private static func isBare(_ target: String) -> Bool {
        guard let slashes = target.firstRange(of: "//") else { return false }
        return !target[slashes.upperBound...].contains { $0 == "/" || $0 == "?" || $0 == "\\" }
    }

    /// Source: RFC 9110 §7.6.2.
    private func lastHop(
        _ head: ClientHead, _ body: ForwardRequest.Body
    ) throws(Refusal) -> OwnPage? {
        guard head.method == "TRACE" || head.method == "OPTIONS" else { return nil }
        guard head.method != "TRACE" || body == .none else {
            throw .request("trace_with_body", "TRACE has no body.").ending()
        }
        guard let text = head.fields.first("Max-Forwards") else { return nil }
        guard let left = UInt64(text) else {
            throw .request("max_forwards", "Max-Forwards is not a number.")
        }
        guard left == 0 else { return nil }
        return head.method == "OPTIONS" ? .options : .trace(ProxyRules.echo(head))
    }

    /// The request without what could be a secret. Source: RFC 9110 §9.3.8.
    private static func echo(_ head: ClientHead) -> String {
        let secret: Set<String> = ["authorization", "proxy-authorization", "cookie"]
        let lines = head.fields.fields.filter { !secret.contains($0.name.lowercased()) }
            .map { "\($0.name): \($0.value)\r\n" }
        return "TRACE \(head.target) HTTP/1.\(head.minorVersion)\r\n" + lines.joined() + "\r\n"
    }
}
