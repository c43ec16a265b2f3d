package import HTTPDNSNames
package import HTTPDNSPinLab

/// A real nginx on 127.0.0.1, 127.0.0.2 and ::1: several names, each with its own certificate.
///
/// Each name answers `/` ("hello from NAME"), `/echo` (what arrived, `key=value` a line),
/// `/set-cookie?value=`, `/redirect/{301,302,303,307,308}?to=`, `/redirect/loop`,
/// `/status/{204,401,404,500}`, `/large` and `/slow` (16 MiB), `/gzip`, and PUT, GET and DELETE
/// below `/store/`. See `scripts/server-templates/routes.conf`.
package final class NginxServer: Sendable {
    /// TLS with HTTP/2 and HTTP/1.1.
    package let http2: Port
    /// TLS with HTTP/1.1 alone.
    package let http1: Port
    /// HTTP/1.1 without TLS.
    package let plain: Port
    /// Who signed ``identities``.
    package let authority: TestAuthority
    /// What it presents, by server name.
    package let identities: [String: TestIdentity]
    private let server: RealServer<Ports>

    /// The one that all tests of a run share, for `shop.example.test` and `api.example.test`;
    /// started by the first that asks.
    package static func shared() async throws -> NginxServer { try await sharedServer.value }

    /// One of a test's own; the first name is presented to clients that ask for another. Blocks
    /// until it answers: call it through ``offPool(_:)``.
    package init(names: [String]) throws {
        let directory = try TemporaryDirectory()
        let tls = try TLSDirectory(directory)
        authority = tls.authority
        var identities: [String: TestIdentity] = [:]
        for name in names { identities[name] = try tls.add(name) }
        self.identities = identities
        try directory.write("names", names.joined(separator: "\n") + "\n")
        server = try RealServer("nginx", in: directory)
        http2 = try port(server.description.http2)
        http1 = try port(server.description.http1)
        plain = try port(server.description.plain)
    }

    /// The path of the root's PEM.
    package var rootFile: String { "\(server.directory.path)/tls/root.pem" }

    /// The access log until now: `sni|host|request line|status|protocol`, one request a line,
    /// written after each response.
    package func accessLog() throws -> [String] {
        try contents(of: "\(server.directory.path)/access.log")
            .split(separator: "\n").map { String($0) }
    }

    private struct Ports: Decodable, Sendable {
        let http2: UInt16
        let http1: UInt16
        let plain: UInt16
    }
}

private let sharedServer = Task {
    try await offPool { try NginxServer(names: ["shop.example.test", "api.example.test"]) }
}
