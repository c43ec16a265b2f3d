import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSProfiles
import Testing

@Suite struct TemplateReaderTests {
    private static let template: JSONObject = [
        "path": "/resolve",
        "parameters": ["host": "{host}", "t": "{expiry_s}", "sign": "{signature}"],
        "signature": [
            "pieces": ["{host}", "{secret}", "{expiry_s}"], "joiner": "-", "algorithm": "md5",
        ],
        "response": ["form": "json", "addresses": ["ips"], "ttl": "ttl"],
    ]

    /// Where a profile with that template is refused; nil when it passes.
    private func fault(
        https: Bool = true, needs: JSONValue = ["secret"], _ change: (inout JSONObject) -> Void
    ) -> String? {
        var template = Self.template
        change(&template)
        var object: JSONObject = [
            "id": "test", "title": "Test", "kind": "template",
            "url": .string(https ? "https://dns.example.test" : "http://dns.example.test"),
            "bootstrap": ["ipv4": ["192.0.2.53"], "ipv6": []], "needs": needs,
            "supports": ["A", "AAAA"], "source": "https://example.test/doc", "date": "2026-11-30",
            "template": .object(template),
        ]
        if !https { object["cleartext"] = "it has none" }
        do {
            _ = try Profile.parse(
                file: "test.json", text: JSONValue.object(object).description)
            return nil
        } catch {
            return error.keyPath
        }
    }

    @Test func `a template with all it needs passes`() { #expect(fault { _ in } == nil) }

    @Test(
        arguments: [
            ("path", nil, "template.path"), ("path", "resolve", "template.path"),
            ("path", "/a?b=c", "template.path"), ("path", "/{secret}", "template.path"),
            ("path", 7, "template.path"), ("colour", "red", "template.colour"),
            ("names", ["maximum": 0], "template.names.maximum"),
            ("names", ["maximum": 5], "template.names.maximum"),
            ("names", ["number": 5], "template.names.number"),
            ("types", ["A": "1"], "template.types.AAAA"),
            ("types", ["A": "1", "AAAA": "28"], "template.types"),
            ("lifetimeSeconds", 0, "template.lifetimeSeconds"),
            ("parameters", ["host": "{hots}"], "template.parameters.host"),
            ("parameters", ["host": "{host"], "template.parameters.host"),
            ("parameters", ["host": "host}"], "template.parameters.host"),
            ("parameters", ["host": "{secret}"], "template.parameters.host"),
            ("parameters", ["host": 7], "template.parameters.host"),
            ("parameters", ["a b": "{host}"], "template.parameters.a b"),
            ("parameters", ["sign": "{signature}"], nil),
            ("parameters", ["t": "{now_s}"], "template.signature"),
            ("headers", ["A": "{host}\r\nB: c"], "template.headers.A"),
            ("headers", ["A:": "{host}"], "template.headers.A:"),
            ("signature", nil, "template.signature"),
            ("signature", ["pieces": [], "algorithm": "md5"], "template.signature.pieces"),
            (
                "signature", ["pieces": ["{host}"], "algorithm": "md5"],
                "template.signature.pieces"
            ),
            (
                "signature", ["pieces": ["{secret}", "{signature}"], "algorithm": "md5"],
                "template.signature.pieces[1]"
            ),
            ("signature", ["pieces": ["{secret}"]], "template.signature.algorithm"),
            (
                "signature", ["pieces": ["{secret}"], "algorithm": "sha1"],
                "template.signature.algorithm"
            ),
            (
                "signature",
                ["pieces": ["{secret}"], "algorithm": "md5", "keyEncoding": "hex"],
                "template.signature.keyEncoding"
            ),
            (
                "payload", ["text": "{host}", "cipher": "rot13", "key": "secret"],
                "template.payload.cipher"
            ),
            (
                "payload", ["text": "{host}", "cipher": "des-ecb", "key": "account"],
                "template.payload.key"
            ),
            (
                "payload", ["text": "{host}", "cipher": "des-ecb", "key": "secret"],
                "template.payload"
            ),
            ("response", nil, "template.response"), ("response", [:], "template.response.form"),
            ("response", ["form": "xml"], "template.response.form"),
            ("response", ["form": "json"], "template.response.addresses"),
            (
                "response", ["form": "json", "addresses": ["a..b"]],
                "template.response.addresses[0]"
            ),
            ("response", ["form": "text"], "template.response.separators"),
            (
                "response", ["form": "text", "separators": ["addresses": "."]],
                "template.response.separators.addresses"
            ),
            (
                "response", ["form": "text", "separators": ["addresses": ";"], "ttl": "ttl"],
                "template.response.ttl"
            ),
            (
                "response", ["form": "json", "addresses": ["ips"], "code": ["success": []]],
                "template.response.code.path"
            ),
        ] as [(String, JSONValue?, String?)])
    func `a fault says where it is`(key: String, value: JSONValue?, keyPath: String?) {
        #expect(fault { $0[key] = value } == keyPath)
    }

    @Test func `a template uses only what its user is asked for`() {
        #expect(fault(needs: []) { _ in } == "needs")
        #expect(
            fault { $0["parameters"] = ["h": "{host}", "s": "{signature}", "a": "{account}"] }
                == "needs")
    }

