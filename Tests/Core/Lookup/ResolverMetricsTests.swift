import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct ResolverMetricsTests {
    private static func subject(_ name: String = "secret.example.test") throws
        -> ResolverEvent.Subject
    {
        ResolverEvent.Subject(try Said.question(name))
    }

    /// One event of every kind, one after the other.
    private static func everything(source: String = "one") throws -> [ResolverEvent] {
        let subject = try subject()
        let sinkhole = try IPAddress("127.0.0.1")
        let question = try Said.question("www.example.com")
        let disagreement = try #require(
            Disagreement(
                authenticated: try Said.addresses(["1.0.0.1"], to: question),
                plain: Said.nothing(.noSuchName, to: question), millisecondsApart: 0))
        return [
            .began(subject), .joined(subject), .served(subject, from: .cache),
            .served(subject, from: .stale), .asked(subject, source: source),
            .answered(subject, source: source, milliseconds: 30),
            .failed(subject, source: source, .timedOut(tries: 3)),
            .failedOver(subject, from: source, to: "two"),
            .ended(subject, .records, milliseconds: 31), .refreshed(subject),
            .refreshFailed(subject), .prefetched(subject),
            .failureHeld(subject, milliseconds: 1_000), .evicted(count: 5),
            .broke(source: source, milliseconds: 1_000), .probed(source: source),
            .overQuota(source: source, retryAfterMilliseconds: 10),
            .addressesRefused(subject, source: source, [sinkhole]), .disagreed(disagreement),
            .networkChanged, .storeFailed("disk full"),
        ]
    }

    private static func counted(_ events: [ResolverEvent]) -> MetricsSnapshot {
        var metrics = ResolverMetrics()
        for event in events { metrics.record(event) }
        return metrics.snapshot
    }

    @Test func `every event changes what is counted`() throws {
        var metrics = ResolverMetrics()
        for event in try Self.everything() {
            let before = metrics
            metrics.record(event)
            #expect(metrics != before, "\(event)")
        }
    }

    @Test func `counters are read by name and labels`() throws {
        let snapshot = Self.counted(try Self.everything() + Self.everything())
        #expect(snapshot.number("httpdns_lookups_started_total") == 2)
        #expect(snapshot.number("httpdns_lookups_total", ["outcome": "records"]) == 2)
        #expect(snapshot.number("httpdns_lookups_total", ["outcome": "no_data"]) == 0)
        #expect(snapshot.number("httpdns_lookups_served_total", ["from": "cache"]) == 2)
        #expect(snapshot.number("httpdns_cache_evictions_total") == 10)
        #expect(snapshot.number("httpdns_disagreements_total", ["kind": "denied"]) == 2)
        #expect(
            snapshot.number(
                "httpdns_query_failures_total", ["source": "one", "reason": "timed_out"]) == 2)
        #expect(snapshot.number("httpdns_answer_duration_seconds", ["source": "one"]) == 2)
        #expect(snapshot.number("httpdns_lookups_total") == nil)
        #expect(snapshot.number("httpdns_nothing") == nil)
    }

    @Test func `a source is broken until it is restored or the network changes`() {
        let broken = { (events: [ResolverEvent]) in
            Self.counted(events).number("httpdns_source_broken", ["source": "one"])
        }
        let broke = ResolverEvent.broke(source: "one", milliseconds: 1_000)
        #expect(broken([broke]) == 1)
        #expect(broken([broke, .restored(source: "one")]) == 0)
        #expect(broken([broke, .networkChanged]) == 0)
    }

    @Test func `a time falls into the first bucket that holds it`() {
        var times = TimeHistogram()
        for milliseconds in [0, 1, 2, 3, 10_000, 10_001, .max, -5] as [Int64] {
            times.add(milliseconds: milliseconds)
        }
        #expect(times.atMost.prefix(3) == [3, 4, 5])
        #expect(times.atMost.last == 6)
        #expect(times.count == 8)
    }

    @Test func `the Prometheus text is what a scraper reads, with the same numbers`() throws {
        let snapshot = Self.counted(try Self.everything())
        let read = try PrometheusReader(snapshot.prometheusText)
        for family in snapshot.families {
            #expect(read.types[family.name] == family.kind.rawValue)
            for sample in family.samples {
                let labels = Dictionary(
                    uniqueKeysWithValues: sample.labels.map { ($0.name, $0.value) })
                switch sample.value {
                case .number(let number):
                    #expect(read.value(family.name, labels) == Double(number))
                case .times(let times):
                    #expect(read.value(family.name + "_count", labels) == Double(times.count))
                    #expect(
                        read.value(family.name + "_sum", labels)
                            == Double(times.sumMilliseconds) / 1_000)
                }
            }
        }
        let atFifty = ["source": "one", "le": "0.05"]
        #expect(read.value("httpdns_answer_duration_seconds_bucket", atFifty) == 1)
    }

    @Test func `with nothing counted the text is whole, too`() throws {
        let read = try PrometheusReader(ResolverMetrics().snapshot.prometheusText)
        #expect(read.value("httpdns_lookup_duration_seconds_count") == 0)
    }

    @Test func `a source's label comes back as it was, whatever is in it`() throws {
        let label = "a\"b\\c\nd\\n é } , ="
        let snapshot = Self.counted([.asked(try Self.subject(), source: label)])
        let read = try PrometheusReader(snapshot.prometheusText)
        #expect(read.value("httpdns_queries_total", ["source": label]) == 1)
        let json = try JSONValue.parse(snapshot.jsonText)
        let sample = json["httpdns_queries_total"]?.array?.first
        #expect(sample?["labels"]?["source"]?.string == label)
    }

    @Test func `the JSON text is JSON and has every metric`() throws {
        let snapshot = Self.counted(try Self.everything())
        let json = try JSONValue.parse(snapshot.jsonText)
        #expect(json.object?.names == snapshot.families.map(\.name).sorted())
        #expect(
            snapshot.jsonText.contains(
                "\"httpdns_lookups_total\":[{\"labels\":{\"outcome\":\"records\"},\"value\":1}"))
        #expect(snapshot.jsonText.contains("{\"le\":0.05,\"count\":1}"))
    }

    @Test func `no host name is in any text`() throws {
        let snapshot = Self.counted(try Self.everything())
        for text in [snapshot.prometheusText, snapshot.jsonText] {
            #expect(!text.contains("secret") && !text.contains("example"))
        }
    }

    @Test func `sources beyond the limit are counted together`() throws {
        let subject = try Self.subject()
        let snapshot = Self.counted(
            (0..<500).map { .asked(subject, source: "https://192.0.2.1/\($0)") })
        let queries = snapshot.families.first { $0.name == "httpdns_queries_total" }
        #expect(queries?.samples.count == ResolverMetrics.maximumSources + 1)
        #expect(snapshot.number("httpdns_queries_total", ["source": "other"]) == 436)
    }

    @Test func `every way to end has its own word`() throws {
        let question = try Said.question()
        let answer = { (testimony: Testimony) in
            ResolverEvent.Ending(
                LookupAnswer(testimony: testimony, ttlSeconds: 0, isCached: false))
        }
        #expect(answer(try Said.addresses(["127.0.0.1"], to: question)) == .records)
        #expect(answer(Said.nothing(.noError, to: question)) == .noData)
        #expect(answer(Said.nothing(.noSuchName, to: question)) == .noSuchName)
        #expect(answer(Said.nothing(.refused, to: question)) == .serverFailure)
        #expect(ResolverEvent.Ending(.cancelled) == .cancelled)
        #expect(ResolverEvent.Ending(.noSource(question: question)) == .noSource)
        #expect(ResolverEvent.Ending(.timedOut(question: question, attempts: [])) == .timedOut)
        #expect(
            ResolverEvent.Ending(.exhausted(question: question, attempts: [])) == .exhausted)
    }
}
