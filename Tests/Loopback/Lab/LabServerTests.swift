import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// curl with the root trusted and the name sent to the server; no environment, no configuration.
func curl(
    _ url: String, trusting root: TestAuthority? = nil, at server: LabServer? = nil,
    _ more: [String] = []
) async throws -> CommandResult {
    var arguments = ["-q", "-s", "-S", "--noproxy", "*", "--max-time", "20"]
    let directory = try TemporaryDirectory()
    if let root {
        arguments += ["--cacert", try directory.write("root.pem", root.certificatePEM)]
    }
    if let server {
        arguments += ["--connect-to", "::\(server.address.uriText):\(server.port)"]
    }
    let result = try await run("curl", arguments + more + [url])
    withExtendedLifetime(directory) {}
    return result
}

@Suite struct LabServerTests {
    let root: TestAuthority

    init() throws { root = try TestAuthority() }

    func served(
        _ security: LabSecurity = .plain, fault: LabConnectionFault = .none,
        address: IPAddress = LabAddress.ipv4,
        _ handler: @escaping @Sendable (LabRequest) -> LabResponse = { _ in .text("hello") }
    ) throws -> LabServer {
        let server = try LabServer(
            address: address, security: security, fault: fault, handler: handler)
        try server.start()
        return server
    }

    @Test func `a trusted client gets the page, and the record names the host and the SNI`()
        async throws
    {
        let leaf = try root.leaf(["shop.example.test"])
        let server = try served(.tls(leaf)) { .text("hello \($0.host ?? "")") }
        defer { server.stop() }
        let url = server.url(host: "shop.example.test", path: "/a?b=c%20d")
        let result = try await curl(url, trusting: root, at: server)
        #expect(result.outputText == "hello shop.example.test:\(server.port)")
        #expect(result.status == 0, "\(result.errorText)")
        #expect(server.record.serverNames == ["shop.example.test"])
        #expect(server.record.handshakes.first?.isComplete == true)
        let request = try #require(server.record.requests.first)
        #expect(request.method == "GET")
        #expect(request.path == "/a")
        #expect(request.query == ["b": "c d"])
        #expect(request.serverName == "shop.example.test")
    }

    @Test func `a client that refuses the certificate has sent no octet of a request`()
        async throws
    {
        let server = try served(.tls(try root.leaf(["other.example.test"])))
        defer { server.stop() }
        let url = server.url(host: "shop.example.test")
        let result = try await curl(url, trusting: root, at: server)
        #expect(result.status == 60)
        #expect(server.awaitConnectionsEnded())
        #expect(server.record.connections == 1)
        #expect(server.record.serverNames == ["shop.example.test"])
        #expect(server.record.receivedOctets == 0)
    }

    @Test(arguments: [
        TestKeyKind.p256, .p384, .rsa2048, .ed25519,
    ])
    func `every kind of key serves, below two intermediates`(kind: TestKeyKind) async throws {
        let upper = try root.intermediate("Upper", key: kind)
        let lower = try upper.intermediate("Lower", pathLength: 0)
        let leaf = try lower.leaf(["shop.example.test"], key: kind)
        #expect(leaf.issuers.count == 2)
        let server = try served(.tls(leaf))
        defer { server.stop() }
        let url = server.url(host: "shop.example.test")
        let result = try await curl(url, trusting: root, at: server)
        #expect(result.outputText == "hello", "\(result.errorText)")
    }

    @Test func `the certificate follows the server name`() async throws {
        let server = try served(
            .tls(
                try root.leaf(["a.example.test"]),
                byName: ["b.example.test": try root.leaf(["b.example.test"])]))
        defer { server.stop() }
        for (name, status) in [
            ("a.example.test", 0), ("b.example.test", 0), ("c.example.test", 60),
        ] {
            let url = server.url(host: name)
            let result = try await curl(url, trusting: root, at: server)
            #expect(result.status == Int32(status), "\(name)")
        }
    }

    @Test func `an expired certificate and an address in a name are refused`() async throws {
        let expired = try root.leaf(["shop.example.test"], validity: .expired)
        let server = try served(.tls(expired))
        defer { server.stop() }
        let refused = try await curl(
            server.url(host: "shop.example.test"), trusting: root, at: server)
        #expect(refused.status == 60)
        let byAddress = try served(.tls(try root.leaf([.address(LabAddress.ipv4)])))
        defer { byAddress.stop() }
        let accepted = try await curl(byAddress.url(host: "127.0.0.1"), trusting: root)
        #expect(accepted.outputText == "hello", "\(accepted.errorText)")
    }

