/// The counters of a resolver at one moment, to be read by name or written as text.
public struct MetricsSnapshot: Sendable, Hashable {
    /// One metric with all its samples.
    public struct Family: Sendable, Hashable {
        /// `httpdns_lookups_total`
        public let name: String
        /// One sentence about what is counted.
        public let help: String
        public let kind: Kind
        /// Sorted by their labels; each set of labels once.
        public let samples: [Sample]
    }

    /// The kinds of metric; the raw value is Prometheus' word.
    public enum Kind: String, Sendable, Hashable {
        case counter, gauge, histogram
    }

    /// One number, or one histogram, with what it is about.
    public struct Sample: Sendable, Hashable {
        public let labels: [Label]
        public let value: Value
    }

    /// What a sample is about: `source="…"`.
    public struct Label: Sendable, Hashable {
        public let name: String
        public let value: String
    }

    /// What was counted.
    public enum Value: Sendable, Hashable {
        case number(UInt64)
        case times(Times)
    }

    /// Times in buckets.
    public struct Times: Sendable, Hashable {
        /// For each bound, how many were not above it.
        public let buckets: [Bucket]
        public let sumMilliseconds: UInt64
        public let count: UInt64
    }

    /// How many times were not above one bound.
    public struct Bucket: Sendable, Hashable {
        public let upperMilliseconds: Int64
        public let count: UInt64
    }

    public let families: [Family]

    /// The number of one sample; nil when there is none with exactly these labels.
    public func number(_ family: String, _ labels: [String: String] = [:]) -> UInt64? {
        let samples = families.first { $0.name == family }?.samples ?? []
        let sample = samples.first { sample in
            sample.labels.count == labels.count
                && sample.labels.allSatisfy { labels[$0.name] == $0.value }
        }
        switch sample?.value {
        case .number(let number): return number
        case .times(let times): return times.count
        case nil: return nil
        }
    }

    init(_ metrics: ResolverMetrics) {
        families =
            MetricsSnapshot.lookups(metrics) + MetricsSnapshot.upkeep(metrics)
            + MetricsSnapshot.sources(metrics)
    }
}

// MARK: What is told

extension MetricsSnapshot {
    private static func lookups(_ metrics: ResolverMetrics) -> [Family] {
        [
            plain("lookups_started_total", "Lookups that callers began.", metrics.began),
            counter(
                "lookups_total", "Lookups that ended, by how.",
                ResolverEvent.Ending.allCases.map { ending in
                    sample(metrics.ended[ending] ?? 0, ("outcome", ending.rawValue))
                }),
            Family(
                name: prefix + "lookup_duration_seconds",
                help: "How long callers waited for the end of a lookup.", kind: .histogram,
                samples: [sample(metrics.lookupTime)]),
            plain(
                "lookups_joined_total", "Lookups that waited for an equal one in flight.",
                metrics.joined),
            counter(
                "lookups_served_total", "Lookups that were answered without asking, by where from.",
                ResolverEvent.Store.allCases.map { store in
                    sample(metrics.served[store] ?? 0, ("from", store.rawValue))
                }),
        ]
    }

    private static func upkeep(_ metrics: ResolverMetrics) -> [Family] {
        [
            plain("refreshes_total", "Answers renewed behind a caller.", metrics.refreshed),
            plain(
                "refresh_failures_total", "Answers that could not be renewed.",
                metrics.refreshFailed),
            plain("prefetches_total", "Answers asked for in advance.", metrics.prefetched),
            plain("failures_held_total", "Failures that are held.", metrics.failuresHeld),
            plain("cache_evictions_total", "Answers that gave way to newer.", metrics.evicted),
            plain("network_changes_total", "Changes of network.", metrics.networkChanges),
            plain("store_failures_total", "Failures of the store on disk.", metrics.storeFailures),
            counter(
                "disagreements_total",
                "Plain answers that differ from an authenticated one, by how.",
                Disagreement.Kind.allCases.map { kind in
                    sample(metrics.disagreements[kind] ?? 0, ("kind", kind.rawValue))
                }),
        ]
    }

    private static func sources(_ metrics: ResolverMetrics) -> [Family] {
        let sources = metrics.sources.sorted { $0.key < $1.key }
        let each = { (name: String, help: String, count: (ResolverMetrics.Source) -> UInt64) in
            counter(name, help, sources.map { sample(count($0.value), ("source", $0.key)) })
        }
        return [
            each("queries_total", "Questions sent to a source.") { $0.asked },
            counter(
                "query_failures_total", "Questions without a usable answer, by why.",
                sources.flatMap { label, source in
                    source.failures.sorted { $0.key < $1.key }.map { reason, count in
                        sample(count, ("source", label), ("reason", reason))
                    }
                }),
            Family(
                name: prefix + "answer_duration_seconds",
                help: "How long a source took to answer.", kind: .histogram,
                samples: sources.map { sample($0.value.answerTime, ("source", $0.key)) }),
            each("failovers_total", "Lookups that went on to the next source.") { $0.failedOver },
            each("breaks_total", "Times that a source was found broken.") { $0.broke },
            each("probes_total", "Questions to see whether a source is back.") { $0.probed },
            each("restores_total", "Times that a source was found back.") { $0.restored },
            each("over_quota_total", "Questions not sent for want of quota.") { $0.overQuota },
            each("refused_answers_total", "Answers with impossible addresses.") { $0.refused },
            Family(
                name: prefix + "source_broken", help: "1 while a source is left alone, else 0.",
                kind: .gauge,
                samples: sources.map { sample($0.value.isBroken ? 1 : 0, ("source", $0.key)) }),
        ]
    }

    private static let prefix = "httpdns_"

    private static func counter(_ name: String, _ help: String, _ samples: [Sample]) -> Family {
        Family(name: prefix + name, help: help, kind: .counter, samples: samples)
    }

    private static func plain(_ name: String, _ help: String, _ count: UInt64) -> Family {
        counter(name, help, [sample(count)])
    }

    private static func sample(_ number: UInt64, _ labels: (String, String)...) -> Sample {
        Sample(labels: labels.map { Label(name: $0.0, value: $0.1) }, value: .number(number))
    }

    private static func sample(_ times: TimeHistogram, _ labels: (String, String)...) -> Sample {
        let buckets = zip(TimeHistogram.boundsInMilliseconds, times.atMost).map {
            Bucket(upperMilliseconds: $0, count: $1)
        }
        return Sample(
            labels: labels.map { Label(name: $0.0, value: $0.1) },
            value: .times(
                Times(
                    buckets: buckets, sumMilliseconds: times.sumMilliseconds, count: times.count)))
    }
}
