import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSRequestReading
import Testing

@testable import HTTPDNSForwardProxy

@Suite struct ProxyRulesTests {
    private func rules() throws -> ProxyRules {
        var rules = ProxyRules(via: "httpdns-me")
        rules.own = OwnPlace(
            Endpoint(address: try IPAddress("127.0.0.1"), port: try #require(Port(8_353))))
        return rules
    }

    private func head(
        _ method: String, _ target: String, _ fields: KeyValuePairs<String, String> = [:],
        minor: Int = 1, chunked: Bool = false, length: UInt64? = nil
    ) throws -> ClientHead {
        var all = try HTTPFields(fields)
        if !all.contains("Host"), minor > 0 { try all.append("Host", "h.test") }
        return ClientHead(
            method: method, target: target, minorVersion: minor, fields: all,
            isReadChunked: chunked, readLength: length)
    }

    private func reason(_ decision: ProxyDecision) -> String? {
        if case .refuse(let refusal) = decision { refusal.reason } else { nil }
    }

    @Test(arguments: [
        ("a.test:443", "a.test", 443), ("A.TEST.:8443", "a.test", 8_443),
        ("[2001:db8::1]:443", "2001:db8::1", 443), ("192.0.2.7:22", "192.0.2.7", 22),
    ])
    func `CONNECT names a host and a port`(target: String, host: String, port: Int) throws {
        let decision = try rules().decide(head("CONNECT", target))
        guard case .tunnel(let tunnel) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(tunnel.host.description == host)
        #expect(Int(tunnel.port.number) == port)
        #expect(!tunnel.isUnproven)
    }

    @Test(arguments: [
        "a.test", "a.test:", "a.test:0", "a.test:65536", ":443", "http://a.test:443",
        "a.test:443/", "u@a.test:443", "a.test:443?x", "a%2etest:443", "a.test:4 43", "[::1:443",
        "a.test:+443", "2130706433:443", "0x7f.1:443", "a..test:443",
    ])
    func `what could be read as another target is refused`(target: String) throws {
        let decision = try rules().decide(head("CONNECT", target))
        #expect(reason(decision) == "connect_target", "\(decision)")
    }

    @Test(arguments: [
        "localhost:443", "foo.localhost:443", "127.0.0.1:443", "127.9.9.9:443", "0.0.0.0:80",
        "[::1]:443", "[::]:443", "[::ffff:127.0.0.1]:443", "[::127.0.0.1]:443",
        "169.254.169.254:80", "[fe80::1]:443",
    ])
    func `this machine is reached only where that was asked for`(target: String) throws {
        var rules = try rules()
        #expect(reason(rules.decide(try head("CONNECT", target))) == "local_target")
        let url = "http://\(target)/"
        #expect(reason(rules.decide(try head("GET", url))) == "local_target")
        rules.allowsLocalTargets = true
        guard case .tunnel = rules.decide(try head("CONNECT", target)) else {
            Issue.record("still refused")
            return
        }
    }

    @Test func `the proxy does not go in circles`() throws {
        var rules = try rules()
        rules.allowsLocalTargets = true
        for target in ["127.0.0.1:8353", "localhost:8353", "[::1]:8353"] {
            #expect(reason(rules.decide(try head("CONNECT", target))) == "loop")
            #expect(reason(rules.decide(try head("GET", "http://\(target)/"))) == "loop")
        }
        let been = try head("GET", "http://a.test/", ["Via": "1.1 other, 1.1 httpdns-me (x)"])
        #expect(reason(rules.decide(been)) == "loop")
        let other = try head("GET", "http://a.test/", ["Via": "1.1 httpdns-other"])
        #expect(reason(rules.decide(other)) == nil)
        // Sent on by this proxy, to a name that leads here by ways it does not know.
        let sent = try head("GET", "/", ["Host": "a.test:8353", "Via": "1.1 httpdns-me"])
        #expect(reason(rules.decide(sent)) == "loop")
    }

    @Test(arguments: [
        ("0.0.0.0", "192.0.2.1", true), ("0.0.0.0", "192.0.2.2", false),
        ("0.0.0.0", "::ffff:192.0.2.1", true), ("0.0.0.0", "2001:db8::1", false),
        ("::", "2001:db8::1", true), ("::", "2001:db8::2", false), ("::", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "127.0.0.1", false),
        ("192.0.2.1", "0.0.0.0", false), ("127.0.0.1", "127.0.0.2", false),
        ("::1", "127.0.0.1", false),
    ])
    func `the proxy knows which addresses are its own`(
        listening: String, address: String, isOwn: Bool
    ) throws {
        let port = try #require(Port(8_353))
        var place = OwnPlace(Endpoint(address: try IPAddress(listening), port: port))
        let interfaces = Set(try ["192.0.2.1", "2001:db8::1"].map { try IPAddress($0) })
        place.isOfThisMachine = { interfaces.contains($0) }
        #expect(place.isReached(by: try IPAddress(address), port) == isOwn)
        #expect(!place.isReached(by: try IPAddress(address), try #require(Port(8_354))))
    }

    @Test func `the system says which addresses are of this machine`() throws {
        let place = OwnPlace(
            Endpoint(address: try IPAddress("127.0.0.1"), port: try #require(Port(8_353))))
        for own in ["127.0.0.1", "127.9.9.9", "::ffff:127.0.0.2"] {
            #expect(place.isOfThisMachine(try IPAddress(own)))
        }
        #expect(!place.isOfThisMachine(try IPAddress("192.0.2.1")))
    }

    @Test func `a body has one length`() throws {
        let rules = try rules()
        let reasonOf = { (head: ClientHead) in self.reason(rules.decide(head)) }
        let url = "http://a.test/"
        #expect(
            reasonOf(
                try head("POST", url, ["Content-Length": "5", "Transfer-Encoding": "chunked"]))
                == "two_framings")
        #expect(reasonOf(try head("POST", url, ["Content-Length": "5, 5"])) == "content_length")
        #expect(
            reasonOf(try head("POST", url, ["Content-Length": "5", "content-length": "5"]))
                == "content_length")
        #expect(
            reasonOf(try head("POST", url, ["Content-Length": "5"], length: 6)) == "framing")
        #expect(reasonOf(try head("POST", url, length: 6)) == "framing")
        #expect(
            reasonOf(try head("POST", url, ["Transfer-Encoding": "chunked"])) == "framing")
        #expect(reasonOf(try head("POST", url, chunked: true)) == "framing")
        #expect(
            reasonOf(try head("POST", url, ["Transfer-Encoding": "gzip, chunked"], chunked: true))
                == "transfer_encoding")
        #expect(
            reasonOf(
                try head("POST", url, ["Transfer-Encoding": "chunked"], minor: 0, chunked: true))
                == "transfer_encoding")
        #expect(reasonOf(try head("GET", url, ["Host": "a", "host": "b"])) == "host_field")
        #expect(
            reasonOf(try head("HEAD", url, ["Content-Length": "5"], length: 5)) == "head_with_body")
    }

    @Test func `what is of one hop does not pass`() throws {
        let asked = try head(
            "POST", "http://a.test:81/p?q",
            [
                "Host": "other.test", "Connection": "close, X-Mine", "X-Mine": "1",
                "Proxy-Connection": "keep-alive", "Keep-Alive": "5", "TE": "trailers",
                "Trailer": "T", "Upgrade": "h2c", "HTTP2-Settings": "AA",
                "Proxy-Authorization": "Basic eDp5", "Content-Length": "3", "Cookie": "a=b",
                "Via": "1.0 before", "Expect": "100-continue",
            ], length: 3)
        guard case .forward(let request) = try rules().decide(asked) else {
            Issue.record("refused")
            return
        }
        #expect(request.url.description == "http://a.test:81/p?q")
        #expect(request.body == .length(3))
        #expect(request.expectsContinue)
        #expect(
            request.fields.fields.map { "\($0.name): \($0.value)" } == [
                "Cookie: a=b", "Via: 1.0 before", "Via: 1.1 httpdns-me",
            ])
        let response = ForwardedFields.response(
            try HTTPFields([
                "Connection": "X-Theirs", "X-Theirs": "1", "Transfer-Encoding": "chunked",
                "Content-Length": "3", "Set-Cookie": "a=b", "Proxy-Authenticate": "Basic",
            ]), version: .http11, via: "httpdns-me")
        #expect(response.fields.map(\.name) == ["Set-Cookie", "Via"])
    }

    @Test(arguments: [
        ("OPTIONS", "http://a.test", true), ("OPTIONS", "http://a.test:8080", true),
        ("OPTIONS", "http://a.test/", false), ("OPTIONS", "http://a.test?x=1", false),
        ("OPTIONS", "http://a.test/?", false), ("GET", "http://a.test", false),
    ])
    func `OPTIONS of a URL without a path asks the server`(
        method: String, target: String, asks: Bool
    ) throws {
        guard case .forward(let asked) = try rules().decide(head(method, target)) else {
            Issue.record("refused")
            return
        }
        #expect(asked.asksServer == asks)
        #expect(asked.url.target.hasPrefix("/"))
    }

    @Test(arguments: [(1, true), (0, false)])
    func `only who speaks HTTP 1-1 is told to go on`(minor: Int, isTold: Bool) throws {
        let asked = try head(
            "POST", "http://a.test/", ["Expect": "100-continue", "Content-Length": "3"],
            minor: minor, length: 3)
        guard case .forward(let request) = try rules().decide(asked) else {
            Issue.record("refused")
            return
        }
        #expect(request.expectsContinue == isTold)
    }

    @Test func `the last hop of TRACE and OPTIONS is this one, and shows no secret`() throws {
        let rules = try rules()
        let trace = try head(
            "TRACE", "http://a.test/",
            ["Max-Forwards": "0", "Cookie": "s", "Authorization": "s", "X": "y"])
        #expect(
            rules.decide(trace)
                == .answer(
                    .trace(
                        "TRACE http://a.test/ HTTP/1.1\r\nMax-Forwards: 0\r\nX: y\r\nHost: h.test\r\n\r\n"
                    )))
        let options = try head("OPTIONS", "http://a.test/", ["Max-Forwards": "2"])
        guard case .forward(let request) = rules.decide(options) else {
            Issue.record("refused")
            return
        }
        #expect(request.fields.first("Max-Forwards") == "1")
        #expect(
            rules.decide(try head("OPTIONS", "http://a.test/", ["Max-Forwards": "0"]))
                == .answer(.options))
        #expect(
            reason(rules.decide(try head("OPTIONS", "http://a.test/", ["Max-Forwards": "-1"])))
                == "max_forwards")
    }

    @Test func `the proxy's own pages are for who calls it by its own name`() throws {
        let rules = try rules()
        for host in ["127.0.0.1:8353", "localhost:8353", "LOCALHOST:8353"] {
            #expect(rules.decide(try head("GET", "/", ["Host": host])) == .answer(.welcome))
        }
        #expect(
            rules.decide(try head("GET", "/proxy.pac", ["Host": "localhost:8353"]))
                == .answer(.autoConfiguration))
        for host in ["evil.test:8353", "127.0.0.1", "localhost:80", "", "[::1"] {
            let decision = rules.decide(try head("GET", "/", ["Host": host]))
            #expect(reason(decision) == "not_a_proxy_request", "\(host)")
        }
        #expect(
            reason(rules.decide(try head("POST", "/", ["Host": "localhost:8353"]))) == "own_page")
    }

    @Test func `a token is shown as a password, as a user alone, or as a bearer`() throws {
        var rules = try rules()
        rules.token = ProxyToken(Secret("s3cret:with"))
        let decide = { (value: String?) in
            var asked = try self.head("GET", "http://a.test/")
            if let value { try asked.fields.append("Proxy-Authorization", value) }
            return self.reason(rules.decide(asked))
        }
        #expect(try decide("Bearer s3cret:with") == nil)
        #expect(try decide("bearer  s3cret:with") == nil)
        let basic = { (text: String) in "Basic " + Base64.encoded(Array(text.utf8)) }
        #expect(try decide(basic("anyone:s3cret:with")) == nil)
        for wrong in [
            nil, "", "Bearer", "Bearer s3cret", "Bearer s3cret:with2", "Bearer s3cret:witi",
            basic("anyone:"), basic("s3cret:wit"), "Basic !!", "Digest s3cret:with",
            "Bearer s3cret:with x",
        ] {
            #expect(try decide(wrong) == "token_missing", "\(wrong ?? "none")")
        }
        rules.token = ProxyToken(Secret("plain"))
        #expect(try decide(basic("plain:")) == nil)
    }

    @Test(arguments: [
        ("https://a.test/", "https_in_the_clear"), ("ftp://a.test/", "scheme"),
        ("http://u:p@a.test/", "bad_url"), ("http://a.test/#f", "bad_url"),
        ("http:/a.test/", "bad_url"), ("http://a.test:0/", "bad_url"),
        ("http://a b.test/", "bad_url"), ("a.test:80", "scheme"), ("nonsense", "bad_url"),
    ])
    func `only whole http URLs are fetched`(target: String, expected: String) throws {
        let decision = try rules().decide(head("GET", target))
        #expect(reason(decision) == expected, "\(decision)")
    }
}
