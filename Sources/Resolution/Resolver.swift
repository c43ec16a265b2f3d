public import HTTPDNSLookup
public import HTTPDNSNames
package import HTTPDNSPlatform
internal import HTTPDNSWire

/// Resolves host names through a chain of sources, with a cache that obeys TTLs.
///
/// One `Resolver` serves a whole application; every method may be called from any thread, and none
/// blocks it. Equal questions that are asked at the same time share one asking.
public final class Resolver: Sendable {
    /// The chain, most trusted first.
    public let sources: [any ResolverBackend]
    /// Who is asked for names that ``ResolverOptions/routes`` lets pass the chain by: the system.
    public let bypass: (any ResolverBackend)?
    /// Sources that only a rule of ``ResolverOptions/routes`` leads to.
    public let routed: [any ResolverBackend]
    public let options: ResolverOptions

    package let clock: any MonotonicSource
    package let alarms: any AlarmSource
    let state: Locked<ResolverState>
    package let cache: SharedAnswerCache
    let network: NetworkScope
    /// Some names may have addresses without asking; known beforehand for the sake of speed.
    let hasFixedAddresses: Bool
    let staleSeconds: Int64
    let events: EventHub

    /// A resolver that asks `sources` in the way that `options` say until one has an answer.
    public convenience init(
        sources: [any ResolverBackend], bypass: (any ResolverBackend)? = nil,
        routed: [any ResolverBackend] = [], options: ResolverOptions = ResolverOptions()
    ) {
        self.init(
            sources: sources, bypass: bypass, routed: routed, options: options,
            clock: SystemMonotonicClock(),
            alarms: AlarmThread.shared)
    }

    package init(
        sources: [any ResolverBackend], bypass: (any ResolverBackend)? = nil,
        routed: [any ResolverBackend] = [], options: ResolverOptions,
        clock: any MonotonicSource, alarms: any AlarmSource
    ) {
        self.sources = sources
        self.bypass = bypass
        self.routed = routed
        self.options = options
        self.clock = clock
        self.alarms = alarms
        var limits = CacheLimits(entries: options.cacheEntries, octets: options.cacheOctets)
        limits.prefetches = options.refreshesPopular
        if let stale = options.staleAnswers { limits.staleReplySeconds = stale.ttlSeconds }
        limits.staleSeconds = (options.staleAnswers?.maximumAge.wholeMilliseconds ?? 0) / 1_000
        cache = SharedAnswerCache(limits: limits)
        network = NetworkScope(
            chain: sources.map(\.label).joined(separator: " "), network: options.network)
        staleSeconds = limits.staleSeconds
        hasFixedAddresses = !options.tables.isEmpty || !options.routes.isEmpty
        events = EventHub(observer: options.observer)
        state = Locked(ResolverState())
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

    /// Finds the addresses of a host and calls back with them, for callers that are not async.
    ///
    /// - Parameter completion: called once, on a thread of the library or, where nothing must be
    ///   asked, on the caller's before this returns; it must return quickly.
    /// - Returns: what ends the wait early; dropping it changes nothing.
    @discardableResult
    public func resolve(
        _ host: Host, families: Set<IPAddress.Family>? = nil, patience: Duration? = nil,
        completion: @escaping @Sendable (Result<ResolvedHost, ResolutionFailure>) -> Void
    ) -> ResolutionHandle {
        ResolutionHandle(
            work: startResolving(
                host, families: families, patience: patience, deliver: completion))
    }

    /// True when nothing is being asked and nobody waits.
    package var isIdle: Bool { state.withLock { $0.table.isEmpty && $0.running.isEmpty } }
}

/// Ends the wait for addresses.
public struct ResolutionHandle: Sendable {
    let work: (any Stoppable)?

    /// Calls back with ``LookupFailure/cancelled`` unless the answer was told already. Legal at any
    /// moment, from any thread.
    public func cancel() { work?.stop() }
}

extension Question {
    /// The question for the addresses of one family.
    package static func addresses(of name: HostName, _ family: IPAddress.Family) -> Question {
        Question(name: name, type: family == .ipv4 ? .a : .aaaa)
    }
}
