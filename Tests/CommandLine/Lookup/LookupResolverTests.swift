import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSTrust
import TestSupport
import Testing

@Suite struct LookupResolverTests {
    let service: ServiceServer

    init() throws { service = try ServiceServer() }

    private func lookup(_ arguments: String..., environment: [String: String] = [:])
        async throws -> CommandResult
    {
        try await run(
            Tool.path,
            ["lookup", "ok.example.test", "A", "--cacert", service.rootFile] + arguments,
            environment: environment)
    }

    @Test(arguments: ["GET", "POST"])
    func `DoH answers by either method`(method: String) async throws {
        let result = try await lookup(
            "@\(service.base)/dns-query", "--bootstrap", "127.0.0.1", "--method", method, "--json")
        let object = try #require(try result.objects.first)
        #expect(object["transport"]?.string == "https")
        #expect(object["resolver"]?.string == "\(service.base)/dns-query")
        #expect(object["server"]?.string == "127.0.0.1:\(service.port)")
        #expect(object["authenticated"]?.bool == true)
        #expect(object["addresses"]?.array == ["127.0.0.1"])
        #expect(service.server.record.requests.map(\.method) == [method])
        #expect(result.status == 0)
    }

    @Test func `JSON over HTTPS answers`() async throws {
        let result = try await lookup(
            "@json+\(service.base)/resolve", "--bootstrap=127.0.0.1", "--short")
        #expect(result.outputText == "127.0.0.1\n")
        #expect(result.status == 0)
    }

    @Test func `Aliyun answers at another endpoint, signed`() async throws {
        let result = try await lookup(
            "@aliyun", "--endpoint", "https://127.0.0.1:\(service.port)", "--account", "100000",
            "--secret-env", "LAB_SECRET", "--json", environment: ["LAB_SECRET": "lab-secret"])
        let object = try #require(try result.objects.first)
        #expect(object["transport"]?.string == "httpdns")
        #expect(object["addresses"]?.array == ["127.0.0.1"])
        #expect(object["clientIP"]?.string == "127.0.0.1")
        #expect(service.server.record.requests.first?.path == "/100000/sign_d")
        #expect(!result.errorText.contains("lab-secret"))
    }

    @Test func `DNSPod answers at another endpoint`() async throws {
        let result = try await lookup(
            "@dnspod", "--endpoint", "https://127.0.0.1:\(service.port)/d", "--short")
        #expect(result.outputText == "127.0.0.1\n")
        #expect(result.status == 0)
    }

    @Test func `an authority that was not given is not trusted`() async throws {
        let result = try await httpdns(
            "lookup", "ok.example.test", "@\(service.base)/dns-query", "--bootstrap", "127.0.0.1",
            "--json")
        #expect(try result.objects.first?["error"]?["code"]?.string == "untrusted")
        #expect(result.status == 1)
        #expect(service.server.record.requests.isEmpty)
    }

    @Test func `a certificate for another name is not trusted`() async throws {
        let result = try await lookup(
            "@https://other.example.test:\(service.port)/dns-query", "--bootstrap", "127.0.0.1")
        #expect(result.errorText.contains("its identity was not proven"))
        #expect(result.status == 1)
    }

    @Test func `a pin is held to`() async throws {
        let resolver = ["@\(service.base)/dns-query", "--bootstrap", "127.0.0.1"]
        let right = try await lookup(
            resolver[0], resolver[1], resolver[2], "--pin", service.identity.pin.description)
        #expect(right.status == 0)
        let other = try service.authority.leaf(["x.example.test"], commonName: "Other")
        let wrong = try await lookup(
            resolver[0], resolver[1], resolver[2], "--pin", other.pin.description, "--json")
        #expect(try wrong.objects.first?["error"]?["code"]?.string == "untrusted")
        #expect(wrong.status == 1)
    }

