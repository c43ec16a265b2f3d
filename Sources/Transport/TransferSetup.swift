internal import CHTTPDNSCurl
internal import HTTPDNSCoding
internal import HTTPDNSExchange
internal import HTTPDNSNames

/// Says to libcurl what a request means. The comment at each group says what would happen without it.
extension EasyHandle {
    /// What holds for every transfer of this handle.
    func describe(kindOf request: TransportRequest, _ options: ConnectionOptions) {
        let isTLS = request.origin.scheme == .https
        setSilence()
        setTLS(request)
        setConnection(request)
        limitAge(options.maximumAge)
        setMessage(request)
        set(TransferCallbacks.all(withTLS: isTLS))
    }

    /// What is this transfer's own. Of a handle that has served before only what differs is said.
    func describe(_ request: TransportRequest, over lines: RouteRegistry.Lines) {
        setDestination(request, over: lines)
        if said.isFresh != request.needsFreshConnection {
            set(CURLOPT_FRESH_CONNECT, request.needsFreshConnection)
            said.isFresh = request.needsFreshConnection
        }
        if said.isGivenUp {
            set(CURLOPT_FORBID_REUSE, false)
            said.isGivenUp = false
        }
        if said.connectMilliseconds != request.limits.connectMilliseconds {
            setConnectTime(request.limits.connectMilliseconds)
            said.connectMilliseconds = request.limits.connectMilliseconds
        }
        if said.fields != request.fields {
            setFields(request)
            said.fields = request.fields
        }
        switch request.body {
        case .none: break
        case .bytes(let octets): set(CURLOPT_INFILESIZE_LARGE, offset: Int64(octets.count))
        // A length of -1 makes HTTP/1.1 send chunks; HTTP/2 frames either way.
        case .stream(let source): set(CURLOPT_INFILESIZE_LARGE, offset: source.length ?? -1)
        }
    }

    private func setFields(_ request: TransportRequest) {
        let lines = RequestFields.lines(
            request.fields, hasBody: request.body.isThere,
            expectsContinue: request.expectsContinue,
            accepting: request.acceptEncoding)
        let authorization = request.authorization.map {
            [Array("Authorization: ".utf8) + $0.octets]
        }
        guard request.fields.hasOctets || authorization != nil else {
            return set(CURLOPT_HTTPHEADER, lines: lines)
        }
        set(
            CURLOPT_HTTPHEADER,
            octetLines: (authorization ?? [])
                + RequestFields.octets(of: lines, request.fields))
    }

    /// The URL keeps the host we mean; only the connection goes elsewhere. No proxy is ever taken from
    /// the environment.
    private func setDestination(
        _ request: TransportRequest, over lines: RouteRegistry.Lines
    ) {
        if said.origin != request.origin {
            set(CURLOPT_URL, request.origin.description + "/")
            said.origin = request.origin
        }
        if said.hasAddresses || !lines.resolve.isEmpty {
            set(CURLOPT_RESOLVE, lines: lines.resolve)
            said.hasAddresses = !lines.resolve.isEmpty
        }
        if let path = request.via { return setProxy(path, for: request, named: lines.name) }
        let target = request.asksServer ? "*" : request.target
        if said.target != target {
            set(CURLOPT_REQUEST_TARGET, target)
            said.target = target
        }
        if said.route != lines.number {
            set(CURLOPT_CONNECT_TO, lines: [lines.connectTo])
            said.route = lines.number
        }
    }

    /// The proxy goes by the name that stands for its addresses. SOCKS in the form that resolves nothing
    /// here: what it is told is a name, or already an address.
    private func setProxy(
        _ path: ProxyPath, for request: TransportRequest, named name: String
    ) {
        let scheme = path.proxy.kind == .http ? "http" : "socks5h"
        set(CURLOPT_PROXY, "\(scheme)://\(name):\(path.proxy.port)")
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
        set(CURLOPT_PROXYAUTH, Int(httpdns_curl_auth_basic))
        set(CURLOPT_SOCKS5_AUTH, Int(httpdns_curl_auth_basic))
        if let credentials = path.proxy.credentials {
            set(CURLOPT_PROXYUSERNAME, credentials.user.revealed)
            set(CURLOPT_PROXYPASSWORD, credentials.password.revealed)
        }
        if let address = path.address {
            let port = request.origin.port
            set(CURLOPT_CONNECT_TO, lines: [RouteRegistry.connectTo(address, port)])
        }
        set(CURLOPT_HTTPPROXYTUNNEL, path.proxy.kind == .http && !request.isReadByProxy)
        // Source: RFC 9112 §3.2.2, §3.2.4: a proxy that reads the request needs the whole URL.
        let target = request.asksServer ? "" : request.target
        let whole = request.isReadByProxy ? request.origin.description + target : target
        set(CURLOPT_REQUEST_TARGET, whole.isEmpty ? "*" : whole)
    }

