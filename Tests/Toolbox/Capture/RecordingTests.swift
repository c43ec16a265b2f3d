import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct RecordingTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    @Test func `an exchange is a record of whom was asked, where it went and what was proved`()
        async throws
    {
        let origin = try lab.origin { _ in
            LabResponse(
                fields: [LabField("Content-Type", "application/json"), LabField("X-Shop", "7")],
                body: Array(#"{"token":"hidden-away","page":1}"#.utf8))
        }
        defer { origin.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        var request = HTTPRequest(
            .post, try lab.url(origin, "/v1?api_key=hidden-away&x=1"),
            body: .bytes(Array("password=hidden-away&a=b".utf8)))
        try request.head.fields.append("Content-Type", "application/x-www-form-urlencoded")
        try request.head.fields.append("Authorization", "Bearer hidden-away")
        #expect(try await client.text(request) == #"{"token":"hidden-away","page":1}"#)
        let record = try #require(await capture.all.first)
        let hop = try #require(record.hops.first)
        #expect(record.kind == .exchange && record.initiator.name == "client")
        #expect(record.method == "POST" && record.host == CaptureLab.host)
        #expect(record.url.hasSuffix("/v1?api_key=REDACTED&x=1"))
        #expect(record.status == 200 && record.failure == nil && record.hops.count == 1)
        #expect(hop.requestField("authorization") == "Bearer REDACTED")
        #expect(hop.responseField("x-shop") == "7")
        #expect(record.requestBody.text == "password=REDACTED&a=b")
        #expect(record.requestBody.totalOctets == 24)
        #expect(record.responseBody.text == #"{"token":"REDACTED","page":1}"#)
        #expect(record.responseBody.totalOctets == 32 && record.responseBody.omission == nil)
        #expect(hop.resolution?.resolver == "override")
        #expect(hop.resolution?.addresses == ["127.0.0.1"])
        #expect(hop.remote == "127.0.0.1:\(origin.port)")
        #expect(hop.peer?.host == CaptureLab.host && hop.peer?.matchedName == CaptureLab.host)
        #expect(hop.peer?.pinning == "unpinned" && hop.tlsVersion != nil)
        #expect(!hop.isReusedConnection && hop.version != nil)
        #expect(hop.sentOctets > 24 && hop.receivedOctets > 32)
        let timings = hop.timings
        #expect((timings.connected ?? -1) <= (timings.secured ?? -1))
        #expect((timings.secured ?? -1) <= (timings.firstByte ?? -1))
        #expect((timings.firstByte ?? -1) <= (timings.total ?? -1))
        #expect((record.totalMilliseconds ?? -1) > 0 && hop.resolveMilliseconds != nil)
        try await client.text(request)
        #expect(await capture.all.last?.hops.first?.isReusedConnection == true)
    }

    @Test func `a chain of redirects is one record with its hops`() async throws {
        let origin = try lab.origin { request in
            switch request.path {
            case "/one": .redirect(to: "/two?token=hidden-away", status: 302)
            case "/three": .text("there")
            default: .redirect(to: "/three", status: 301)
            }
        }
        defer { origin.stop() }
        let capture = lab.ring()
        try await lab.httpdns(capture).client.text(HTTPRequest(.get, lab.url(origin, "/one")))
        let record = try #require(await capture.all.first)
        #expect(record.hops.map(\.status) == [302, 301, 200])
        #expect(
            record.hops.map { CapturedPath.of($0.url) } == [
                "/one", "/two?token=REDACTED", "/three",
            ])
        #expect(record.hops[0].responseField("location") == "/two?token=REDACTED")
        #expect(record.hops.allSatisfy { $0.peer != nil && $0.remote != nil })
        #expect(record.responseBody.text == "there")
    }

    @Test func `what fails is recorded with its label and its attempts`() async throws {
        let origin = try lab.origin()
        let url = try lab.url(origin, "/?token=hidden-away")
        origin.stop()
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        await #expect(throws: ExchangeFailure.self) {
            try await client.text(HTTPRequest(.get, url))
        }
        let record = try #require(await capture.all.first)
        #expect(record.failure?.label == "cannot_connect" && record.status == nil)
        #expect(record.failure?.message.contains("hidden") == false)
        #expect(record.hops.first?.attempts.first?.label == "cannot_connect")
        #expect(record.hops.first?.resolution?.addresses == ["127.0.0.1"])
        #expect(record.hops.first?.attempts.first?.message.contains("hidden") == false)
        #expect(record.isFailed)
    }

    @Test func `a peer that proves nothing is recorded, and got no octet`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let capture = lab.ring()
        let stranger = try TestAuthority("Stranger")
        let client = try lab.httpdns(capture) {
            $0.trust = TrustPolicy(roots: .pem(stranger.certificatePEM))
        }.client
        let url = try lab.url(origin)
        await #expect(throws: ExchangeFailure.self) {
            try await client.text(HTTPRequest(.get, url))
        }
        let record = try #require(await capture.all.first)
        #expect(record.failure?.label == "unknown_issuer")
        #expect(record.hops.first?.peer == nil && origin.record.requests.isEmpty)
    }

    @Test func `the flag counts for what begins, and live`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let capture = lab.ring { $0.isEnabled = false }
        let client = try lab.httpdns(capture).client
        try await client.text(HTTPRequest(.get, lab.url(origin, "/off")))
        capture.start()
        try await client.text(HTTPRequest(.get, lab.url(origin, "/on")))
        capture.stop()
        try await client.text(HTTPRequest(.get, lab.url(origin, "/off")))
        #expect(await capture.all.map { CapturedPath.of($0.url) } == ["/on"])
        #expect(capture.counts.records == 1)
    }

    @Test func `listeners hear the beginning, the head and the end, in order`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let capture = Capture()
        let events = capture.events()
        try await lab.httpdns(capture).client.text(HTTPRequest(.get, lab.url(origin)))
        var heard: [String] = []
        for await event in events {
            switch event {
            case .began(let record): heard.append("began \(record.status == nil)")
            case .answered(let record): heard.append("answered \(record.status ?? 0)")
            case .ended(let record): heard.append("ended \(record.responseBody.text)")
            }
            if heard.count == 3 { break }
        }
        #expect(heard == ["began true", "answered 200", "ended hello /"])
    }

    @Test func `a slow listener costs nobody anything, and what it missed is counted`() async throws
    {
        let capture = Capture()
        let events = capture.events(holding: 2)
        for number in 0..<10 { capture.add(.sample("/\(number)")) }
        await capture.flush()
        var heard: [String] = []
        for await event in events {
            heard.append(CapturedPath.of(event.record.url))
            if heard.count == 2 { break }
        }
        #expect(heard == ["/8", "/9"] && capture.counts.missedEvents == 8)
    }

    @Test func `the ring keeps the last ones`() async throws {
        let capture = Capture(CaptureConfiguration(ringRecords: 3))
        for number in 0..<7 { capture.add(.sample("/\(number)")) }
        #expect(await capture.all.map { CapturedPath.of($0.url) } == ["/4", "/5", "/6"])
        capture.clear()
        #expect(await capture.all.isEmpty)
    }

    @Test func `the callback gets every record`() async throws {
        let got = Locked<[Int64]>([])
        var configuration = CaptureConfiguration()
        configuration.onRecord = { record in got.withLock { $0.append(record.id) } }
        let capture = Capture(configuration)
        for number in 0..<5 { capture.add(.sample("/\(number)")) }
        await capture.flush()
        #expect(got.withLock { $0 } == [1, 2, 3, 4, 5])
    }

    @Test func `what the writer cannot keep up with is dropped, counted and told once`()
        async throws
    {
        let troubles = Locked<[String]>([])
        let gate = Gate()
        var configuration = CaptureConfiguration()
        configuration.limits.maximumWaitingRecords = 8
        configuration.report = { trouble in troubles.withLock { $0.append(trouble.label) } }
        configuration.onRecord = { _ in gate.pass() }
        let capture = Capture(configuration)
        capture.add(.sample("/first"))
        gate.awaitArrival()
        for number in 0..<50 { capture.add(.sample("/\(number)")) }
        gate.open()
        await capture.flush()
        let counts = capture.counts
        #expect(counts.records + counts.droppedRecords == 51 && counts.droppedRecords >= 40)
        #expect(troubles.withLock { $0 } == ["fell_behind"])
    }

    @Test func `a body is cut at the limit, and its true size kept`() async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let capture = lab.ring { $0.limits.maximumBodyOctets = 1_000 }
        let body = [UInt8](repeating: 0x61, count: 200_000)
        let client = try lab.httpdns(capture).client
        try await client.text(HTTPRequest(.put, lab.url(origin), body: .bytes(body)))
        let record = try #require(await capture.all.first)
        for body in [record.requestBody, record.responseBody] {
            #expect(body.totalOctets == 200_000 && body.octets.count == 1_000)
            #expect(body.omission == .cut && body.keptOctets == 1_000)
        }
        let none = lab.ring { $0.limits.maximumBodyOctets = 0 }
        try await lab.httpdns(none).client.text(
            HTTPRequest(.put, lab.url(origin), body: .bytes(body)))
        let bare = try #require(await none.all.first)
        #expect(bare.responseBody.omission == .off && bare.responseBody.octets.isEmpty)
        #expect(bare.responseBody.totalOctets == 200_000)
    }

    @Test func `a streamed body is seen as it goes out, once, redirects included`() async throws {
        let origin = try lab.origin {
            $0.path == "/first" ? .redirect(to: "/second", status: 307) : .text("\($0.body.count)")
        }
        defer { origin.stop() }
        let capture = lab.ring()
        let body = RequestBody.stream(RepeatableSource(Array("a=1&password=hidden-away".utf8)))
        var request = HTTPRequest(.put, try lab.url(origin, "/first"), body: body)
        try request.head.fields.append("Content-Type", "application/x-www-form-urlencoded")
        #expect(try await lab.httpdns(capture).client.text(request) == "24")
        let record = try #require(await capture.all.first)
        #expect(record.requestBody.text == "a=1&password=REDACTED")
        #expect(record.requestBody.totalOctets == 24 && record.hops.count == 2)
    }

    @Test func `a coded body that the application asked for is not kept`() async throws {
        let origin = try lab.origin { _ in
            LabResponse(fields: [LabField("Content-Encoding", "gzip")], body: [0x1F, 0x8B, 8, 0])
        }
        defer { origin.stop() }
        let capture = lab.ring()
        var request = HTTPRequest(.get, try lab.url(origin))
        try request.head.fields.append("Accept-Encoding", "gzip")
        try await lab.httpdns(capture).client.text(request)
        let body = try #require(await capture.all.first?.responseBody)
        #expect(body.omission == .coded && body.octets.isEmpty && body.totalOctets == 4)
    }

    @Test func `a request that is given up ends its record`() async throws {
        let origin = try lab.origin { _ in
            LabResponse(body: [UInt8](repeating: 1, count: 4_000_000))
        }
        defer { origin.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        do {
            let response = try await client.send(HTTPRequest(.get, lab.url(origin)))
            #expect(response.status == 200)
        }
        #expect(await eventually { await capture.all.first?.failure?.label == "cancelled" })
    }
}
