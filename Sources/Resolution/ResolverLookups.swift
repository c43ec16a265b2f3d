package import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

// How a question comes in
extension Resolver {
    /// Answers from what is kept, or starts or joins a lookup; `deliver` is called once, possibly
    /// before this returns.
    package func startLookup(
        _ question: Question, patience: Duration?, use: CacheUse = .normal,
        deliver: @escaping @Sendable (Result<LookupAnswer, LookupFailure>) -> Void
    ) -> (any Stoppable)? {
        let now = clock.now()
        let subject = ResolverEvent.Subject(question)
        let deliver = use == .normal ? counting(subject, from: now, deliver) : deliver
        if use == .normal { emit(.began(subject)) }
        if let fixed = fixedAnswer(question) {
            deliver(.success(fixed))
            return nil
        }
        let key = LookupKey(question: question, scope: currentScope)
        var fallback: LookupAnswer?
        if use == .normal, let kept = cached(key, now: now) {
            guard kept.answer.isStale, staleWait != .zero else {
                give(kept, deliver)
                return nil
            }
            fallback = kept.answer
        }
        let limit = now.adding(milliseconds: (patience ?? options.patience).wholeMilliseconds)
        let cell = AlarmCell()
        let waiter = Waiter(
            deliver: Resolver.preferring(fallback, deliver), alarm: cell, limit: limit)
        let entry = join(key, waiter, hasFallback: fallback != nil, use: use, now: now)
        let (id, started): (WaiterID, [StartedAction])
        switch entry {
        case .waiting(let waiter, let actions): (id, started) = (waiter, actions)
        case .kept(let kept):
            give(kept, waiter.deliver)
            return nil
        case .held(let result):
            emit(.served(subject, from: .held))
            waiter.deliver(result)
            return nil
        }
        if let fallback {
            armFallback(id, key: key, cell: cell, answer: fallback, limit: limit, now: now)
        } else {
            arm(cell, at: limit) { [weak self] in self?.patienceEnded(id, key: key) }
        }
        perform(started, key: key)
        return WaitingLookup(resolver: self, waiter: id)
    }

    /// How a caller's question came in.
    private enum Entry {
        case kept(Kept)
        case held(Result<LookupAnswer, LookupFailure>)
        case waiting(WaiterID, [StartedAction])
    }

    private func join(
        _ key: LookupKey, _ waiter: Waiter, hasFallback: Bool, use: CacheUse, now: Monotonic
    ) -> Entry {
        state.withLock { state in
            // Asked again under the lock: a lookup may have ended since, and must not be repeated.
            if use == .normal, !hasFallback, let kept = cached(key, now: now) {
                return .kept(kept)
            }
            if options.holdsFailures, let held = state.failures.held(for: key, now: now) {
                return .held(Resolver.result(of: held))
            }
            let joining = state.table.join(key, waiter)
            guard case .start = joining else {
                return .waiting(
                    joining.waiter,
                    [.emit(.joined(ResolverEvent.Subject(key.question)))]
                        + hurry(key, until: waiter.limit, now: now, in: &state))
            }
            return .waiting(
                joining.waiter,
                begin(key, limit: waiter.limit, use: use, now: now, in: &state))
        }
    }

    /// A lookup under way has a caller more, who may have less patience than those before.
    private func hurry(
        _ key: LookupKey, until limit: Monotonic, now: Monotonic, in state: inout ResolverState
    ) -> [StartedAction] {
        guard var running = state.running[key], limit < running.machine.deadline else { return [] }
        let actions = running.machine.joined(until: limit, now: now)
        guard !actions.isEmpty else {
            state.running[key] = running
            return []
        }
        return apply(actions, to: &running, key: key, now: now, in: &state)
    }

    /// Counts the end of a caller's question.
    private func counting(
        _ subject: ResolverEvent.Subject, from begun: Monotonic,
        _ deliver: @escaping @Sendable (Result<LookupAnswer, LookupFailure>) -> Void
    ) -> @Sendable (Result<LookupAnswer, LookupFailure>) -> Void {
        { [weak self] result in
            if let self {
                let ending: ResolverEvent.Ending =
                    switch result {
                    case .success(let answer): ResolverEvent.Ending(answer)
                    case .failure(let failure): ResolverEvent.Ending(failure)
                    }
                let took = clock.now().milliseconds(since: begun)
                emit(.ended(subject, ending, milliseconds: took))
            }
            deliver(result)
        }
    }

