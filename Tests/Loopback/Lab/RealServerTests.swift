import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite struct RealServerTests {
    @Test func `unbound tells its zone over UDP, TCP and HTTPS`() async throws {
        let server = try await UnboundServer.shared()
        for more in [["+notcp"], ["+tcp"]] {
            let answer = try await kdig(
                LabAddress.ipv4, server.dns, more + ["shop.example.test", "A"])
            #expect(answer == ["127.0.0.1"])
        }
        let secure = [
            "+https=/dns-query", "+tls-ca=\(server.rootFile)", "+tls-hostname=\(server.name)",
        ]
        let answer = try await kdig(
            LabAddress.ipv4, server.doh, secure + ["www.example.test", "A"])
        #expect(answer == ["cdn.example.test.", "edge.example.test.", "127.0.0.1"])
    }

    @Test func `unbound asks nobody for names outside its zone`() async throws {
        let server = try await UnboundServer.shared()
        let answer = try await run(
            "kdig", ["@127.0.0.1", "-p", "\(server.dns)", "example.com", "A"])
        #expect(answer.outputText.contains("status: NXDOMAIN"))
    }

    @Test func `nginx serves each name with its own certificate and tells the protocol`()
        async throws
    {
        let server = try await NginxServer.shared()
        #expect(server.identities.count == 2)
        for (port, wanted) in [(server.http2, "HTTP/2.0"), (server.http1, "HTTP/1.1")] {
            for name in server.identities.keys {
                let result = try await run(
                    "curl",
                    [
                        "-q", "-sS", "--noproxy", "*", "--cacert", server.rootFile,
                        "--connect-to", "::127.0.0.1:\(port)", "https://\(name):\(port)/echo",
                    ])
                let lines = result.outputText.split(separator: "\n")
                #expect(lines.contains("sni=\(name)"), "\(result.errorText)")
                #expect(lines.contains("host=\(name):\(port)"))
                #expect(lines.contains("protocol=\(wanted)"))
            }
        }
        #expect(
            await eventually {
                let log = try? server.accessLog()
                return log?.contains { $0.hasPrefix("api.example.test|") } ?? false
            })
    }

    @Test func `a server ends when nothing holds it`() async throws {
        let port = try await offPool { try NginxServer(names: ["a.example.test"]).plain }
        let result = try await run("curl", ["-q", "-s", "http://127.0.0.1:\(port)/"])
        #expect(result.status == 7)
    }
}
