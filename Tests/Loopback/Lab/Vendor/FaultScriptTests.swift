import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSWire
import TestSupport
import Testing

@Suite struct FaultScriptTests {
    static let path = "/139450/d?host=www.aliyun.com"

    @Test func `steps follow each other, then the rest holds`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        lab.service.play(
            [[.captivePortal], [.gzips, .ttl(.zero)], []],
            then: [.statusRetry(503, afterSeconds: 9)]
        )
        var heard: [Heard] = []
        for _ in 0..<5 { heard.append(try await lab.get(Self.path, ["--compressed"])) }
        #expect(heard.map(\.status) == [200, 200, 200, 503, 503])
        #expect(heard[0].body.contains("<title>"))
        #expect(heard[1].body.contains(#""ttl":0,"#) && heard[1].text.contains("gzip"))
        #expect(heard[2].body.contains(#""ttl":60,"#))
        #expect(
            lab.service.events.map(\.faults)
                == [["captive-portal"], ["gzip", "ttl-zero"], [], ["unnamed"], ["unnamed"]])
        lab.service.misbehave(.none)
        #expect(try await lab.get(Self.path).status == 200)
    }

    @Test func `a long test forgets what it has seen, and goes on counting connections`()
        async throws
    {
        let lab = try LabVendors(security: .tls(try TestAuthority().leaf(["a.example.test"])))
        defer { lab.stop() }
        for _ in 0..<2 { #expect(try await lab.get(Self.path, ["-k"]).status == 200) }
        lab.service.forget()
        #expect(lab.service.events.isEmpty && lab.service.record.requests.isEmpty)
        #expect(try await lab.get(Self.path, ["-k"]).status == 200)
        #expect(lab.service.events.count == 1)
        #expect(lab.service.record.requests.map(\.connection) == [2])
        #expect(lab.service.record.handshakes.map(\.isComplete) == [true])
        #expect(lab.service.record.connections == 3)
    }

    @Test func `a script for one form leaves the others alone`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        lab.service.misbehave([.status(500)], first: 1, only: [.aliyun])
        var statuses: [Int] = []
        for path in ["/139450/ss", Self.path, Self.path] {
            statuses.append(try await lab.get(path).status)
        }
        #expect(statuses == [200, 500, 200])
    }

    @Test func `a changing schedule tells another address with each call`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        lab.service.misbehave(.schedule(.changing))
        let first = try await lab.get("/139450/ss").json()["service_ip"]
        let second = try await lab.get("/139450/ss").json()["service_ip"]
        #expect(first == ["127.0.0.1"])
        #expect(second == ["127.0.0.2"])
    }

    @Test(arguments: [
        (LabRefusal.overloaded, 403, "ServiceLevelDeny"), (.broken, 500, "InternalError"),
        (.closedAccount, 403, "AccountNotExists"), (.unknownAccount, 403, "InvalidAccount"),
        (.unsigned, 403, "UnsignedInterfaceDisabled"),
    ])
    func `a service refuses for the reason it was told`(
        why: LabRefusal, status: Int, code: String
    ) async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        lab.service.misbehave(.refuses(why))
        for path in [Self.path, "/v2/d?id=100000&m=0&dn=www.aliyun.com", "/139450/ss"] {
            let heard = try await lab.get(path)
            #expect(heard.status == status)
            #expect(heard.body == #"{"code":"\#(code)"}"#)
        }
        #expect(lab.service.events.map(\.verdict) == [code, code, code])
    }

    @Test func `a resolver's failure is told in the vendor's words`() async throws {
        let lab = try LabVendors { settings in
            settings.table.entries[try HostName("www.aliyun.com")]?.code = .serverFailure
        }
        defer { lab.stop() }
        #expect(try await lab.get(Self.path).body == #"{"code":"InternalError"}"#)
        #expect(try await lab.get("/d?dn=www.aliyun.com").status == 501)
        let json = try await lab.get("/resolve?name=www.aliyun.com")
        #expect(json.status == 200 && json.body.hasPrefix(#"{"Status":2,"#))
    }

    @Test func `bad certificates are shown handshake by handshake, each in its own way`()
        async throws
    {
        let root = try TestAuthority()
        var settings = LabServiceSettings(table: try LabVendors.table())
        settings.accounts = LabVendors.accounts()
        let service = try LabHTTPDNSServer(
            names: ["dns.example.test"], authority: root, settings: settings)
        try service.start()
        defer { service.stop() }
        #expect(service.canFail(.certificate(.expired)))
        service.play(LabCertificateFault.allCases.map { [.certificate($0)] })
        let url = service.server.url(host: "dns.example.test", path: Self.path)
        var reasons: [String] = []
        for _ in LabCertificateFault.allCases {
            let refused = try await curl(url, trusting: root, at: service.server)
            #expect(refused.status == 60)
            reasons.append(refused.errorText)
        }
        let expected = [
            "no alternative certificate subject name", "expired", "self", "local issuer",
        ]
        for (reason, part) in zip(reasons, expected) { #expect(reason.contains(part), "\(reason)") }
        #expect(service.events.isEmpty)
        let accepted = try await curl(url, trusting: root, at: service.server)
        #expect(accepted.outputText.contains("192.0.2.10"), "\(accepted.errorText)")
    }

    @Test func `a server without an authority says that it has no bad certificates`() throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        #expect(!lab.service.canFail(.certificate(.selfSigned)))
        #expect(lab.service.canFail(.gzips))
    }
}
