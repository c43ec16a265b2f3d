import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// What the tool says when a slip of the finger, a server or the network is in the way.
@Suite(.timeLimit(.minutes(2))) struct FetchHintTests {
    private func demanding(_ versions: LabTLSVersions) throws -> (LabServer, TestAuthority) {
        let authority = try TestAuthority("Hint Root")
        var features = LabTLSFeatures()
        features.clientCertificate = .demanded
        let server = try LabServer(
            security: .tls(
                try authority.leaf(["shop.example.test"]), versions: versions, features: features)
        ) { _ in .text("never") }
        try server.start()
        return (server, authority)
    }

    @Test(arguments: [LabTLSVersions.tls12Only, .tls13Only])
    func `a server that demands a certificate of the client is answered with --cert`(
        versions: LabTLSVersions
    ) async throws {
        let (server, authority) = try demanding(versions)
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        let root = try directory.write("root.pem", authority.certificatePEM)
        let result = try await httpdns(
            "fetch", server.url(host: "shop.example.test"), "--resolve",
            "shop.example.test:\(server.address)", "--cacert", root)
        #expect(result.status == 9)
        #expect(result.errorText.contains("certificate of the client"), "\(result.errorText)")
        #expect(!result.errorText.contains("getpeername"), "\(result.errorText)")
    }

    @Test func `each address that could not be connected to is an attempt of its own`()
        async throws
    {
        let port = try closedPort(address: LabAddress.ipv4)
        let result = try await httpdns(
            "fetch", "http://shop.example.test:\(port)/", "--resolve",
            "shop.example.test:127.0.0.1,127.0.0.2", "--json")
        let attempts = try #require(try result.objects.first?["attempts"]?.array)
        #expect(attempts.map { $0["address"]?.string } == ["127.0.0.1", "127.0.0.2"])
        #expect(attempts.map { $0["error"]?.string } == ["cannot_connect", "cannot_connect"])
    }

    @Test func `nothing is sent where the answer could not be written`() async throws {
        let server = try LabServer { _ in .text("done") }
        try server.start()
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        for file in [directory.path + "/none/f", directory.path] {
            let result = try await httpdns(
                "fetch", server.url(host: "shop.example.test"), "--resolve",
                "shop.example.test:\(server.address)", "-d", "x=1", "-o", file)
            #expect(result.status == 2)
            #expect(result.errorText.contains("--output: cannot write"), "\(result.errorText)")
        }
        #expect(server.record.requests.isEmpty)
    }

    @Test func `no password of a URL is in what is told of it`() async throws {
        for url in [
            "https://u:hidden-word@shop.example.test:99999/", "ftp://u:hidden-word@h/",
            "u:hidden-word@shop.example.test//a", "https:/u:hidden-word@shop.example.test/",
        ] {
            let result = try await httpdns("fetch", url, "--json")
            #expect(result.status == 2)
            #expect(!(result.outputText + result.errorText).contains("hidden-word"))
            #expect(try result.objects.first?["url"]?.string?.contains("…@") == true)
        }
    }

    @Test func `a port in --resolve is said to be none`() async throws {
        let result = try await httpdns(
            "fetch", "https://shop.example.test/", "--resolve", "shop.example.test:443:127.0.0.1")
        #expect(result.status == 2)
        #expect(
            result.errorText.contains(
                "no port stands there: the addresses hold for every port of shop.example.test"))
        #expect(result.errorText.contains("write HOST:IP[,IP]"))
    }

    @Test(arguments: [
        ("shop.example.test:8443/cart", "did you mean \"https://shop.example.test:8443/cart\"?"),
        ("shop.example.test/cart", "begin it with https:// or http://"),
        ("mailto:shop@example.test", "only https and http are sent"),
    ])
    func `a URL without its scheme is told what was meant`(
        text: String, said: String
    ) async throws {
        let result = try await httpdns("fetch", text)
        #expect(result.status == 2)
        #expect(result.errorText.contains(said), "\(result.errorText)")
        #expect(result.errorText.contains("did you mean") == said.contains("did you mean"))
    }

    @Test func `a redirect to plain http is refused in the words of the tool, which permit it`()
        async throws
    {
        let plain = try LabServer { _ in .text("landed") }
        try plain.start()
        defer { plain.stop() }
        let target = plain.url(host: "shop.example.test", path: "/landed")
        let authority = try TestAuthority("Hint Root")
        let origin = try LabServer(security: .tls(try authority.leaf(["shop.example.test"]))) {
            _ in LabResponse(status: 302, fields: [LabField("Location", target)])
        }
        try origin.start()
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let root = try directory.write("root.pem", authority.certificatePEM)
        let words = [
            "fetch", origin.url(host: "shop.example.test"), "--resolve",
            "shop.example.test:127.0.0.1", "--cacert", root,
        ]
        let refused = try await run(Tool.path, words)
        #expect(refused.status == 3)
        #expect(refused.errorText.contains("--follow-to-http permits it"))
        #expect(!refused.errorText.contains("RedirectRules"))
        #expect(plain.record.connections == 0)
        let followed = try await run(Tool.path, words + ["--follow-to-http"])
        #expect(followed.status == 0)
        #expect(followed.outputText == "landed")
    }

    @Test func `roots without end are refused by their number, not added one by one`() async throws
    {
        let directory = try TemporaryDirectory()
        let pem = try TestAuthority("Hint Root").certificatePEM
        let root = try directory.write("root.pem", String(repeating: pem, count: 5_001))
        let result = try await httpdns(
            "fetch", "https://shop.example.test/", "--resolve", "shop.example.test:127.0.0.1",
            "--cacert", root)
        #expect(result.status == 2)
        #expect(result.errorText.contains("there are 5001"), "\(result.errorText)")
        #expect(result.errorText.contains("root.pem"))
    }

    @Test func `SIGQUIT ends at once, whatever is under way`() async throws {
        let origin = try FetchOrigin()
        let child = try ChildProcess(
            Tool.path,
            [
                "fetch", origin.url("/silent"), "--resolve", "shop.example.test:127.0.0.1",
                "--cacert", origin.rootFile, "--json",
            ])
        let isAsked = await eventually { !origin.server.record.requests.isEmpty }
        #expect(isAsked)
        kill(child.identifier, SIGQUIT)
        let status = try await offPool { child.awaitEnd() }
        #expect(status == 128 + SIGQUIT)
    }
}
