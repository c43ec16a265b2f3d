import CHTTPDNSSystem
import HTTPDNSForwardProxy
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSTrust
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProxyTrustTests {
    private let name: TestName = "bank.example.test"
    private let authority: TestAuthority
    private let directory: TemporaryDirectory

    init() throws {
        authority = try TestAuthority("Proxy Root")
        directory = try TemporaryDirectory()
        try directory.write("root.pem", authority.certificatePEM)
    }

    private var root: String { directory.path + "/root.pem" }

    private func server(
        _ identity: TestIdentity, at address: String = "127.0.0.1", port: Port? = nil
    ) throws -> LabServer {
        let server = try LabServer(
            address: try IPAddress(address), port: port, security: .tls(identity)
        ) { _ in .text("from \(address)") }
        try server.start()
        return server
    }

    private func sound() throws -> TestIdentity { try authority.leaf([name]) }

    private func curl(_ lab: ProxyLab, _ port: Port) async throws -> CommandResult {
        // It would take any certificate: that nothing comes is the proxy's doing.
        try await lab.curl(["--insecure", "https://bank.example.test:\(port)/"])
    }

    /// How an address shows that it is not the host.
    enum Lie: String, CaseIterable, CustomTestStringConvertible {
        case wrongName = "wrong_name"
        case unknownIssuer = "unknown_issuer"
        case selfSigned = "self_signed"
        case expired

        var testDescription: String { rawValue }
    }

    private func identity(_ lie: Lie) throws -> TestIdentity {
        switch lie {
        case .wrongName: try authority.leaf(["hijacker.invalid"])
        case .unknownIssuer: try TestAuthority("Stranger").leaf([name])
        case .selfSigned: try TestAuthority.selfSigned([name])
        case .expired: try authority.leaf([name], validity: .expired)
        }
    }

    @Test(arguments: Lie.allCases)
    func `there is no tunnel to an address that does not prove the name`(lie: Lie) async throws {
        let liar = try server(try identity(lie))
        defer { liar.stop() }
        let lab = try ProxyLab(["bank.example.test": ["127.0.0.1"]], root: root)
        let result = try await curl(lab, liar.port)
        #expect(result.status != 0)
        #expect(result.outputText.isEmpty)
        #expect(result.errorText.contains("502"))
        #expect(liar.record.requests.isEmpty)
        let record = try #require(await lab.ended(1).first)
        #expect(record.kind == .refused)
        #expect(record.reason == lie.rawValue)
        #expect(record.attempts.map(\.label) == [lie.rawValue])
        #expect(record.peer == nil && record.octetsUp == 0)
        #expect(lab.opened.isEmpty)
    }

    @Test func `the refusal says why to people and to programs`() async throws {
        let liar = try server(try identity(.wrongName))
        defer { liar.stop() }
        let lab = try ProxyLab(["bank.example.test": ["127.0.0.1"]], root: root)
        let proxy = lab.proxy
        let port = liar.port
        let text = try await offPool {
            let client = try proxy.connected()
            client.send(
                "CONNECT bank.example.test:\(port) HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n"
            )
            return client.readText(until: "</html>")
        }
        #expect(text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
        #expect(
            text.contains(
                "Proxy-Status: httpdns; error=tls_certificate_error; details=\"wrong_name\"\r\n"))
        #expect(text.contains("Httpdns-Reason: wrong_name\r\n"))
        #expect(text.contains("hijacker.invalid"))
    }

    @Test func `the next address is taken where one is hijacked`() async throws {
        let liar = try server(try identity(.wrongName))
        defer { liar.stop() }
        let honest = try server(try sound(), at: "127.0.0.2", port: liar.port)
        defer { honest.stop() }
        let lab = try ProxyLab(
            ["bank.example.test": ["127.0.0.1", "127.0.0.2"]], root: root)
        for _ in 0..<3 {
            let result = try await curl(lab, liar.port)
            #expect(result.outputText == "from 127.0.0.2", "\(result.errorText)")
        }
        let records = await lab.ended(3)
        #expect(records.allSatisfy { $0.remote?.address.description == "127.0.0.2" })
        #expect(records.first?.attempts.map(\.label) == ["wrong_name"])
        #expect(liar.record.requests.isEmpty)
    }

    @Test func `an address that is dead, or says nothing, does not keep the next one`() async throws
    {
        let honest = try server(try sound(), at: "127.0.0.3")
        defer { honest.stop() }
        let silent = try RawListener(try IPAddress("127.0.0.2"), honest.port)
        let lab = try ProxyLab(
            ["bank.example.test": ["127.0.0.1", "127.0.0.2", "127.0.0.3"]], root: root)
        let result = try await curl(lab, honest.port)
        #expect(result.outputText == "from 127.0.0.3", "\(result.errorText)")
        let record = try #require(await lab.ended(1).first)
        #expect(record.attempts.first?.label == "cannot_connect")
        withExtendedLifetime(silent) {}
    }

    @Test func `a server that changes its certificate is found out after its address failed once`()
        async throws
    {
        // A port of one's choice can be taken again at once; one that the system gave cannot.
        let first = try server(try sound(), port: try closedPort(address: LabAddress.ipv4))
        let lab = try ProxyLab(["bank.example.test": ["127.0.0.1"]], root: root)
        #expect(try await curl(lab, first.port).status == 0)
        first.stop()
        // The proof is kept, but the address does not answer: it has to prove itself anew.
        #expect(try await curl(lab, first.port).status != 0)
        let liar = try server(try identity(.wrongName), port: first.port)
        defer { liar.stop() }
        let isFoundOut = await eventually(withinMilliseconds: 20_000) {
            guard let result = try? await self.curl(lab, first.port) else { return false }
            return result.status != 0 && lab.records.last?.reason == "wrong_name"
        }
        #expect(isFoundOut)
        #expect(liar.record.requests.isEmpty)
    }

    @Test func `a pin holds for tunnels as for requests`() async throws {
        let server = try server(try sound())
        defer { server.stop() }
        let stranger = try TestAuthority("Stranger").leaf([name])
        let lab = try ProxyLab(
            ["bank.example.test": ["127.0.0.1"]], root: root,
            trust: { policy in
                try policy.pins.add(
                    [stranger.pin.description], for: "bank.example.test", backup: .waived)
            })
        #expect(try await curl(lab, server.port).status != 0)
        #expect(await lab.ended(1).map(\.reason) == ["no_pin_matched"])
    }

    @Test func `a port without TLS is tunnelled to only if it was named`() async throws {
        let nginx = try await NginxServer.shared()
        let url = "http://shop.example.test:\(nginx.plain)/"
        let strict = try ProxyLab(NginxServer.hosts, root: root)
        let refused = try await strict.curl(["--proxytunnel", url])
        #expect(refused.status != 0)
        let reasons = await strict.ended(1).map(\.reason)
        #expect(reasons == ["handshake_failed"], "\(refused.errorText)")
        #expect(strict.records.first?.message?.contains("--unproven-port") == true)
        let lab = try ProxyLab(NginxServer.hosts, root: root) {
            $0.unprovenPorts = [nginx.plain]
        }
        let allowed = try await lab.curl(["--proxytunnel", url])
        #expect(allowed.outputText == "hello from shop.example.test\n", "\(allowed.errorText)")
        #expect(await lab.ended(1).map(\.peer) == [nil])
    }

    @Test func `a tunnel is for the host that it was opened for`() async throws {
        let server = try server(try authority.leaf([name, "other.example.test"]))
        defer { server.stop() }
        let lab = try ProxyLab(["bank.example.test": ["127.0.0.1"]], root: root)
        // Asks for one host, and then the server for another: domain fronting.
        let fronted = try await lab.curl([
            "--insecure", "https://other.example.test:\(server.port)/", "--connect-to",
            "other.example.test:\(server.port):bank.example.test:\(server.port)",
        ])
        #expect(fronted.status != 0)
        #expect(fronted.outputText.isEmpty)
        #expect(await lab.ended(1).map(\.reason) == ["server_name_differs"])
        #expect(server.record.requests.isEmpty)
        // The name may be left out, and may be written in other letters.
        let unnamed = try await lab.curl([
            "--insecure", "https://BANK.example.TEST:\(server.port)/",
        ])
        #expect(unnamed.status == 0, "\(unnamed.errorText)")
    }

    @Test func `what is not TLS is not let into a tunnel that was proven for it`() async throws {
        let server = try server(try sound())
        defer { server.stop() }
        let lab = try ProxyLab(["bank.example.test": ["127.0.0.1"]], root: root)
        let result = try await lab.curl([
            "--proxytunnel", "http://bank.example.test:\(server.port)/",
        ])
        #expect(result.status != 0)
        #expect(await lab.ended(1).map(\.reason) == ["not_tls"])
    }

    @Test func `an address as the host has to be in the certificate`() async throws {
        let server = try server(try sound())
        defer { server.stop() }
        let lab = try ProxyLab([:], root: root) { $0.allowsLocalTargets = true }
        let refused = try await lab.curl(["--insecure", "https://127.0.0.1:\(server.port)/"])
        #expect(refused.status != 0)
        #expect(await lab.ended(1).map(\.reason) == ["wrong_name"])
        let named = try self.server(try authority.leaf([name, .address(LabAddress.ipv4)]))
        defer { named.stop() }
        let allowed = try await lab.curl(["--insecure", "https://127.0.0.1:\(named.port)/"])
        #expect(allowed.status == 0, "\(allowed.errorText)")
    }
}

/// A port that connections are made to and never answered on.
final class RawListener: Sendable {
    private let socket: Int32
    let port: Port

    init(_ address: IPAddress, _ wanted: Port? = nil) throws {
        let octets = address.octets
        socket = httpdns_socket_bound(1, octets, octets.count, wanted?.number ?? 0)
        guard socket >= 0, let port = Port(httpdns_socket_port(socket)) else {
            throw ProxyTestError(description: "cannot listen on \(address)")
        }
        self.port = port
    }

    deinit { close(socket) }
}
