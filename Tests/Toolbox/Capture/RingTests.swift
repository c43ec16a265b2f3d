import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

@testable import HTTPDNSCapture

/// What a ring is given on the thread of a request, and reads when it is asked.
@Suite(.timeLimit(.minutes(2))) struct RingTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    /// Answers with what differs from request to request.
    private func counting() throws -> LabServer {
        let count = Locked(0)
        return try lab.origin { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return LabResponse(
                fields: [
                    LabField("Content-Type", "application/json"), LabField("X-Count", "\(number)"),
                    LabField("Set-Cookie", "id=hidden-away"),
                ],
                body: Array(#"{"token":"hidden-away","path":"\#(request.path)"}"#.utf8))
        }
    }

    private func request(_ origin: LabServer, _ path: String) throws -> HTTPRequest {
        var request = HTTPRequest(.get, try lab.url(origin, path + "?api_key=hidden-away"))
        try request.head.fields.append("Authorization", "Bearer hidden-away")
        try request.head.fields.append("X-Path", path)
        return request
    }

    @Test(arguments: ["ring", "listener", "callback", "file"])
    func `by whatever way a record comes, it is its own and has no secret`(way: String)
        async throws
    {
        let origin = try counting()
        defer { origin.stop() }
        let told = Locked<[CaptureRecord]>([])
        let capture = lab.ring { configuration in
            if way == "callback" {
                configuration.onRecord = { record in told.withLock { $0.append(record) } }
            }
            if way == "file" { configuration.path = lab.path }
        }
        let events = way == "listener" ? capture.events() : nil
        let client = try lab.httpdns(capture).client
        for number in 1...6 {
            try await client.text(request(origin, number.isMultiple(of: 2) ? "/even" : "/odd"))
        }
        let records = await capture.all
        #expect(records.count == 6 && capture.counts.records == 6)
        for (place, record) in records.enumerated() {
            let path = place.isMultiple(of: 2) ? "/odd" : "/even"
            let hop = try #require(record.hops.first)
            #expect(CapturedPath.of(record.url) == path + "?api_key=REDACTED")
            #expect(hop.requestField("x-path") == path)
            #expect(hop.requestField("authorization") == "Bearer REDACTED")
            #expect(hop.responseField("x-count") == "\(place + 1)")
            #expect(hop.responseField("set-cookie") == "id=REDACTED")
            #expect(record.responseBody.text == #"{"token":"REDACTED","path":"\#(path)"}"#)
            #expect(hop.isReusedConnection == (place > 0) && hop.peer?.host == CaptureLab.host)
            #expect(!"\(record)".contains("hidden-away"))
        }
        #expect(Set(records.map(\.id)) == Set(1...6))
        #expect(capture.recent == records)
        if way == "callback" { #expect(told.withLock { $0 } == records) }
        _ = events
    }

    @Test func `what is forgotten is all that had ended, and nothing that ended later`()
        async throws
    {
        // Just long enough to go by way of the capture's thread, which reads every octet of it.
        let long = [UInt8](repeating: 0x61, count: BodyKeeper.pieceOctets + 1)
        let origin = try lab.origin { request in
            request.path == "/long"
                ? LabResponse(fields: [LabField("Content-Type", "text/plain")], body: long)
                : .text("short")
        }
        defer { origin.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        for _ in 0..<20 {
            for path in ["/long", "/short"] {
                try await client.text(HTTPRequest(.get, lab.url(origin, path)))
            }
            capture.clear()
            try await client.text(HTTPRequest(.get, lab.url(origin, "/after")))
            #expect(capture.recent.map { CapturedPath.of($0.url) } == ["/after"])
            #expect(await capture.all.map { CapturedPath.of($0.url) } == ["/after"])
            capture.clear()
        }
    }

    @Test func `of long bodies and short ones the last are kept`() async throws {
        let capture = lab.ring { $0.ringRecords = 3 }
        for number in 0..<8 {
            let count = number.isMultiple(of: 3) ? 100_000 : 10
            capture.add(.sample("/\(number)", body: [UInt8](repeating: 0x62, count: count)))
            // One after the other: long ones go by way of the capture's thread.
            await capture.flush()
        }
        let records = capture.recent
        #expect(records.map { CapturedPath.of($0.url) } == ["/5", "/6", "/7"])
        #expect(records.map(\.responseBody.totalOctets) == [10, 100_000, 10])
        #expect(records.map(\.responseBody.octets.count) == [10, 65_536, 10])
        #expect(capture.counts.records == 8)
    }

    @Test func `many may read while others write`() async throws {
        let capture = lab.ring { $0.ringRecords = 50 }
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<200 {
                        capture.add(.sample("/\(writer)?token=hidden-away&n=\(number)"))
                    }
                }
                group.addTask {
                    for _ in 0..<20 {
                        let records = capture.recent
                        #expect(records.count <= 50)
                        #expect(records.allSatisfy { $0.url.contains("token=REDACTED&n=") })
                    }
                }
            }
        }
        #expect(capture.recent.count == 50 && capture.counts.records == 800)
    }

    @Test func `text that a string of JSON holds as it is is told from other text`() {
        for length in 1...20 {
            for place in 0..<length {
                for octet in UInt8.min...UInt8.max {
                    var octets = [UInt8](repeating: 0x7A, count: length)
                    octets[place] = octet
                    let isPlain =
                        octet >= 0x20 && octet < 0x7F && octet != 0x22 && octet != 0x5C
                    #expect(octets.withUnsafeBufferPointer(DetailWriter.isPlain) == isPlain)
                }
            }
        }
        #expect([].withUnsafeBufferPointer(DetailWriter.isPlain))
    }
}

/// What becomes of records whose file fails, and of listeners whose capture is let go.
@Suite(.timeLimit(.minutes(2))) struct LostPieceTests {
    @Test func `a body of which a piece was lost is kept as far as it is whole`() async throws {
        let lab = try CaptureLab()
        var configuration = CaptureConfiguration(path: lab.path)
        configuration.limits.maximumBodyOctets = 1 << 20
        let capture = Capture(configuration)
        let watch = try #require(capture.begin(.sample("/long")))
        let piece = (0..<100_000).map { UInt8(truncatingIfNeeded: 0x61 + $0 % 26) }
        piece.withUnsafeBytes { watch.received($0) }
        await capture.flush()
        // What was written so far is gone, with all that the file held.
        capture.clear()
        await capture.flush()
        for _ in 0..<3 { piece.withUnsafeBytes { watch.received($0) } }
        watch.ended()
        capture.add(.sample("/whole", body: piece))
        await capture.close()
        let file = try CaptureFile(lab.path)
        let records = try (1...2).map { try #require(try file.record($0)) }
        #expect(records.map { CapturedPath.of($0.url) } == ["/long", "/whole"])
        let (broken, whole) = (records[0].responseBody, records[1].responseBody)
        #expect(broken.omission == .dropped && broken.totalOctets == 400_000)
        #expect(broken.keptOctets == Int64(broken.octets.count))
        let isBeginning = broken.octets == Array(piece.prefix(65_536))
        #expect(isBeginning)
        #expect(whole.omission == nil && whole.keptOctets == 100_000)
    }

    @Test func `a listener hears of all that ended before its capture was let go`() async throws {
        var capture: Capture? = Capture()
        let events = try #require(capture).events()
        for number in 0..<5 { capture?.add(.sample("/\(number)")) }
        capture = nil
        var ended: [String] = []
        for await case .ended(let record) in events { ended.append(CapturedPath.of(record.url)) }
        #expect(ended == (0..<5).map { "/\($0)" })
    }
}
