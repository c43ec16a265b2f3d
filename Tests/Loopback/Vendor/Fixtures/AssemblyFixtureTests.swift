import HTTPDNS
import HTTPDNSDatagram
import HTTPDNSDoT
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport
import Testing

/// What the assembly makes of descriptions, and what back-ends say of themselves.
@Suite(.timeLimit(.minutes(2))) struct AssemblyFixtureTests {
    private static let transport = Transport()

    private func factory(_ trust: TrustPolicy = TrustPolicy()) throws -> ResolverFactory {
        try ResolverFactory(trust: trust, transport: Self.transport)
    }

    @Test(arguments: [
        "google", "google-dot", "google-json", "aliyun", "qiniu", "cloudflare-udp", "192.0.2.1",
        "tls://dns.example.test", "https://dns.example.test/dns-query",
    ])
    func `a resolver is local when all its servers are this machine`(text: String) throws {
        let factory = try factory()
        for (servers, isLocal) in [
            (["127.0.0.1"], true), (["127.0.0.9", "::1"], true),
            (["127.0.0.1", "192.0.2.1"], false),
        ] {
            var description = try ResolverDescription(text)
            description.bootstrap = try servers.map { try IPAddress($0) }
            (description.account, description.secret) = ("1", Secret("00112233"))
            #expect(try factory.backend(for: description).isLocal == isLocal)
        }
        var limited = try ResolverDescription("alidns")
        limited.bootstrap = [try IPAddress("::1")]
        #expect(try factory.backend(for: limited).isLocal)
    }

    @Test func `resolv.conf is local when its servers are`() throws {
        for (text, isLocal) in [
            ("nameserver 127.0.0.53\n", true),
            ("nameserver 127.0.0.1\nnameserver 192.0.2.1\n", false),
        ] {
            let backend = ResolvConfBackend(engine: .shared) { ResolvConf(parsing: text) }
            #expect(backend.isLocal == isLocal)
        }
    }

    @Test func `a provider is asked over TLS by the name that is its own there`() async throws {
        let lab = try StreamLab()
        let server = try lab.dotServer()
        var description = try ResolverDescription("google-dot")
        description.bootstrap = [server.address]
        description.endpoint = try HTTPURL("https://\(StreamLab.name):\(server.port)")
        let trust = TrustPolicy(roots: .pem(lab.lab.root.certificatePEM))
        let backend = try factory(trust).backend(for: description)
        #expect(backend.label == "tls://\(StreamLab.name):\(server.port)")
        #expect(try await backend.asked("ok", .a).source.transport == .tls)
        // Its own servers prove the name that stands in the profile.
        let other = try factory(trust).backend(for: ResolverDescription("google-dot"))
        #expect(other.label == "tls://dns.google")
        #expect(other.isAuthenticated)
    }

    @Test func `after a change of network a new connection is made, over TLS too`()
        async throws
    {
        let lab = try StreamLab()
        let server = try lab.dotServer()
        let backend = try lab.dot(at: server)
        _ = try await backend.asked("ok", .a)
        _ = try await backend.asked("ok", .aaaa)
        #expect(server.record.connections == 1)
        backend.networkDidChange()
        _ = try await backend.asked("ok", .a)
        #expect(server.record.connections == 2)
    }

    @Test(
        arguments: FixtureCase.all.filter { ["aliyun", "doh", "json google"].contains($0.title) })
    func `after a change of network no old connection carries a question`(
        item: FixtureCase
    ) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        let application = try lab.application([item.description(at: lab.server)])
        let names = ["shop.pinlab.dev", "pay.pinlab.dev", "none.pinlab.dev"]
        var counts: [Int] = []
        for (step, name) in names.enumerated() {
            if step == 2 { application.resolver.networkDidChange("elsewhere") }
            let question = Question(name: try HostName(name), type: .a)
            _ = await Outcome(application, question, patience: .seconds(20))
            counts.append(lab.server.record.connections)
        }
        #expect(counts[1] == counts[0])
        // What was in use is asked for again as well.
        #expect(counts[2] > counts[1])
    }
}
