import HTTPDNS
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// An exchange that breaks off is recorded as far as it came.
@Suite(.timeLimit(.minutes(2))) struct BrokenExchangeTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    private func record(
        _ conduct: LabResponse.Conduct, change: (inout HTTPDNSConfiguration) -> Void = { _ in }
    ) async throws -> CaptureRecord {
        let origin = try lab.origin { _ in
            var answer = LabResponse(
                fields: [LabField("X-Shop", "7"), LabField("Cache-Control", "max-age=60")],
                body: [UInt8](repeating: 0x61, count: 50_000))
            answer.conduct = conduct
            return answer
        }
        defer { origin.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture, change: change).client
        await #expect(throws: ExchangeFailure.self) {
            try await client.text(
                HTTPRequest(.post, lab.url(origin), body: .bytes(Array("a=1".utf8))))
        }
        return try #require(await capture.all.first)
    }

    @Test(arguments: [false, true])
    func `a body that ends short leaves its octets and times`(isCached: Bool) async throws {
        let directory = try TemporaryDirectory()
        let record = try await record(.closes(afterBodyOctets: 20_000)) {
            guard isCached else { return }
            $0.offlineCache = OfflineCacheSettings(directory: directory.path + "/cache")
        }
        let hop = try #require(record.hops.first)
        #expect(record.failure?.label == "connection_lost" && record.status == 200)
        #expect(hop.responseField("x-shop") == "7" && hop.peer != nil && hop.remote != nil)
        #expect(record.responseBody.totalOctets == 20_000)
        #expect(record.responseBody.octets.count == 20_000)
        #expect(hop.receivedOctets > 20_000 && hop.sentOctets > 3)
        let (secured, first) = (hop.timings.secured ?? -1, hop.timings.firstByte ?? -1)
        #expect(secured > 0 && first >= secured && (hop.timings.total ?? -1) >= first)
    }

    @Test func `a reset in the body leaves what came before it`() async throws {
        let record = try await record(.resets(afterBodyOctets: 20_000))
        let hop = try #require(record.hops.first)
        #expect(record.failure != nil && hop.sentOctets > 3)
        #expect((hop.timings.total ?? -1) > 0)
        // What of it arrived is for the network to say.
        #expect(hop.receivedOctets >= record.responseBody.totalOctets)
        if record.status == 200 { #expect((hop.timings.firstByte ?? -1) > 0) }
    }

    @Test(arguments: [LabResponse.Conduct.resetsUnanswered, .closesUnanswered])
    func `a connection that breaks before an answer leaves what was sent`(
        conduct: LabResponse.Conduct
    ) async throws {
        let record = try await record(conduct)
        let hop = try #require(record.hops.first)
        #expect(record.status == nil && record.failure != nil)
        #expect(hop.sentOctets > 3 && hop.receivedOctets == 0 && hop.timings.firstByte == nil)
        #expect((hop.timings.secured ?? -1) > 0)
    }

    @Test func `a request that is given up leaves what was seen of it`() async throws {
        let origin = try lab.origin { _ in
            var answer = LabResponse(body: [UInt8](repeating: 1, count: 50_000))
            answer.conduct = .stalls(afterBodyOctets: 20_000)
            return answer
        }
        defer { origin.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        do {
            let response = try await client.send(HTTPRequest(.get, lab.url(origin)))
            var body = response.body.makeAsyncIterator()
            var octets = 0
            while octets < 20_000, let chunk = try await body.nextChunk() { octets += chunk.count }
        }
        #expect(await eventually { await !capture.all.isEmpty })
        let hop = try #require(await capture.all.first?.hops.first)
        #expect(hop.receivedOctets > 20_000 && (hop.timings.firstByte ?? -1) > 0)
    }

    @Test func `the tool shows them`() async throws {
        let origin = try lab.origin { _ in
            var answer = LabResponse(body: [UInt8](repeating: 0x61, count: 50_000))
            answer.conduct = .closes(afterBodyOctets: 20_000)
            return answer
        }
        defer { origin.stop() }
        let root = try lab.directory.write("root.pem", lab.root.certificatePEM)
        let result = try await CaptureTool.run(
            "fetch", origin.url(host: CaptureLab.host, path: "/"), "--cacert", root, "--resolve",
            "\(CaptureLab.host):127.0.0.1", "--capture", lab.path, "--json")
        let object = try #require(try result.documents.first)
        #expect(object["status"]?.integer == 200 && result.status == 3)
        #expect((object["timings"]?["firstByte"]?.number ?? -1) > 0)
        let shown = try await CaptureTool.run("capture", "show", lab.path, "--json")
        let record = try #require(try shown.documents.first)
        #expect((record["receivedOctets"]?.integer ?? 0) > 20_000)
        #expect(record["responseBody"]?["octets"]?.integer == 20_000)
    }
}
