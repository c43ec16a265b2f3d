public import HTTPDNSNames
internal import HTTPDNSTrust

/// For which hosts a client may ask the system's resolver when none of its own sources has an answer;
/// and for which pinned hosts it may where it is one of the chain.
///
/// It is never used for a host that a source says does not exist, and what it says is held to the same
/// proof as every other answer. A request that used it says so: ``ExchangeReport/Hop/systemFallback``.
public struct SystemFallback: Sendable, Hashable {
    /// The hosts; none: never.
    public var hosts: [HostPattern] = []
    /// Every host, whatever ``hosts`` says.
    public var isForAllHosts = false
    /// Hosts with pins, too. Pins would still be asked for; but who pins a host has it in mind that the
    /// network lies about it, and the system believes the network.
    public var includesPinnedHosts = false

    /// Never.
    public init() {}

    func allows(_ host: Host, pins: PinSet) -> Bool {
        guard isForAllHosts || hosts.contains(where: { $0.matches(host) }) else { return false }
        return includesPinnedHosts || pins.match(for: host)?.rule == nil
    }

    var isNever: Bool { hosts.isEmpty && !isForAllHosts }
}
