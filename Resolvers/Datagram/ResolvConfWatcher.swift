package import HTTPDNSPlatform

/// The servers of `/etc/resolv.conf` as it is now: a network that changes rewrites the file.
///
/// Whether it has changed is looked at when a lookup starts, and at most once a second: inode, size
/// and time of change. A missing file means the server on this machine, as for the C library.
public final class ResolvConfWatcher: Sendable {
    private let file: WatchedFile<ResolvConf>

    /// Reads nothing yet.
    public convenience init(path: String = "/etc/resolv.conf") {
        self.init(path: path, clock: SystemMonotonicClock())
    }

    package init(path: String, clock: any MonotonicSource) {
        file = WatchedFile(path: path, maximumOctets: Self.maximumOctets, clock: clock) {
            ResolvConf(parsing: $0)
        }
    }

    /// The file.
    public var path: String { file.path }

    /// What the file says, at most a second ago.
    public func current() -> ResolvConf { file.value }

    /// Reads the file anew whatever it looks like.
    @discardableResult
    public func reload() -> ResolvConf { file.reload() }

    /// How often another text was found.
    package var reloads: Int { file.changes }

    /// Because: a hundred times what an honest file has.
    private static let maximumOctets = 65_536
}
