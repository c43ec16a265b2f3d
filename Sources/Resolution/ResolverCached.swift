public import HTTPDNSLookup
public import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

// What is known of a host without waiting
extension Resolver {
    /// The addresses of a host that the cache holds, IPv6 and IPv4 in turn, each family in the order
    /// received; nil when it holds none, and empty when it is known that there is none.
    ///
    /// Never waits, never asks, allocates nothing. Reads a clock that may be one tick of the kernel
    /// behind (1 to 10 ms). More than eight addresses: see ``CachedAddresses/isComplete``. What was
    /// reported of them counts in ``cachedHost(for:)`` and ``resolve(_:families:patience:)``.
    public func cachedAddresses(for host: HostName) -> CachedAddresses? {
        if !options.tables.isEmpty || !options.routes.isEmpty, let fixed = fixedCached(host) {
            return fixed
        }
        let now = clock.coarseNow()
        let families = options.families
        let sixes = families.contains(.ipv6) ? cached(host, .ipv6, now: now) : nil
        let fours = families.contains(.ipv4) ? cached(host, .ipv4, now: now) : nil
        guard let sixes, let fours else {
            guard let known = sixes ?? fours else { return nil }
            return known.isEmpty && families.count > 1 ? nil : known
        }
        return CachedAddresses(joining: sixes, fours)
    }

    /// As ``cachedAddresses(for:)``, of one family.
    public func cachedAddresses(
        for host: HostName, _ family: IPAddress.Family
    ) -> CachedAddresses? {
        if !options.tables.isEmpty || !options.routes.isEmpty,
            let (addresses, _) = fixedAddresses(host)
        {
            return CachedAddresses(
                addresses.filter { $0.family == family }, secondsLeft: Resolver.fixedSeconds)
        }
        return cached(host, family, now: clock.coarseNow())
    }

    private func cached(
        _ host: HostName, _ family: IPAddress.Family, now: Monotonic
    ) -> CachedAddresses? {
        let found = cache.addresses(
            of: host, family, in: currentScope, now: now, staleness: staleSeconds)
        if let found, found.wantsRefresh {
            refresh(.addresses(of: host, family), isAhead: !found.isStale)
        }
        return found
    }

    private func fixedCached(_ host: HostName) -> CachedAddresses? {
        guard let (addresses, _) = fixedAddresses(host) else { return nil }
        return CachedAddresses(
            addresses.filter { options.families.contains($0.family) },
            secondsLeft: Resolver.fixedSeconds)
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
        return ranked(found, now: now)
    }

    /// Forgets every cached answer, those in the store included.
    public func removeCachedAnswers() {
        cache.removeAll()
        options.store?.removeAll()
    }

    /// Forgets what is cached for one host.
    public func removeCachedAnswers(for host: HostName) {
        cache.remove(host)
    }
}
