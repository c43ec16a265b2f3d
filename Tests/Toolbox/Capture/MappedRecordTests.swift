import HTTPDNS
import HTTPDNSClient
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSRuleFile
import HTTPDNSRules
import TestSupport
import Testing

/// A record of a request that a rule sends elsewhere tells where it was meant to go, too.
@Suite(.timeLimit(.minutes(3))) struct MappedRecordTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    @Test func `the URL that was asked for stands beside the one that it went to`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        var configuration = CaptureConfiguration(path: lab.path, ringRecords: 10)
        configuration.redaction = CaptureRedaction()
        let capture = Capture(configuration)
        let client = try lab.httpdns(capture).client
        let mapping = OriginMapping(
            scheme: .https, host: .name(try HostName(CaptureLab.host)),
            port: origin.port)
        let rules = LiveRules(
            RequestRules([
                RequestRule("staging", when: try .host("api.example.test"), then: [.map(mapping)])
            ]))
        let response = try await client.send(
            HTTPRequest(.get, try HTTPURL("https://api.example.test/v1?token=hidden-away")),
            under: rules)
        _ = try await response.collect(upTo: 10_000)
        await capture.close()
        let record = try #require(capture.recent.first)
        let hop = try #require(record.hops.first)
        #expect(hop.mappedFrom == "https://api.example.test/v1?token=REDACTED")
        // What the origin has read.
        let host = origin.record.requests.first?.value(of: "Host")
        #expect(host != nil && hop.requestField("Host") == host)
        #expect(record.host == CaptureLab.host && record.status == 200)
        var filter = CaptureFilter()
        filter.host = "api.example.test"
        #expect(filter.fits(record))
        let path = lab.path
        let shown = try await CaptureTool.run("capture", "show", path, "--host", "api.example.test")
        #expect(shown.outputText.contains("asked for https://api.example.test/v1"))
        let one = try await CaptureTool.run("capture", "show", path, "1")
        #expect(
            one.outputText.contains("mapped from   https://api.example.test/v1?token=REDACTED"),
            "\(one.outputText)")
        let json = try await CaptureTool.run("capture", "show", path, "1", "--json")
        let asked = try json.documents.first?["hops"]?.array?.first?["mappedFrom"]?.string
        #expect(asked == hop.mappedFrom)
        let har = HARWriter.file([record])
        let ours = try JSONValue.parse(har)["log"]?["entries"]?.array?.first?["_httpdns"]
        #expect(ours?["mappedFrom"]?.string == hop.mappedFrom)
        #expect(try HARReader(har).records.first?.hops.first?.mappedFrom == hop.mappedFrom)
    }

    @Test func `a request that no rule sends elsewhere was asked for as it went out`() async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        var fields = HTTPFields()
        try fields.append("X-Rule", "1")
        let rules = LiveRules(
            RequestRules([RequestRule("fields", when: .any, then: [.setFields(fields)])]))
        let response = try await client.send(
            HTTPRequest(.get, try lab.url(origin)), under: rules)
        _ = try await response.collect(upTo: 10_000)
        let hop = try #require(await capture.all.first?.hops.first)
        #expect(hop.rules == ["fields"] && hop.mappedFrom == nil)
    }
}
