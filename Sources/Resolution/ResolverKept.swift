public import HTTPDNSLookup
public import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

// What is kept, and how it stays fresh
extension Resolver {
    /// How long the new answer is waited for before a stale one is given.
    var staleWait: Duration { options.staleAnswers?.after ?? .zero }

    /// What the cache holds, and whether its entry is due for a refresh.
    func cached(_ key: LookupKey, now: Monotonic) -> Kept? {
        guard let hit = cache.find(key, now: now, staleness: staleSeconds) else { return nil }
        return Kept(
            answer: LookupAnswer(
                testimony: hit.testimony, ttlSeconds: hit.secondsLeft, isCached: true,
                isStale: hit.isStale),
            wantsRefresh: hit.wantsRefresh)
    }

    /// Gives a kept answer out, and has it asked for again where that is due.
    func give(
        _ kept: Kept, _ deliver: @Sendable (Result<LookupAnswer, LookupFailure>) -> Void
    ) {
        let question = kept.answer.testimony.question
        let store = kept.answer.isStale ? ResolverEvent.Store.stale : .cache
        emit(.served(ResolverEvent.Subject(question), from: store))
        deliver(.success(kept.answer))
        if kept.wantsRefresh { refresh(question, isAhead: !kept.answer.isStale) }
    }

    /// Asks again for what somebody has already, or will want.
    func refresh(
        _ question: Question, isAhead: Bool,
        then: @escaping @Sendable (LookupAnswer?) -> Void = { _ in }
    ) {
        let subject = ResolverEvent.Subject(question)
        if isAhead { emit(.prefetched(subject)) }
        _ = startLookup(question, patience: nil, use: .refresh) { [weak self] result in
            var good: LookupAnswer?
            if let answer = try? result.get(), !answer.outcome.isServerFailure { good = answer }
            self?.emit(good == nil ? .refreshFailed(subject) : .refreshed(subject))
            then(good)
        }
    }

    /// What is in the store, before anybody is asked.
    func consult(_ question: Question, serial: UInt64, key: LookupKey) {
        guard let store = options.store, let scope = storeScope(key) else {
            storeAnswered(nil, serial: serial, key: key)
            return
        }
        let limit = clock.now().adding(milliseconds: Resolver.storeMilliseconds)
        let alarm = alarms.schedule(at: limit) { [weak self] in
            self?.storeAnswered(nil, serial: serial, key: key)
        }
        let isWanted = state.withLock { state in
            guard let running = state.running[key], running.serial == serial,
                running.isConsulting
            else { return false }
            state.running[key]?.alarm = alarm
            return true
        }
        guard isWanted else { return alarms.cancel(alarm) }
        store.find(question, scope: scope) { [weak self] found in
            self?.storeAnswered(found, serial: serial, key: key)
        }
    }

    /// How long a lookup waits for what the store has.
    ///
    /// Because: a disk answers within a few milliseconds, a busy one in some tens; a source answers in
    /// about a hundred, and one whose file is locked must not cost more than that.
    static let storeMilliseconds: Int64 = 100

    private func storeAnswered(_ found: StoredAnswer?, serial: UInt64, key: LookupKey) {
        let now = clock.now()
        let (actions, isStale) = state.withLock { state -> ([StartedAction], Bool) in
            guard var running = state.running[key], running.serial == serial,
                running.isConsulting
            else { return ([], false) }
            running.isConsulting = false
            var todo: [StartedAction] = running.alarm.map { [.disarm($0)] } ?? []
            running.alarm = nil
            let evicted = found.map { keep($0, for: key, now: now) } ?? nil
            if let evicted { todo += Resolver.told(evicted: evicted) }
            if evicted != nil,
                let answer = cached(key, now: now)?.answer
            {
                guard answer.isStale, staleWait != .zero else {
                    state.running[key] = nil
                    return (
                        todo + [
                            .emit(.served(running.subject, from: .disk)),
                            .tell(state.table.finish(key), .success(answer)),
                        ], answer.isStale
                    )
                }
                running.fallback = answer
                todo.append(.armFallback(serial: running.serial))
            }
            let actions = running.machine.start(now: now)
            return (
                todo + apply(actions, to: &running, key: key, now: now, in: &state), false
            )
        }
        perform(actions, key: key)
        if isStale { refresh(key.question, isAhead: false) }
    }