    /// An alarm of a waiter that may have been told meanwhile.
    private func arm(
        _ cell: AlarmCell, at moment: Monotonic, _ ring: @escaping @Sendable () -> Void
    ) {
        let alarm = alarms.schedule(at: moment, ring)
        if !cell.set(alarm) { alarms.cancel(alarm) }
    }

    /// Gives the stale answer when the new one does not come in time; the lookup goes on without its
    /// waiter. Source: RFC 8767 §5, the client response timer.
    private func armFallback(
        _ id: WaiterID, key: LookupKey, cell: AlarmCell, answer: LookupAnswer, limit: Monotonic,
        now: Monotonic
    ) {
        let moment = min(limit, now.adding(milliseconds: staleWait.wholeMilliseconds))
        arm(cell, at: moment) { [weak self] in
            guard let self else { return }
            let waiter = state.withLock { state -> Waiter? in
                guard state.table.isWaiting(id) else { return nil }
                _ = state.table.join(key, Waiter.silent(until: limit))
                return state.table.leave(id).0
            }
            waiter?.deliver(.success(answer))
        }
    }

    /// A failure is never told where a stale answer is at hand. Source: RFC 8767 §4.
    private static func preferring(
        _ fallback: LookupAnswer?,
        _ deliver: @escaping @Sendable (Result<LookupAnswer, LookupFailure>) -> Void
    ) -> @Sendable (Result<LookupAnswer, LookupFailure>) -> Void {
        guard let fallback else { return deliver }
        return { result in
            switch result {
            case .success(let answer) where answer.outcome.isServerFailure:
                deliver(.success(fallback))
            case .failure(.exhausted), .failure(.timedOut): deliver(.success(fallback))
            case .success, .failure: deliver(result)
            }
        }
    }

    /// As above, for what the store holds.
    private static func preferring(
        _ fallback: LookupAnswer?, _ failure: LookupFailure
    ) -> Result<LookupAnswer, LookupFailure> {
        switch failure {
        case .exhausted, .timedOut: fallback.map { .success($0) } ?? .failure(failure)
        case .noSource, .cancelled: .failure(failure)
        }
    }

    /// Takes a waiter out and tells it why; the lookup goes on while others wait.
    func leave(
        _ id: WaiterID,
        telling why: (borrowing ResolverState) -> Result<LookupAnswer, LookupFailure>
    ) {
        let now = clock.now()
        let (waiter, result, key, actions) = state.withLock { state in
            let result = why(state)
            let (waiter, leaving) = state.table.leave(id)
            guard case .stop(let key) = leaving, var running = state.running[key] else {
                return (waiter, result, LookupKey?.none, [StartedAction]())
            }
            guard !running.isConsulting else {
                // Nobody has been asked yet, and nobody will be: what the store says comes too late.
                state.running[key] = nil
                return (waiter, result, key, running.alarm.map { [.disarm($0)] } ?? [])
            }
            let actions = running.machine.stopped()
            return (
                waiter, result, key, apply(actions, to: &running, key: key, now: now, in: &state)
            )
        }
        if let key { perform(actions, key: key) }
        guard let waiter else { return }
        waiter.alarm.close().map(alarms.cancel)
        waiter.deliver(result)
    }

    /// Where the lookup ends at the same moment it goes first: its own end says more.
    private func patienceEnded(_ id: WaiterID, key: LookupKey) {
        let now = clock.now()
        let actions = state.withLock { state -> [StartedAction] in
            guard var running = state.running[key], running.machine.deadline <= now else {
                return []
            }
            let actions = running.machine.timeReached(now: now)
            return apply(actions, to: &running, key: key, now: now, in: &state)
        }
        perform(actions, key: key)
        leave(id) { state in
            let running = state.running[key]
            return Resolver.preferring(
                running?.fallback,
                .timedOut(
                    question: key.question,
                    attempts: running?.machine.attemptsSoFar(now: now) ?? []))
        }
    }
}

