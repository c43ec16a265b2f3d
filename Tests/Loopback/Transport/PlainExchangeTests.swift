import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTransport
import Testing

/// A request to `name` over the server's route.
func plainRequest(
    _ server: ScriptedServer, name: String = "origin.test", method: HTTPMethod = .get,
    target: String = "/", fields: [(String, String)] = [], body: RequestBody = .none,
    change: (inout TransportRequest) -> Void = { _ in }
) throws -> TransportRequest {
    var list = HTTPFields()
    for (name, value) in fields { try list.append(name, value) }
    let origin = Origin(
        scheme: .http, host: .name(try HostName(name)), port: server.endpoint.port)
    var request = TransportRequest(
        origin: origin, route: try server.route(), method: method, target: target, fields: list,
        body: body, verifier: nil)
    change(&request)
    return request
}

/// Runs one exchange on a transport of its own.
func run(_ request: TransportRequest, _ transport: Transport = Transport()) async -> Recorder.Story
{
    let recorder = Recorder()
    let transfer = transport.start(request, observer: recorder)
    let story = await recorder.end()
    withExtendedLifetime((transport, transfer)) {}
    return story
}

/// Answers every request with the same octets, keeping the connection.
func answering(_ response: String) throws -> ScriptedServer {
    try ScriptedServer { connection in
        while connection.readHead() != nil { connection.send(response) }
    }
}

@Suite(.timeLimit(.minutes(2))) struct PlainExchangeTests {
    @Test func `the request names the origin, and nothing else is added to it`() async throws {
        let server = try answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let request = try plainRequest(server, target: "/a/../b?q=%41#x") {
            $0.decodesContent = false
        }
        let story = await run(request)
        #expect(story.facts != nil)
        #expect(story.text == "ok")
        #expect(
            server.heads == [
                "GET /a/../b?q=%41#x HTTP/1.1\r\nHost: origin.test:\(server.endpoint.port)"
            ])
        #expect(story.connections.map(\.remote) == [server.endpoint])
        #expect(story.peers == [nil])
        #expect(story.head?.url.description == "http://\(request.origin.authority)/a/../b?q=%41#x")
    }
}
