import HTTPDNSPinLab
import TestSupport
import Testing

@Suite struct LabFeatureTests {
    private let root: TestAuthority
    private let leaf: TestIdentity
    private let directory: TemporaryDirectory
    private let rootFile: String

    init() throws {
        root = try TestAuthority()
        leaf = try root.leaf(["shop.example.test"])
        directory = try TemporaryDirectory()
        rootFile = try directory.write("root.pem", root.certificatePEM)
    }

    private func served(
        _ identity: TestIdentity? = nil, _ change: (inout LabTLSFeatures) -> Void,
        handler: @escaping @Sendable (LabRequest) -> LabResponse = { .text($0.text) }
    ) throws -> LabServer {
        var features = LabTLSFeatures()
        change(&features)
        let server = try LabServer(
            security: .tls(identity ?? leaf, features: features), handler: handler)
        try server.start()
        return server
    }

    private func curl(_ server: LabServer, _ more: [String]) async throws -> CommandResult {
        try await run(
            "curl",
            [
                "-sS", "--cacert", rootFile, "--resolve",
                "shop.example.test:\(server.port):127.0.0.1",
            ]
                + more + [server.url(host: "shop.example.test", path: "/path?q=1")])
    }

    private func client(_ server: LabServer, _ more: [String]) async throws -> CommandResult {
        try await run(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(server.port)", "-servername",
                "shop.example.test", "-CAfile", rootFile,
            ] + more)
    }

    @Test func `HTTP 2 carries bodies both ways`() async throws {
        let server = try served { $0.speaksHTTP2 = true }
        defer { server.stop() }
        let body = String(repeating: "abcdefgh", count: 40_000)
        let file = try directory.write("body", body)
        let result = try await curl(
            server, ["--http2", "--data-binary", "@" + file, "-w", "%{http_version}"])
        #expect(result.outputText == body + "2", "\(result.errorText)")
        let request = server.record.requests.first
        #expect(request?.method == "POST")
        #expect(request?.target == "/path?q=1")
        #expect(request?.host == "shop.example.test:\(server.port)")
        #expect(server.record.handshakes.first?.isHTTP2 == true)
        #expect(server.record.receivedOctets > body.utf8.count)
    }

    @Test func `a client without HTTP 2 gets HTTP 1`() async throws {
        let server = try served { $0.speaksHTTP2 = true }
        defer { server.stop() }
        let result = try await curl(server, ["--http1.1", "-w", "%{http_version}"])
        #expect(result.outputText == "1.1", "\(result.errorText)")
    }

    @Test func `faults of an answer are faults of its stream in HTTP 2`() async throws {
        let faults: [(LabResponse.Conduct, [Int32])] = [
            (.resetsUnanswered, [92]), (.closes(afterBodyOctets: 2), [92]),
            (.closesUnanswered, [16, 18, 52, 56, 92]),
        ]
        for (conduct, statuses) in faults {
            let server = try served {
                $0.speaksHTTP2 = true
            } handler: { _ in
                LabResponse.text("hello").conducting(conduct)
            }
            defer { server.stop() }
            let result = try await curl(server, ["--http2"])
            #expect(statuses.contains(result.status), "\(conduct): \(result.status)")
        }
    }

    @Test func `who asks gets the stapled response, who does not is known`() async throws {
        var stapled = leaf
        stapled.staple = try root.ocspResponse(for: leaf)
        let server = try served(stapled) { _ in }
        defer { server.stop() }
        let asking = try await client(server, ["-status"])
        #expect(asking.outputText.contains("OCSP Response Status: successful"))
        _ = try await client(server, [])
        #expect(server.record.handshakes.map(\.asksForStatus) == [true, false])
    }

    @Test func `sessions are resumed only where they may be`() async throws {
        for isOn in [true, false] {
            let server = try served { $0.resumes = isOn }
            defer { server.stop() }
            _ = try await client(server, ["-tls1_2", "-reconnect"])
            #expect(server.awaitConnectionsEnded())
            let resumed = server.record.handshakes.map(\.isResumed)
            #expect(resumed.count > 1)
            #expect(resumed.dropFirst().allSatisfy { $0 == isOn })
            #expect(resumed.first == false)
        }
    }

    @Test func `a client's certificate is asked for, or demanded`() async throws {
        let own = try TestAuthority.selfSigned(["client.example.test"])
        let certificate = try directory.write("own.pem", own.certificatePEM)
        let key = try directory.write("own.key", own.privateKeyPEM)
        let server = try served { $0.clientCertificate = .demanded }
        defer { server.stop() }
        let without = try await curl(server, [])
        #expect(without.status != 0)
        #expect(server.record.receivedOctets == 0)
        let with = try await curl(server, ["--cert", certificate, "--key", key])
        #expect(with.status == 0, "\(with.errorText)")
        #expect(server.record.handshakes.last?.hasClientCertificate == true)
    }

    @Test func `only the cipher that is offered can be agreed on`() async throws {
        let rsa = try root.leaf(["shop.example.test"], key: .rsa2048)
        var features = LabTLSFeatures()
        features.ciphers = "ECDHE-RSA-AES128-SHA"
        let server = try LabServer(
            security: .tls(rsa, versions: .tls12Only, features: features)
        ) { _ in .text("hello") }
        try server.start()
        defer { server.stop() }
        let right = try await client(server, ["-cipher", "ECDHE-RSA-AES128-SHA"])
        #expect(right.outputText.contains("Cipher is ECDHE-RSA-AES128-SHA"))
        let other = try await client(server, ["-cipher", "ECDHE-RSA-AES256-GCM-SHA384"])
        #expect(other.status != 0)
    }

    @Test func `the proxy leads any name to the laboratory, and nowhere else`() async throws {
        let proxy = try LabProxy()
        try proxy.start()
        defer { proxy.stop() }
        let bench = try LabBench()
        let stage = try bench.open(.named("baseline"))
        defer { stage.stop() }
        let file = try directory.write("bench.pem", bench.authorityPEM)
        let arguments = ["-sS", "--cacert", file, "--proxy", proxy.url, stage.target.url]
        let before = try await run("curl", arguments)
        #expect(before.status != 0)
        #expect(stage.record.connections == 0)
        proxy.admit(stage)
        let after = try await run("curl", arguments)
        #expect(after.outputText == "lab: this is \(stage.target.host)\n", "\(after.errorText)")
        #expect(stage.grade(.accepted) == .passed)
    }
}
