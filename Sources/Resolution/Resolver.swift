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
    let state: Locked<ResolverState>
    /// Part of every cache key: another chain is another scope.
    let scope: String

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
        scope = sources.map(\.label).joined(separator: " ")
        state = Locked(ResolverState(cacheCapacity: options.cacheCapacity))
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

    /// What the cache holds for a host; nil when it holds nothing. Never waits, never asks.
    public func cachedAddresses(for host: HostName) -> ResolvedHost? {
        let now = clock.now()
        let outcomes = state.withLock { state in
            var outcomes: [IPAddress.Family: AddressGathering.Outcome] = [:]
            for family in options.families {
                let key = LookupKey(question: .addresses(of: host, family), scope: scope)
                guard let hit = state.cache.answer(for: key, now: now) else { continue }
                outcomes[family] = .success(
                    LookupAnswer(
                        testimony: hit.testimony, ttlSeconds: hit.secondsLeft, isCached: true))
            }
            return outcomes
        }
        return try? ResolvedHost(host: host, outcomes: outcomes)
    }

    /// True when nothing is being asked and nobody waits.
    package var isIdle: Bool { state.withLock { $0.table.isEmpty && $0.running.isEmpty } }

    /// Forgets every cached answer.
    public func removeCachedAnswers() {
        state.withLock { $0.cache.removeAll() }
    }
}

/// How a resolver behaves.
public struct ResolverOptions: Sendable {
    /// Which kinds of address are asked for unless a call says otherwise.
    public var families: Set<IPAddress.Family> = [.ipv4, .ipv6]
    /// How long a caller waits unless it says otherwise.
    ///
    /// Because: two sources may each use their 1.5 s before a third answers.
    public var patience: Duration = .seconds(5)
    /// Cached answers at most; a large one counts once for each KiB.
    public var cacheCapacity = 10_000

    public init() {}
}

extension Question {
    /// The question for the addresses of one family.
    package static func addresses(of name: HostName, _ family: IPAddress.Family) -> Question {
        Question(name: name, type: family == .ipv4 ? .a : .aaaa)
    }
}