    /// Otherwise libcurl would take a proxy from the environment, follow redirects to hosts that nobody
    /// resolved or verified, speak other protocols, or send passwords from a file.
    private func setSilence() {
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "*")
        set(CURLOPT_FOLLOWLOCATION, false)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, true)
        set(CURLOPT_NOSIGNAL, true)
        set(CURLOPT_NOPROGRESS, true)
    }

    /// The verifier is the judge; libcurl's own name check stays as a second one. Its roots are taken
    /// away (reading them costs 40 ms a connection), and its session cache too: it would give a session
    /// to whoever names the same host, whatever the policy. The verifier keeps its own.
    private func setTLS(_ request: TransportRequest) {
        guard request.origin.scheme == .https else { return }
        set(CURLOPT_SSL_VERIFYPEER, true)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_CAINFO, nil)
        set(CURLOPT_CAPATH, nil)
        set(CURLOPT_SSL_SESSIONID_CACHE, false)
        // Source: RFC 8996: 1.0 and 1.1 must not be used.
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // No option is on: early data above all, which would leave before the proof.
        set(CURLOPT_SSL_OPTIONS, 0)
    }

    private func setConnection(_ request: TransportRequest) {
        set(CURLOPT_HTTP_VERSION, EasyHandle.version(request.version))
        set(CURLOPT_HTTP09_ALLOWED, false)
        // Wait for a handshake under way rather than make a connection for each of many requests.
        set(CURLOPT_PIPEWAIT, request.origin.scheme == .https && request.version == .http2)
        set(CURLOPT_TCP_NODELAY, true)
        set(CURLOPT_BUFFERSIZE, EasyHandle.bufferOctets)
        set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, EasyHandle.attemptDelayMilliseconds)
        set(CURLOPT_MAXAGE_CONN, EasyHandle.idleSeconds)
    }

    private func setConnectTime(_ milliseconds: Int64) {
        set(
            CURLOPT_CONNECTTIMEOUT_MS,
            Int(clamping: min(max(milliseconds, 1), EasyHandle.longestMilliseconds)))
    }

    /// For connections that are idle now and then; for the others see ``RouteRegistry``.
    private func limitAge(_ age: Duration) {
        set(CURLOPT_MAXLIFETIME_CONN, Int(clamping: max(1, age.wholeMilliseconds / 1_000)))
    }

    private func setMessage(_ request: TransportRequest) {
        set(CURLOPT_EXPECT_100_TIMEOUT_MS, EasyHandle.expectationMilliseconds)
        // Bodies come as they are on the wire: see `BodyDecoding`.
        set(CURLOPT_HTTP_CONTENT_DECODING, false)
        set(CURLOPT_HTTP_TRANSFER_DECODING, true)
        set(CURLOPT_TRANSFER_ENCODING, false)
        switch request.body {
        case .none where request.method == .head: set(CURLOPT_NOBODY, true)
        case .none where RequestFraming.needsLength.contains(request.method.text):
            set(CURLOPT_UPLOAD, true)
            set(CURLOPT_INFILESIZE_LARGE, offset: 0)
        case .none: set(CURLOPT_HTTPGET, true)
        case .bytes, .stream: set(CURLOPT_UPLOAD, true)
        }
        set(CURLOPT_CUSTOMREQUEST, request.method.text)
    }

    private static func version(_ version: HTTPVersion) -> Int {
        switch version {
        case .http10: Int(CURL_HTTP_VERSION_1_0)
        case .http11: Int(CURL_HTTP_VERSION_1_1)
        case .http2: Int(CURL_HTTP_VERSION_2TLS)
        }
    }

    /// What is read from a connection at a time; touched only as far as a response fills it.
    ///
    /// Because: seven of the pieces in which libcurl hands a body on, and what the allocator still
    /// takes from its heap (up to 128 KiB).
    static let bufferOctets = 7 * 16_384

    /// Source: RFC 8305 §5, "Connection Attempt Delay".
    private static let attemptDelayMilliseconds = 250

    /// How long an answer to `Expect: 100-continue` is waited for before the body goes out unasked.
    ///
    /// Source: RFC 9110 §10.1.1: not indefinitely; a second is libcurl's own.
    private static let expectationMilliseconds = 1_000

    /// A connection idle for longer is not used again.
    ///
    /// Because: nginx closes after 75 s; a request sent into a closing connection is lost.
    private static let idleSeconds = 70

    /// The longest time in milliseconds that libcurl takes: it adds it to others in 32 bits.
    ///
    /// Because: one day; every deadline of ours is kept by our own timers anyway.
    private static let longestMilliseconds: Int64 = 86_400_000
}
