import Glibc
import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTransport
import TestSupport
import Testing

/// Where connections go, and which are used again.
@Suite(.timeLimit(.minutes(2))) struct RouteTests {
    @Test func `a connection is kept for the next request over the same route`() async throws {
        let server = try answering(okay)
        let transport = Transport()
        let first = await run(try plainRequest(server), transport)
        let second = await run(try plainRequest(server), transport)
        #expect(first.connections.map(\.isReused) == [false])
        #expect(second.connections.map(\.isReused) == [true])
        #expect(second.facts?.isReused == true)
        #expect(second.facts?.connectedMilliseconds == nil)
        #expect(second.connections.map(\.remote) == [server.endpoint])
        #expect(server.connections == 1)
    }

    @Test func `another origin or another address list never shares a connection`() async throws {
        let server = try answering(okay)
        let transport = Transport()
        _ = await run(try plainRequest(server), transport)
        let otherName = try plainRequest(server) {
            $0.origin = Origin(scheme: .http, host: .name(try HostName("other.test")))
        }
        let otherList = try plainRequest(server) {
            $0.route = try server.route(before: ["127.0.0.9"])
        }
        for request in [otherName, otherList] {
            #expect(await run(request, transport).connections.map(\.isReused) == [false])
        }
        #expect(server.connections == 3)
        #expect(await run(try plainRequest(server), transport).facts?.isReused == true)
    }

    @Test(arguments: [["127.0.0.9"], ["::1"], ["127.0.0.9", "127.0.0.8", "::1"]])
    func `dead addresses are passed over`(dead: [String]) async throws {
        let server = try answering(okay)
        let story = await run(
            try plainRequest(server) { $0.route = try server.route(before: dead) })
        #expect(story.text == "ok")
        #expect(story.connections.map(\.remote) == [server.endpoint])
        #expect(story.failedAt.isEmpty)
    }

    @Test func `IPv6 is connected to as it is written`() async throws {
        let server = try answering(okay, on: "::1")
        let story = await run(try plainRequest(server))
        #expect(story.text == "ok")
        #expect(story.facts?.remote?.description == "[::1]:\(server.endpoint.port)")
    }

    @Test func `when all addresses are dead nothing was sent and the text names none of ours`()
        async throws
    {
        let server = try answering(okay)
        let port = try closedPort(address: IPAddress("127.0.0.1"))
        let story = await run(
            try plainRequest(server) {
                $0.route = try #require(
                    Route(
                        addresses: [try IPAddress("127.0.0.1"), try IPAddress("127.0.0.2")],
                        port: port))
            })
        guard case .cannotConnect(let text)? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(text.contains("origin.test"))
        #expect(!text.contains(".invalid"))
        #expect(story.connections.isEmpty)
    }

    @Test func `many routes after one another keep working`() async throws {
        let server = try answering(okay)
        let transport = Transport()
        // More than the names that are kept: old ones are retired and told to libcurl.
        for number in 0..<700 {
            let story = await run(
                try plainRequest(server) {
                    let last = UInt8(number % 250 + 2)
                    let third = UInt8(number / 250)
                    let address = try #require(IPAddress(octets: [127, 1, third, last]))
                    $0.route = try #require(
                        Route(
                            addresses: [server.endpoint.address, address],
                            port: server.endpoint.port))
                }, transport)
            #expect(story.text == "ok")
        }
        #expect(await run(try plainRequest(server), transport).text == "ok")
    }

    @Test func `a proxy that the environment names is not used`() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
                setenv(name, "http://127.0.0.1:9", 1)
            }
            unsetenv("no_proxy")
            let server = try answering(okay)
            let story = await run(try plainRequest(server))
            exit(story.text == "ok" && server.connections == 1 ? 0 : 1)
        }
    }
}
