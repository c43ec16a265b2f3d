internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

// Whom a lookup asks, and how they do
extension Resolver {
    /// The sources that can be asked for a question, as they are now, and how to go about them.
    func plan(
        for question: Question, now: Monotonic, in state: borrowing ResolverState
    ) -> ([(any ResolverBackend, PlannedSource)], LookupRules) {
        var rules = LookupRules()
        rules.strategy = options.strategy
        rules.preferenceWindowMilliseconds = options.preferenceWindow.wholeMilliseconds
        var chosen = sources
        var isRouted = false
        switch options.routes.target(for: question.name) {
        case nil where bypass != nil && question.name.text == NAT64.discoveryName:
            // Only this network's own resolver knows its prefix. Source: RFC 7050 §3.
            chosen = bypass.map { [$0] } ?? []
        case .bypass?:
            chosen = bypass.map { [$0] } ?? []
            isRouted = true
        case .sources(let labels)?:
            chosen = labels.compactMap { label in everySource.first { $0.label == label } }
            isRouted = true
        case .fixed?, nil:
            let allowed = withholding(question.name, from: chosen)
            rules.withheld = chosen.map(\.label).filter { label in
                !allowed.contains { $0.label == label }
            }.map { LookupAttempt(resolver: $0, reason: .failed(.withheld)) }
            chosen = allowed
        }
        rules.policy = isRouted ? .off : options.addressPolicy
        var able = chosen.filter { $0.supportedTypes?.contains(question.type) ?? true }
        let doubted = able.filter {
            state.doubts.isDoubted($0.label, for: question.name, now: now)
        }
        if !doubted.isEmpty {
            let labels = Set(doubted.map(\.label))
            able = able.filter { !labels.contains($0.label) } + doubted
        }
        var planned: [(any ResolverBackend, PlannedSource)] = []
        for source in able {
            planned.append((source, plannedSource(source, now: now, in: state)))
        }
        return (planned, rules)
    }

    /// The chain without whom the network names, for a host that is pinned: who pins has it in mind that
    /// the network lies. A chain of nothing else is somebody's own choice, and stays.
    private func withholding(
        _ name: HostName, from chain: [any ResolverBackend]
    ) -> [any ResolverBackend] {
        guard isWithheld(name) else { return chain }
        let others = chain.filter { !$0.isOfTheSystem }
        return others.isEmpty ? chain : others
    }

    private func isWithheld(_ name: HostName) -> Bool {
        asksOthersThanTheSystem && options.withholdsSystem?(name) == true
    }

    /// True for what a source said that may not be asked for that name, now that it is pinned.
    func isWithheld(_ testimony: Testimony) -> Bool {
        let label = testimony.source.resolver
        guard sources.contains(where: { $0.isOfTheSystem && $0.label == label }),
            isWithheld(testimony.question.name)
        else { return false }
        switch options.routes.target(for: testimony.question.name) {
        case .bypass?, .sources?: return false
        case .fixed?, nil: return true
        }
    }

    /// The chain has a source that neither the system nor the network names.
    package var asksOthersThanTheSystem: Bool { sources.contains { !$0.isOfTheSystem } }

    /// Those of the chain, those that rules lead to, and the system.
    var everySource: [any ResolverBackend] { sources + routed + (bypass.map { [$0] } ?? []) }

    private func plannedSource(
        _ source: any ResolverBackend, now: Monotonic, in state: borrowing ResolverState
    ) -> PlannedSource {
        // On a copy: whether this lookup comes to ask it is not known yet.
        var health = state.health[source.label] ?? SourceHealth()
        var planned = PlannedSource(
            label: source.label, isAuthenticated: source.isAuthenticated,
            isLocal: source.isLocal, hedgeDelayMilliseconds: health.hedgeDelayMilliseconds)
        switch health.mayAsk(now: now) {
        case .ask: break
        case .probe: planned.isOnProbation = true
        case .rest(let until): planned.restMilliseconds = until.millisecondsLeft(from: now)
        }
        return planned
    }

