import HTTPDNSNames
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite struct ConnectProbeTests {
    private var soon: Monotonic { SystemMonotonicClock().now().adding(seconds: 30) }

    @Test func `open ports connect and closed ones are refused, in either family`() async throws {
        let servers = try ["127.0.0.1", "127.0.0.2", "::1"].map {
            try RawDNSServer(on: $0) { _ in [] }
        }
        defer { for server in servers { server.stop() } }
        let dead = try ["127.0.0.1", "::1"].map { try closedEndpoint(on: $0) }
        let found = await ConnectProbe.run(servers.map { $0.endpoint } + dead, deadline: soon)
        #expect(found.count == 5)
        for server in servers {
            guard case .connected(let microseconds) = found[server.endpoint] else {
                Issue.record("\(server.endpoint): \(String(describing: found[server.endpoint]))")
                continue
            }
            #expect((0..<30_000_000).contains(microseconds))
        }
        for endpoint in dead { #expect(found[endpoint] == .failed("Connection refused")) }
    }

    @Test func `more than can be tried at once are all tried`() async throws {
        let server = try RawDNSServer { _ in [] }
        defer { server.stop() }
        let many = try (1...200).map {
            Endpoint(address: try IPAddress("127.1.0.\($0)"), port: server.endpoint.port)
        }
        let found = await ConnectProbe.run(many + [server.endpoint], deadline: soon)
        #expect(found.count == 201)
        #expect(found.values.count { $0 == .failed("Connection refused") } == 200)
    }

    @Test func `nothing asked is nothing answered, and the same twice is once`() async throws {
        #expect(await ConnectProbe.run([], deadline: soon).isEmpty)
        let dead = try closedEndpoint()
        #expect(await ConnectProbe.run([dead, dead], deadline: soon).count == 1)
    }

    @Test func `a deadline that has passed and a cancelled task end it at once`() async throws {
        let server = try RawDNSServer { _ in [] }
        defer { server.stop() }
        #expect(
            await ConnectProbe.run([server.endpoint], deadline: .zero)
                == [server.endpoint: .timedOut])
        let (endpoint, deadline) = (server.endpoint, soon)
        let task = Task { () -> [Endpoint: ConnectProbe.Outcome] in
            withUnsafeCurrentTask { $0?.cancel() }
            return await ConnectProbe.run([endpoint], deadline: deadline)
        }
        #expect(await task.value == [endpoint: .timedOut])
    }
}
