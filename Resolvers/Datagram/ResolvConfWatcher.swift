internal import HTTPDNSNames
package import HTTPDNSPlatform

/// The servers of `/etc/resolv.conf` as it is now: a network that changes rewrites the file.
///
/// Whether it has changed is looked at when a lookup starts, and at most once a second: inode, size
/// and time of change. No thread and no watch of the system's is needed, and a laptop that sleeps pays
/// nothing. A missing file means the server on this machine, as for the C library.
public final class ResolvConfWatcher: Sendable {
    /// The file.
    public let path: String
    private let clock: any MonotonicSource
    private let state = Locked(State())

    private struct State: Sendable {
        var conf = ResolvConf(parsing: "")
        var stamp: SmallFile.Stamp?
        var lookedAt: Monotonic?
        /// A look has come to its end: `conf` is more than a guess.
        var hasLooked = false
        var reloads = 0
    }

    /// Reads nothing yet.
    public convenience init(path: String = "/etc/resolv.conf") {
        self.init(path: path, clock: SystemMonotonicClock())
    }

    package init(path: String, clock: any MonotonicSource) {
        self.path = path
        self.clock = clock
    }

    /// What the file says, at most a second ago.
    public func current() -> ResolvConf {
        let now = clock.now()
        let (known, stamp, isFresh) = state.withLock { state in
            let age = state.lookedAt.map { now.milliseconds(since: $0) }
            let isFresh = state.hasLooked && (age ?? .max) < Self.freshMilliseconds
            if !isFresh { state.lookedAt = now }
            return (state.conf, state.stamp, isFresh)
        }
        guard !isFresh else { return known }
        return look(known, stamp)
    }

    /// Reads the file anew whatever it looks like.
    @discardableResult
    public func reload() -> ResolvConf {
        let (known, now) = (state.withLock { $0.conf }, clock.now())
        state.withLock { $0.lookedAt = now }
        return look(known, nil)
    }

    /// How often another text was found.
    package var reloads: Int { state.withLock { $0.reloads } }

    private func look(_ known: ResolvConf, _ stamp: SmallFile.Stamp?) -> ResolvConf {
        defer { state.withLock { $0.hasLooked = true } }
        let found = SmallFile.stamp(path)
        if let found, found == stamp { return known }
        // A file that is there but cannot be read, or is still being written: the last word holds.
        var conf = ResolvConf(parsing: "")
        if found != nil {
            guard let octets = SmallFile.read(path, atMost: Self.maximumOctets) else {
                return known
            }
            conf = ResolvConf(parsing: String(decoding: octets, as: UTF8.self))
        }
        state.withLock { state in
            if state.conf != conf { state.reloads += 1 }
            state.conf = conf
            state.stamp = found
        }
        return conf
    }

    /// Because: a program asks for many names at once, and nobody notices a second.
    private static let freshMilliseconds: Int64 = 1_000
    /// Because: a hundred times what an honest file has.
    private static let maximumOctets = 65_536
}
