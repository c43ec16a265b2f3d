import HTTPDNS
import HTTPDNSPinLab
import Testing

/// How old connections get, and how many there are.
@Suite(.timeLimit(.minutes(1))) struct ConnectionOptionsTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    @Test func `a connection past its age takes no new request`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let client = try lab.httpdns { $0.connections.maximumAge = .zero }.client
        for _ in 0..<3 {
            let hop = try await client.get(try origin.httpURL()).report.hops[0]
            #expect(!hop.isReusedConnection)
        }
        #expect(origin.record.connections == 3)
    }

    @Test func `a connection of usual age is kept`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let client = try lab.client()
        for _ in 0..<3 { _ = try await client.get(try origin.httpURL()) }
        #expect(origin.record.connections == 1)
    }

    @Test func `requests beyond the limit of a host wait for a connection`() async throws {
        let origin = try lab.origin { .text("hello \($0.path)").delayed(milliseconds: 5) }
        defer { origin.stop() }
        let client = try lab.httpdns { $0.connections.maximumPerHost = 2 }.client
        let url = try origin.httpURL()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<12 { group.addTask { try await client.get(url).text } }
            for try await text in group { #expect(text == "hello /") }
        }
        #expect((1...2).contains(origin.record.connections))
    }
}
