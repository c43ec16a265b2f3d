import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

@testable import HTTPDNSCapture

/// Bodies that are sent again from their beginning, after parts of them were handed on.
@Suite(.timeLimit(.minutes(2))) struct RepeatedBodyTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    /// JSON in which the end of the first piece falls into a string.
    private static func json(_ padding: Int = 100_000, secret: String) -> String {
        let padding = String(repeating: "p", count: padding)
        return #"{"pad":"\#(padding)","password":"\#(secret)","page":1}"#
    }

    @Test func `a long body that is sent again is kept once and keeps no secret`() async throws {
        let origin = try lab.origin {
            $0.path == "/first" ? .redirect(to: "/second", status: 307) : .text("\($0.body.count)")
        }
        defer { origin.stop() }
        let capture = Capture(CaptureConfiguration(path: lab.path, ringRecords: 9))
        let body = RepeatedBodyTests.json(secret: "hidden-away")
        var request = HTTPRequest(
            .put, try lab.url(origin, "/first"), body: .stream(RepeatableSource(Array(body.utf8))))
        try request.head.fields.append("Content-Type", "application/json")
        #expect(try await lab.httpdns(capture).client.text(request) == "\(body.utf8.count)")
        let record = try #require(await capture.all.first)
        await capture.close()
        let kept = try CaptureFile(lab.path).body(of: 1, .request)
        #expect(
            String(decoding: kept, as: UTF8.self) == RepeatedBodyTests.json(secret: "REDACTED"))
        #expect(record.hops.count == 2 && record.requestBody.omission == nil)
        #expect(record.requestBody.totalOctets == Int64(body.utf8.count))
    }

    /// What a keeper hands on and holds, of a body that comes whole after beginnings of it.
    private func kept(
        _ body: [UInt8], after beginnings: [Int], upTo limit: Int64 = 1 << 20, by size: Int
    ) -> (octets: [UInt8], keeper: BodyKeeper) {
        var limits = CaptureLimits()
        limits.maximumBodyOctets = limit
        var keeper = BodyKeeper(limits)
        var octets: [UInt8] = []
        for end in beginnings + [body.count] {
            keeper.beginAgain()
            for start in stride(from: 0, to: end, by: size) {
                let piece = Array(body[start..<min(start + size, end)])
                octets += piece.withUnsafeBytes { keeper.take($0) } ?? []
            }
        }
        return (octets + keeper.held, keeper)
    }

    @Test(arguments: [1, 1_000, 65_535, 65_536, 65_537, 150_000, 200_000], [7, 16_384, 90_001])
    func `whatever was sent before, what is kept is the body once`(beginning: Int, size: Int) {
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        for beginnings in [[beginning], [beginning, 70_000], [70_000, beginning]] {
            let whole = kept(body, after: beginnings, by: size)
            #expect(whole.octets == body && !whole.keeper.isCut)
            #expect(whole.keeper.total == 200_000)
            let cut = kept(body, after: beginnings, upTo: 100_000, by: size)
            #expect(cut.octets == Array(body.prefix(100_000)) && cut.keeper.isCut)
        }
    }

    @Test func `a repeat that ends early is no whole body`() {
        let body = [UInt8](repeating: 0x61, count: 100_000)
        var keeper = BodyKeeper(CaptureLimits())
        #expect(body.withUnsafeBytes { keeper.take($0) }?.count == 100_000)
        keeper.beginAgain()
        #expect(body.prefix(10).withUnsafeBytes { keeper.take($0) } == nil)
        #expect(keeper.isCut && keeper.total == 10 && keeper.held.isEmpty)
    }

    @Test func `a value that a failure broke off is not known to be short`() async throws {
        let capture = lab.ring()
        var record = CaptureRecord.sample("/broken", body: Array("code=4f9a77".utf8))
        capture.add(record)
        record.failure = .init(label: "closed", message: "closed")
        capture.add(record)
        #expect(
            await capture.all.map(\.responseBody.text) == ["code=4f9a77", "code=REDACTED"])
    }

    @Test func `the answer to a request for a part is kept by its coding`() async throws {
        let origin = try lab.origin { _ in
            LabResponse(fields: [LabField("Content-Encoding", "gzip")], body: [0x1F, 0x8B, 8, 0])
        }
        defer { origin.stop() }
        let capture = lab.ring()
        var request = HTTPRequest(.get, try lab.url(origin))
        try request.head.fields.append("Range", "bytes=0-3")
        try await lab.httpdns(capture).client.text(request)
        let body = try #require(await capture.all.first?.responseBody)
        #expect(body.omission == .coded && body.octets.isEmpty && body.totalOctets == 4)
    }
}
