package import HTTPDNSNames

/// When to look at the network after the kernel spoke of it. Does no I/O.
///
/// A change comes as a burst: links, addresses, routes, and `resolv.conf` last. So:
/// 1. It is looked at when nothing was heard for a while, and once more later, for what writes
///    `resolv.conf` late.
/// 2. A network that never falls silent is looked at all the same, some seconds after the first word.
package struct NetworkQuiet: Sendable {
    private var firstHeard: Monotonic?
    private var lastHeard = Monotonic.zero
    private var secondLook: Monotonic?

    package init() {}

    package mutating func heard(now: Monotonic) {
        if firstHeard == nil { firstHeard = now }
        lastHeard = now
        secondLook = nil
    }

    /// When to ask ``isDue(now:)``; nil: not before something is heard.
    package var lookAt: Monotonic? {
        guard let firstHeard else { return secondLook }
        return min(
            lastHeard.adding(milliseconds: Self.quietMilliseconds),
            firstHeard.adding(milliseconds: Self.longestMilliseconds))
    }

    /// True when it is time to look now.
    package mutating func isDue(now: Monotonic) -> Bool {
        guard let lookAt, lookAt <= now else { return false }
        secondLook =
            firstHeard == nil ? nil : now.adding(milliseconds: Self.secondLookMilliseconds)
        firstHeard = nil
        return true
    }

    /// Because: the messages of one change come within some tens of milliseconds; DHCP takes longer,
    /// and is then heard again.
    private static let quietMilliseconds: Int64 = 500
    /// Because: longer than a change takes, short enough for somebody who waits.
    private static let longestMilliseconds: Int64 = 5_000
    /// Because: network managers write resolv.conf after the addresses are there, VPNs seconds later.
    private static let secondLookMilliseconds: Int64 = 5_000
}
