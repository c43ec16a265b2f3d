import HTTPDNSExchange
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSProfiles
import HTTPDNSWire
import Testing

@Suite struct EmbeddedProfileTests {
    @Test(arguments: Profiles.files.map(\.name))
    func `every embedded file passes the check`(name: String) throws {
        let file = try #require(Profiles.files.first { $0.name == name })
        let profile = try Profile.parse(file: name + ".json", text: file.text)
        #expect(profile.id == name)
        #expect(Profiles.named(name) == profile)
        #expect(Profiles.named(name.uppercased()) == profile)
    }

    @Test func `every file is among the profiles, in order of its id`() {
        let ids = Set(Profiles.all.map(\.id))
        #expect(ids.count == Profiles.all.count)
        #expect(ids.isSuperset(of: Profiles.files.map(\.name)))
        #expect(Profiles.all.map(\.id) == Profiles.all.map(\.id).sorted())
    }

    @Test func `what listens for DNS over TLS is a provider of its own, without a file`() throws {
        let files = Set(Profiles.files.map(\.name))
        let derived = Profiles.all.filter { !files.contains($0.id) }
        #expect(derived.count >= 25)
        for profile in derived {
            let base = try #require(Profiles.named(String(profile.id.dropLast(4))))
            #expect(profile.kind == .dot)
            #expect(profile.id == base.id + "-dot")
            #expect(profile.dotServers == base.dotServers)
            #expect(Profiles.named(profile.id.uppercased()) == profile)
        }
        for id in ["aliyun-dot", "google-json-dot", "cloudflare-udp-dot", "google-dot-dot", "-dot"]
        {
            #expect(Profiles.named(id) == nil)
        }
    }

    @Test(arguments: [
        "google", "cloudflare", "quad9", "adguard", "opendns", "nextdns", "mullvad", "alidns",
        "dnspod", "aliyun", "google-json", "cloudflare-json", "alidns-json",
    ])
    func `the well-known providers are there`(id: String) {
        #expect(Profiles.named(id) != nil)
    }

    @Test(arguments: ["", "nobody", "google.json", "../google", "google\u{0}"])
    func `a name that is no provider's finds none`(id: String) {
        #expect(Profiles.named(id) == nil)
    }

    @Test(arguments: [
        ("gogle", "google"), ("googel", "google"), ("Cloudflair", "cloudflare"),
        ("quad-9", "quad9"), ("aliyum", "aliyun"), ("dnspot", "dnspod"),
    ])
    func `a mistyped name is answered with the nearest`(typed: String, id: String) {
        #expect(Profiles.nearest(to: typed) == id)
    }

    @Test(arguments: ["", "x", "completely-different", String(repeating: "google", count: 100)])
    func `a name near to none gets no suggestion`(typed: String) {
        #expect(Profiles.nearest(to: typed) == nil)
    }

    @Test func `a name for the certificate is the origin, and the route stays`() throws {
        let aliyun = try #require(Profiles.named("aliyun"))
        #expect(aliyun.url?.origin.description == "https://resolvers.httpdns.aliyuncs.com")
        #expect(aliyun.bootstrap.first == (try IPAddress("203.107.1.1")))
        #expect(aliyun.needs == [.account])
        #expect(aliyun.takes == [.secret])
        #expect(aliyun.supportedTypes == [.a, .aaaa])
    }
}

@Suite struct ProfileCheckTests {
    private static let good: JSONObject = [
        "id": "test", "title": "Test", "kind": "doh", "url": "https://dns.example.test/dns-query",
        "bootstrap": ["ipv4": ["192.0.2.53"], "ipv6": ["2001:db8::53"]], "needs": [], "takes": [],
        "supports": ["any"], "source": "https://example.test/doc", "date": "2026-11-30",
        "notes": "",
    ]

    private func error(
        file: String = "test.json", _ change: (inout JSONObject) -> Void
    ) -> ProfileError? {
        var object = Self.good
        change(&object)
        do {
            _ = try Profile.parse(file: file, text: JSONValue.object(object).description)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (["kind": "udp", "url": nil, "tlsName": "dns.example.test"], "tlsName"),
            (["kind": "udp", "url": nil, "cleartext": "it is"], "cleartext"),
            (["kind": "udp"], "url"),
            (
                [
                    "kind": "aliyun", "url": "http://192.0.2.1/", "cleartext": "no https",
                    "supports": ["A"], "tlsName": "dns.example.test",
                ], "tlsName"
            ),
            (["kind": "aliyun"], "supports[0]"),
            (["kind": "dnspod", "supports": ["A", "HTTPS"]], "supports[1]"),
            (["needs": ["key", "key"]], "needs[1]"),
            (["needs": ["key"], "takes": ["secret", "key"]], "takes[1]"),
        ] as [([String: JSONValue?], String)])
    func `keys that contradict each other are named`(
        changes: [String: JSONValue?], keyPath: String
    ) {
        let found = error { object in
            for (key, value) in changes { object[key] = value }
        }
        #expect(found?.keyPath == keyPath)
    }

    @Test func `a file with every key in order passes`() {
        #expect(error { _ in } == nil)
    }

