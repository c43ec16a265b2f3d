public import HTTPDNSLookup
public import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

// What is known of a host without waiting
extension Resolver {
    /// The addresses of a host that the cache holds, IPv6 and IPv4 in turn, each family in the order
    /// received.
    ///
    /// Never waits, never asks, allocates nothing. Reads a clock that may be one tick of the kernel
    /// behind (1 to 10 ms). Known to be none only when that is known of every family of the options.
    /// More than eight addresses: see ``CachedAddresses/isComplete``. What was reported of them counts
    /// in ``cachedHost(for:)`` and ``resolve(_:families:patience:)``.
    public func cachedAddresses(for host: HostName) -> CachedAddresses {
        let families = options.families
        guard families.count > 1 else {
            return families.first.map { cachedAddresses(for: host, $0) } ?? CachedAddresses()
        }
        let sixes = cachedAddresses(for: host, .ipv6)
        let fours = cachedAddresses(for: host, .ipv4)
        if sixes.isKnown, fours.isKnown { return CachedAddresses(joining: sixes, fours) }
        // Of what is half known only addresses count.
        if !sixes.isEmpty { return sixes }
        return fours.isEmpty ? CachedAddresses() : fours
    }

    /// As ``cachedAddresses(for:)``, of one family.
    public func cachedAddresses(
        for host: HostName, _ family: IPAddress.Family
    ) -> CachedAddresses {
        if hasFixedAddresses, let (addresses, _) = fixedAddresses(host) {
            return CachedAddresses(
                addresses.filter { $0.family == family }, secondsLeft: Resolver.fixedSeconds)
        }
        let found = cache.addresses(
            of: host, family, in: currentScope, now: clock.coarseNow(), staleness: staleSeconds)
        if found.wantsRefresh {
            refresh(.addresses(of: host, family), isAhead: !found.isStale)
        }
        return found
    }

    /// What is known of a host, with everything about where it came from, and the addresses in the
    /// order in which they are to be tried; nil when no address is known. Never waits, never asks.
    ///
    /// With stale answers allowed, it may be stale; a new answer is then being asked for.
    public func cachedHost(for host: HostName) -> ResolvedHost? {
        let now = clock.now()
        var outcomes: [IPAddress.Family: AddressGathering.Outcome] = [:]
        for family in options.families {
            let question = Question.addresses(of: host, family)
            if let fixed = fixedAnswer(question) {
                outcomes[family] = .success(fixed)
                continue
            }
            let key = LookupKey(question: question, scope: currentScope)
            guard let kept = cached(key, now: now) else { continue }
            outcomes[family] = .success(kept.answer)
            if kept.wantsRefresh { refresh(question, isAhead: !kept.answer.isStale) }
        }
        guard let found = try? ResolvedHost(host: host, outcomes: outcomes) else { return nil }
        return ranked(placed(found), now: now)
    }

    /// The same with its place in the chain.
    func placed(_ found: ResolvedHost) -> ResolvedHost {
        found.placed(at: sources.firstIndex { $0.label == found.source.resolver }.map { $0 + 1 })
    }

    /// Other hosts than before are kept from the system: forgets what is cached for those that `isMeant`
    /// picks, and what failed. What the store holds is judged when it is read.
    package func withholdsOthers(where isMeant: @Sendable (HostName) -> Bool) {
        cache.remove { isMeant($0.question.name) }
        state.withLock { $0.failures.removeAll() }
    }

    /// Forgets every cached answer, those in the store included.
    public func removeCachedAnswers() {
        cache.removeAll()
        options.store?.removeAll()
    }

    /// Forgets what is cached for one host; in the store, its addresses and service bindings on this
    /// network.
    public func removeCachedAnswers(for host: HostName) {
        cache.remove(host)
        guard let store = options.store else { return }
        for type in [RecordType.a, .aaaa, .https] {
            let question = Question(name: host, type: type)
            let key = LookupKey(question: question, scope: currentScope)
            if let scope = storeScope(key) { store.forget(question, scope: scope) }
        }
    }
}