    func ask(
        _ id: QueryID, by: Monotonic, of running: inout RunningLookup, key: LookupKey,
        now: Monotonic, in state: inout ResolverState
    ) -> [StartedAction] {
        guard id.source < running.sources.count else { return [] }
        let source = running.sources[id.source]
        var todo: [StartedAction] = []
        let permission = state.health[source.label, default: SourceHealth()].mayAsk(now: now)
        if permission == .probe {
            todo.append(.emit(.probed(source: source.label)))
        }
        let subject = ResolverEvent.Subject(key.question)
        if let last = running.lastFailed {
            todo.append(.emit(.failedOver(subject, from: last, to: source.label)))
        }
        running.lastFailed = nil
        running.queries[id] = RunningQuery(
            label: source.label, asked: now, until: by, network: state.networkChanges,
            isProbe: permission == .probe)
        return todo + [
            .emit(.asked(subject, source: source.label)),
            .ask(source, key.question, id, by: by, serial: running.serial),
        ]
    }

    /// A query that is left: its time is over, or it is not wanted any longer.
    func abandon(
        _ id: QueryID, of running: inout RunningLookup, now: Monotonic,
        in state: inout ResolverState
    ) -> [StartedAction] {
        guard id.source < running.sources.count, let query = running.queries[id] else { return [] }
        let label = running.sources[id.source].label
        if query.isPassed, !query.isMissed, now < query.until,
            state.lingering.count < LingeringQuery.most
        {
            // Else a source that is silent would be passed by every caller in a hurry, and never rest.
            state.lingering[LingeringQuery(serial: running.serial, id: id)] = query
            return []
        }
        var todo: [StartedAction] = query.ending.map { [.cancel($0)] } ?? []
        running.queries[id]?.ending = nil
        running.queries[id]?.isLeft = true
        if query.isMissed { return todo }
        if now >= query.until {
            running.lastFailed = label
            todo += failed(
                .timedOut(tries: 1), query, running.subject, now: now, in: &state)
        } else if query.isProbe, query.network == state.networkChanges {
            state.health[label]?.abandoned(now: now)
        }
        return todo
    }

    /// A query that its lookup has ended without, and that may be the probe of its source: then it goes
    /// on for a while, for what it says of the source.
    func hearOut(
        _ id: QueryID, until: Monotonic, of running: inout RunningLookup, now: Monotonic,
        in state: inout ResolverState
    ) -> [StartedAction] {
        guard let query = running.queries[id], query.isProbe,
            query.network == state.networkChanges
        else { return abandon(id, of: &running, now: now, in: &state) }
        // After that the next one may go.
        let next = query.asked.adding(milliseconds: SourceHealth.probePatienceMilliseconds)
        let lingering = LingeringQuery(serial: running.serial, id: id)
        state.lingering[lingering] = query
        return [.endHearing(lingering, at: min(until, next))]
    }

    /// Ends a probe that outlives its lookup, unless something is heard of it before.
    func endHearing(_ lingering: LingeringQuery, at moment: Monotonic, key: LookupKey) {
        let alarm = alarms.schedule(at: moment) { [weak self] in
            guard let self else { return }
            judgeLingering(nil, lingering, key: key, now: clock.now())
        }
        let isLate = state.withLock { state in
            state.lingering[lingering]?.alarm = alarm
            return state.lingering[lingering] == nil
        }
        if isLate { alarms.cancel(alarm) }
    }

    /// A query whose time is over, and that is listened to all the same.
    func miss(
        _ id: QueryID, of running: inout RunningLookup, now: Monotonic,
        in state: inout ResolverState
    ) -> [StartedAction] {
        guard let query = running.queries[id] else { return [] }
        running.lastFailed = query.label
        running.queries[id]?.isMissed = true
        if case .hedged = options.strategy, query.network == state.networkChanges {
            state.health[query.label]?.outrun(
                afterMilliseconds: now.milliseconds(since: query.asked))
        }
        return failed(.timedOut(tries: 1), query, running.subject, now: now, in: &state)
    }