    /// Gives the stored answer whose life is over to all who wait, when the new one does not come in
    /// time; the lookup goes on without them. Source: RFC 8767 §5, the client response timer.
    func armFallback(serial: UInt64, key: LookupKey) {
        let moment = clock.now().adding(milliseconds: staleWait.wholeMilliseconds)
        _ = alarms.schedule(at: moment) { [weak self] in
            guard let self else { return }
            let actions = state.withLock { state -> [StartedAction] in
                guard let running = state.running[key], running.serial == serial,
                    let answer = running.fallback
                else { return [] }
                let told = state.table.finish(key)
                _ = state.table.join(key, Waiter.silent(until: running.machine.deadline))
                return [.tell(told, .success(answer))]
            }
            perform(actions, key: key)
        }
    }

    /// Puts what the store found into the cache with what is left of its life; how many answers gave
    /// way to it, or nil when nothing is left that may be used.
    private func keep(_ found: StoredAnswer, for key: LookupKey, now: Monotonic) -> Int? {
        guard isAcceptable(found.testimony) else { return nil }
        if found.secondsLeft > 0 {
            let life = min(found.secondsLeft, options.lifeRules.seconds(of: found.testimony))
            guard life > 0 else { return nil }
            return cache.store(found.testimony, for: key, lifeSeconds: life, now: now)
        }
        guard staleSeconds > 0, Int64(found.secondsOver) < staleSeconds else { return nil }
        // As if it had been kept for a second that ended when its life did.
        let kept = now.adding(seconds: -Int64(found.secondsOver) - 1)
        return cache.store(found.testimony, for: key, lifeSeconds: 1, now: kept)
    }

    static func told(evicted: Int) -> [StartedAction] {
        evicted > 0 ? [.emit(.evicted(count: evicted))] : []
    }

    /// Whether the policy of today allows what was kept under that of another day.
    private func isAcceptable(_ testimony: Testimony) -> Bool {
        guard !isWithheld(testimony) else { return false }
        let name = testimony.question.name
        switch options.routes.target(for: name) {
        case .bypass?, .sources?: return true
        case .fixed?, nil: break
        }
        let answer = LookupAnswer(testimony: testimony, ttlSeconds: 0, isCached: true)
        return options.addressPolicy.verdict(
            for: name, addresses: answer.everyAddress, isLocalSource: false) == .acceptable
    }
}

// What an application asks for
extension Resolver {
    /// Finds the addresses of many hosts at once, so that they are there when they are needed.
    ///
    /// Equal hosts are asked once. A provider that takes several names in one request gets them so,
    /// where its description says that it may. Nothing is thrown: each host has its own result.
    ///
    /// - Parameter patience: for each host; nil takes ``ResolverOptions/patience``.
    @discardableResult
    public func preResolve(
        _ hosts: some Sequence<HostName>, patience: Duration? = nil
    ) async -> [HostName: Result<ResolvedHost, ResolutionFailure>] {
        var waiting = Set(hosts).sorted().makeIterator()
        var results: [HostName: Result<ResolvedHost, ResolutionFailure>] = [:]
        await withTaskGroup(
            of: (HostName, Result<ResolvedHost, ResolutionFailure>).self
        ) { group in
            func startNext() {
                guard let host = waiting.next() else { return }
                group.addTask {
                    do throws(ResolutionFailure) {
                        return (
                            host, .success(try await self.resolve(.name(host), patience: patience))
                        )
                    } catch {
                        return (host, .failure(error))
                    }
                }
            }
            for _ in 0..<Resolver.preResolveAtOnce { startNext() }
            for await (host, result) in group {
                results[host] = result
                startNext()
            }
        }
        return results
    }

    /// Hosts in flight at once while resolving ahead.
    ///
    /// Because: enough to fill batches and to hide round trips, too few to flood a home router or to
    /// use up a service's limit (20 queries a second at some).
    static let preResolveAtOnce = 32

    /// Keeps the addresses of these hosts fresh from now on: they are asked for at once, and again
    /// shortly before their life ends, until another list replaces this one. An empty list ends it.
    public func keepHot(_ hosts: Set<HostName>) {
        let (old, new) = state.withLock { state in
            let old = state.hot.filter { !hosts.contains($0.key) }.flatMap(\.value.values)
            let new = hosts.filter { state.hot[$0] == nil }
            var hot: [HostName: [RecordType: AlarmID]] = [:]
            for host in hosts { hot[host] = state.hot[host] ?? [:] }
            state.hot = hot
            return (old, new)
        }
        for alarm in old { alarms.cancel(alarm) }
        for host in new.sorted() { askAgain(for: host) }
    }

