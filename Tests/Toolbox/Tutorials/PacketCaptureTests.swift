import Foundation
import FoundationNetworking
import HTTPDNSCapture
import HTTPDNSPinLab
import HTTPDNSURLSession
import TestSupport
import Testing

/// The in-app packet capture of the tutorials: a switch starts it, all that the app's sessions do
/// is in a list, and another touch of the switch ends it.
@Suite(.timeLimit(.minutes(2))) struct PacketCaptureTests {
    @Test func `between start and stop everything is recorded, before and after nothing`()
        async throws
    {
        let lab = try RuleLab()
        let origin = try lab.origin { request in
            request.path == "/r" ? .redirect(to: "/end") : .text("page \(request.path)")
        }
        defer { origin.stop() }
        let plain = try LabServer { _ in .text("system") }
        try plain.start()
        defer { plain.stop() }
        var configuration = CaptureConfiguration(ringRecords: 100)
        configuration.isEnabled = false
        let capture = Capture(configuration)
        let rules: LiveRules = [
            RequestRule("mock", try .path("/mock"), .stub(.json("{\"a\":1}"))),
            RequestRule("blocked", try .path("/blocked"), .block),
            RequestRule("local", try .host("127.0.0.1"), .pass(because: "not ours")),
        ]
        let session = try lab.httpdns().session(
            configuration: .ephemeral, rules: rules, capture: capture)
        session.sessionDescription = "shop"
        let paths = ["/a", "/r", "/mock", "/blocked"]

        _ = try await session.answer(origin.url(host: "shop.example.test", path: "/before"))
        capture.start()
        for path in paths {
            _ = try await session.answer(origin.url(host: "shop.example.test", path: path))
        }
        _ = try await session.answer("http://127.0.0.1:\(plain.port)/passed")
        capture.stop()
        _ = try await session.answer(origin.url(host: "shop.example.test", path: "/after"))
        await capture.flush()

        let shown = capture.recent.sorted { $0.id < $1.id }
        #expect(shown.map { URL(string: $0.url)?.path } == paths + ["/passed"])
        #expect(shown.map(\.kind) == [.exchange, .exchange, .stubbed, .blocked, .passed])
        #expect(shown.map(\.status) == [200, 200, 200, nil, nil])
        #expect(shown.map(\.rule) == [nil, nil, "mock", "blocked", "local"])
        #expect(shown.last?.reason == "not ours")
        #expect(shown[1].hops.map(\.status) == [302, 200])
        #expect(String(decoding: shown[0].responseBody.octets, as: UTF8.self) == "page /a")
        #expect(shown[0].hops[0].remote == "127.0.0.1:\(origin.port)")
        #expect(shown.prefix(4).allSatisfy { $0.initiator.name == "shop" })
    }

    @Test func `the switch of the rules turns the recording of a session off, too`() async throws {
        let lab = try RuleLab()
        let capture = Capture(CaptureConfiguration(ringRecords: 10))
        let rules: LiveRules = [RequestRule("mock", .any, .stub(.text("m")))]
        let session = try lab.httpdns().session(
            configuration: .ephemeral, rules: rules, capture: capture)
        _ = try await session.answer("https://shop.example.test/1")
        rules.switches.isCaptureEnabled = false
        _ = try await session.answer("https://shop.example.test/2")
        await capture.flush()
        #expect(capture.recent.map(\.url) == ["https://shop.example.test/1"])
    }
}
