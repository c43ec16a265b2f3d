import HTTPDNS
import HTTPDNSExchange
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSRules
import HTTPDNSURLSession
import TestSupport
import Testing

/// What was recorded without its secrets answers requests with theirs.
@Suite(.timeLimit(.minutes(2))) struct RedactedReplayTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    private func text(
        _ client: HTTPDNSClient, _ url: HTTPURL, under rules: LiveRules
    ) async throws -> String {
        let (body, _) = try await client.send(HTTPRequest(.get, url), under: rules)
            .collect(upTo: 1_000_000)
        return String(decoding: body, as: UTF8.self)
    }

    @Test func `a recording answers the requests it was made of, whatever their secrets are`()
        async throws
    {
        let count = Locked(0)
        let origin = try lab.origin { request in
            count.withLock { $0 += 1 }
            return .text("\(request.path) \(count.withLock { $0 })")
        }
        defer { origin.stop() }
        let client = try lab.httpdns(nil).client
        let recording: LiveRules = [
            RequestRule("tape", .any, .record(FixtureRecorder(capture: lab.path)))
        ]
        let targets = [
            "/v1?id=7&token=hidden-one", "/v1?id=7&token=hidden-two", "/v1?id=8&token=hidden-one",
            "/plain?id=7",
        ]
        for target in targets {
            _ = try await text(client, lab.url(origin, target), under: recording)
        }
        #expect(await eventually { await recorded() == 4 })
        let replay: LiveRules = [
            RequestRule("replay", .any, .replay(try FixtureLibrary(file: lab.path)))
        ]
        // Two that differ in the secret alone are a sequence, whose last one goes on answering.
        for (target, answer) in [
            ("/v1?id=7&token=another", "1"), ("/v1?id=8&token=another", "3"),
            ("/v1?id=7&token=a-third", "2"), ("/v1?id=7&token=hidden-one", "2"),
            ("/plain?id=7", "4"),
        ] {
            let told = try await text(client, lab.url(origin, target), under: replay)
            #expect(told.hasSuffix(" \(answer)"), "\(target): \(told)")
        }
        #expect(count.withLock { $0 } == 4)
        for target in ["/v1?id=9&token=another", "/v1?id=7", "/v1?token=x&id=7", "/plain?id=8"] {
            await #expect(throws: ExchangeFailure.self, "\(target)") {
                try await text(client, lab.url(origin, target), under: replay)
            }
        }
    }

    private func recorded() async -> Int {
        var count = 0
        do {
            try CaptureFile(lab.path).read { _ in
                count += 1
                return true
            }
        } catch { return 0 }
        return count
    }

    private func records(_ urls: [String]) -> [CaptureRecord] {
        urls.enumerated().map { place, url in
            var record = CaptureRecord.sample("/", status: 201 + place)
            record.hops[0].url = url
            return record
        }
    }

    private func statuses(
        _ library: FixtureLibrary, _ urls: [String]
    ) throws -> [Int?] {
        let rules = LiveRules([RequestRule("replay", .any, .replay(library))])
        return try urls.map { url in
            let head = RequestHead(method: .get, url: try HTTPURL(url))
            guard case .replay(let fixture, _) = rules.decide(RuledRequest(head)).verdict else {
                return nil
            }
            return fixture.status
        }
    }

    @Test func `a URL that was recorded as it is comes before one without its secret`() throws {
        let host = "https://a.example.test"
        let library = FixtureLibrary(
            records([host + "/?token=REDACTED", host + "/?token=whole"]), label: "two")
        #expect(
            try statuses(
                library, [host + "/?token=whole", host + "/?token=x", host + "/?token=whole"])
                == [202, 201, 202])
        // Nothing was taken out of these: what differs, differs.
        let other = FixtureLibrary(records([host + "/?token=one"]), label: "one")
        #expect(try statuses(other, [host + "/?token=two", host + "/?token=one"]) == [nil, 201])
    }

    @Test func `what was recorded under other rules is compared under them`() throws {
        let url = "https://a.example.test/?flavour=REDACTED"
        var redaction = CaptureRedaction()
        redaction.names = ["flavour"]
        let usual = FixtureLibrary(records([url]), label: "usual")
        let own = FixtureLibrary(records([url]), label: "own", redaction: redaction)
        let asked = ["https://a.example.test/?flavour=mint"]
        #expect(try statuses(usual, asked) == [nil] && statuses(own, asked) == [201])
    }
}
