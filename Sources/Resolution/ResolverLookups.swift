internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

/// Everything a resolver changes, behind its one lock.
struct ResolverState {
    var table = LookupTable<Waiter>()
    var running: [LookupKey: RunningLookup] = [:]
    /// Tells a lookup from an earlier one of the same key, so that late replies are ignored.
    var lastSerial: UInt64 = 0
}

/// A lookup in flight.
struct RunningLookup {
    let serial: UInt64
    let sources: [any ResolverBackend]
    var machine: LookupMachine
    var tasks: [QueryID: Task<Void, Never>] = [:]
    var alarm: AlarmID?
}

/// A waiter's handle.
struct WaitingLookup: Stoppable {
    let resolver: Resolver
    let waiter: WaiterID

    func stop() {
        resolver.leave(waiter) { _ in .cancelled }
    }
}

extension Resolver {
    /// Starts or joins a lookup; `deliver` is called once, possibly before this returns.
    func startLookup(
        _ question: Question, patience: Duration?,
        deliver: @escaping @Sendable (Result<LookupAnswer, LookupFailure>) -> Void
    ) -> (any Stoppable)? {
        let key = LookupKey(question: question, scope: scope)
        if let answer = cachedAnswer(key, now: clock.now()) {
            deliver(.success(answer))
            return nil
        }
        return startAsking(key, patience: patience, unlessCached: true, deliver: deliver)
    }

    /// Starts or joins the asking of a question.
    ///
    /// - Parameter unlessCached: an answer that has come since the cache was last looked at is enough.
    func startAsking(
        _ key: LookupKey, patience: Duration?, unlessCached: Bool = false,
        deliver: @escaping @Sendable (Result<LookupAnswer, LookupFailure>) -> Void
    ) -> (any Stoppable)? {
        let now = clock.now()
        let limit = now.adding(milliseconds: (patience ?? options.patience).wholeMilliseconds)
        let cell = AlarmCell()
        let entry = state.withLock { state -> Entry in
            if unlessCached, let hit = cache.find(key, now: now, staleness: 0) {
                return .hit(
                    LookupAnswer(
                        testimony: hit.testimony, ttlSeconds: hit.secondsLeft, isCached: true))
            }
            let joining = state.table.join(
                key, Waiter(deliver: deliver, alarm: cell, limit: limit))
            guard case .start = joining else { return .waiting(joining.waiter, []) }
            return .waiting(joining.waiter, begin(key, limit: limit, now: now, in: &state))
        }
        guard case .waiting(let waiter, let started) = entry else {
            if case .hit(let answer) = entry { deliver(.success(answer)) }
            return nil
        }
        let alarm = alarms.schedule(at: limit) { [weak self] in
            self?.patienceEnded(waiter, key: key)
        }
        if !cell.set(alarm) { alarms.cancel(alarm) }
        perform(started, key: key)
        return WaitingLookup(resolver: self, waiter: waiter)
    }

    /// Takes a waiter out and tells it why; the lookup goes on while others wait.
    func leave(_ id: WaiterID, telling why: (borrowing ResolverState) -> LookupFailure) {
        let (waiter, failure, key, actions) = state.withLock { state in
            let failure = why(state)
            let (waiter, leaving) = state.table.leave(id)
            guard case .stop(let key) = leaving, var running = state.running[key] else {
                return (waiter, failure, LookupKey?.none, [StartedAction]())
            }
            let actions = running.machine.stopped()
            return (waiter, failure, key, apply(actions, to: &running, key: key, in: &state))
        }
        if let key { perform(actions, key: key) }
        guard let waiter else { return }
        waiter.alarm.close().map(alarms.cancel)
        waiter.deliver(.failure(failure))
    }

    /// Where the lookup ends at the same moment it goes first: its own end says more.
    private func patienceEnded(_ id: WaiterID, key: LookupKey) {
        let now = clock.now()
        let actions = state.withLock { state -> [StartedAction] in
            guard var running = state.running[key], running.machine.deadline <= now else {
                return []
            }
            let actions = running.machine.timeReached(now: now)
            return apply(actions, to: &running, key: key, in: &state)
        }
        perform(actions, key: key)
        leave(id) { state in
            .timedOut(
                question: key.question,
                attempts: state.running[key]?.machine.attemptsSoFar ?? [])
        }
    }

    /// How a caller's question came in.
    private enum Entry {
        case hit(LookupAnswer)
        case waiting(WaiterID, [StartedAction])
    }

    /// What is to be done once the lock is free.
    enum StartedAction: Sendable {
        case ask(any ResolverBackend, Question, QueryID, by: Monotonic, serial: UInt64)
        case cancel(Task<Void, Never>)
        case arm(Monotonic, serial: UInt64)
        case disarm(AlarmID)
        case tell([Waiter], Result<LookupAnswer, LookupFailure>)
    }

