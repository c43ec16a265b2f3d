package import HTTPDNSNames
package import HTTPDNSPinLab

/// A real unbound on 127.0.0.1, 127.0.0.2 and ::1, over UDP, TCP, TLS and HTTPS.
///
/// The shared one tells the zone `example.test` of `scripts/server-templates/zone`: `shop`, `api`,
/// `v4only`, `v6only`, `two`, `www` (aliases, smallest TTL 20), `dangling`, `loop`, `text`, `mail`,
/// `_svc._tcp`, `policy`, `https`, `*.wild` and `big` (100 addresses, truncated over UDP). Every
/// other name does not exist; it asks nobody.
package final class UnboundServer: Sendable {
    /// UDP and TCP.
    package let dns: Port
    /// HTTPS, path `/dns-query`, HTTP/2 only.
    package let doh: Port
    /// TLS.
    package let dot: Port
    /// Who signed ``identity``.
    package let authority: TestAuthority
    /// What it presents over TLS and HTTPS.
    package let identity: TestIdentity
    /// The name in its certificate.
    package let name = "resolver.example.test"
    private let server: RealServer<Ports>

    /// The one that all tests of a run share; started by the first that asks.
    package static func shared() async throws -> UnboundServer { try await sharedServer.value }

    /// One of a test's own, with another zone for `example.test` in master-file form, or more lines
    /// of the `server:` section. Blocks until it answers: call it through ``offPool(_:)``.
    package init(zone: String? = nil, extra: String = "") throws {
        let directory = try TemporaryDirectory()
        let tls = try TLSDirectory(directory)
        authority = tls.authority
        identity = try tls.add(name)
        if let zone { try directory.write("zone", zone) }
        try directory.write("unbound.extra", extra)
        server = try RealServer("unbound", in: directory)
        dns = try port(server.description.dns)
        doh = try port(server.description.doh)
        dot = try port(server.description.dot)
    }

    /// The path of the root's PEM.
    package var rootFile: String { "\(server.directory.path)/tls/root.pem" }

    private struct Ports: Decodable, Sendable {
        let dns: UInt16
        let doh: UInt16
        let dot: UInt16
    }
}

private let sharedServer = Task { try await offPool { try UnboundServer() } }

/// The `tls` folder that `scripts/servers` expects, filled by a test authority.
struct TLSDirectory {
    let authority: TestAuthority
    private let directory: TemporaryDirectory

    init(_ directory: TemporaryDirectory) throws {
        self.directory = directory
        authority = try TestAuthority("Test Servers Root")
        try directory.makeDirectory("tls")
        try directory.write("tls/root.pem", authority.certificatePEM)
    }

    /// An identity for the name, below an intermediate as in the field.
    func add(_ name: String) throws -> TestIdentity {
        // With a subject: kdig cannot print a chain that holds an empty one.
        let identity = try authority.intermediate().leaf([.dns(name)], commonName: name)
        try directory.write("tls/\(name).pem", try identity.chainPEM)
        try directory.write("tls/\(name).key", identity.privateKeyPEM)
        return identity
    }
}

func port(_ number: UInt16) throws -> Port {
    guard let port = Port(number) else { throw CommandError(description: "port 0") }
    return port
}
