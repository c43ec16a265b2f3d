package import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSNames
package import HTTPDNSPlatform
package import HTTPDNSTrust

/// The cache of responses of a client: what is kept, and by which rules. One for all its requests.
package final class ResponseCache: Sendable {
    /// What does not change.
    package struct Settings: Sendable {
        /// Keep what came over plain `http`, where nobody proved anything.
        package var keepsPlainHTTP = false
        package var largestBodyOctets: Int64
        /// How long a request waits for an equal one that is under way; 0: each is sent.
        package var joinMilliseconds: Int64 = 0

        package init(largestBodyOctets: Int64) { self.largestBodyOctets = largestBodyOctets }
    }

    package let store: any ResponseStore
    let settings: Settings
    private let usual: Locked<CacheMode>
    private let wall: any WallSource
    private let boot: any BootSource
    let monotonic: any MonotonicSource
    let alarms: any AlarmSource
    package let joined: JoinedRequests
    package let changes = Changes()
    let digest: @Sendable ([UInt8]) -> [UInt8]
    private let namePolicy: @Sendable (PolicyFingerprint) -> [UInt8]

    /// - Parameters:
    ///   - digest: SHA-256.
    ///   - namePolicy: a name for a policy that is the same after a restart, and only for the same
    ///     policy; never empty.
    package init(
        store: any ResponseStore, settings: Settings, mode: CacheMode,
        wall: any WallSource = SystemWallClock(), boot: any BootSource = SystemBootClock(),
        monotonic: any MonotonicSource = SystemMonotonicClock(),
        alarms: any AlarmSource = AlarmThread.shared,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8],
        namePolicy: @escaping @Sendable (PolicyFingerprint) -> [UInt8]
    ) {
        self.store = store
        self.settings = settings
        usual = Locked(mode)
        self.wall = wall
        self.boot = boot
        self.monotonic = monotonic
        self.alarms = alarms
        joined = JoinedRequests(
            patienceMilliseconds: settings.joinMilliseconds, clock: monotonic, alarms: alarms)
        self.digest = digest
        self.namePolicy = namePolicy
    }

    /// Of requests that do not say otherwise.
    package var mode: CacheMode {
        get { usual.withLock { $0 } }
        set { usual.withLock { $0 = newValue } }
    }

    func now() -> CacheMoment {
        CacheMoment(
            wallSeconds: wall.now().secondsSince1970,
            bootMilliseconds: boot.millisecondsSinceBoot(), bootID: boot.bootID)
    }

    /// What is kept of these URLs, or of all where it is nil, is out of date, and so is what is on
    /// its way: that is not kept, and nobody who comes from now on waits for it.
    ///
    /// In this order: an answer that comes meanwhile either sees that it is outdated, or is removed
    /// by the store, which obeys in the order in which it is told.
    package func remove(_ urls: [CacheKey]?) {
        changes.note(urls)
        joined.close(urls)
        if let urls { store.remove(urls) } else { store.removeAll() }
    }

    func policy(of verifier: any PeerVerifier) -> [UInt8] { namePolicy(verifier.fingerprint) }
}