    @Test func `a key is never sent over http`() {
        let sends: (inout JSONObject) -> Void = {
            $0["parameters"] = ["h": "{host}", "s": "{signature}", "k": "{key}"]
        }
        #expect(fault(https: false, needs: ["secret", "key"], sends) == "url")
        #expect(fault(needs: ["secret", "key"], sends) == nil)
        #expect(fault(https: false) { _ in } == nil)
    }

    @Test func `braces that mean themselves are written twice`() throws {
        #expect(
            fault { $0["parameters"] = ["h": "{{{host}}}", "s": "{signature}"] } == nil)
    }
}

@Suite struct ProviderProfileTests {
    @Test func `more than sixty providers are known, most with addresses`() {
        #expect(Profiles.all.count >= 60)
        #expect(Profiles.all.filter { $0.bootstrap.isEmpty }.count <= 10)
        #expect(Profiles.all.filter { $0.kind == .doh }.count >= 35)
        #expect(Profiles.all.filter { $0.dotName != nil }.count >= 25)
    }

    @Test func `a DoH service says where it listens for DNS over TLS`() throws {
        let quad9 = try #require(Profiles.named("quad9"))
        #expect(quad9.dotName?.text == "dns.quad9.net")
        #expect(quad9.dotServers.first?.description == "9.9.9.9:853")
        #expect(try #require(Profiles.named("aliyun")).dotServers.isEmpty)
    }

    @Test func `services with a known limit carry it`() throws {
        for id in ["alidns", "alidns-json", "dnspod-doh"] {
            #expect(Profiles.named(id)?.queriesPerSecond == 20)
        }
        #expect(Profiles.named("google")?.queriesPerSecond == nil)
    }

    @Test(arguments: Profiles.all)
    func `a source has a date, or says why it has none`(profile: Profile) {
        #expect(profile.date.isEmpty != profile.sourceUnread.isEmpty)
    }

    private func parsed(_ change: (inout JSONObject) -> Void) throws(ProfileError) -> Profile {
        var object: JSONObject = [
            "id": "test", "title": "Test", "kind": "dot", "dotName": "dns.example.test",
            "bootstrap": ["ipv4": ["192.0.2.53"], "ipv6": ["2001:db8::53"]],
            "supports": ["any"], "source": "https://example.test/doc", "date": "2026-11-30",
        ]
        change(&object)
        return try Profile.parse(file: "test.json", text: JSONValue.object(object).description)
    }

    @Test func `a service over TLS alone is a name, a port and addresses`() throws {
        let profile = try parsed { $0["dotPort"] = 8_853 }
        #expect(profile.kind == .dot)
        #expect(
            profile.dotServers.map(\.description) == ["192.0.2.53:8853", "[2001:db8::53]:8853"])
        #expect(profile.url == nil)
    }

    @Test(
        arguments: [
            ("dotName", nil, "dotName"), ("dotName", "a b", "dotName"),
            ("dotPort", 0, "dotPort"), ("dotPort", 65_536, "dotPort"),
            ("url", "https://dns.example.test/", "url"), ("tlsName", "a.test", "tlsName"),
            ("queriesPerSecond", 0, "queriesPerSecond"),
            ("queriesPerSecond", "x", "queriesPerSecond"), ("template", [:], "template"),
            ("sourceUnread", "said so", "sourceUnread"),
            ("withoutAddresses", "none", "withoutAddresses"),
            ("bootstrap", ["ipv4": [], "ipv6": []], "bootstrap"),
        ] as [(String, JSONValue?, String)])
    func `keys that do not fit are named`(key: String, value: JSONValue?, keyPath: String) {
        #expect {
            try parsed { $0[key] = value }
        } throws: { ($0 as? ProfileError)?.keyPath == keyPath }
    }
}
