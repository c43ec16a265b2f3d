import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import TestSupport
import Testing

/// Against a server that is not ours.
@Suite struct DatagramUnboundTests {
    @Test(arguments: [DatagramBackend.Mode.udpThenTCP, .tcpOnly], ["127.0.0.1", "::1"])
    func `unbound answers over each transport and family`(
        mode: DatagramBackend.Mode, address: String
    ) async throws {
        let testimony = try await ask("shop", .aaaa, mode: mode, at: address)
        #expect(testimony.answers.map { $0.data } == [.address(try IPAddress("::1"))])
        #expect(testimony.source.transport == (mode == .tcpOnly ? .tcp : .udp))
        #expect(testimony.source.tries == 1)
    }

    @Test func `a chain of aliases arrives with the TTL of each link`() async throws {
        let testimony = try await ask("www", .a)
        #expect(testimony.answers.map { $0.ttlSeconds }.sorted() == [20, 90, 120])
        #expect(testimony.answers.filter { $0.type == .cname }.count == 2)
    }

    @Test func `a hundred addresses come over TCP, none lost`() async throws {
        let testimony = try await ask("big", .a)
        #expect(testimony.answers.count == 100)
        #expect(testimony.source.transport == .tcp)
        #expect(testimony.source.tries == 2)
    }

    @Test func `no such name and no data hold for the SOA's minimum`() async throws {
        let missing = try await ask("nosuchname", .a)
        #expect(missing.code == .noSuchName)
        #expect(missing.negativeTTLSeconds == 30)
        let empty = try await ask("v4only", .aaaa)
        #expect(empty.code == .noError)
        #expect(empty.answers.isEmpty)
        #expect(empty.negativeTTLSeconds == 30)
    }

    @Test func `an HTTPS record arrives as a service`() async throws {
        let testimony = try await ask("https", .https)
        guard case .service(let service) = testimony.answers.first?.data else {
            Issue.record("\(testimony.answers)")
            return
        }
        #expect(service.priority == 1)
        #expect(service.target == .root)
    }

    private func ask(
        _ label: String, _ type: RecordType, mode: DatagramBackend.Mode = .udpThenTCP,
        at address: String = "127.0.0.1"
    ) async throws -> Testimony {
        let server = Endpoint(
            address: try IPAddress(address), port: try await UnboundServer.shared().dns)
        // Never repeated for want of time: a busy machine may be slow to answer.
        let backend = DatagramBackend(servers: [server], mode: mode, firstTryMilliseconds: 60_000)
        return try await backend.ask(
            Question(name: try HostName("\(label).example.test"), type: type), deadline: .soon)
    }
}
