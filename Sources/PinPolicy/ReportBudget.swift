package import HTTPDNSNames

/// How many pin reports are made: so many at once and then one now and then, for a host and in total.
///
/// Because: a rotation that went wrong makes every request of every client a mismatch; reports that
/// follow suit would take down the server that gathers them.
public struct ReportLimits: Sendable, Hashable {
    /// Reports at once for one host, and the time after which there may be one more.
    public var burstPerHost = 3
    public var intervalPerHost: Duration = .seconds(600)
    /// The same for all hosts together.
    public var burst = 20
    public var interval: Duration = .seconds(60)

    public init() {}
}

/// Keeps to ``ReportLimits``. No clock: the driver passes the time in.
package struct ReportBudget: Sendable {
    private struct Bucket {
        let capacity: Int
        let intervalMilliseconds: Int64
        var level: Int
        var filledAt: Monotonic

        init(_ capacity: Int, _ interval: Duration, now: Monotonic) {
            self.capacity = max(1, capacity)
            intervalMilliseconds = max(1, interval.wholeMilliseconds)
            level = self.capacity
            filledAt = now
        }

        mutating func refill(now: Monotonic) {
            let passed = now.milliseconds(since: filledAt) / intervalMilliseconds
            guard passed > 0 else { return }
            let missing = Int64(capacity - level)
            level += Int(min(passed, missing))
            filledAt =
                passed >= missing
                ? now
                : filledAt.adding(milliseconds: passed * intervalMilliseconds)
        }
    }

    private let limits: ReportLimits
    private var total: Bucket?
    private var hosts: [Host: Bucket] = [:]

    package init(_ limits: ReportLimits) { self.limits = limits }

    /// Whether a report about `host` may be made now; counts it if so.
    package mutating func take(_ host: Host, now: Monotonic) -> Bool {
        var all = total ?? Bucket(limits.burst, limits.interval, now: now)
        var own = hosts[host] ?? Bucket(limits.burstPerHost, limits.intervalPerHost, now: now)
        all.refill(now: now)
        own.refill(now: now)
        let isAllowed = all.level > 0 && own.level > 0
        if isAllowed {
            all.level -= 1
            own.level -= 1
        }
        total = all
        if hosts[host] == nil, hosts.count >= Self.maximumHosts { makeRoom(now: now) }
        hosts[host] = own
        return isAllowed
    }

    /// Forgets hosts whose budget is whole again; when there is none, the one that has most left.
    private mutating func makeRoom(now: Monotonic) {
        for host in hosts.keys { hosts[host]?.refill(now: now) }
        hosts = hosts.filter { $0.value.level < $0.value.capacity }
        guard hosts.count >= Self.maximumHosts,
            let fullest = hosts.max(by: { $0.value.level < $1.value.level })?.key
        else { return }
        hosts[fullest] = nil
    }

    /// Because: an application talks to fewer pinned hosts, and memory stays bounded.
    private static let maximumHosts = 256
}
