import HTTPDNS
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// A redirect is a request of the host that it leads to, and who fails to resolve was asked.
@Suite(.timeLimit(.minutes(3))) struct HopStatisticsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var path: String { directory.path + "/traffic.sqlite" }

    /// From one host to another, with what is large from the second.
    private var redirected: CaptureRecord {
        var record = CaptureRecord.sample("/x", status: 302, host: "api.example.test")
        record.hops[0].resolution = .init(
            resolver: "one", transport: "udp", addresses: ["192.0.2.1"], ttlSeconds: 60)
        record.hops[0].timings.total = 5
        var second = CaptureRecord.Hop(url: "https://CDN.other.example:8081/big")
        second.status = 200
        second.resolution = .init(
            resolver: "two", transport: "udp", addresses: ["192.0.2.2"], ttlSeconds: 60)
        second.resolution?.attempts = [.init(at: "one", label: "timed_out", message: "no reply")]
        second.resolveMilliseconds = 10
        second.timings.total = 30
        second.sentOctets = 90
        second.receivedOctets = 50_000
        record.hops.append(second)
        record.totalMilliseconds = 50
        return record
    }

    private func filled(_ records: [CaptureRecord]) async {
        let capture = Capture(CaptureConfiguration(path: path))
        for record in records { capture.add(record) }
        await capture.close()
    }

    @Test func `each hop counts for its own host and its own resolver`() async throws {
        await filled([redirected])
        var inMemory = CaptureStatistics()
        inMemory.add(redirected)
        var sums = CaptureStatistics()
        #expect(try sums.add(CaptureFile(path)) == 0)
        for sums in [sums, inMemory] {
            #expect(sums.total.requests == 1 && sums.total.receivedOctets == 50_200)
            #expect(sums.total.milliseconds(atShare: 1) == 50)
            #expect(sums.byDay.values.map(\.requests) == [1])
            let api = sums.byHost["api.example.test"]
            #expect(api?.requests == 1 && api?.receivedOctets == 200 && api?.sentOctets == 100)
            #expect(api?.milliseconds(atShare: 1) == 5)
            let cdn = sums.byHost["cdn.other.example"]
            #expect(cdn?.requests == 1 && cdn?.receivedOctets == 50_000)
            #expect(cdn?.milliseconds(atShare: 1) == 40)
            let (one, two) = (sums.byResolver["one"], sums.byResolver["two"])
            #expect(one?.requests == 2 && one?.failures == 1 && one?.receivedOctets == 200)
            #expect(two?.requests == 1 && two?.failures == 0 && two?.receivedOctets == 50_000)
        }
    }

    @Test func `a failure counts for the host at which it happened`() async throws {
        var record = redirected
        record.hops[1].status = nil
        record.failure = .init(label: "cannot_connect", message: "no way")
        var sums = CaptureStatistics()
        sums.add(record)
        #expect(sums.byHost["api.example.test"]?.failures == 0)
        #expect(sums.byHost["cdn.other.example"]?.failures == 1)
        #expect(sums.total.failures == 1)
    }

    @Test func `attempts of an answer that was kept are those of another request`() {
        var record = redirected
        record.hops[1].resolution?.isCached = true
        var sums = CaptureStatistics()
        sums.add(record)
        #expect(sums.byResolver["one"]?.requests == 1 && sums.byResolver["one"]?.failures == 0)
        #expect(sums.byResolver["two"]?.lookupCacheHits == 1)
    }

    @Test func `a host is found in every hop, and in what a rule mapped away`() async throws {
        var mapped = CaptureRecord.sample("/mapped", host: "staging.example.test")
        mapped.hops[0].mappedFrom = "https://live.example.test/mapped"
        await filled([redirected, mapped, .sample("/other", host: "notcdn.other.example")])
        for (host, numbers) in [
            ("cdn.other.example", [1]), ("Other.Example", [1, 3]), ("live.example.test", [2]),
            ("staging.example.test", [2]), ("example.test", [1, 2]), ("cdn", []), ("%", []),
            ("b\u{FC}cher.example", []),
        ] {
            var filter = CaptureFilter()
            filter.host = host
            for last in [nil, 1, 5] {
                filter.last = last
                var found: [Int64] = []
                var all: [CaptureRecord] = []
                try CaptureFile(path).read(filter) { record in
                    found.append(record.id)
                    return true
                }
                try CaptureFile(path).read { record in
                    all.append(record)
                    return true
                }
                let wanted = numbers.suffix(last ?? 9).map { Int64($0) }
                #expect(found == wanted, "\(host), last \(last ?? 0)")
                #expect(all.filter(filter.fits).map(\.id).suffix(last ?? 9) == wanted[...])
            }
        }
        let shown = try await CaptureTool.run(
            "capture", "show", path, "--host", "cdn.other.example", "--json")
        #expect(try shown.documents.map { $0["id"]?.integer } == [1])
        let sums = try await CaptureTool.run("capture", "stats", path, "--json")
        let hosts = try sums.documents.first?["hosts"]?.array?.compactMap { $0["host"]?.string }
        #expect(hosts?.contains("cdn.other.example") == true, "\(sums.outputText)")
    }

    @Test func `resolvers that gave nothing are in the record and in the sums`() async throws {
        let result = try await run(
            ProxyTool.path,
            ["fetch", "http://nobody.example.test:8080/", "--config", "none", "--capture", path]
                // Nobody listens at either.
                + ["--resolver", "udp://127.0.0.1:5", "--resolver", "udp://127.0.0.1:6"],
            environment: ProxyTool.quiet)
        #expect(result.status != 0)
        let shown = try await CaptureTool.run("capture", "show", path, "1", "--json")
        let hop = try #require(try shown.documents.first?["hops"]?.array?.first)
        let asked = Set((hop["resolverFailures"]?.array ?? []).compactMap { $0["at"]?.string })
        #expect(asked.count == 2, "\(shown.outputText)")
        let stats = try await CaptureTool.run("capture", "stats", path, "--json")
        let rows = try #require(try stats.documents.first?["resolvers"]?.array)
        #expect(Set(rows.compactMap { $0["resolver"]?.string }) == asked, "\(stats.outputText)")
        #expect(rows.count == 2, "nobody is not among those that were asked")
        #expect(rows.allSatisfy { $0["failures"]?.integer == 1 && $0["requests"]?.integer == 1 })
        let text = try await CaptureTool.run("capture", "show", path, "1")
        #expect(asked.allSatisfy { text.outputText.contains("in vain       \($0): ") })
    }
}