    @Test(arguments: [
        (LabConnectionFault.resetsInHandshake, [35, 56]), (.closesInHandshake, [35]),
        (.alertsInHandshake, [35]), (.speaksPlainHTTP, [35]), (.stallsHandshake, [28]),
    ])
    func `a handshake fails in the way asked for`(
        fault: LabConnectionFault, expected: [Int32]
    ) async throws {
        let server = try served(.tls(try root.leaf(["shop.example.test"])), fault: fault)
        defer { server.stop() }
        let url = server.url(host: "shop.example.test")
        let result = try await curl(url, trusting: root, at: server, ["--max-time", "1"])
        #expect(expected.contains(result.status), "\(result.status) \(result.errorText)")
        #expect(server.record.requests.isEmpty)
        let named = fault == .speaksPlainHTTP ? [] : ["shop.example.test"]
        #expect(server.record.serverNames == named)
    }

    @Test(arguments: [
        (LabResponse.Conduct.closes(afterBodyOctets: 3), Int32(18)),
        (.resets(afterBodyOctets: 3), 56), (.stalls(afterBodyOctets: 3), 28),
        (.neverAnswers, 28), (.closesUnanswered, 52), (.resetsUnanswered, 56),
        (.writes(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".utf8)), 18),
        (.answers, 0),
    ])
    func `an answer fails in the way asked for`(
        conduct: LabResponse.Conduct, status: Int32
    ) async throws {
        let server = try served { _ in .text("hello").conducting(conduct) }
        defer { server.stop() }
        let url = server.url(host: "127.0.0.1")
        let result = try await curl(url, ["--max-time", "1"])
        #expect(result.status == status, "\(result.errorText)")
        #expect(server.record.requests.count == 1)
    }

    @Test func `bodies go both ways, chunked and with a length`() async throws {
        let server = try served { request in
            LabResponse(body: request.body).chunked(octets: 10_000)
        }
        defer { server.stop() }
        let url = server.url(host: "127.0.0.1")
        let body = String(repeating: "0123456789abcdef", count: 100_000)
        let directory = try TemporaryDirectory()
        let file = try directory.write("body", body)
        for fields in [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect:"]] {
            let result = try await curl(url, ["--data-binary", "@\(file)"] + fields)
            #expect(result.outputText == body, "\(result.errorText)")
        }
        #expect(server.record.requests.map(\.body.count) == [1_600_000, 1_600_000, 1_600_000])
    }

    @Test func `one connection carries many requests, and HEAD has no body`() async throws {
        let server = try served { _ in .text("hello") }
        defer { server.stop() }
        let url = server.url(host: "127.0.0.1")
        let result = try await curl(url, [url, url, "--next", "-s", "-I", url, "--next", "-s"])
        #expect(result.status == 0, "\(result.errorText)")
        #expect(server.record.requests.map(\.method) == ["GET", "GET", "HEAD", "GET"])
        #expect(server.record.connections == 1)
    }

    @Test func `other loopback addresses serve too, and no others`() async throws {
        for address in [LabAddress.ipv4(host: 9), LabAddress.ipv6] {
            let server = try served(address: address)
            let result = try await curl(server.url(host: address.uriText))
            #expect(result.outputText == "hello", "\(result.errorText)")
            server.stop()
        }
        let outside = try IPAddress("192.0.2.1")
        #expect(throws: LabError.notLoopback(outside)) {
            try LabServer(address: outside) { _ in .never }
        }
    }

    @Test func `two hundred connections are served at a time`() async throws {
        let server = try served { _ in .text("x").delayed(milliseconds: 500) }
        defer { server.stop() }
        let result = try await curl(
            server.url(host: "127.0.0.1", path: "/[1-200]"),
            ["--parallel", "--parallel-immediate", "--parallel-max", "200"])
        #expect(result.outputText == String(repeating: "x", count: 200))
        #expect(server.record.connections == 200)
    }

    @Test func `a stopped server leaves no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            func serveOnce(_ root: TestAuthority, _ identity: TestIdentity) async throws {
                let server = try LabServer(security: .tls(identity)) { _ in .text("hello") }
                try server.start()
                let dns = try LabDNSServer { $0.answer([LabAddress.ipv4]) }
                try dns.start()
                let url = server.url(host: "shop.example.test")
                _ = try await curl(url, trusting: root, at: server)
                _ = try await curl(url, at: server)
                dns.stop()
                server.stop()
            }
            let root = try TestAuthority()
            let identity = try root.leaf(["shop.example.test"])
            let before = openDescriptors()
            for _ in 0..<20 { try await serveOnce(root, identity) }
            let after = openDescriptors()
            #expect(after == before)
        }
    }

    @Test func `a stopped server has left its port`() async throws {
        let server = try served { _ in .never }
        let url = server.url(host: "127.0.0.1")
        async let pending = curl(url)
        #expect(await eventually { server.record.requests.count == 1 })
        server.stop()
        #expect(try await pending.status == 52)
        let refused = try await curl(url)
        #expect(refused.status == 7)
    }
}
