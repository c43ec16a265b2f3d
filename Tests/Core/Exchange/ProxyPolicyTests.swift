import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import Testing

@Suite struct ProxyPolicyTests {
    private typealias Trace = ExchangeTrace

    private func environment(_ variables: [String: String]) throws -> ProxyPolicy {
        try ProxyPolicy { variables[$0] }
    }

    private func proxy(
        _ policy: ProxyPolicy, _ url: String = "https://shop.example.test/"
    ) throws -> String? {
        policy.proxy(for: try HTTPURL(url).origin)?.description
    }

    @Test(arguments: [
        ("http://proxy.test:8080", "http://proxy.test:8080"),
        ("proxy.test:3128", "http://proxy.test:3128"),
        ("HTTP://192.0.2.1:80/", "http://192.0.2.1:80"),
        ("http://proxy.test", "http://proxy.test:80"),
        ("socks5://[2001:db8::1]:9050", "socks5://[2001:db8::1]:9050"),
        ("socks5h://proxy.test", "socks5h://proxy.test:1080"),
        ("socks5://proxy.test:80", "socks5://proxy.test:80"),
        ("http://me:hunter2@proxy.test:8080", "http://proxy.test:8080"),
    ])
    func `a proxy is read, and told without its password`(text: String, told: String) throws {
        let proxy = try Proxy(text)
        #expect(proxy.description == told)
        #expect(!String(reflecting: proxy).contains("hunter2"))
    }

    @Test func `what a proxy is told follows from its scheme`() throws {
        #expect(try Proxy("socks5://p.test").target == .address)
        #expect(try Proxy("socks5h://p.test").target == .name)
        #expect(try Proxy("http://p.test").target == .name)
    }

    @Test func `credentials are decoded`() throws {
        let proxy = try Proxy("http://a%40b:c%3Ad@proxy.test:1")
        #expect(proxy.credentials?.user.revealed == "a@b")
        #expect(proxy.credentials?.password.revealed == "c:d")
    }

    @Test(arguments: [
        "https://proxy.test:443", "socks4://proxy.test", "", "http://", "http://a b", "ftp://x",
    ])
    func `what cannot be used is an error, not a direct connection`(text: String) throws {
        #expect(throws: ProxyFault.self) { try Proxy(text) }
    }

