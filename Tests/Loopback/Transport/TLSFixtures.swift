import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSTransport
import HTTPDNSTrust
import Testing

/// An authority, and what trusts it.
struct TrustedLab {
    let root: TestAuthority
    let verifier: OpenSSLVerifier

    init() throws {
        root = try TestAuthority()
        verifier = try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(root.certificatePEM)))
    }

    /// A policy with pins for all hosts of `example.test`.
    func pinned(to pin: Pin) throws -> OpenSSLVerifier {
        var pins = PinSet()
        try pins.add([pin.description], for: "**.example.test", backup: .waived)
        return try OpenSSLVerifier(
            policy: TrustPolicy(roots: .pem(root.certificatePEM), pins: pins))
    }

    /// A running server with a certificate for `names`.
    func server(
        for names: [TestName], fault: LabConnectionFault = .none,
        address: IPAddress = LabAddress.ipv4, versions: LabTLSVersions = .current
    ) throws -> LabServer {
        let security = LabSecurity.tls(
            try root.leaf(names, commonName: "Lab origin"), versions: versions)
        let server = try LabServer(address: address, security: security, fault: fault) {
            .text("hello \($0.host ?? "")")
        }
        try server.start()
        return server
    }
}

func secureRequest(
    to host: String, at endpoint: Endpoint, verifier: (any PeerVerifier)?,
    change: (inout TransportRequest) throws -> Void = { _ in }
) throws -> TransportRequest {
    let address = try? IPAddress(host)
    let named = try address.map { Host.address($0) } ?? .name(HostName(host))
    let route = try #require(Route(addresses: [endpoint.address], port: endpoint.port))
    var request = TransportRequest(
        origin: Origin(scheme: .https, host: named), route: route, method: .get, target: "/",
        verifier: verifier)
    try change(&request)
    return request
}

extension LabServer {
    var endpoint: Endpoint { Endpoint(address: address, port: port) }
}

extension Recorder.Story {
    /// The code of the trust failure that ended it.
    var refusal: TrustFailure? {
        if case .untrusted(let failure)? = failure { failure } else { nil }
    }
}
