import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import Testing

/// Addresses of one family that cannot be connected to: the next one is tried at once.
@Suite(.timeLimit(.minutes(3))) struct NextAddressTests {
    private static func answering(_ address: String) throws -> ScriptedServer {
        try ScriptedServer(address: address) { connection in
            while connection.readHead() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
    }

    private func request(
        _ server: ScriptedServer, before others: [String]
    ) throws -> TransportRequest {
        try plainRequest(server) {
            $0.route = try server.route(before: others)
            // Half of it is what libcurl gives a silent address; all of it what is lost where nobody
            // calls libcurl again.
            $0.limits.connectMilliseconds = 100_000
            $0.limits.deadline = SystemMonotonicClock().now().adding(milliseconds: 150_000)
        }
    }

    @Test(arguments: [1, 2, 4])
    func `refused ones are passed over without a wait, and told`(count: Int) async throws {
        let server = try Self.answering("127.0.0.1")
        let others = (0..<count).map { "127.0.\(40 + $0).1" }
        let story = await run(try request(server, before: others))
        #expect(story.text == "ok", "\(story.results)")
        let connection = try #require(story.connections.first)
        #expect(connection.remote.address == server.endpoint.address)
        #expect(connection.passedOver.map { "\($0.address)" } == others)
        #expect(connection.passedOver.allSatisfy { !$0.wasSilent })
        // libcurl's own timer is at 50 s.
        let facts = try #require(story.facts)
        #expect((facts.connectedMilliseconds ?? .infinity) < 40_000)
    }

    @Test func `a silent one has two seconds while another is left`() async throws {
        let server = try Self.answering("127.0.0.1")
        let other = "127.0.50.1"
        let silent = try SilentListener(IPAddress(other), port: server.endpoint.port)
        let story = await run(try request(server, before: [other]))
        withExtendedLifetime(silent) {}
        #expect(story.text == "ok", "\(story.results)")
        let connection = try #require(story.connections.first)
        #expect(
            connection.passedOver == [PassedOver(try IPAddress(other), wasSilent: true)])
        let milliseconds = try #require(story.facts?.connectedMilliseconds)
        #expect(milliseconds >= Double(2_000 - 10) && milliseconds < 40_000)
    }

    @Test func `where all are refused each is named`() async throws {
        let server = try Self.answering("127.0.0.1")
        let others = ["127.0.40.1", "127.0.41.1", "127.0.42.1"]
        var request = try request(server, before: others)
        request.route = try #require(
            Route(addresses: others.map { try IPAddress($0) }, port: server.endpoint.port))
        let story = await run(request)
        guard case .cannotConnect? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        let failed = story.passedOver.map(\.address) + story.failedAt.map(\.address)
        #expect(Set(failed.map { "\($0)" }) == Set(others))
        #expect(server.connections == 0)
    }
}
