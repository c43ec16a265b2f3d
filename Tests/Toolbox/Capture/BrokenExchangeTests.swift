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
        _ conduct: LabResponse.Conduct, within total: Duration? = nil,
        change: (inout HTTPDNSConfiguration) -> Void = { _ in }
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
        var request = try HTTPRequest(.post, lab.url(origin), body: .bytes(Array("a=1".utf8)))
        if let total { request.limits.total = total }
        await #expect(throws: ExchangeFailure.self) { try await client.text(request) }
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

    @Test(arguments: [
        LabResponse.Conduct.neverAnswers, .stalls(afterBodyOctets: 20_000),
        .closes(afterBodyOctets: 20_000),
    ])
    func `what a failure took is told to its end`(conduct: LabResponse.Conduct) async throws {
        let record = try await record(conduct, within: .milliseconds(400))
        let hop = try #require(record.hops.first)
        let (total, resolved) = (record.totalMilliseconds ?? -1, hop.resolveMilliseconds ?? -1)
        #expect(abs((hop.timings.total ?? -1) + resolved - total) < 0.01)
        let entry = try JSONValue.parse(HARWriter.file([record]))["log"]?["entries"]?.array?.first
        #expect(abs((entry?["time"]?.number ?? -1) - total) < 0.01)
        let open = conduct == .neverAnswers ? "wait" : "receive"
        #expect((entry?["timings"]?[open]?.number ?? -1) > 0)
    }

    @Test func `a peer that never ends its handshake was connected to until the failure`()
        async throws
    {
        // Takes connections, and says nothing.
        let silent = try RawListener(LabAddress.ipv4)
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        var request = HTTPRequest(
            .get, try HTTPURL("https://\(CaptureLab.host):\(silent.port.number)/"))
        request.limits.total = .milliseconds(400)
        await #expect(throws: ExchangeFailure.self) { try await client.text(request) }
        let record = try #require(await capture.all.first)
        let entry = try JSONValue.parse(HARWriter.file([record]))["log"]?["entries"]?.array?.first
        let total = record.totalMilliseconds ?? -1
        #expect(total >= 400 && abs((entry?["time"]?.number ?? -1) - total) < 0.01)
        #expect(entry?["timings"]?["wait"]?.number == 0)
        #expect(entry?["timings"]?["connect"]?.number ?? -1 > 0)
    }

    @Test(arguments: [true, false])
    func `a redirect that is refused is recorded with its fields`(isDowngrade: Bool) async throws {
        let origin = try lab.origin { request in
            let next = isDowngrade ? "http://\(CaptureLab.host)/plain" : request.path + "x"
            return LabResponse(
                status: 302, fields: [LabField("Location", next), LabField("X-Shop", "7")])
        }
        defer { origin.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        var request = HTTPRequest(.get, try lab.url(origin))
        if !isDowngrade { request.redirects.maximumHops = 1 }
        await #expect(throws: ExchangeFailure.self) { try await client.text(request) }
        let record = try #require(await capture.all.first)
        #expect(record.failure?.label == "redirect_refused" && record.status == 302)
        #expect(record.hops.count == (isDowngrade ? 1 : 2))
        for hop in record.hops {
            #expect(hop.responseField("X-Shop") == "7" && hop.responseField("Location") != nil)
        }
        let entries = try JSONValue.parse(HARWriter.file([record]))["log"]?["entries"]?.array
        let location = record.hops.last?.responseField("Location")
        #expect(entries?.last?["response"]?["redirectURL"]?.string == location)
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