    /// Another lookup of a hot name, when nine tenths of its life are over.
    func scheduleRefresh(of question: Question, lifeSeconds: UInt32) {
        let milliseconds = max(Resolver.shortestHotMilliseconds, Int64(lifeSeconds) * 900)
        let alarm = alarms.schedule(at: clock.now().adding(milliseconds: milliseconds)) {
            [weak self] in
            self?.askAgain(question)
        }
        let old = state.withLock { state -> AlarmID? in
            state.hot[question.name] == nil
                ? alarm : state.hot[question.name]?.updateValue(alarm, forKey: question.type)
        }
        if let old { alarms.cancel(old) }
    }

    /// Because: a name whose answers live no longer than a second would be asked for without end.
    static let shortestHotMilliseconds: Int64 = 1_000
    /// When a hot name that could not be resolved is tried again. Source: RFC 8767 §5, the failure
    /// recheck timer.
    static let hotRetrySeconds: UInt32 = 30

    private func askAgain(for name: HostName) {
        for family in options.families { askAgain(.addresses(of: name, family)) }
    }

    private func askAgain(_ question: Question) {
        refresh(question, isAhead: true) { [weak self] answer in
            guard answer.map({ $0.ttlSeconds == 0 }) ?? true else { return }
            self?.scheduleRefresh(of: question, lifeSeconds: Resolver.hotRetrySeconds)
        }
    }

    /// Tells what came of an address that this resolver gave for a host.
    ///
    /// Addresses that did not connect, or that presented a certificate which did not prove the host,
    /// stand behind the others from then on; and the host's addresses are asked for again.
    public func report(_ address: IPAddress, for host: HostName, outcome: AddressOutcome) {
        let now = clock.now()
        state.withLock { state in
            state.rank.report(address, for: .name(host), outcome: outcome, now: now)
        }
        guard outcome.wantsRefresh else { return }
        let question = Question.addresses(of: host, address.family)
        cache.demandRefresh(LookupKey(question: question, scope: currentScope))
        // The cache says who asks, and that nobody does a moment after an answer.
        _ = cachedHost(for: host)
    }

    /// Nobody was the host at the addresses that a source gave: for some minutes it is asked last for
    /// that host.
    package func doubt(_ source: String, for host: HostName) {
        let now = clock.now()
        state.withLock { $0.doubts.doubt(source, for: host, now: now) }
    }

    /// The device is on another network: what was learnt on the one before does not hold here.
    ///
    /// Health, address ranking and held failures are forgotten, back-ends drop their connections, and
    /// the names kept hot and those asked for most are resolved anew.
    ///
    /// - Parameter network: names the network (an SSID, an interface, a monitor's
    ///   fingerprint): answers are kept for each and good again when it comes back. Nil names a network
    ///   that was never seen.
    public func networkDidChange(_ network: String? = nil) {
        let popular = cache.entries(in: currentScope, limit: Resolver.popularAtOnce)
            .map(\.question)
        // First, so that what is learnt from now on is learnt of the new one.
        enter(network: network)
        let hot = state.withLock { state in
            state.health = [:]
            state.rank.networkChanged()
            state.failures.removeAll()
            state.doubts.removeAll()
            state.nat64 = nil
            state.networkChanges &+= 1
            return Set(state.hot.keys)
        }
        for source in everySource { source.networkDidChange() }
        emit(.networkChanged)
        for name in hot.sorted() { askAgain(for: name) }
        for question in popular where !hot.contains(question.name) {
            refresh(question, isAhead: true)
        }
    }

    /// The next question to each source goes over a new connection, for what sources must prove has
    /// changed; what is under way is still waited for.
    package func reconnect() {
        // What failed under the old demands says nothing about the new ones.
        state.withLock { state in
            state.health = [:]
            state.failures.removeAll()
        }
        for source in everySource { source.networkDidChange() }
    }

    /// Questions asked anew after a change of network, most popular first.
    ///
    /// Because: what a person is using now; the rest is asked for when it is wanted.
    static let popularAtOnce = 20
}

extension LookupAnswer.Outcome {
    var isServerFailure: Bool {
        if case .serverFailure = self { true } else { false }
    }
}

/// A kept answer.
struct Kept: Sendable {
    let answer: LookupAnswer
    let wantsRefresh: Bool
}