// How a lookup runs
extension Resolver {
    func begin(
        _ key: LookupKey, limit: Monotonic, use: CacheUse, now: Monotonic,
        in state: inout ResolverState
    ) -> [StartedAction] {
        let (sources, rules) = plan(for: key.question, now: now, in: state)
        let usual = now.adding(milliseconds: options.patience.wholeMilliseconds)
        state.lastSerial &+= 1
        var running = RunningLookup(
            serial: state.lastSerial, sources: sources.map { $0.0 },
            machine: LookupMachine(
                question: key.question, sources: sources.map { $0.1 }, deadline: max(limit, usual),
                limit: limit, rules: rules),
            subject: ResolverEvent.Subject(key.question))
        if options.store != nil, use == .normal {
            running.isConsulting = true
            state.running[key] = running
            return [.consult(key.question, serial: running.serial)]
        }
        let actions = running.machine.start(now: now)
        return apply(actions, to: &running, key: key, now: now, in: &state)
    }

    /// Turns the machine's actions into things to do, and keeps or drops the running lookup.
    func apply(
        _ actions: [LookupMachine.Action], to running: inout RunningLookup, key: LookupKey,
        now: Monotonic, in state: inout ResolverState
    ) -> [StartedAction] {
        var todo: [StartedAction] = []
        var hasEnded = false
        for action in actions {
            switch action {
            case .ask(let id, let by):
                todo += ask(id, by: by, of: &running, key: key, now: now, in: &state)
            case .abandon(let id):
                todo += abandon(id, of: &running, now: now, in: &state)
            case .hearOut(let id, let until):
                todo += hearOut(id, until: until, of: &running, now: now, in: &state)
            case .miss(let id):
                todo += miss(id, of: &running, now: now, in: &state)
            case .pass(let id):
                running.lastFailed = running.queries[id]?.label
                running.queries[id]?.isPassed = true
            case .armAlarm(let moment):
                if let alarm = running.alarm { todo.append(.disarm(alarm)) }
                running.alarm = nil
                todo.append(.arm(moment, serial: running.serial))
            case .disarmAlarm:
                if let alarm = running.alarm { todo.append(.disarm(alarm)) }
                running.alarm = nil
            case .refuse(let id, let addresses):
                guard id.source < running.sources.count else { continue }
                let label = running.sources[id.source].label
                todo.append(
                    .emit(.addressesRefused(running.subject, source: label, addresses)))
            case .disagree(let found): todo.append(.emit(.disagreed(found)))
            case .settle(let testimony, let attempts):
                hasEnded = true
                todo += settle(
                    testimony, attempts, of: running, key: key, now: now, in: &state)
            case .fail(let failure):
                hasEnded = true
                todo += fail(failure, of: running, key: key, now: now, in: &state)
            }
        }
        state.running[key] = hasEnded ? nil : running
        guard hasEnded, let limit = state.table.waiters(of: key).map({ $0.limit }).max() else {
            return todo
        }
        return todo + begin(key, limit: limit, use: .refresh, now: now, in: &state)
    }

    private func settle(
        _ testimony: Testimony, _ attempts: [LookupAttempt], of running: RunningLookup,
        key: LookupKey, now: Monotonic, in state: inout ResolverState
    ) -> [StartedAction] {
        // Its host may have been pinned since it was asked.
        let life = isWithheld(testimony) ? 0 : options.lifeRules.seconds(of: testimony)
        let answer = LookupAnswer(
            testimony: testimony, ttlSeconds: life, isCached: false, attempts: attempts)
        let isFailure = answer.outcome.isServerFailure
        var todo: [StartedAction] = []
        if isFailure {
            todo += hold(.answered(testimony), for: key, now: now, in: &state)
        } else {
            state.failures.release(key)
            todo += Resolver.told(
                evicted: cache.store(testimony, for: key, lifeSeconds: life, now: now))
            if life > 0 {
                todo.append(.keep(testimony, lifeSeconds: life))
                if state.hot[key.question.name] != nil, key.scope == currentScope {
                    todo.append(.keepHot(key.question, lifeSeconds: life))
                }
            } else {
                // What the store holds was true before this answer, and is not any longer.
                todo.append(.forget(key.question))
            }
        }
        let told = isFailure ? running.fallback ?? answer : answer
        return todo + [.tell(state.table.finish(key), .success(told))]
    }

    /// Holds a failure, and has what is kept under its key left alone for a while.
    private func hold(
        _ failure: HeldFailure, for key: LookupKey, now: Monotonic, in state: inout ResolverState
    ) -> [StartedAction] {
        cache.refreshFailed(key, now: now)
        guard options.holdsFailures,
            let until = state.failures.hold(failure, for: key, now: now)
        else { return [] }
        return [
            .emit(
                .failureHeld(
                    ResolverEvent.Subject(key.question),
                    milliseconds: until.millisecondsLeft(from: now)))
        ]
    }

