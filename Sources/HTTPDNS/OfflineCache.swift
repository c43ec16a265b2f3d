public import HTTPDNSCaching
internal import HTTPDNSClient
internal import HTTPDNSDigest
internal import HTTPDNSPlatform
internal import HTTPDNSStore
internal import HTTPDNSTrust

/// How responses are kept, so that they answer again: over restarts, and without a network.
///
///     var configuration = HTTPDNSConfiguration()
///     configuration.offlineCache = OfflineCacheSettings(directory: "/var/cache/app")
///
/// See docs/offline-cache.md for what is kept and when it answers.
public struct OfflineCacheSettings: Sendable, Hashable {
    /// Where responses are kept; made for its owner alone when it is missing. Several clients and
    /// processes may name one directory.
    public var directory: String
    /// The most that is kept, in octets, bodies and heads and what the file system needs for them;
    /// what was used least lately goes first. At least 65,536. A body that is being written comes
    /// on top.
    public var maximumOctets: Int64 = 268_435_456
    /// Bodies that are larger are delivered and not kept, in octets; nil: a quarter of
    /// ``maximumOctets``.
    public var largestBodyOctets: Int64?
    /// Of requests that do not say otherwise; see ``HTTPDNSClient`` and ``HTTPRequest/cacheMode``.
    public var mode = CacheMode.standard
    /// Keep what came over plain `http` as well. Off: nobody proved anything there, and one answer
    /// of a hostile network would be believed on every other one.
    public var keepsPlainHTTP = false
    /// How long a request waits for an equal one that is under way, so that many at once go to the
    /// origin once; zero: each is sent. What others cannot use keeps nobody waiting for longer than
    /// its head takes.
    public var joining: Duration = .seconds(5)

    /// 256 MiB in `directory`, by RFC 9111.
    public init(directory: String, mode: CacheMode = .standard) {
        self.directory = directory
        self.mode = mode
    }
}

/// The responses that an `HTTPDNS` keeps: one for all its requests, those of sessions too.
public final class OfflineCache: Sendable {
    let cache: ResponseCache
    private let store: SQLiteResponseStore
    private let lastEvent = Locked<StoreEvent?>(nil)

    /// Of requests that do not say otherwise, from now on: ``CacheMode/onlyIfCached`` while the
    /// application is offline, say. Requests under way end as they began.
    public var mode: CacheMode {
        get { cache.mode }
        set { cache.mode = newValue }
    }

    init(
        _ settings: OfflineCacheSettings, policy: ChangingPolicy,
        report: (@Sendable (String) -> Void)?
    ) {
        let most = max(settings.maximumOctets, OfflineCache.leastOctets)
        let largest = min(max(settings.largestBodyOctets ?? most / 4, 0), most)
        let store = SQLiteResponseStore(
            directory: settings.directory,
            limits: ResponseLimits(maximumOctets: most, largestBodyOctets: largest)
        ) { [lastEvent] event in
            lastEvent.withLock { $0 = event }
            report?(event.text(of: "response store"))
        }
        self.store = store
        var rules = ResponseCache.Settings(largestBodyOctets: largest)
        rules.keepsPlainHTTP = settings.keepsPlainHTTP
        rules.joinMilliseconds = settings.joining.wholeMilliseconds
        let names = PolicyNames(policy)
        cache = ResponseCache(
            store: store, settings: rules, mode: settings.mode,
            digest: { OfflineCache.digest($0) }, namePolicy: { names.name(of: $0) })
    }

    /// How many responses are kept, and their octets as ``OfflineCacheSettings/maximumOctets``
    /// counts them; nil when the directory cannot be used now.
    public func contents() async -> (responses: Int, octets: Int64)? {
        await store.contents().map { ($0.responses, $0.octets) }
    }

    /// Looks whether the directory can be used: why not, or nil. Where it cannot, nothing is found
    /// or kept, and no request fails for it.
    public func obstacle() async -> String? {
        _ = await store.contents()
        // The directory of the bodies is made behind the first order.
        await store.flush()
        return switch lastEvent.withLock({ $0 }) {
        case .quiet(_, let why): why
        case .foreign(let path, let why): "\(path): \(why)"
        case .setAside, .recovered, nil: nil
        }
    }

    /// Forgets everything: on a sign-out, say. What requests that were begun before bring is not
    /// kept, however late it comes, and wherever a redirect leads them; that is known of those of
    /// this `HTTPDNS` alone, not of others that keep in the same directory.
    public func removeAll() async {
        cache.remove(nil)
        await store.flush()
    }

    /// Returns when what came until now is kept: before a process ends.
    public func flush() async { await store.flush() }

    /// Without SHA-256 (a system whose policy forbids it) no two values are equal, and nothing that
    /// varies by one is found again.
    static func digest(_ octets: [UInt8]) -> [UInt8] {
        if let digest = try? Digest.sha256(octets) { return digest }
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in generator.next() }
    }

    /// Because: below that, not even the pages of the database fit.
    private static let leastOctets: Int64 = 65_536
}

/// Names policies so that equal ones have equal names in every process.
///
/// A fingerprint counts the readings of root files, which tells them apart in one process alone.
/// Here their content takes the place of the count, so that a file that was changed makes another
/// policy.
final class PolicyNames: Sendable {
    private struct Named {
        let fingerprint: PolicyFingerprint
        let name: [UInt8]
    }

    private let policy: ChangingPolicy
    private let last = Locked<Named?>(nil)

    init(_ policy: ChangingPolicy) { self.policy = policy }

    func name(of fingerprint: PolicyFingerprint) -> [UInt8] {
        let known = last.withLock { $0 }
        if let known, known.fingerprint == fingerprint { return known.name }
        let name = PolicyNames.make(fingerprint, policy.current)
        last.withLock { $0 = Named(fingerprint: fingerprint, name: name) }
        return name
    }

    private static func make(_ fingerprint: PolicyFingerprint, _ policy: TrustPolicy) -> [UInt8] {
        let base = policy.fingerprint.text
        guard fingerprint.text.hasPrefix(base) else {
            // The policy was replaced a moment ago, and this exchange still judges by the one
            // before.
            return OfflineCache.digest(Array(fingerprint.text.utf8))
        }
        var rest = fingerprint.text.dropFirst(base.count)
        if rest.hasPrefix(countMark) {
            rest = rest.dropFirst(countMark.count).drop { $0.isNumber }
        }
        var text = Array((base + rest).utf8)
        for roots in [policy.roots, policy.userRoots].compactMap({ $0 }) {
            if case .file(let path) = roots {
                text += OfflineCache.digest(PolicyNames.content(of: path))
            }
        }
        return OfflineCache.digest(text)
    }

    private static func content(of path: String) -> [UInt8] {
        SmallFile.read(path, atMost: mostOctets) ?? []
    }

    /// Because: the bundle of all public roots has 220 KB.
    private static let mostOctets = 16_777_216

    /// As `ChainJudge` writes it.
    private static let countMark = " edition:"
}