    @Test(arguments: ["u%0d%0aX-Evil%3a1:p", "u%00s:p", "u:p%7f", "u:%1f", "%0a:"])
    func `no proxy can be sent a control character`(userinfo: String) {
        for scheme in ["http", "socks5", "socks5h"] {
            #expect(throws: ProxyFault.controlCharacter) {
                try Proxy("\(scheme)://\(userinfo)@proxy.test:1")
            }
        }
        #expect(throws: ProxyFault.controlCharacter) {
            try environment(["http_proxy": "http://\(userinfo)@proxy.test:1"])
        }
    }

    @Test func `a name with a colon is for SOCKS alone`() throws {
        #expect(throws: ProxyFault.colonInUser) { try Proxy("http://a%3Ab:c@proxy.test:1") }
        #expect(!"\(ProxyFault.colonInUser)".contains("a:b"))
        let proxy = try Proxy("socks5://a%3Ab:c@proxy.test:1")
        #expect(proxy.credentials?.user.revealed == "a:b")
    }

    @Test func `there is no proxy unless somebody says so`() throws {
        #expect(try proxy(.none) == nil)
        #expect(try proxy(try environment([:])) == nil)
    }

    @Test func `the environment is read as others read it`() throws {
        let variables = [
            "http_proxy": "one.test:1", "HTTPS_PROXY": "two.test:2", "ALL_PROXY": "three.test:3",
            "HTTP_PROXY": "evil.test:9",
        ]
        #expect(try proxy(environment(variables), "http://a.test/") == "http://one.test:1")
        #expect(try proxy(environment(variables)) == "http://two.test:2")
        #expect(try proxy(environment(["all_proxy": "x.test:3"])) == "http://x.test:3")
        // A CGI program gets this one from whoever sends it a Proxy field.
        #expect(try proxy(environment(["HTTP_PROXY": "evil.test:9"]), "http://a.test/") == nil)
        #expect(throws: ProxyFault.self) { try environment(["https_proxy": "ftp://x"]) }
    }

    @Test(arguments: [
        ("*", true), ("example.test", true), (".example.test", true), ("*.example.test", true),
        ("shop.example.test", true), ("shop.example.test:443", true), ("SHOP.Example.Test.", true),
        ("other.test, example.test", true), ("hop.example.test", false), ("example", false),
        ("shop.example.test:444", false), ("", false), ("192.0.2.0/24", false), (",,", false),
    ])
    func `names are excepted with all below them, and at label boundaries only`(
        list: String, isExcepted: Bool
    ) throws {
        let policy = ProxyPolicy(try Proxy("p.test:1"), except: ProxyExceptions(list))
        #expect(try (proxy(policy) == nil) == isExcepted)
    }

    @Test(arguments: [
        ("192.0.2.0/24", "http://192.0.2.7/", true), ("192.0.2.7", "http://192.0.2.7/", true),
        ("192.0.2.8", "http://192.0.2.7/", false), ("2001:db8::/32", "http://[2001:db8::1]/", true),
        ("[2001:db8::1]:80", "http://[2001:db8::1]/", true),
        ("192.0.2.7:81", "http://192.0.2.7/", false),
    ])
    func `addresses are excepted by block`(list: String, url: String, isExcepted: Bool) throws {
        let policy = ProxyPolicy(try Proxy("p.test:1"), except: ProxyExceptions(list))
        #expect(try (proxy(policy, url) == nil) == isExcepted)
    }

    @Test(arguments: [
        ("[::1]", "http://[::1]/", true), ("::1", "http://[::1]/", true),
        ("[::1]:80", "http://[::1]/", true), ("[::1]:81", "http://[::1]/", false),
        ("192.0.2.0/24:80", "http://192.0.2.7/", true),
        ("192.0.2.0/24:81", "http://192.0.2.7/", false), ("*:80", "http://a.test/", true),
        ("*:81", "http://a.test/", false), ("a.test\nb.test", "http://b.test/", true),
        ("\u{FC}ber.test", "http://xn--ber-goa.test/", true),
        (".\u{FC}ber.test:80", "http://x.xn--ber-goa.test/", true),
    ])
    func `exceptions are read in all forms that curl and Go take`(
        list: String, url: String, isExcepted: Bool
    ) throws {
        let exceptions = ProxyExceptions(list) { text in
            text.replacing("\u{FC}ber", with: "xn--ber-goa")
        }
        #expect(exceptions.unread == [])
        #expect(
            try (proxy(ProxyPolicy(try Proxy("p.test:1"), except: exceptions), url) == nil)
                == isExcepted)
    }

    @Test(arguments: [
        "http://x/", "x.test/", "x.test:0", "x.test:99999", "x.test:", ":80", "[::1", "[x]",
        "[192.0.2.1]", "192.0.2.0/33", "192.0.2", "127.1", "*x.test", "a..b", "\u{FC}ber.test",
        "<local>",
        "[fe80::1%1]",
    ])
    func `what cannot be read is told, and the rest of the list counts`(item: String) throws {
        let exceptions = ProxyExceptions("a.test,\(item) b.test")
        #expect(exceptions.unread.count == 1, "\(exceptions.unread)")
        let policy = ProxyPolicy(try Proxy("p.test:1"), except: exceptions)
        #expect(try proxy(policy, "http://a.test/") == nil)
        #expect(try proxy(policy, "http://b.test/") == nil)
        #expect(try proxy(policy, "http://c.test/") != nil)
    }

    @Test func `an environment's list ends nothing, and its faults show no password`() throws {
        let policy = try environment([
            "http_proxy": "p.test:1", "no_proxy": "me:hunter2@x.test:0,a.test",
        ])
        #expect(policy.exceptions.unread.map(\.text) == ["x.test:0"])
        #expect(!"\(policy)".contains("hunter2"))
        #expect(try proxy(policy, "http://a.test/") == nil)
    }

    // MARK: In the machine

    private func trace(_ target: Proxy.Target) throws -> (Trace, Proxy, Host) {
        let host = Host.name(try HostName("proxy.test"))
        let proxy = Proxy(.http, host: host, port: try #require(Port(3_128)), target: target)
        return (try Trace(change: { $0.proxies = ProxyPolicy(proxy) }), proxy, host)
    }

    @Test func `behind a proxy that is told names only the proxy is resolved`() throws {
        var (trace, proxy, host) = try trace(.name)
        #expect(trace.machine.start(now: .at(0)) == [.resolve(host)])
        let sent = try trace.resolve(to: ["192.0.2.99"])
        let route = try #require(
            Route(addresses: [try IPAddress("192.0.2.99")], port: proxy.port))
        #expect(
            sent == [
                .transfer(
                    RequestHead(url: trace.url), route, sendsBody: false,
                    via: ProxyPath(proxy: proxy, address: nil))
            ])
        let hop = trace.machine.reportSoFar.hops[0]
        #expect(hop.resolution == nil)
        #expect(!hop.isRewritten)
    }

    @Test func `a proxy that is told addresses is told the next when one does not do`() throws {
        var (trace, proxy, host) = try trace(.address)
        #expect(trace.machine.start(now: .at(0)) == [.resolve(trace.url.origin.host)])
        #expect(try trace.resolve(to: ["192.0.2.1", "192.0.2.2"]) == [.resolve(host)])
        let sent = try trace.resolve(to: ["192.0.2.99"])
        #expect(sent.path == ProxyPath(proxy: proxy, address: try IPAddress("192.0.2.1")))
        let remote = try IPAddress("192.0.2.99")
        let next = trace.machine.finished(
            .failure(.cannotConnect("502")), remote: remote, now: .at(2))
        #expect(next.path == ProxyPath(proxy: proxy, address: try IPAddress("192.0.2.2")))
        let end = trace.machine.finished(
            .failure(.cannotConnect("502")), remote: remote, now: .at(3))
        #expect(end.failure?.label == "cannot_connect")
        let hop = trace.machine.reportSoFar.hops[0]
        #expect(hop.resolution?.addresses.count == 2)
        #expect(hop.isRewritten)
    }
}

extension [ExchangeMachine.Action] {
    fileprivate var path: ProxyPath? {
        if case .transfer(_, _, _, _, let path)? = last { path } else { nil }
    }
}
