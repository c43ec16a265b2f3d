import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct SessionCaptureTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    private func load(_ session: URLSession, _ url: URL) async throws -> String {
        String(decoding: try await session.data(from: url).0, as: UTF8.self)
    }

    private func page(_ origin: LabServer, _ path: String = "/") throws -> URL {
        try #require(URL(string: origin.url(host: CaptureLab.host, path: path)))
    }

    @Test func `a session's loads name the session and the task`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let capture = lab.ring()
        let session = try lab.httpdns(capture).session(configuration: .ephemeral)
        session.sessionDescription = "shop pages"
        #expect(try await load(session, page(origin, "/a")) == "hello /a")
        #expect(try await load(session, page(origin, "/b")) == "hello /b")
        let records = await capture.all
        #expect(records.map(\.initiator.name) == ["shop pages", "shop pages"])
        let tasks = records.compactMap(\.initiator.task)
        #expect(tasks.count == 2 && Set(tasks).count == 2)
        #expect(records.first?.responseBody.text == "hello /a")
        #expect(records.first?.hops.first?.peer?.host == CaptureLab.host)
    }

    @Test func `a session may have a capture of its own, which then records alone`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let (common, own) = (lab.ring(), lab.ring())
        let httpdns = try lab.httpdns(common)
        let watched = httpdns.session(configuration: .ephemeral, capture: own)
        let other = httpdns.session(configuration: .ephemeral)
        _ = try await load(watched, page(origin, "/own"))
        _ = try await load(other, page(origin, "/common"))
        #expect(await own.all.map { CapturedPath.of($0.url) } == ["/own"])
        #expect(await common.all.map { CapturedPath.of($0.url) } == ["/common"])
    }

    @Test
    func `a session's coded body is recorded as it was read, though its coding was asked for`()
        async throws
    {
        let text = Array("{\"password\":\"x\"}".utf8)
        let origin = try lab.origin { _ in
            LabResponse(
                fields: [
                    LabField("Content-Encoding", "deflate"),
                    LabField("Content-Type", "application/json"),
                ], body: SessionCaptureTests.stored(text))
        }
        defer { origin.stop() }
        let capture = lab.ring()
        let settings = URLSessionConfiguration.ephemeral
        settings.httpAdditionalHeaders = ["Accept-Encoding": "gzip, deflate"]
        let session = try lab.httpdns(capture).session(configuration: settings)
        #expect(
            try await load(session, page(origin, "/a")) == String(decoding: text, as: UTF8.self))
        let body = try #require(await capture.all.first?.responseBody)
        #expect(body.text == "{\"password\":\"REDACTED\"}")
        #expect(body.omission == nil)
    }

    /// A zlib stream of one stored block. Source: RFC 1950 §2.2, RFC 1951 §3.2.4.
    private static func stored(_ octets: [UInt8]) -> [UInt8] {
        let count = UInt8(octets.count)
        var sums: (UInt32, UInt32) = (1, 0)
        for octet in octets {
            sums.0 = (sums.0 + UInt32(octet)) % 65_521
            sums.1 = (sums.1 + sums.0) % 65_521
        }
        let sum = sums.1 << 16 | sums.0
        return [0x78, 0x01, 1, count, 0, ~count, 0xFF] + octets
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> UInt32($0)) }
    }

    @Test func `start and stop while a session runs`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let capture = lab.ring { $0.isEnabled = false }
        let session = try lab.httpdns(capture).session(configuration: .ephemeral)
        _ = try await load(session, page(origin, "/before"))
        capture.start()
        _ = try await load(session, page(origin, "/while"))
        capture.stop()
        _ = try await load(session, page(origin, "/after"))
        #expect(await capture.all.map { CapturedPath.of($0.url) } == ["/while"])
    }

    @Test func `what rules answer and refuse is recorded, with their names`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let capture = lab.ring()
        let rules: LiveRules = [
            RequestRule("fake", try .path("/fake"), .stub(.text("made up"))),
            RequestRule("no ads", try .path("/ad"), .block),
        ]
        let session = try lab.httpdns(capture).session(configuration: .ephemeral, rules: rules)
        #expect(try await load(session, page(origin, "/fake")) == "made up")
        await #expect(throws: (any Error).self) { try await load(session, page(origin, "/ad")) }
        #expect(try await load(session, page(origin, "/real")) == "hello /real")
        let records = await capture.all
        #expect(records.map(\.kind) == [.stubbed, .blocked, .exchange])
        #expect(records.map(\.rule) == ["fake", "no ads", nil])
        #expect(records[0].responseBody.text == "made up" && records[0].status == 200)
        #expect(records[1].failure != nil && records[1].status == nil)
        #expect(origin.record.requests.map(\.path) == ["/real"])
        rules.switches.isCaptureEnabled = false
        _ = try await load(session, page(origin, "/unseen"))
        #expect(await capture.all.count == 3)
    }

    @Test func `what is left to the system's loader is recorded as passed`() async throws {
        let capture = lab.ring()
        let httpdns = try lab.httpdns(capture)
        let session = httpdns.session(
            configuration: .ephemeral,
            scope: InterceptionScope(passing: [try HostName("localhost")]))
        let dead = try closedPort(address: LabAddress.ipv4)
        let url = try #require(URL(string: "http://localhost:\(dead)/x?token=hidden-away"))
        await #expect(throws: (any Error).self) { try await load(session, url) }
        let record = try #require(await capture.all.first)
        #expect(record.kind == .passed && record.reason == "out of scope")
        #expect(record.url.hasSuffix("/x?token=REDACTED") && record.status == nil)
        #expect(await capture.all.count == 1)
    }

    @Test func `a rule that passes a request is named in its record`() async throws {
        let capture = lab.ring()
        let rules: LiveRules = [
            RequestRule("marks", .any, try .setHeaders(["X-A": "1"])),
            RequestRule("theirs", try .path("/theirs"), .pass(because: "not ours")),
        ]
        let session = try lab.httpdns(capture).session(configuration: .ephemeral, rules: rules)
        let dead = try closedPort(address: LabAddress.ipv4)
        let url = try #require(URL(string: "http://localhost:\(dead)/theirs"))
        await #expect(throws: (any Error).self) { try await load(session, url) }
        let record = try #require(await capture.all.first)
        #expect(record.kind == .passed && record.reason == "not ours")
        #expect(record.rule == "marks, theirs" && record.hops[0].rules == ["marks", "theirs"])
    }

    @Test func `an upload is seen whole, whatever becomes of it`() async throws {
        let origin = try lab.origin { .text("\($0.body.count)") }
        defer { origin.stop() }
        let capture = lab.ring()
        let session = try lab.httpdns(capture).session(configuration: .ephemeral)
        var request = URLRequest(url: try page(origin))
        request.httpMethod = "POST"
        let (data, _) = try await session.upload(
            for: request, from: Data(#"{"password":"hidden-away"}"#.utf8))
        #expect(String(decoding: data, as: UTF8.self) == "26")
        let record = try #require(await capture.all.first)
        #expect(record.requestBody.text == #"{"password":"REDACTED"}"#)
        #expect(record.requestBody.totalOctets == 26)
    }

    @Test func `a notification tells the end of each load`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let capture = Capture()
        let center = NotificationCenter()
        let told = Locked<[CaptureRecord]>([])
        let observer = center.addObserver(
            forName: .httpdnsLoadDidEnd, object: nil, queue: nil
        ) { notification in
            let record = notification.userInfo?[CaptureNotifications.recordKey] as? CaptureRecord
            told.withLock { $0 += [record].compactMap(\.self) }
        }
        defer { center.removeObserver(observer) }
        let notifications = CaptureNotifications(of: capture, to: center)
        let session = try lab.httpdns(capture).session(configuration: .ephemeral)
        _ = try await load(session, page(origin, "/told"))
        #expect(await eventually { told.withLock { $0.count } == 1 })
        #expect(told.withLock { $0.first?.status } == 200)
        withExtendedLifetime(notifications) {}
    }
}
