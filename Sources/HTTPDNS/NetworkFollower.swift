internal import HTTPDNSDatagram
internal import HTTPDNSLookup
internal import HTTPDNSPlatform
internal import HTTPDNSResolution

/// Tells a resolver when the machine is on another network, for as long as this lives.
final class NetworkFollower: Sendable {
    private let monitor: NetworkMonitor

    /// Nil where the system does not tell of its network.
    init?(_ resolver: Resolver) {
        let watcher = ResolvConfWatcher()
        monitor = NetworkMonitor(
            nameServers: { watcher.current().servers },
            onChange: { [weak resolver] in resolver?.networkDidChange("\($0)") })
        guard monitor.start() else { return nil }
    }

    deinit { monitor.stop() }

    /// The network as it is now, named as the monitor names it; nil where the system does not tell.
    static func current() -> String? {
        guard var facts = NetworkMonitor.facts() else { return nil }
        facts.nameServers = ResolvConfWatcher().current().servers
        return "\(facts.id)"
    }
}

/// Passes what a store reports on to the resolver that was made after it.
final class StoreReports: Sendable {
    private struct Target {
        weak var resolver: Resolver?
    }

    private let target = Locked(Target())

    func pass(to resolver: Resolver) { target.withLock { $0.resolver = resolver } }

    func tell(_ text: String) { target.withLock { $0.resolver }?.tell(.storeFailed(text)) }
}
