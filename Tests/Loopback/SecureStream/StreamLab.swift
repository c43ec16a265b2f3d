import HTTPDNSDoH
import HTTPDNSDoT
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSSecureStream
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport
import Testing

/// Servers and back-ends for one test: an authority, and an engine that ends with it.
final class StreamLab: Sendable {
    static let name = "dns.example.test"
    let lab: TrustedLab
    let engine = StreamEngine()

    init() throws { lab = try TrustedLab() }

    deinit { engine.stop() }

    static func verifier(of server: UnboundServer) throws -> OpenSSLVerifier {
        try OpenSSLVerifier(
            policy: TrustPolicy(roots: .pem(server.authority.certificatePEM)))
    }

    func identity(_ name: TestName = "dns.example.test") throws -> TestIdentity {
        try lab.root.leaf([name], commonName: "Lab resolver")
    }

    /// A DoT server; by default it answers by ``ContractZone``.
    func dotServer(
        for name: TestName = "dns.example.test", port: Port? = nil,
        _ respond: @escaping @Sendable ([UInt8], MessageScript) -> Void = StreamLab.answer
    ) throws -> RawTLSServer {
        try RawTLSServer(identity(name), .dot, port: port) { MessageScript(respond) }
    }

    /// A DoH server over HTTP/2; by default it answers by ``ContractZone``.
    func dohServer(
        for name: TestName = "dns.example.test", port: Port? = nil,
        _ respond: @escaping @Sendable (UInt32, [UInt8], HTTP2Script) -> Void = StreamLab.answer,
        begin: @escaping @Sendable (HTTP2Script) -> Void = { $0.settings([]) }
    ) throws -> RawTLSServer {
        try RawTLSServer(identity(name), .http2, port: port) {
            HTTP2Script(begin: begin, respond: respond)
        }
    }

    @Sendable static func answer(_ query: [UInt8], _ server: MessageScript) {
        if let reply = ContractZone.octets(answering: query) { server.reply(reply) }
    }

    @Sendable static func answer(_ stream: UInt32, _ body: [UInt8], _ server: HTTP2Script) {
        if let reply = ContractZone.octets(answering: body) { server.reply(stream, reply) }
    }

    func dot(
        at server: RawTLSServer, bootstrap: [IPAddress]? = nil,
        verifier: (any PeerVerifier)? = nil
    ) throws -> DoTBackend {
        try DoTBackend(
            host: .name(try HostName(Self.name)), port: server.port,
            bootstrap: bootstrap ?? [server.address], verifier: verifier ?? lab.verifier,
            engine: engine)
    }

    func doh(
        at server: RawTLSServer, method: DoHMethod = .post, verifier: (any PeerVerifier)? = nil
    ) throws -> DoHBackend {
        var settings = DoHBackend.Settings(
            bootstrap: [server.address], verifier: verifier ?? lab.verifier, method: method)
        settings.engine = engine
        let origin = Origin(
            scheme: .https, host: .name(try HostName(Self.name)), port: server.port)
        return try DoHBackend(
            url: HTTPURL(origin: origin, target: "/dns-query"), settings: settings,
            transport: sharedTransport)
    }
}

extension TrustedLab {
    /// A DoH server over HTTP/1.1 that answers by ``ContractZone``.
    func dnsServer(
        _ bend: @escaping @Sendable (inout LabResponse) -> Void = { _ in }
    ) throws -> LabServer {
        let identity = try root.leaf(["dns.example.test"], commonName: "Lab resolver")
        let server = try LabServer(security: .tls(identity)) { request in
            let query =
                request.method == "POST"
                ? request.body : Base64URL.decoded(request.query["dns"] ?? "")
            var response = LabResponse(
                fields: [LabField("Content-Type", "application/dns-message")],
                body: ContractZone.octets(answering: query) ?? [])
            bend(&response)
            return response
        }
        try server.start()
        return server
    }
}

/// Both forms of encrypted DNS, against servers that differ only in framing.
enum StreamForm: String, CaseIterable, Sendable {
    case dot, doh

    /// A server that gives each whole query to `respond`, whose octets are the reply; nil is silence.
    func server(
        _ lab: StreamLab, for name: TestName = "dns.example.test", port: Port? = nil,
        _ respond: @escaping @Sendable ([UInt8], Link?) -> [UInt8]? = { query, _ in
            ContractZone.octets(answering: query)
        }
    ) throws -> RawTLSServer {
        switch self {
        case .dot:
            try lab.dotServer(for: name, port: port) { query, server in
                if let reply = respond(query, server.link) { server.reply(reply) }
            }
        case .doh:
            try lab.dohServer(for: name, port: port) { stream, query, server in
                if let reply = respond(query, server.link) { server.reply(stream, reply) }
            }
        }
    }

    func backend(
        _ lab: StreamLab, at server: RawTLSServer, verifier: (any PeerVerifier)? = nil
    ) throws -> any ResolverBackend {
        switch self {
        case .dot: try lab.dot(at: server, verifier: verifier)
        case .doh: try lab.doh(at: server, verifier: verifier)
        }
    }
}