    @Test(arguments: [
        "id", "title", "kind", "url", "bootstrap", "supports", "source", "date",
    ])
    func `a missing key is named`(key: String) {
        #expect(error { $0[key] = nil }?.keyPath == key)
    }

    @Test(arguments: ["needs", "takes", "notes"])
    func `a key that may be missing may be missing`(key: String) {
        #expect(error { $0[key] = nil } == nil)
    }

    @Test(arguments: [
        "id", "title", "kind", "url", "bootstrap", "needs", "takes", "supports", "source", "date",
        "notes", "tlsName",
    ])
    func `a value of the wrong kind is named`(key: String) {
        #expect(error { $0[key] = 7 }?.keyPath == key)
    }

    @Test(
        arguments: [
            ("id", JSONValue.string("Test")), ("id", "other"), ("id", "a b"), ("kind", "doq"),
            ("url", "dns.example.test"), ("url", "ftp://dns.example.test/"), ("url", "https:///x"),
            ("url", "https://127.1/dns-query"), ("url", "https://u:p@dns.example.test/"),
            ("url", "https://dns.example.test/dns-query{?dns}"),
            ("url", "https://dns.example.test/#x"), ("url", "https://dns.example.test:0/"),
            ("url", "http://dns.example.test/dns-query"), ("tlsName", "192.0.2.1"),
            ("tlsName", "*.example.test"), ("cleartext", "no need"), ("bootstrap", [:]),
            ("bootstrap", ["ipv4": [], "ipv6": []]), ("source", "http://example.test/"),
            ("source", "a book"), ("date", "yesterday"), ("date", "2026-02-30"),
            ("date", "2026-13-01"),
            ("date", "26-11-30"), ("date", "2026-11-31"), ("date", "+026-11-30"), ("supports", []),
        ] as [(String, JSONValue)])
    func `a value that breaks a rule is named`(key: String, value: JSONValue) {
        let found = error { $0[key] = value }
        #expect(found?.keyPath == key)
        #expect(found?.description.hasPrefix("test.json: \(key): ") == true)
    }

    @Test(
        arguments: [
            (JSONValue.object(["ipv4": ["192.0.2.1", "192.0.2.256"]]), "bootstrap.ipv4[1]"),
            (["ipv4": ["2001:db8::1"]], "bootstrap.ipv4[0]"),
            (["ipv6": ["192.0.2.1"]], "bootstrap.ipv6[0]"),
            (["ipv6": ["fe80::1%eth0"]], "bootstrap.ipv6[0]"), (["ipv4": [7]], "bootstrap.ipv4[0]"),
            (["ipv4": "192.0.2.1"], "bootstrap.ipv4"), (["v4": ["192.0.2.1"]], "bootstrap.v4"),
            (["ipv4": ["192.0.2.1", "192.0.2.1"]], "bootstrap"),
            (["ipv4": ["192.0.2.1:443"]], "bootstrap.ipv4[0]"),
            (["ipv6": ["[2001:db8::1]"]], "bootstrap.ipv6[0]"),
        ] as [(JSONValue, String)])
    func `a bad address is named by its place`(bootstrap: JSONValue, keyPath: String) {
        #expect(error { $0["bootstrap"] = bootstrap }?.keyPath == keyPath)
    }

    @Test func `an unknown key is named, with those that are known`() {
        let found = error { $0["bootstap"] = [] }
        #expect(found?.keyPath == "bootstap")
        #expect(found?.advice.contains("bootstrap") == true)
    }

    @Test func `an unknown need or type is named by its place`() {
        #expect(error { $0["needs"] = ["account", "password"] }?.keyPath == "needs[1]")
        #expect(error { $0["supports"] = ["A", "AAAAA"] }?.keyPath == "supports[1]")
    }

    @Test func `a service without https needs a reason in its file`() {
        func vendor(_ object: inout JSONObject) {
            object["kind"] = "dnspod"
            object["url"] = "http://192.0.2.1/d"
            object["supports"] = ["A", "AAAA"]
        }
        #expect(error { vendor(&$0) }?.keyPath == "url")
        #expect(
            error {
                vendor(&$0)
                $0["cleartext"] = "The provider has no HTTPS."
            } == nil)
        #expect(
            error {
                $0["url"] = "http://dns.example.test/dns-query"
                $0["cleartext"] = "RFC 8484 knows no such thing."
            }?.keyPath == "url")
    }

    @Test func `plain DNS has addresses and no URL`() throws {
        #expect(error { $0["kind"] = "udp" }?.keyPath == "url")
        var object = Self.good
        object["kind"] = "udp"
        object["url"] = nil
        let profile = try Profile.parse(
            file: "test.json", text: JSONValue.object(object).description)
        #expect(profile.servers.map(\.description) == ["192.0.2.53:53", "[2001:db8::53]:53"])
    }

    @Test(arguments: ["", "[]", "{", "{\"id\":\"test\",}", "null"])
    func `a file that is no JSON object is refused`(text: String) {
        #expect {
            try Profile.parse(file: "test.json", text: text)
        } throws: { error in
            (error as? ProfileError)?.keyPath == "" && "\(error)".hasPrefix("test.json: ")
        }
    }

    @Test func `the file must bear the id's name`() {
        #expect(error(file: "tset.json") { _ in }?.keyPath == "id")
    }
}