    @Test func `names go together where the provider takes several in a request`() async throws {
        let names = ["ok.example.test"] + (0..<19).map { "n\($0).example.test" }
        let asked = {
            try await run(
                Tool.path,
                [
                    "lookup", "A", "@aliyun", "--account", "100000", "--endpoint",
                    "https://127.0.0.1:\(service.port)", "--cacert", service.rootFile, "--config",
                    "none", "--json",
                ] + $0 + names)
        }
        let result = try await asked(["--batch"])
        #expect(try result.objects.map { $0["name"]?.string } == names)
        #expect(try result.objects.first?["addresses"]?.array == ["127.0.0.1"])
        let together = service.server.record.requests.count
        #expect((1..<names.count).contains(together))
        #expect(try await asked([]).objects.count == names.count)
        #expect(service.server.record.requests.count - together == names.count)
    }

    @Test func `a failure of the service is exit 3`() async throws {
        service.server.misbehave(.status(503))
        let result = try await lookup(
            "@json+\(service.base)/resolve", "--bootstrap", "127.0.0.1", "--json")
        #expect(try result.objects.first?["error"]?["code"]?.string == "http_status")
        #expect(result.status == 3)
    }

    @Test func `a resolver's host is resolved by the system, and that is said`() async throws {
        let zone = try ZoneServer()
        let result = try await httpdns(
            "lookup", "ok.example.test", "@localhost:\(zone.server.port)", "A")
        #expect(
            result.complaints.first?.hasPrefix("note: localhost was resolved by the system to ")
                == true)
        #expect(result.lines[1].squeezed.hasPrefix("ok.example.test A 30s 127.0.0.1"))
        #expect(result.status == 0)
    }

    @Test func `resolvers that say the same agree`() async throws {
        let (first, second) = (try ZoneServer(), try ZoneServer())
        let result = try await httpdns(
            "lookup", "both.example.test", first.resolver, second.resolver)
        #expect(result.lines.filter { $0.hasPrefix("NAME") }.count == 2)
        #expect(result.lines.last == "both resolvers agree")
        #expect(result.status == 0)
    }

    @Test func `resolvers that say otherwise disagree`() async throws {
        let first = try ZoneServer()
        let second = try ZoneServer(truth: LabAddress.ipv4(host: 66))
        let silent = try closedPort(address: LabAddress.ipv4)
        let result = try await httpdns(
            "lookup", "ok.example.test", first.resolver, second.resolver, "@127.0.0.1:\(silent)")
        #expect(
            result.lines.last
                == "1 of 3 gave no answer; the resolvers disagree: udp://\(first.place) says "
                + "127.0.0.1; udp://\(second.place) says 127.0.0.66; that alone is no hijack: "
                + "httpdns diagnose ok.example.test tells")
        #expect(result.status == 9)
    }

    @Test func `unbound answers over UDP, TCP, TLS and HTTPS`() async throws {
        let unbound = try await UnboundServer.shared()
        let resolvers = [
            ["@127.0.0.1:\(unbound.dns)"], ["@tcp://127.0.0.1:\(unbound.dns)"],
            [
                "@tls://\(unbound.name):\(unbound.dot)", "--bootstrap", "127.0.0.1",
                "--cacert", unbound.rootFile,
            ],
            [
                "@https://\(unbound.name):\(unbound.doh)/dns-query", "--bootstrap", "127.0.0.1",
                "--cacert", unbound.rootFile,
            ],
        ]
        for resolver in resolvers {
            let result = try await run(
                Tool.path, ["lookup", "www.example.test", "A", "--json"] + resolver)
            let object = try #require(try result.objects.first)
            #expect(object["status"]?.string == "NOERROR")
            #expect(object["ttl"]?.integer == 20)
            #expect(object["aliases"]?.array?.isEmpty == false)
            #expect(result.status == 0)
        }
    }

    @Test func `records of many types are shown as in a zone file`() async throws {
        let unbound = try await UnboundServer.shared()
        let resolver = "@127.0.0.1:\(unbound.dns)"
        for (name, type) in [
            ("mail.example.test", "MX"), ("_svc._tcp.example.test", "SRV"),
            ("policy.example.test", "CAA"), ("https.example.test", "HTTPS"),
            ("text.example.test", "TXT"), ("example.test", "SOA"),
        ] {
            let result = try await httpdns("lookup", name, type, resolver)
            #expect(result.status == 0, "\(name) \(type): \(result.errorText)")
            #expect(result.lines.dropFirst().first?.squeezed.contains(" \(type) ") == true)
        }
    }
}