    /// Whom a failure is told: everybody, but a time-out only those whose own time is up. One who
    /// joined late with more patience is asked for anew.
    private func fail(
        _ failure: LookupFailure, of running: RunningLookup, key: LookupKey, now: Monotonic,
        in state: inout ResolverState
    ) -> [StartedAction] {
        let told: [Waiter]
        if case .timedOut = failure {
            let deadline = running.machine.deadline
            told = state.table.finish(key) { $0.limit > deadline }
        } else {
            told = state.table.finish(key)
        }
        guard failure != .cancelled else { return [.tell(told, .failure(failure))] }
        return hold(.failed(failure), for: key, now: now, in: &state)
            + [.tell(told, Resolver.preferring(running.fallback, failure))]
    }

    func perform(_ actions: [StartedAction], key: LookupKey) {
        for action in actions {
            switch action {
            case .consult(let question, let serial): consult(question, serial: serial, key: key)
            case .ask(let source, let question, let id, let by, let serial):
                ask(source, question, id, by: by, serial: serial, key: key)
            case .cancel(let asking): asking.end()
            case .endHearing(let query, let moment): endHearing(query, at: moment, key: key)
            case .arm(let moment, let serial): arm(moment, serial: serial, key: key)
            case .disarm(let alarm): alarms.cancel(alarm)
            case .armFallback(let serial): armFallback(serial: serial, key: key)
            case .keep(let testimony, let life):
                guard let store = options.store, let scope = storeScope(key) else { continue }
                store.keep(testimony, scope: scope, lifeSeconds: life)
            case .forget(let question):
                guard let store = options.store, let scope = storeScope(key) else { continue }
                store.forget(question, scope: scope)
            case .keepHot(let question, let life):
                scheduleRefresh(of: question, lifeSeconds: life)
            case .emit(let event): emit(event)
            case .tell(let waiters, let result):
                for waiter in waiters {
                    waiter.alarm.close().map(alarms.cancel)
                    waiter.deliver(result)
                }
            }
        }
    }

    private func ask(
        _ source: any ResolverBackend, _ question: Question, _ id: QueryID, by: Monotonic,
        serial: UInt64, key: LookupKey
    ) {
        let ending: AskEnding
        if let direct = source as? any DirectBackend {
            ending = AskEnding(
                end: direct.start(question, deadline: by) { [weak self] result in
                    self?.heard(result, from: id, key: key, serial: serial)
                })
        } else {
            let task = Task.detached { [weak self] in
                let result: Result<Testimony, QueryFailure>
                do throws(QueryFailure) {
                    result = .success(try await source.ask(question, deadline: by))
                } catch {
                    result = .failure(error)
                }
                self?.heard(result, from: id, key: key, serial: serial)
            }
            ending = AskEnding { task.cancel() }
        }
        let isWanted = state.withLock { state in
            let lingering = LingeringQuery(serial: serial, id: id)
            guard state.running[key]?.serial == serial else {
                // Its lookup has ended meanwhile, and it may be heard out.
                state.lingering[lingering]?.ending = ending
                return state.lingering[lingering] != nil
            }
            state.running[key]?.queries[id]?.ending = ending
            return true
        }
        if !isWanted { ending.end() }
    }

    private func arm(_ moment: Monotonic, serial: UInt64, key: LookupKey) {
        let alarm = alarms.schedule(at: moment) { [weak self] in
            guard let self else { return }
            let now = clock.now()
            step(key, serial: serial, now: now) { running, _ in
                running.machine.timeReached(now: now)
            }
        }
        let isLate = state.withLock { state in
            guard state.running[key]?.serial == serial else { return true }
            state.running[key]?.alarm = alarm
            return false
        }
        if isLate { alarms.cancel(alarm) }
    }

    /// Feeds one event to a running lookup: lock, step, unlock, perform.
    func step(
        _ key: LookupKey, serial: UInt64, now: Monotonic,
        _ event: (inout RunningLookup, inout ResolverState) -> [LookupMachine.Action]
    ) {
        let actions = state.withLock { state -> [StartedAction] in
            // Taken out: what it holds would else be copied with the first change; `apply` puts it back.
            guard state.running[key]?.serial == serial,
                var running = state.running.removeValue(forKey: key)
            else { return [] }
            let actions = event(&running, &state)
            return apply(actions, to: &running, key: key, now: now, in: &state)
        }
        perform(actions, key: key)
    }
}
