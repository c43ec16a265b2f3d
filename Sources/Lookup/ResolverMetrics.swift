/// Counts what happened in a resolver. Does no I/O; one lives under the resolver's lock.
///
/// Rules:
/// 1. No host name becomes a label: there are too many, and they tell what somebody visits. Labels
///    are sources and words of this module.
/// 2. Sources are counted one by one up to ``maximumSources``, the rest together as `other`, so that
///    a list of servers that changes all the time cannot grow the memory.
/// 3. Counters never go back, but begin at 0 with the resolver.
public struct ResolverMetrics: Sendable, Hashable {
    /// What is known of one source.
    struct Source: Sendable, Hashable {
        var asked: UInt64 = 0
        var failures: [String: UInt64] = [:]
        var failedOver: UInt64 = 0
        var broke: UInt64 = 0
        var probed: UInt64 = 0
        var restored: UInt64 = 0
        var overQuota: UInt64 = 0
        var refused: UInt64 = 0
        var isBroken = false
        var answerTime = TimeHistogram()
    }

    /// Because: a configuration names a few sources; 64 leave room for the servers that a service
    /// hands out.
    package static let maximumSources = 64
    /// The label of the sources beyond.
    package static let otherSources = "other"

    var began: UInt64 = 0
    var joined: UInt64 = 0
    var served: [ResolverEvent.Store: UInt64] = [:]
    var ended: [ResolverEvent.Ending: UInt64] = [:]
    var lookupTime = TimeHistogram()
    var disagreements: [Disagreement.Kind: UInt64] = [:]
    var refreshed: UInt64 = 0
    var refreshFailed: UInt64 = 0
    var prefetched: UInt64 = 0
    var failuresHeld: UInt64 = 0
    var evicted: UInt64 = 0
    var networkChanges: UInt64 = 0
    var storeFailures: UInt64 = 0
    var sources: [String: Source] = [:]

    public init() {}

    /// Counts one event.
    public mutating func record(_ event: ResolverEvent) {
        switch event {
        case .began: began &+= 1
        case .joined: joined &+= 1
        case .served(_, let store): served[store, default: 0] &+= 1
        case .ended(_, let ending, let milliseconds):
            ended[ending, default: 0] &+= 1
            lookupTime.add(milliseconds: milliseconds)
        case .refreshed: refreshed &+= 1
        case .refreshFailed: refreshFailed &+= 1
        case .prefetched: prefetched &+= 1
        case .failureHeld: failuresHeld &+= 1
        case .evicted(let count): evicted &+= UInt64(clamping: count)
        case .disagreed(let disagreement): disagreements[disagreement.kind, default: 0] &+= 1
        case .networkChanged: forgetBreakers()
        case .storeFailed: storeFailures &+= 1
        case .asked, .answered, .failed, .failedOver, .broke, .probed, .restored, .overQuota,
            .addressesRefused:
            recordSource(event)
        }
    }

    /// What was counted until now.
    public var snapshot: MetricsSnapshot { MetricsSnapshot(self) }

    private mutating func recordSource(_ event: ResolverEvent) {
        switch event {
        case .asked(_, let label): change(label) { $0.asked &+= 1 }
        case .answered(_, let label, let milliseconds):
            change(label) { $0.answerTime.add(milliseconds: milliseconds) }
        case .failed(_, let label, let failure):
            change(label) { $0.failures[failure.label, default: 0] &+= 1 }
        case .failedOver(_, let label, _): change(label) { $0.failedOver &+= 1 }
        case .broke(let label, _):
            change(label) {
                $0.broke &+= 1
                $0.isBroken = true
            }
        case .probed(let label): change(label) { $0.probed &+= 1 }
        case .restored(let label):
            change(label) {
                $0.restored &+= 1
                $0.isBroken = false
            }
        case .overQuota(let label, _): change(label) { $0.overQuota &+= 1 }
        case .addressesRefused(_, let label, _): change(label) { $0.refused &+= 1 }
        default: return
        }
    }

    /// On another network every source is tried anew.
    private mutating func forgetBreakers() {
        networkChanges &+= 1
        for label in sources.keys { sources[label]?.isBroken = false }
    }

    private mutating func change(_ label: String, _ change: (inout Source) -> Void) {
        let isKnown = sources[label] != nil || sources.count < ResolverMetrics.maximumSources
        change(&sources[isKnown ? label : ResolverMetrics.otherSources, default: Source()])
    }
}

/// Times in buckets of fixed bounds.
package struct TimeHistogram: Sendable, Hashable {
    /// Because: 1 ms is a cache or a neighbour, 20 to 200 ms a round trip over land and sea, 1.5 to 5 s
    /// the patience of a source and of a caller; three bounds to a decade tell these apart.
    package static let boundsInMilliseconds: [Int64] = [
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000,
    ]

    /// One for each bound, not summed up, and one for what is above.
    private var counts = [UInt64](repeating: 0, count: boundsInMilliseconds.count + 1)
    package private(set) var sumMilliseconds: UInt64 = 0
    package private(set) var count: UInt64 = 0

    package init() {}

    package mutating func add(milliseconds: Int64) {
        let value = UInt64(clamping: milliseconds)
        let bucket = TimeHistogram.boundsInMilliseconds.firstIndex { value <= UInt64(clamping: $0) }
        counts[bucket ?? counts.count - 1] &+= 1
        sumMilliseconds &+= value
        count &+= 1
    }

    /// For each bound, how many times were not above it. Source: the `le` of Prometheus' histograms.
    package var atMost: [UInt64] {
        var total: UInt64 = 0
        return counts.dropLast().map {
            total &+= $0
            return total
        }
    }
}
