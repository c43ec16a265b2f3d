import HTTPDNSDoH
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct DoHBackendTests {
    private let lab: TrustedLab
    private static let name = "dns.example.test"

    init() throws { lab = try TrustedLab() }

    /// A server whose handler gets the DNS message's reply to bend.
    private func server(
        for certified: TestName = "dns.example.test",
        _ bend: @escaping @Sendable (inout LabResponse) -> Void = { _ in }
    ) throws -> LabServer {
        let identity = try lab.root.leaf([certified], commonName: "Lab resolver")
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

    private func backend(
        at server: LabServer, method: DoHMethod = .get, bootstrap: [IPAddress]? = nil
    ) throws -> DoHBackend {
        let origin = Origin(
            scheme: .https, host: .name(try HostName(Self.name)), port: server.port)
        return try DoHBackend(
            url: HTTPURL(origin: origin, target: "/dns-query"),
            settings: DoHBackend.Settings(
                bootstrap: bootstrap ?? [server.address], verifier: lab.verifier, method: method),
            transport: sharedTransport)
    }

    @Test(arguments: DoHMethod.allCases)
    func `an answer tells who gave it`(method: DoHMethod) async throws {
        let server = try server()
        defer { server.stop() }
        let testimony = try await backend(at: server, method: method).asked("ok", .a)
        #expect(testimony.answers.count == 2)
        #expect(testimony.source.transport == .https)
        #expect(testimony.source.server == "127.0.0.1:\(server.port)")
        #expect(testimony.source.resolver == "https://\(Self.name):\(server.port)/dns-query")
        let request = try #require(server.record.requests.first)
        #expect(request.method == method.rawValue)
        #expect(request.host == "\(Self.name):\(server.port)")
        #expect(request.value(of: "Accept") == "application/dns-message")
        let query =
            method == .post ? request.body : Base64URL.decoded(request.query["dns"] ?? "")
        #expect(query.count.isMultiple(of: 128))
        #expect(query.prefix(2) == [0, 0])
    }

    @Test func `a server that is not the one meant gets no question`() async throws {
        let server = try server(for: "other.example.test")
        defer { server.stop() }
        let failure = await (try backend(at: server)).failure("ok", .a)
        #expect(failure?.label == "untrusted")
        #expect(server.awaitConnectionsEnded())
        #expect(server.record.receivedOctets == 0)
    }

    @Test func `the age in an HTTP cache is taken off the lifetime`() async throws {
        let server = try server { $0.fields.append(LabField("Age", "10")) }
        defer { server.stop() }
        let testimony = try await backend(at: server).asked("ok", .a)
        #expect(
            testimony.answers.map(\.ttlSeconds)
                == [ContractZone.addressTTLSeconds - 10, ContractZone.addressTTLSeconds - 10])
    }

    @Test func `a redirect is not followed`() async throws {
        let server = try server { $0 = .redirect(to: "https://\(Self.name)/elsewhere") }
        defer { server.stop() }
        #expect(await (try backend(at: server)).failure("ok", .a) == .httpStatus(302))
        #expect(server.record.requests.count == 1)
    }

    @Test func `a message longer than any is refused before it is whole`() async throws {
        let server = try server { $0.body += [UInt8](repeating: 0, count: 4_000_000) }
        defer { server.stop() }
        #expect(await (try backend(at: server)).failure("ok", .a)?.label == "malformed")
    }

    @Test func `a web page is not an answer`() async throws {
        let server = try server { $0 = .text("<html>", type: "text/html") }
        defer { server.stop() }
        #expect(await (try backend(at: server)).failure("ok", .a)?.label == "malformed")
    }

    @Test func `a broken connection is told as such`() async throws {
        let server = try server { $0.conduct = .closesUnanswered }
        defer { server.stop() }
        #expect(await (try backend(at: server)).failure("ok", .a)?.label == "unreachable")
    }

    @Test func `a closed port is told as such`() async throws {
        let server = try server()
        server.stop()
        #expect(await (try backend(at: server)).failure("ok", .a)?.label == "unreachable")
    }

    @Test func `a dead first address is passed over`() async throws {
        let server = try server()
        defer { server.stop() }
        let dead = try IPAddress("127.0.0.99")
        let testimony = try await backend(at: server, bootstrap: [dead, server.address])
            .asked("ok", .a)
        #expect(testimony.source.server == "127.0.0.1:\(server.port)")
    }
}
