public import HTTPDNSLookup
public import HTTPDNSNames
package import HTTPDNSPlatform
internal import HTTPDNSWire

/// Resolves host names through an ordered chain of sources, with a cache that obeys TTLs.
///
/// One `Resolver` serves a whole application; every method may be called from any thread. Equal
/// questions that are asked at the same time share one asking.
public final class Resolver: Sendable {
    /// The chain, most trusted first.
    public let sources: [any ResolverBackend]
    public let options: ResolverOptions

    package let clock: any MonotonicSource
    package let alarms: any AlarmSource
    let state = Locked(ResolverState())
    /// Asked without the lock above, and again under it before a question goes out.
    package let cache: SharedAnswerCache
    let scopes = ScopeTable()
    /// Part of every cache key: another chain is another scope.
    let scope: LookupScope

    /// A resolver that asks `sources` one after the other until one has an answer.
    public convenience init(
        sources: [any ResolverBackend], options: ResolverOptions = ResolverOptions()
    ) {
        self.init(
            sources: sources, options: options, clock: SystemMonotonicClock(),
            alarms: AlarmThread.shared)
    }

    package init(
        sources: [any ResolverBackend], options: ResolverOptions, clock: any MonotonicSource,
        alarms: any AlarmSource
    ) {
        self.sources = sources
        self.options = options
        self.clock = clock
        self.alarms = alarms
        scope = scopes.scope(sources.map(\.label).joined(separator: " "))
        cache = SharedAnswerCache(limits: options.cacheLimits)
    }

    /// Asks one question of any type.
    ///
    /// A negative answer is returned, not thrown: see ``LookupAnswer/outcome``.
    ///
    /// - Parameter patience: how long to wait; nil takes ``ResolverOptions/patience``.
    /// - Throws: ``LookupFailure`` when no source gave an answer in time, or the task was cancelled.
    public func lookup(
        _ question: Question, patience: Duration? = nil
    ) async throws(LookupFailure) -> LookupAnswer {
        let pending = PendingAnswer<LookupAnswer, LookupFailure>(ifCancelled: .cancelled)
        return try await pending.value { deliver in
            self.startLookup(question, patience: patience, deliver: deliver)
        }
    }

    /// Finds the addresses of a host. Literals and `localhost` are answered without asking.
    ///
    /// - Parameters:
    ///   - families: which kinds of address to ask for; A and AAAA are asked together. None at all
    ///     is ``LookupFailure/noSource(question:)``.
    ///   - patience: how long to wait; nil takes ``ResolverOptions/patience``.
    /// - Throws: ``ResolutionFailure``.
    public func resolve(
        _ host: Host, families: Set<IPAddress.Family>? = nil, patience: Duration? = nil
    ) async throws(ResolutionFailure) -> ResolvedHost {
        let pending = PendingAnswer<ResolvedHost, ResolutionFailure>(
            ifCancelled: .failed(.cancelled))
        return try await pending.value { deliver in
            self.startResolving(host, families: families, patience: patience, deliver: deliver)
        }
    }

    /// True when nothing is being asked and nobody waits.
    package var isIdle: Bool { state.withLock { $0.table.isEmpty && $0.running.isEmpty } }
}

/// How a resolver behaves.
public struct ResolverOptions: Sendable {
    /// Which kinds of address are asked for unless a call says otherwise.
    public var families: Set<IPAddress.Family> = [.ipv4, .ipv6]
    /// How long a caller waits unless it says otherwise.
    ///
    /// Because: two sources may each use their 1.5 s before a third answers.
    public var patience: Duration = .seconds(5)
    /// Cached answers at most.
    public var cacheCapacity = CacheLimits.defaultEntries
    /// Memory that the cache takes at most.
    public var cacheOctets = CacheLimits.defaultOctets
    /// How long answers are kept.
    public var lifeRules = LifeRules()
    /// For how long after its end an answer may still be given, while a new one is asked for; 0: never.
    /// Source: RFC 8767.
    public var maximumStaleSeconds: UInt32 = 0
    /// Ask again for names in use shortly before their answers end.
    public var prefetches = false

    public init() {}

    var cacheLimits: CacheLimits {
        var limits = CacheLimits(entries: cacheCapacity, octets: cacheOctets)
        limits.staleSeconds = Int64(maximumStaleSeconds)
        limits.prefetches = prefetches
        return limits
    }
}

extension Question {
    /// The question for the addresses of one family.
    package static func addresses(of name: HostName, _ family: IPAddress.Family) -> Question {
        Question(name: name, type: family == .ipv4 ? .a : .aaaa)
    }
}
