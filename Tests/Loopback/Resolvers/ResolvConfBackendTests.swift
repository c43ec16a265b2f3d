import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import TestSupport
import Testing

@Suite struct ResolvConfBackendTests {
    /// What the text says, with these servers in place of its own: theirs are not at port 53.
    private func backend(_ text: String, _ servers: [RawDNSServer]) -> ResolvConfBackend {
        var conf = ResolvConf(parsing: text)
        conf.servers = servers.map { $0.endpoint }
        return ResolvConfBackend(engine: DatagramEngine()) { [conf] in conf }
    }

    @Test func `an answer names the file as its source and the server that gave it`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let testimony = try await backend("", [server]).asked("alias", .a)
        #expect(testimony.source.resolver == "resolv.conf")
        #expect(testimony.source.server == server.endpoint.description)
        #expect(testimony.answers.count == 3)
    }

    @Test func `servers are asked in turn when the file says so`() async throws {
        let servers = try (0..<2).map { _ in try RawDNSServer { contractActs($0) } }
        defer { for server in servers { server.stop() } }
        let turning = backend("options rotate", servers)
        for _ in 0..<10 { _ = try await turning.asked("ok", .a) }
        #expect(servers.map { $0.arrivals.count } == [5, 5])
        let steady = backend("", servers)
        for _ in 0..<4 { _ = try await steady.asked("ok", .a) }
        #expect(servers.map { $0.arrivals.count } == [9, 5])
    }

    @Test func `TCP alone is used when the file says so`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        _ = try await backend("options use-vc", [server]).asked("ok", .a)
        #expect(server.arrivals.map { $0.isOverTCP } == [true])
    }

    @Test func `no question for IPv6 is sent when the file forbids it`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let backend = backend("options no-aaaa", [server])
        let testimony = try await backend.asked("ok", .aaaa)
        #expect(testimony.code == .noError)
        #expect(testimony.answers == [])
        #expect(server.arrivals.isEmpty)
        #expect(try await backend.asked("ok", .a).answers.count == 2)
    }

    @Test(arguments: ["", "options trust-ad"])
    func `the AD bit is believed only where the file trusts the path`(text: String) async throws {
        let server = try RawDNSServer { arrival in
            guard let message = arrival.message, var reply = ContractZone.reply(to: message)
            else { return [] }
            reply.flags.isAuthenticData = true
            return ((try? reply.encode()).map { [.send($0)] }) ?? []
        }
        defer { server.stop() }
        let testimony = try await backend(text, [server]).asked("ok", .a)
        #expect(testimony.isAuthenticData == !text.isEmpty)
        #expect(server.arrivals.first?.message?.flags.isAuthenticData == !text.isEmpty)
    }

    @Test func `the search list is not applied`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let backend = backend("search corp.test\noptions ndots:5", [server])
        _ = try await backend.ask(
            Question(name: try HostName("svc"), type: .a), deadline: .soon)
        #expect(
            server.arrivals.compactMap { $0.message?.questions.first?.name.description } == ["svc"])
    }
}
