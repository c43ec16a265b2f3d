import Foundation
import FoundationNetworking
import HTTPDNSCapture
import HTTPDNSPinLab
import HTTPDNSURLSession
import TestSupport
import Testing

/// Traffic statistics of an app whose sessions are made by libraries: the configuration that they
/// are given counts for them.
@Suite(.timeLimit(.minutes(2))) struct TrafficStatisticsTests {
    @Test
    func `what two libraries load is counted by host, through the configuration they were given`()
        async throws
    {
        let lab = try RuleLab()
        let shop = try lab.origin { request in
            request.path == "/fail" ? LabResponse(status: 503) : .text("0123456789")
        }
        defer { shop.stop() }
        let pictures = try lab.origin(["img.example.test"]) { _ in
            LabResponse(body: [UInt8](repeating: 7, count: 20_000))
        }
        defer { pictures.stop() }
        let httpdns = try lab.httpdns([
            "shop.example.test": [LabAddress.ipv4], "img.example.test": [LabAddress.ipv4],
        ])
        let capture = Capture(CaptureConfiguration(ringRecords: 100))
        let configuration = URLSessionConfiguration.ephemeral
        httpdns.install(into: configuration, capture: capture)
        // As libraries do it, each with a copy of its own.
        let (manager, loader) = (
            URLSession(configuration: configuration), URLSession(configuration: configuration)
        )

        for path in ["/a", "/b", "/fail"] {
            _ = try await manager.answer(shop.url(host: "shop.example.test", path: path))
        }
        var upload = URLRequest(
            url: try #require(URL(string: shop.url(host: "shop.example.test", path: "/up"))))
        upload.httpMethod = "POST"
        _ = await manager.uploadAnswer(upload, from: Data(repeating: 1, count: 5_000))
        _ = try await loader.answer(pictures.url(host: "img.example.test", path: "/1.png"))
        await capture.flush()

        var statistics = CaptureStatistics()
        for record in capture.recent { statistics.add(record) }
        let shopTally = try #require(statistics.byHost["shop.example.test"])
        let pictureTally = try #require(statistics.byHost["img.example.test"])
        #expect(shopTally.requests == 4 && shopTally.failures == 1)
        #expect(shopTally.sentOctets > 5_000 && shopTally.receivedOctets < 5_000)
        #expect(pictureTally.requests == 1 && pictureTally.failures == 0)
        #expect(pictureTally.receivedOctets > 20_000)
        #expect(statistics.total.requests == 5)
        #expect((shopTally.milliseconds(atShare: 0.5) ?? -1) > 0)
        #expect(statistics.byResolver.keys.sorted() == ["override"])
    }
}
