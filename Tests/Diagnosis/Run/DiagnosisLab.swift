import HTTPDNSDatagram
import HTTPDNSDiagnosis
import HTTPDNSEvidence
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport

/// A network on loopback with an origin, an honest resolver that is trusted, and a name server whose
/// zone the test decides.
final class DiagnosisLab: Sendable {
    static let host = "www.shop.test"
    /// Where the origin is, and where somebody else is; the same port on both.
    static let right = LabAddress.ipv4(host: 41)
    static let wrong = LabAddress.ipv4(host: 66)

    let authority: TestAuthority
    let origin: LabServer
    let stranger: LabServer
    let trusted: LabDNSServer
    let network: LabDNSServer
    let name: HostName

    /// - Parameters:
    ///   - zone: what the network's name server says, given the truth.
    ///   - security: what the origin shows; nil: a certificate of ``authority`` for the host.
    ///   - fault: how the origin fails clients.
    init(
        zone: @escaping @Sendable (LabQuestion, LabAnswer) -> LabAnswer = { $1 },
        security: ((TestAuthority) throws -> LabSecurity)? = nil,
        fault: LabConnectionFault = .none
    ) throws {
        name = try HostName(Self.host)
        authority = try TestAuthority("Diagnosis Root")
        let identity = try security?(authority) ?? .tls(try authority.leaf(["www.shop.test"]))
        let foreign = try TestAuthority("Stranger Root").leaf(["www.shop.test"])
        origin = try LabServer(address: Self.right, security: identity, fault: fault) { _ in
            .text("the right page")
        }
        stranger = try LabServer(
            address: Self.wrong, port: origin.port, security: .tls(foreign)
        ) { _ in .text("a wrong page") }
        let table = LabTable(name, [Self.right])
        trusted = try LabDNSServer { table.answer($0) }
        network = try LabDNSServer { zone($0, table.answer($0)) }
        try origin.start()
        try stranger.start()
        try trusted.start()
        try network.start()
    }

    deinit {
        for server in [origin, stranger] { server.stop() }
        for server in [trusted, network] { server.stop() }
    }

    /// A run with nobody but the servers of this laboratory.
    var options: DiagnosisOptions {
        get throws {
            let server = try Endpoint(text: trusted.endpoint)
            var options = DiagnosisOptions(trusted: [DatagramBackend(servers: [server])])
            options.nameservers = [try Endpoint(text: network.endpoint)]
            options.asksSystem = false
            options.hostsFile = nil
            options.trust = TrustPolicy(roots: .pem(authority.certificatePEM))
            options.securePort = origin.port
            // Nobody speaks HTTP here unless a test says where.
            options.fetches = false
            options.staysOnLoopback = true
            // Under load; a run ends with its last answer.
            options.patience = .seconds(120)
            return options
        }
    }

    func diagnosed(
        _ change: (inout DiagnosisOptions) throws -> Void = { _ in },
        onEvent: @escaping @Sendable (DiagnosisEvent) -> Void = { _ in }
    ) async throws -> Diagnosis {
        var options = try options
        try change(&options)
        return try await Diagnosis.run(name, options: options, onEvent: onEvent)
    }
}

extension Endpoint {
    /// `127.0.0.1:5353`.
    init(text: String) throws {
        let parts = text.split(separator: ":")
        let port = parts.last.flatMap { Port($0) }
        self.init(
            address: try IPAddress(String(parts.first ?? "")), port: port ?? .dns)
    }
}

extension Diagnosis {
    /// How a source lies, where the verdict is that one does.
    var how: Verdict.Hijack? {
        guard case .dnsHijacked(_, let how) = verdict else { return nil }
        return how
    }
}
