import HTTPDNSDatagram
import HTTPDNSDoH
import HTTPDNSDoT
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSStore
import HTTPDNSVendor
import TestSupport

/// One resolver and what holds for its answers.
struct SoakWorld: Sendable {
    let name: String
    let resolver: Resolver
    /// How long after its end an answer may be told, marked.
    var staleMilliseconds: Int64 = 0
    /// Where a lie must not win, as long as the proven source is asked and in time.
    var watch: WindowWatch?
    /// It also knows the inner names and the canary.
    var hasRoutes = false
}

/// All resolvers of a soak.
struct SoakWorlds: Sendable {
    let all: [SoakWorld]
    /// Labels of the sources that prove themselves.
    let proven: Set<String>
    private let directory: TemporaryDirectory

    init(_ servers: SoakServers, clock: SystemMonotonicClock) throws {
        directory = try TemporaryDirectory()
        let store = SQLiteAnswerStore(
            path: "\(directory.path)/answers.sqlite",
            limits: StoreLimits(maximumAnswers: 4_000, maximumOctets: 4 << 20))
        let dot = try servers.dot()
        let doh = try servers.healthyDoH()
        let faulty = try servers.faultyDoHBackend()
        proven = [dot.label, doh.label, faulty.label]
        all = [
            SoakWorlds.ordered(servers, faulty, store),
            try SoakWorlds.hedged(servers, dot),
            SoakWorlds.guarded(servers, doh, clock),
            try SoakWorlds.routed(servers),
        ]
    }

    /// One after the other, stale answers at once, and a store.
    private static func ordered(
        _ servers: SoakServers, _ faulty: any ResolverBackend, _ store: SQLiteAnswerStore
    ) -> SoakWorld {
        var options = SoakWorlds.options
        options.staleAnswers = StaleAnswers(maximumAge: .seconds(20))
        options.store = store
        options.network = "home"
        return SoakWorld(
            name: "ordered",
            resolver: Resolver(
                sources: [faulty, servers.datagram(0), servers.datagram(1)], options: options),
            staleMilliseconds: 20_000)
    }

    /// Hedged by what was measured, stale answers after a while.
    private static func hedged(
        _ servers: SoakServers, _ dot: any ResolverBackend
    ) throws -> SoakWorld {
        var options = SoakWorlds.options
        options.strategy = .hedged(after: nil)
        options.staleAnswers = StaleAnswers(
            maximumAge: .seconds(10), after: .milliseconds(200))
        return SoakWorld(
            name: "hedged",
            resolver: Resolver(
                sources: [
                    servers.datagram(1), dot, servers.datagram(2), try servers.serviceBackend(),
                ], options: options),
            staleMilliseconds: 10_000)
    }

    /// Raced: two that may lie against one that is trusted.
    private static func guarded(
        _ servers: SoakServers, _ doh: any ResolverBackend, _ clock: SystemMonotonicClock
    ) -> SoakWorld {
        let watch = WindowWatch(label: doh.label, windowMilliseconds: 1_500, clock: clock)
        var options = SoakWorlds.options
        options.strategy = .raced
        options.preferenceWindow = .milliseconds(watch.windowMilliseconds)
        options.observer = { watch.heard($0) }
        return SoakWorld(
            name: "guarded",
            resolver: Resolver(
                sources: [servers.datagram(2), doh, servers.datagram(3)], options: options),
            watch: watch)
    }

    /// Plain servers alone, with names that go elsewhere.
    private static func routed(_ servers: SoakServers) throws -> SoakWorld {
        var options = SoakWorlds.options
        options.routes = try RoutingRules(
            """
            *\(SoakZone.innerSuffix) = system
            \(SoakZone.canary) = \(SoakZone.canaryAddress)
            """)
        return SoakWorld(
            name: "routed",
            resolver: Resolver(
                sources: (0..<3).map { servers.datagram($0) }, bypass: servers.innerBackend,
                options: options),
            hasRoutes: true)
    }

    /// Because: small caches are full, and evict, before the memory is measured.
    private static var options: ResolverOptions {
        var options = ResolverOptions()
        options.cacheEntries = 2_000
        options.cacheOctets = 512 << 10
        return options
    }
}

/// Knows when the trusted source was asked, to tell whether a lie that was believed came too early.
final class WindowWatch: Sendable {
    let label: String
    let windowMilliseconds: Int64
    private let clock: SystemMonotonicClock
    private let state = Locked(State())

    private struct State {
        var asked: [ResolverEvent.Subject: Monotonic] = [:]
        /// Names for which a lie was believed with good reason; it may be told from the cache.
        var excused: [ResolverEvent.Subject: Monotonic] = [:]
    }

    init(label: String, windowMilliseconds: Int64, clock: SystemMonotonicClock) {
        self.label = label
        self.windowMilliseconds = windowMilliseconds
        self.clock = clock
    }

    func heard(_ event: ResolverEvent) {
        switch event {
        case .asked(let subject, source: label):
            let now = clock.now()
            state.withLock { $0.asked[subject] = now }
        case .failed(let subject, source: label, let failure) where failure != .cancelled:
            // Without the trusted one the first plain answer counts.
            let now = clock.now()
            state.withLock { $0.excused[subject] = now }
        default: break
        }
    }

    /// Whether a lie about that name may be told now.
    func mayLie(_ question: Question) -> Bool {
        let subject = ResolverEvent.Subject(question)
        let now = clock.now()
        return state.withLock { state in
            // Because: an answer that was believed is in the cache for 60 s, the life of a lie.
            if let since = state.excused[subject], now.milliseconds(since: since) < 62_000 {
                return true
            }
            guard let asked = state.asked[subject] else { return false }
            // The plain answer is held for the window, which begins when it comes.
            guard now.milliseconds(since: asked) >= windowMilliseconds else { return false }
            state.excused[subject] = now
            return true
        }
    }
}
