import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import TestSupport
import Testing

/// TLS sessions that are gone on with, and those that are not.
@Suite(.timeLimit(.minutes(2))) struct ResumptionTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    /// Every answer ends its connection.
    private func origin(
        _ versions: LabTLSVersions = .current,
        adjust: (inout TestIdentity) throws -> Void = { _ in }
    ) throws -> LabServer {
        var identity = try lab.root.leaf(["shop.example.test"], commonName: "Lab origin")
        try adjust(&identity)
        let server = try LabServer(security: .tls(identity, versions: versions)) { request in
            LabResponse(fields: [LabField("Connection", "close")], body: Array(request.path.utf8))
        }
        try server.start()
        return server
    }

    private func resumptions(_ server: LabServer) -> [Bool] {
        server.record.handshakes.map(\.isResumed)
    }

    @Test(arguments: [LabTLSVersions.tls12Only, .tls13Only])
    func `a new connection goes on with the session of the last, and has a proof all the same`(
        versions: LabTLSVersions
    ) async throws {
        let server = try origin(versions)
        defer { server.stop() }
        let client = try lab.client()
        let reports = try await [
            client.get(try server.httpURL("/1")).report,
            client.get(try server.httpURL("/2")).report,
            client.get(try server.httpURL("/3")).report,
        ]
        #expect(reports.map { $0.hops[0].isResumedSession } == [false, true, true])
        #expect(resumptions(server) == [false, true, true])
        #expect(Set(reports.map { $0.hops[0].peer }).count == 1)
        #expect(reports[2].hops[0].peer?.chain.first?.subject.contains("Lab origin") == true)
        #expect(reports.allSatisfy { !$0.hops[0].isReusedConnection })
    }

    @Test func `the session serves another address of the same name`() async throws {
        let nginx = try await NginxServer.shared()
        let backend = TableBackend(["shop.example.test": [LabAddress.ipv4]])
        let client = try lab.httpdns([:]) {
            $0.customResolvers = [backend]
            $0.trust = TrustPolicy(roots: .pem(nginx.authority.certificatePEM))
        }.client
        let url = try HTTPURL("https://shop.example.test:\(nginx.http2)/")
        let first = try await client.get(url).report.hops[0]
        backend.tell("shop.example.test", [LabAddress.ipv4(host: 2)])
        client.resolver.removeCachedAnswers()
        let second = try await client.get(url).report.hops[0]
        #expect(!first.isResumedSession)
        #expect(second.isResumedSession)
        #expect(second.remote?.address == LabAddress.ipv4(host: 2))
        #expect(second.peer == first.peer)
    }

    @Test func `a policy that changed goes on with no session`() async throws {
        let server = try origin()
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.client.get(try server.httpURL())
        var stricter = httpdns.trust
        stricter.minimumTLS = .tls13
        try httpdns.update(trust: stricter)
        let report = try await httpdns.client.get(try server.httpURL()).report
        #expect(!report.hops[0].isResumedSession)
        #expect(resumptions(server) == [false, false])
    }

    @Test func `pins that changed refuse the peer whose session is kept`() async throws {
        let server = try origin()
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.client.get(try server.httpURL())
        var pins = PinSet()
        try pins.add(
            ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="], for: "shop.example.test",
            backup: .waived)
        try httpdns.update(pins: pins)
        let failure = await httpdns.client.failure(of: HTTPRequest(.get, try server.httpURL()))
        #expect(failure?.label == "no_pin_matched")
        #expect(server.record.requests.count == 1)
        #expect(resumptions(server) == [false, false])
    }

    @Test func `another name, another port and another client go on with nothing`() async throws {
        let server = try origin {
            $0 = try lab.root.leaf(["shop.example.test", "api.example.test"])
        }
        defer { server.stop() }
        let table = ["shop.example.test", "api.example.test"]
        let client = try lab.client(
            Dictionary(uniqueKeysWithValues: table.map { ($0, [LabAddress.ipv4]) }))
        _ = try await client.get(try server.httpURL())
        _ = try await client.get(try server.httpURL(host: "api.example.test"))
        _ = try await lab.client().get(try server.httpURL())
        #expect(resumptions(server) == [false, false, false])
    }

    @Test func `a change of network goes on with nothing`() async throws {
        let server = try origin()
        defer { server.stop() }
        let client = try lab.client()
        _ = try await client.get(try server.httpURL())
        client.parts.transport.leaveConnections()
        _ = try await client.get(try server.httpURL())
        #expect(resumptions(server) == [false, false])
    }

    @Test(arguments: [LabTLSVersions.tls12Only, .tls13Only])
    func `where a staple is required, that of the first handshake counts while it lasts`(
        versions: LabTLSVersions
    ) async throws {
        let server = try origin(versions) { identity in
            identity.staple = try StatusMint.Staple.good.minted(
                about: Minted(identity), of: Minted(lab.root.identity))
        }
        defer { server.stop() }
        let client = try lab.httpdns { $0.trust.revocation.mode = .required }.client
        let reports = try await [
            client.get(try server.httpURL()).report, client.get(try server.httpURL()).report,
        ]
        #expect(resumptions(server) == [false, true])
        for report in reports {
            guard case .good(.staple, _)? = report.hops[0].peer?.revocation.leaf else {
                Issue.record("\(report)")
                return
            }
        }
    }
}
