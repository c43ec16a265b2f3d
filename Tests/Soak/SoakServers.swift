import HTTPDNSDatagram
import HTTPDNSDoH
import HTTPDNSDoT
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSTrust
import HTTPDNSVendor
import TestSupport

/// The servers of a soak: those that behave worse and worse, and one that never does.
final class SoakServers: Sendable {
    let laboratory: LaboratoryProcess
    /// The one that is trusted and healthy: a process of its own.
    let healthy: UnboundServer

    private let transport = Transport()

    init(ledger: Ledger, from start: Monotonic) throws {
        laboratory = try LaboratoryProcess(ledger: ledger, from: start)
        healthy = try UnboundServer(extra: SoakZone.localData)
    }

    // MARK: As sources

    func datagram(_ at: Int) -> DatagramBackend { SoakServers.datagram(laboratory.ports.plain[at]) }

    var innerBackend: DatagramBackend { SoakServers.datagram(laboratory.ports.inner) }

    private static func datagram(_ port: Port) -> DatagramBackend {
        DatagramBackend(
            servers: [Endpoint(address: LabAddress.ipv4, port: port)], tries: 2,
            firstTryMilliseconds: 300)
    }

    func dot() throws -> DoTBackend {
        try DoTBackend(
            host: .name(try HostName(healthy.name)), port: healthy.dot,
            bootstrap: [LabAddress.ipv4], verifier: try healthyVerifier())
    }

    func healthyDoH() throws -> DoHBackend {
        try doh(healthy.name, healthy.doh, try healthyVerifier())
    }

    func faultyDoHBackend() throws -> DoHBackend {
        let verifier = try OpenSSLVerifier(
            policy: TrustPolicy(roots: .pem(laboratory.root)))
        return try doh(Laboratory.dohName, laboratory.ports.doh, verifier)
    }

    private func healthyVerifier() throws -> OpenSSLVerifier {
        try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(healthy.authority.certificatePEM)))
    }

    private func doh(
        _ name: String, _ port: Port, _ verifier: OpenSSLVerifier
    ) throws -> DoHBackend {
        let origin = Origin(scheme: .https, host: .name(try HostName(name)), port: port)
        return try DoHBackend(
            url: HTTPURL(origin: origin, target: "/dns-query"),
            settings: DoHBackend.Settings(bootstrap: [LabAddress.ipv4], verifier: verifier),
            transport: transport)
    }

    func serviceBackend() throws -> HTTPDNSBackend {
        let origin = Origin(
            scheme: .http, host: .address(LabAddress.ipv4), port: laboratory.ports.service)
        return try HTTPDNSBackend(
            label: origin.description, codec: JSONDoHCodec(path: "/resolve"),
            service: HTTPService(origin: origin, bootstrap: [], verifier: nil),
            transport: transport)
    }
}
