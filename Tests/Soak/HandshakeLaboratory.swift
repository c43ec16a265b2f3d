import Glibc
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTrust

/// A server for each ``HandshakeCase`` that has one, in a process of its own: what the other process
/// uses is the library's alone.
///
/// It says `server CASE PORT`, `pin`, the root as `root` lines, then `ready`. To `count` it answers
/// `count CONNECTIONS RESUMED`, of all its servers from the start. It ends with its input.
final class HandshakeLaboratory {
    private let authority: TestAuthority
    private let pin: String
    private let servers: [(kind: HandshakeCase, server: LabServer)]
    private var resumed = 0

    static let name = "shop.example.test"

    init() throws {
        let authority = try TestAuthority("Handshake Root")
        self.authority = authority
        let sound = try authority.intermediate().leaf([.dns(HandshakeLaboratory.name)])
        pin = sound.pin.description
        var features = LabTLSFeatures()
        features.speaksHTTP2 = true
        servers = try HandshakeCase.served.map { kind in
            let identity = try HandshakeLaboratory.identity(kind, authority) ?? sound
            let server = try LabServer(
                security: .tls(identity, features: features), fault: kind.fault
            ) { request in
                var response = LabResponse.text("hello \(request.host ?? "")")
                // In HTTP/2 there is no such field; the client leaves that connection itself.
                if request.method == "GET" {
                    response.fields.append(LabField("Connection", "close"))
                }
                return response
            }
            try server.start()
            return (kind, server)
        }
    }

    /// Nil: the sound one.
    private static func identity(
        _ kind: HandshakeCase, _ authority: TestAuthority
    ) throws -> TestIdentity? {
        switch kind {
        case .wrongName: try authority.leaf(["other.example.test"])
        case .expired: try authority.leaf([.dns(name)], validity: .expired)
        case .untrustedRoot: try TestAuthority("Stranger").leaf([.dns(name)])
        case .selfSigned: try TestAuthority.selfSigned([.dns(name)])
        default: nil
        }
    }

    func serve() {
        for (kind, server) in servers { say("server \(kind.rawValue) \(server.port.number)") }
        say("pin \(pin)")
        for line in authority.certificatePEM.split(separator: "\n") { say("root \(line)") }
        say("ready")
        while let line = readLine(), line == "count" {
            for (_, server) in servers {
                resumed += server.record.handshakes.count { $0.isResumed }
                server.forget()
            }
            let connections = servers.reduce(0) { $0 + $1.server.record.connections }
            say("count \(connections) \(resumed)")
        }
        for (_, server) in servers { server.stop() }
    }

    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