    private func begin(
        _ key: LookupKey, limit: Monotonic, now: Monotonic, in state: inout ResolverState
    ) -> [StartedAction] {
        let able = sources.filter { $0.supportedTypes?.contains(key.question.type) ?? true }
        let usual = now.adding(milliseconds: options.patience.wholeMilliseconds)
        state.lastSerial &+= 1
        var running = RunningLookup(
            serial: state.lastSerial, sources: able,
            machine: LookupMachine(
                question: key.question, labels: able.map(\.label), deadline: max(limit, usual)))
        let actions = running.machine.start(now: now)
        return apply(actions, to: &running, key: key, in: &state)
    }

    /// Turns the machine's actions into things to do, and keeps or drops the running lookup.
    private func apply(
        _ actions: [LookupMachine.Action], to running: inout RunningLookup, key: LookupKey,
        in state: inout ResolverState
    ) -> [StartedAction] {
        var todo: [StartedAction] = []
        var hasEnded = false
        for action in actions {
            switch action {
            case .ask(let id, let by):
                guard id.source < running.sources.count else { continue }
                todo.append(
                    .ask(
                        running.sources[id.source], key.question, id, by: by,
                        serial: running.serial))
            case .abandon(let id):
                if let task = running.tasks.removeValue(forKey: id) { todo.append(.cancel(task)) }
            case .armAlarm(let moment):
                if let alarm = running.alarm { todo.append(.disarm(alarm)) }
                running.alarm = nil
                todo.append(.arm(moment, serial: running.serial))
            case .disarmAlarm:
                if let alarm = running.alarm { todo.append(.disarm(alarm)) }
                running.alarm = nil
            case .settle(let testimony, let attempts):
                hasEnded = true
                let life = options.lifeRules.seconds(of: testimony)
                let answer = LookupAnswer(
                    testimony: testimony, ttlSeconds: life, isCached: false, attempts: attempts)
                cache.store(testimony, for: key, lifeSeconds: life, now: clock.now())
                todo.append(.tell(state.table.finish(key), .success(answer)))
            case .fail(let failure):
                hasEnded = true
                let told = finish(key, failure, by: running.machine.deadline, in: &state)
                todo.append(.tell(told, .failure(failure)))
            }
        }
        state.running[key] = hasEnded ? nil : running
        guard hasEnded, let limit = state.table.waiters(of: key).map(\.limit).max() else {
            return todo
        }
        return todo + begin(key, limit: limit, now: clock.now(), in: &state)
    }

    /// Whom a failure is told: everybody, but a time-out only those whose own time is up. One who
    /// joined late with more patience is asked for anew.
    private func finish(
        _ key: LookupKey, _ failure: LookupFailure, by deadline: Monotonic,
        in state: inout ResolverState
    ) -> [Waiter] {
        guard case .timedOut = failure else { return state.table.finish(key) }
        return state.table.finish(key) { $0.limit > deadline }
    }

    private func perform(_ actions: [StartedAction], key: LookupKey) {
        for action in actions {
            switch action {
            case .ask(let source, let question, let id, let by, let serial):
                ask(source, question, id, by: by, serial: serial, key: key)
            case .cancel(let task): task.cancel()
            case .arm(let moment, let serial): arm(moment, serial: serial, key: key)
            case .disarm(let alarm): alarms.cancel(alarm)
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
        let task = Task.detached { [weak self] in
            let result: Result<Testimony, QueryFailure>
            do throws(QueryFailure) {
                result = .success(try await source.ask(question, deadline: by))
            } catch {
                result = .failure(error)
            }
            self?.step(key, serial: serial) { machine, now in
                switch result {
                case .success(let testimony): machine.answered(id, testimony, now: now)
                case .failure(let failure): machine.failed(id, failure, now: now)
                }
            }
        }
        let isWanted = state.withLock { state in
            guard state.running[key]?.serial == serial else { return false }
            state.running[key]?.tasks[id] = task
            return true
        }
        if !isWanted { task.cancel() }
    }

    private func arm(_ moment: Monotonic, serial: UInt64, key: LookupKey) {
        let alarm = alarms.schedule(at: moment) { [weak self] in
            self?.step(key, serial: serial) { machine, now in machine.timeReached(now: now) }
        }
        let isLate = state.withLock { state in
            guard state.running[key]?.serial == serial else { return true }
            state.running[key]?.alarm = alarm
            return false
        }
        if isLate { alarms.cancel(alarm) }
    }

    /// Feeds one event to a running lookup: lock, step, unlock, perform.
    private func step(
        _ key: LookupKey, serial: UInt64,
        _ event: (inout LookupMachine, Monotonic) -> [LookupMachine.Action]
    ) {
        let now = clock.now()
        let actions = state.withLock { state -> [StartedAction] in
            guard var running = state.running[key], running.serial == serial else { return [] }
            let actions = event(&running.machine, now)
            return apply(actions, to: &running, key: key, in: &state)
        }
        perform(actions, key: key)
    }
}

extension Duration {
    /// Milliseconds, rounded down, clamped to what fits.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = scaled.addingReportingOverflow(
            attoseconds / 1_000_000_000_000_000)
        return overflowed ? .max : sum
    }
}