    /// A source has answered or failed.
    func heard(
        _ result: Result<Testimony, QueryFailure>, from id: QueryID, key: LookupKey,
        serial: UInt64
    ) {
        let now = clock.now()
        var events: [StartedAction] = []
        step(key, serial: serial, now: now) { running, state in
            let lingering = LingeringQuery(serial: serial, id: id)
            guard id.source < running.sources.count, let query = running.queries[id],
                state.lingering[lingering] == nil
            else { return [] }
            let label = running.sources[id.source].label
            let took = now.milliseconds(since: query.asked)
            switch result {
            case .success(let testimony):
                let subject = running.subject
                // Another network: what answered there may be somebody else here.
                events =
                    query.network == state.networkChanges
                    ? answered(label, subject, inMilliseconds: took, now: now, in: &state)
                    : [.emit(.answered(subject, source: label, milliseconds: took))]
                running.lastFailed = label
                return running.machine.answered(id, testimony, now: now)
            case .failure where query.isLeft:
                // Its source was judged when it was left; this is the echo.
                return []
            case .failure(let failure):
                if !query.isMissed {
                    events = failed(failure, query, running.subject, now: now, in: &state)
                }
                if failure != .notCovered { running.lastFailed = label }
                return running.machine.failed(id, failure, now: now)
            }
        }
        perform(events, key: key)
        judgeLingering(result, LingeringQuery(serial: serial, id: id), key: key, now: now)
    }

    /// What came of a query after its lookup; nil when its time is over.
    private func judgeLingering(
        _ result: Result<Testimony, QueryFailure>?, _ lingering: LingeringQuery, key: LookupKey,
        now: Monotonic
    ) {
        let events = state.withLock { state -> [StartedAction] in
            guard let query = state.lingering.removeValue(forKey: lingering) else { return [] }
            let subject = ResolverEvent.Subject(key.question)
            guard let result else {
                let ended: [StartedAction] = query.ending.map { [.cancel($0)] } ?? []
                return ended
                    + failed(.timedOut(tries: 1), query, subject, now: now, in: &state)
            }
            let disarmed: [StartedAction] = query.alarm.map { [.disarm($0)] } ?? []
            switch result {
            case .success where query.network != state.networkChanges: return disarmed
            case .success:
                let took = now.milliseconds(since: query.asked)
                return disarmed
                    + answered(
                        query.label, subject, inMilliseconds: took, now: now, in: &state)
            case .failure(let failure):
                return disarmed + failed(failure, query, subject, now: now, in: &state)
            }
        }
        perform(events, key: key)
    }

    private func answered(
        _ label: String, _ subject: ResolverEvent.Subject, inMilliseconds took: Int64,
        now: Monotonic, in state: inout ResolverState
    ) -> [StartedAction] {
        let wasWell = state.health[label, default: SourceHealth()].state == .closed
        state.health[label, default: SourceHealth()].answered(inMilliseconds: took, now: now)
        let said = StartedAction.emit(.answered(subject, source: label, milliseconds: took))
        return wasWell ? [said] : [said, .emit(.restored(source: label))]
    }

    private func failed(
        _ failure: QueryFailure, _ query: RunningQuery, _ subject: ResolverEvent.Subject,
        now: Monotonic, in state: inout ResolverState
    ) -> [StartedAction] {
        let label = query.label
        var todo: [StartedAction] = [.emit(.failed(subject, source: label, failure))]
        // The network went away under it: that is no fault of the source.
        guard query.network == state.networkChanges else { return todo }
        var health = state.health[label] ?? SourceHealth()
        let wasWell = health.state == .closed
        if failure.countsAgainstSource || query.isProbe {
            health.failed(failure, now: now, jitter: Double.random(in: 0..<1))
        }
        state.health[label] = health
        if case .overQuota(let milliseconds) = failure {
            todo.append(
                .emit(.overQuota(source: label, retryAfterMilliseconds: milliseconds)))
        }
        if wasWell, case .open(let until) = health.state {
            todo.append(
                .emit(.broke(source: label, milliseconds: until.millisecondsLeft(from: now))))
        }
        return todo
    }
}
