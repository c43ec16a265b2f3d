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
    /// Plain servers, whose behaviour changes all the time.
    let plain: [LabDNSServer]
    /// A plain server of its own for inner names; it behaves.
    let inner: LabDNSServer
    /// DNS over HTTPS with faults, certificates among them; it never lies.
    let faultyDoH: LabHTTPDNSServer
    /// An HTTP-DNS service in the clear, with faults, lies among them.
    let service: LabHTTPDNSServer
    /// The one that is trusted and healthy: a process of its own.
    let healthy: UnboundServer

    private let authority: TestAuthority
    private let transport = Transport()
    private let ledger: Ledger

    static let dohName = "dns.example.test"

    init(ledger: Ledger, from start: Monotonic) throws {
        self.ledger = ledger
        let clock = SystemMonotonicClock()
        plain = try (0..<4).map { _ in
            try LabDNSServer { question in
                if question.text.hasSuffix(SoakZone.innerSuffix) {
                    ledger.fault("an inner name leaked: \(question.text)")
                }
                let tenths = clock.now().milliseconds(since: start) / 100
                return SoakZone.answer(question, stampedAt: tenths)
            }
        }
        inner = try LabDNSServer { question in
            let tenths = clock.now().milliseconds(since: start) / 100
            return SoakZone.answer(question, stampedAt: tenths)
        }
        authority = try TestAuthority("Soak Root")
        let settings = LabServiceSettings(table: SoakZone.table)
        faultyDoH = try LabHTTPDNSServer(
            names: [.dns(SoakServers.dohName)], authority: authority, settings: settings)
        service = try LabHTTPDNSServer(settings: settings)
        healthy = try UnboundServer(extra: SoakZone.localData)
        for server in plain + [inner] { try server.start() }
        try faultyDoH.start()
        try service.start()
    }

    func stop() {
        for server in plain + [inner] { server.stop() }
        faultyDoH.stop()
        service.stop()
    }

    /// What was asked is not needed, and would fill the memory.
    func forget() {
        for server in plain + [inner] { server.forget() }
        faultyDoH.forget()
        service.forget()
    }

    // MARK: As sources

    func datagram(_ at: Int) -> DatagramBackend { SoakServers.datagram(plain[at]) }

    var innerBackend: DatagramBackend { SoakServers.datagram(inner) }

    private static func datagram(_ server: LabDNSServer) -> DatagramBackend {
        DatagramBackend(
            servers: [Endpoint(address: server.address, port: server.port)], tries: 2,
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
            policy: TrustPolicy(roots: .pem(authority.certificatePEM)))
        return try doh(SoakServers.dohName, faultyDoH.port, verifier)
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
            scheme: .http, host: .address(service.server.address), port: service.port)
        return try HTTPDNSBackend(
            label: origin.description, codec: JSONDoHCodec(path: "/resolve"),
            service: HTTPService(origin: origin, bootstrap: [], verifier: nil),
            transport: transport)
    }

    // MARK: Worse and worse

    /// One of the servers begins to behave in another way.
    func change(_ numbers: inout SeededNumbers) {
        switch numbers.below(8) {
        case 0:
            faultyDoH.misbehave(
                SoakServers.secureFaults[numbers.below(SoakServers.secureFaults.count)])
        case 1:
            let faults = SoakServers.secureFaults + SoakServers.clearFaults
            service.misbehave(faults[numbers.below(faults.count)])
        default:
            let behaviours = SoakServers.behaviours
            behave(
                plain[numbers.below(plain.count)], behaviours[numbers.below(behaviours.count)])
        }
    }

    func heal() {
        for server in plain { behave(server, .healthy) }
        faultyDoH.misbehave(.none)
        service.misbehave(.none)
    }

    private func behave(_ server: LabDNSServer, _ behaviour: LabDNSBehaviour) {
        do {
            try server.behave(behaviour)
            ledger.note("behaviour \(behaviour.name)")
        } catch {
            // Another process has its port meanwhile: it stays dead until a later change.
            ledger.note("behaviour refused")
        }
    }

    private static let behaviours: [LabDNSBehaviour] = [
        .healthy, .healthy, .healthy, .slow(milliseconds: 80), .slow(milliseconds: 700),
        .slow(milliseconds: 1_900), .dead, .dying, .lies(SoakZone.lies),
        .lies(SoakZone.impossible), .fails, .refuses, .truncates(servesTCP: true),
        .truncates(servesTCP: false), .mistakesNumber, .mistakesQuestion, .usesOtherPort,
        .forges(SoakZone.lies, aheadMilliseconds: 20), .duplicates,
    ]

    private static let secureFaults: [LabServiceFault] = [
        .none, .none, .status(500), .status(429), .delays(milliseconds: 300),
        .delays(milliseconds: 1_200), .neverAnswers, .truncates, .closesUnanswered,
        .resetsAfterHead, .captivePortal, .answersHuge(octets: 300_000), .redirects(to: "/other"),
        .certificate(.expired), .certificate(.wrongName), .certificate(.selfSigned), .gzips,
        .chunksWithTrailers, .trickles(pauseMilliseconds: 2),
    ]

    private static let clearFaults: [LabServiceFault] = [
        .lies(SoakZone.lies), .lies(SoakZone.impossible), .answersEmpty, .answersOtherJSON,
        .ttl(.huge), .ttl(.negative), .leavesOutStatus, .leavesOutData,
    ]
}
