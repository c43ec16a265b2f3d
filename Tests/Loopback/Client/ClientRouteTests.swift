import HTTPDNS
import HTTPDNSPinLab
import TestSupport
import Testing

/// Which of a host's addresses a request goes to.
@Suite(.timeLimit(.minutes(1))) struct ClientRouteTests {
    let lab: ClientLab
    private let dead = LabAddress.ipv4(host: 9)
    private let liar = LabAddress.ipv4(host: 66)

    init() throws { lab = try ClientLab() }

    private func hijacker(_ origin: LabServer, at address: IPAddress) throws -> LabServer {
        try lab.origin(["hijacker.invalid"], at: address, port: origin.port) { _ in
            .text("this is not the page you asked for")
        }
    }

    @Test func `a dead first address is passed over`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let client = try lab.client(["shop.example.test": [dead, origin.address]])
        let answer = try await client.get(try origin.httpURL())
        #expect(answer.report.hops[0].remote?.address == origin.address)
    }

    @Test func `an address that was passed over comes last the next time`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let backend = TableBackend(["shop.example.test": [dead, origin.address]])
        let httpdns = try lab.httpdns([:]) { $0.customResolvers = [backend] }
        let host = Host.name(try HostName("shop.example.test"))
        #expect(try await httpdns.resolver.resolve(host).addresses.first == dead)
        _ = try await httpdns.client.get(try origin.httpURL())
        #expect(
            try await httpdns.resolver.resolve(host).addresses == [origin.address, dead])
    }

    @Test func `a hijacker among the addresses is passed over, and gets no octet`() async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let hijacker = try hijacker(origin, at: liar)
        defer { hijacker.stop() }
        let client = try lab.client(["shop.example.test": [liar, origin.address]])
        let request = HTTPRequest(.post, try origin.httpURL(), body: .bytes(Array("pay".utf8)))
        let answer = try await client.fetch(request)
        #expect(answer.text == "pay")
        let hop = answer.report.hops[0]
        #expect(hop.remote?.address == origin.address)
        #expect(hop.attempts.map(\.address) == [liar])
        #expect(hop.attempts.map(\.label) == ["wrong_name"])
        #expect(hijacker.awaitConnectionsEnded())
        #expect(hijacker.record.connections == 1)
        #expect(hijacker.record.receivedOctets == 0)
    }

    @Test func `a source that lies is followed by the next one, and asked last from then on`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let hijacker = try hijacker(origin, at: liar)
        defer { hijacker.stop() }
        let lying = TableBackend(["shop.example.test": [liar]], label: "liar")
        let honest = TableBackend(["shop.example.test": [origin.address]], label: "honest")
        let httpdns = try lab.httpdns([:]) { $0.customResolvers = [lying, honest] }
        let answer = try await httpdns.client.get(try origin.httpURL())
        let hop = answer.report.hops[0]
        #expect(hop.remote?.address == origin.address)
        #expect(hop.attempts.map(\.label) == ["wrong_name"])
        #expect(hop.wasRefreshed)
        #expect(hijacker.awaitConnectionsEnded())
        #expect(hijacker.record.receivedOctets == 0)
        // What was learnt holds for the host, whoever asks.
        let again = try await httpdns.client.get(try origin.httpURL())
        #expect(again.report.hops[0].attempts.isEmpty)
        #expect(lying.asked == ["shop.example.test"])
    }

    @Test func `where all sources lie the request is refused`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let hijacker = try hijacker(origin, at: liar)
        defer { hijacker.stop() }
        let both = ["a", "b"].map { TableBackend(["shop.example.test": [liar]], label: $0) }
        let httpdns = try lab.httpdns([:]) { $0.customResolvers = both }
        let request = HTTPRequest(.get, try origin.httpURL())
        #expect(await httpdns.client.failure(of: request)?.label == "wrong_name")
        #expect(both.map(\.asked.count) == [1, 1])
    }

    @Test func `a stream of which nothing was read goes to the next address`() async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let hijacker = try hijacker(origin, at: liar)
        defer { hijacker.stop() }
        let client = try lab.client(["shop.example.test": [liar, origin.address]])
        let source = ScriptedSource([.give(Array("once".utf8))], length: nil)
        let request = HTTPRequest(.post, try origin.httpURL(), body: .stream(source))
        #expect(try await client.fetch(request).text == "once")
    }

    @Test func `when all addresses are hijackers nothing is sent, and the facts are told`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let others = [66, 67].map { LabAddress.ipv4(host: $0) }
        let hijackers = try others.map { try hijacker(origin, at: $0) }
        defer { for hijacker in hijackers { hijacker.stop() } }
        let client = try lab.client(["shop.example.test": others + [dead]])
        let failure = try #require(
            await client.failure(of: HTTPRequest(.get, try origin.httpURL())))
        guard case .untrusted(let trust) = failure.cause else {
            Issue.record("\(failure)")
            return
        }
        #expect(trust.code == .wrongName)
        #expect(trust.facts.host == .name(try HostName("shop.example.test")))
        #expect(
            trust.facts.chain.first?.dnsNames.map { String(decoding: $0, as: UTF8.self) }
                == ["hijacker.invalid"])
        #expect(failure.report.hops[0].attempts.prefix(2).map(\.address) == others)
        #expect(failure.report.hops[0].attempts.count == 3)
        for hijacker in hijackers {
            #expect(hijacker.awaitConnectionsEnded())
            #expect(hijacker.record.serverNames == ["shop.example.test"])
            #expect(hijacker.record.receivedOctets == 0)
        }
        #expect(origin.record.connections == 0)
    }

    @Test func `addresses that are all dead are an error of connecting`() async throws {
        let port = try closedPort(address: dead)
        let client = try lab.client(["shop.example.test": [dead]])
        let url = try HTTPURL("https://shop.example.test:\(port)/")
        #expect(await client.failure(of: HTTPRequest(.get, url))?.label == "cannot_connect")
    }

    @Test func `a handshake that breaks is passed over as well`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let broken = try LabServer(
            address: liar, port: origin.port,
            security: .tls(try lab.root.leaf(["shop.example.test"])), fault: .closesInHandshake
        ) { _ in .text("never") }
        try broken.start()
        defer { broken.stop() }
        let client = try lab.client(["shop.example.test": [liar, origin.address]])
        let answer = try await client.get(try origin.httpURL())
        #expect(answer.report.hops[0].attempts.map(\.label) == ["handshake_failed"])
        #expect(answer.report.hops[0].remote?.address == origin.address)
    }

    @Test func `an address whose handshake hangs holds up nobody for good`() async throws {
        let hung = try RawTLSServer(
            try lab.root.leaf(["shop.example.test"]), .http2, accepts: false
        ) { HTTP2Script { _, _, _ in } }
        let origin = try lab.origin(at: LabAddress.ipv4(host: 10), port: hung.port)
        defer { origin.stop() }
        let client = try lab.client(["shop.example.test": [hung.address, origin.address]])
        var request = HTTPRequest(.get, try origin.httpURL())
        // Those that wait for the connection of the first wait as long.
        request.limits.connect = .seconds(8)
        let answers = try await withThrowingTaskGroup(of: ExchangeReport.self) { group in
            for _ in 0..<5 {
                group.addTask { [request] in
                    let response = try await client.send(request)
                    return try await response.collect(upTo: 1_000).report
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 5)
        for report in answers {
            #expect(report.hops[0].remote?.address == origin.address)
            #expect(report.hops[0].attempts.map(\.address) == [hung.address])
            #expect(report.hops[0].attempts.map(\.label) == ["timed_out"])
        }
    }

    @Test func `the addresses that refused are in the report`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let others = [40, 41].map { LabAddress.ipv4(host: $0) }
        let client = try lab.client(["shop.example.test": others + [origin.address]])
        let hop = try await client.get(try origin.httpURL()).report.hops[0]
        #expect(hop.remote?.address == origin.address)
        #expect(hop.attempts.map(\.address) == others)
        #expect(hop.attempts.map(\.label) == ["cannot_connect", "cannot_connect"])
    }

    @Test func `when the addresses of a host change, the old connection is not used`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let moved = try lab.origin(at: LabAddress.ipv4(host: 2), port: origin.port) { _ in
            .text("moved")
        }
        defer { moved.stop() }
        let backend = TableBackend(["shop.example.test": [origin.address]])
        let client = try lab.httpdns([:]) { $0.customResolvers = [backend] }.client
        #expect(try await client.get(try origin.httpURL()).text == "hello /")
        backend.tell("shop.example.test", [moved.address])
        client.resolver.removeCachedAnswers()
        #expect(try await client.get(try origin.httpURL()).text == "moved")
    }
}
