public import HTTPDNSLookup
public import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

extension Resolver {
    /// The addresses of a host that the cache holds, IPv6 and IPv4 in turn.
    ///
    /// Never waits, never asks, allocates nothing. Reads a clock that may be one tick of the kernel
    /// behind (1 to 10 ms). Known to be none only when that is known of every family of the options.
    /// More than eight addresses: see ``CachedAddresses/isComplete``.
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
        let found = cache.addresses(
            of: host, family, in: scope, now: clock.coarseNow(),
            staleness: Int64(options.maximumStaleSeconds))
        if found.wantsRefresh { refresh(.addresses(of: host, family)) }
        return found
    }

    /// What the cache holds for a host, with everything about where it came from; nil when it holds no
    /// address. Never waits, never asks.
    public func cachedHost(for host: HostName) -> ResolvedHost? {
        let now = clock.now()
        var outcomes: [IPAddress.Family: AddressGathering.Outcome] = [:]
        for family in options.families {
            let question = Question.addresses(of: host, family)
            if let answer = cachedAnswer(LookupKey(question: question, scope: scope), now: now) {
                outcomes[family] = .success(answer)
            }
        }
        return try? ResolvedHost(host: host, outcomes: outcomes)
    }

    /// The answer that the cache holds for a key; starts what it wants refreshed.
    func cachedAnswer(_ key: LookupKey, now: Monotonic) -> LookupAnswer? {
        guard
            let hit = cache.find(
                key, now: now, staleness: Int64(options.maximumStaleSeconds))
        else { return nil }
        if hit.wantsRefresh { refresh(key.question) }
        var answer = LookupAnswer(
            testimony: hit.testimony, ttlSeconds: hit.secondsLeft, isCached: true)
        answer.isStale = hit.isStale
        return answer
    }

    /// Asks again, for nobody in particular; joins a lookup of the same question that is under way.
    private func refresh(_ question: Question) {
        let key = LookupKey(question: question, scope: scope)
        _ = startAsking(key, patience: nil) { [weak self] result in
            guard let self else { return }
            if case .success(let answer) = result, answer.isSettled { return }
            cache.refreshFailed(key, now: clock.now())
        }
    }

    /// Forgets every cached answer.
    public func removeCachedAnswers() { cache.removeAll() }

    /// Forgets every cached answer for a host, of whatever type.
    public func removeCachedAnswers(for host: HostName) { cache.remove(host) }

    /// An address of this host did not connect: whoever reads its cached addresses next has them asked
    /// for again.
    package func addressFailed(of host: HostName) {
        cache.demandRefresh(of: host, in: scope)
    }
}

extension LookupAnswer {
    /// It says something about the name, rather than about a server.
    fileprivate var isSettled: Bool {
        if case .serverFailure = outcome { false } else { true }
    }
}
