import Foundation
import FoundationNetworking
import HTTPDNSCapture
import HTTPDNSPinLab
import HTTPDNSURLSession
import TestSupport
import Testing

/// The network listener of the tutorials: all traffic of an app in a database, a cache that answers
/// when there is no network, and a count of what flowed.
@Suite(.timeLimit(.minutes(2))) struct NetworkListenerTests {
    @Test func `traffic is in a database, the cache answers offline, and the flow is counted`()
        async throws
    {
        let lab = try RuleLab()
        let directory = try TemporaryDirectory()
        let origin = try lab.origin { request in
            LabResponse(
                fields: [LabField("Cache-Control", "max-age=600")],
                body: Array("article \(request.target) ".utf8)
                    + [UInt8](repeating: 0x2E, count: 9_000))
        }
        var configuration = try lab.configuration()
        configuration.offlineCache = OfflineCacheSettings(directory: directory.path + "/cache")
        let httpdns = try HTTPDNS(configuration)
        let database = directory.path + "/traffic.sqlite"
        let capture = Capture(CaptureConfiguration(path: database))
        let rules: LiveRules = []
        let session = httpdns.session(configuration: .ephemeral, rules: rules, capture: capture)
        let base = origin.url(host: "shop.example.test", path: "/articles")

        // The query is part of the key.
        for query in ["?id=1", "?id=2"] {
            #expect(
                try await session.answer(base + query).text.hasPrefix("article /articles" + query))
        }
        await httpdns.offlineCache?.flush()
        rules.switches.isOffline = true
        origin.stop()
        let read = try await session.answer(base + "?id=1")
        #expect(read.text.hasPrefix("article /articles?id=1"))
        let unread = try await session.answer(base + "?id=3")
        #expect(unread.code == .notConnectedToInternet && unread.cause?.label == "offline")
        await capture.flush()

        var (records, statistics) = ([CaptureRecord](), CaptureStatistics())
        try CaptureFile(database).read { record in
            records.append(record)
            statistics.add(record)
            return true
        }
        records.sort { $0.id < $1.id }
        #expect(records.map { URL(string: $0.url)?.query } == ["id=1", "id=2", "id=1", "id=3"])
        #expect(records.map(\.isAnswerCached) == [false, false, true, false])
        #expect(records.map(\.isFailed) == [false, false, false, true])
        let flow = try #require(statistics.byHost["shop.example.test"])
        #expect(flow.requests == 4 && flow.answerCacheHits == 1 && flow.failures == 1)
        #expect((18_000..<25_000).contains(flow.receivedOctets))
    }

    @Test func `what was recorded into a file answers a session, and a HAR of it as well`()
        async throws
    {
        let lab = try RuleLab()
        let directory = try TemporaryDirectory()
        let origin = try lab.origin { .text("recorded \($0.path)") }
        let file = try directory.write(
            "record.json",
            "{\"version\": 1, \"rules\": [{\"then\": {\"record\": \"traffic.sqlite\"}}]}")
        let rules = try LiveRules(file: file)
        let session = try lab.session(rules)
        let urls = ["/a", "/b"].map { origin.url(host: "shop.example.test", path: $0) }
        for url in urls { _ = try await session.answer(url) }
        origin.stop()
        let database = directory.path + "/traffic.sqlite"
        let isKept = await eventually {
            ((try? FixtureLibrary(file: database))?.fixtures.count ?? 0) == 2
        }
        #expect(isKept)
        var records: [CaptureRecord] = []
        try CaptureFile(database).read { record in
            records.append(record)
            return true
        }
        let har = Data(HARWriter.file(records))
        try har.write(to: URL(fileURLWithPath: directory.path + "/traffic.har"))
        for name in ["traffic.sqlite", "traffic.har"] {
            let file = try directory.write(
                "replay.json",
                "{\"version\": 1, \"rules\": [{\"name\": \"r\", \"then\": {\"replay\": \"\(name)\"}}]}"
            )
            try rules.load(file: file)
            #expect(try await session.answer(urls[1]).text == "recorded /b", "\(name)")
            let other = try await session.answer(
                origin.url(host: "shop.example.test", path: "/c"))
            #expect(other.cause?.label == "not_recorded" && other.message.contains("differs: path"))
        }
    }

    @Test func `recordings that are broken are refused where the file names them`() throws {
        let directory = try TemporaryDirectory()
        let rules = try directory.write(
            "r.json", "{\"version\": 1, \"rules\": [{\"then\": {\"replay\": \"x\"}}]}")
        for content in ["", "{", "{\"log\": {\"entries\": []}}", "SQLite format 3\0 and no more"] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: directory.path + "/x"))
            let fault = #expect(throws: RuleFileFault.self) { try LiveRules(file: rules) }
            #expect(fault?.path == "rules[0].then.replay" && fault?.line == 1)
        }
    }
}
