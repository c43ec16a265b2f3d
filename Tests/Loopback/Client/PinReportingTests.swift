import HTTPDNS
import HTTPDNSJSON
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct PinReportingTests {
    private static let stranger = "sha256/" + String(repeating: "A", count: 43) + "="

    /// Reports as they come.
    private final class Inbox: Sendable {
        private let reports = ConditionLocked<[PinReport]>([])

        func take(_ report: PinReport) { reports.withLockSignalling { $0.append(report) } }

        /// Waits until there are so many.
        func first(_ count: Int) async throws -> [PinReport] {
            try await offPool {
                self.reports.waitAndTake(
                    { reports, _ in reports.count >= count ? reports : [] }, until: { _ in nil })
            }
        }
    }

    private static func rule(
        _ enforcement: PinRule.Enforcement, reportTo urls: [String] = []
    ) throws -> PinSet {
        var rule = PinRule([try Pin(stranger)], backup: .waived)
        rule.enforcement = enforcement
        rule.reportURIs = urls
        var pins = PinSet()
        try pins.add(rule, for: HostPattern("**.shop.example.test"))
        return pins
    }

    @Test func `a rule that only reports lets the request through and tells`() async throws {
        let lab = try ClientLab()
        let origin = try lab.origin()
        defer { origin.stop() }
        let inbox = Inbox()
        let pins = try Self.rule(.reportOnly)
        let httpdns = try lab.httpdns { configuration in
            configuration.trust.pins = pins
            configuration.pinReports.onReport = { inbox.take($0) }
        }
        let answer = try await httpdns.client.get(origin.httpURL("/"))
        guard case .mismatched = answer.report.hops[0].peer?.pinning else {
            Issue.record("the proof is silent about a mismatch")
            return
        }
        // The connection is used again, and reported once.
        _ = try await httpdns.client.get(origin.httpURL("/again"))
        let report = try #require(try await inbox.first(1).first)
        #expect(report.host.description == "shop.example.test")
        #expect(report.port == origin.port)
        #expect(!report.isRefused)
        #expect(report.address == LabAddress.ipv4)
        #expect(report.addressGivenBy == "override")
        #expect(report.validated.last?.pin == lab.root.identity.pin)
        #expect(report.mismatch.served.count == 1)
        #expect(report.mismatch.served.first?.pin == report.validated.first?.pin)
        #expect(httpdns.pinReportCounts.sighted == 1)
    }

    @Test func `a refusal is posted to the rule's URI by our own client`() async throws {
        let lab = try ClientLab()
        let origin = try lab.origin()
        defer { origin.stop() }
        let arrived = ConditionLocked<[LabRequest]>([])
        let gatherer = try lab.origin(["reports.example.test"]) { request in
            arrived.withLockSignalling { $0.append(request) }
            return .text("", status: 204)
        }
        defer { gatherer.stop() }
        let pins = try Self.rule(
            .enforce, reportTo: [gatherer.url(host: "reports.example.test", path: "/pins")])
        let table = [
            "shop.example.test": [LabAddress.ipv4], "reports.example.test": [LabAddress.ipv4],
        ]
        let httpdns = try lab.httpdns(table) { $0.trust.pins = pins }
        _ = await httpdns.client.failure(of: HTTPRequest(.get, try origin.httpURL("/")))
        let request = try #require(
            try await offPool {
                arrived.waitAndTake({ requests, _ in requests }, until: { _ in nil })
            }.first)
        #expect(request.method == "POST")
        #expect(request.path == "/pins")
        #expect(request.value(of: "Content-Type") == "application/json")
        #expect(request.value(of: "Cookie") == nil)
        let json = try JSONValue.parse(request.body)
        #expect(json["hostname"] == "shop.example.test")
        #expect(json["noted-hostname"] == "shop.example.test")
        #expect(json["known-pins"] == [.string("pin-sha256=\"\(Self.stranger.dropFirst(7))\"")])
        #expect(json["enforced"] == true)
        #expect(json["served-certificate-chain"]?.array?.count == 1)
        #expect(json["validated-certificate-chain"]?.array?.count == 2)
        #expect(origin.record.receivedOctets == 0)
    }

    @Test func `a report that fails is not reported, nor one sent to its own host`()
        async throws
    {
        let lab = try ClientLab()
        let origin = try lab.origin()
        defer { origin.stop() }
        let gatherer = try lab.origin(["reports.shop.example.test"])
        defer { gatherer.stop() }
        let inbox = Inbox()
        // The host of the reports is under the same pins, which nobody has.
        let pins = try Self.rule(
            .enforce,
            reportTo: [
                gatherer.url(host: "reports.shop.example.test", path: "/"),
                origin.url(
                    host: "shop.example.test", path: "/self"),
            ])
        let table = [
            "shop.example.test": [LabAddress.ipv4],
            "reports.shop.example.test": [LabAddress.ipv4],
        ]
        let httpdns = try lab.httpdns(table) { configuration in
            configuration.trust.pins = pins
            configuration.pinReports.onReport = { inbox.take($0) }
        }
        for path in ["/1", "/2"] {
            _ = await httpdns.client.failure(of: HTTPRequest(.get, try origin.httpURL(path)))
        }
        // The second report is made when the first has been sent in vain.
        let reports = try await inbox.first(2)
        #expect(reports.map(\.host.description) == Array(repeating: "shop.example.test", count: 2))
        #expect(httpdns.pinReportCounts.sighted == 2)
        #expect(httpdns.pinReportCounts.failed >= 1)
        #expect(httpdns.pinReportCounts.delivered == 0)
        #expect(gatherer.record.requests.isEmpty)
        #expect(origin.record.requests.isEmpty)
    }

    @Test func `many mismatches make few reports`() async throws {
        let lab = try ClientLab()
        let origin = try lab.origin()
        defer { origin.stop() }
        let inbox = Inbox()
        let pins = try Self.rule(.enforce)
        let httpdns = try lab.httpdns { configuration in
            configuration.trust.pins = pins
            configuration.pinReports.limits.burstPerHost = 2
            configuration.pinReports.onReport = { inbox.take($0) }
        }
        for number in 0..<6 {
            let url = try origin.httpURL("/\(number)")
            _ = await httpdns.client.failure(of: HTTPRequest(.get, url))
        }
        #expect(try await inbox.first(2).count == 2)
        #expect(httpdns.pinReportCounts.sighted == 6)
        #expect(httpdns.pinReportCounts.withheld == 4)
        #expect(httpdns.pinReportCounts.reported == 2)
    }
}
