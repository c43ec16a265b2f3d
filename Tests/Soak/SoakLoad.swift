import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire

/// Begins lookups by the clock, whatever becomes of those before.
final class SoakLoad: Sendable {
    private struct State {
        var numbers: SeededNumbers
        var begun: Int64 = 0
        var since: Monotonic?
        var isOver = false
    }

    private let worlds: [SoakWorld]
    private let ledger: Ledger
    private let check: AnswerCheck
    private let rate: Int64
    private let state: Locked<State>
    private let clock = SystemMonotonicClock()
    private let alarms = AlarmThread { DetachedThread.start(named: "soak-cancel", $0) }

    init(
        _ worlds: [SoakWorld], ledger: Ledger, check: AnswerCheck, options: SoakOptions
    ) {
        self.worlds = worlds
        self.ledger = ledger
        self.check = check
        rate = options.rate
        state = Locked(State(numbers: SeededNumbers(seed: options.seed)))
    }

    /// Begins what is due.
    func tick() {
        let now = clock.now()
        let due: [Call] = state.withLock { state in
            guard !state.isOver else { return [] }
            let since = state.since ?? now
            state.since = since
            let wanted = now.milliseconds(since: since) * rate / 1_000
            let count = wanted - state.begun
            state.begun = max(state.begun, wanted)
            return (0..<max(0, count)).map { _ in call(&state.numbers) }
        }
        for call in due { begin(call) }
    }

    func stop() { state.withLock { $0.isOver = true } }

    // MARK: One call

    private struct Call: Sendable {
        enum Form: Sendable { case callback, task, lookup }

        let world: SoakWorld
        let host: HostName
        let form: Form
        let type: RecordType
        let patience: Int64?
        let leavesAfter: Int64?
        let outcome: AddressOutcome?

        var what: String {
            "\(world.name) \(host) \(form) patience \(patience ?? 5_000) ms"
                + (leavesAfter.map { ", left after \($0) ms" } ?? "")
        }
    }

    private func call(_ numbers: inout SeededNumbers) -> Call {
        let world = worlds[numbers.below(worlds.count)]
        let patiences: [Int64?] = [nil, nil, nil, 150, 600, 1_500, 3_000]
        let outcomes: [AddressOutcome] = [
            .connected(milliseconds: Int64(numbers.below(200))), .unreachable, .timedOut,
            .untrusted,
        ]
        let forms: [Call.Form] = [.callback, .callback, .task, .lookup, .lookup]
        return Call(
            world: world, host: host(in: world, &numbers), form: forms[numbers.below(forms.count)],
            type: numbers.isIn(5) ? .https : numbers.isIn(50) ? .a : .aaaa,
            patience: patiences[numbers.below(patiences.count)],
            leavesAfter: numbers.isIn(12) ? Int64(numbers.below(250)) : nil,
            outcome: numbers.isIn(10) ? outcomes[numbers.below(outcomes.count)] : nil)
    }

    /// Half of the questions are about a hundredth of the names; the rest about any.
    private func host(in world: SoakWorld, _ numbers: inout SeededNumbers) -> HostName {
        if world.hasRoutes, numbers.isIn(5) {
            return SoakZone.inner[numbers.below(SoakZone.inner.count)]
        }
        if world.hasRoutes, numbers.isIn(1), let canary = try? HostName(SoakZone.canary) {
            return canary
        }
        let bound = numbers.isIn(50) ? SoakZone.hosts.count / 100 : SoakZone.hosts.count
        return SoakZone.hosts[numbers.below(bound)]
    }

    private func begin(_ call: Call) {
        let ticket = ledger.begin(call.what, patienceMilliseconds: call.patience ?? 5_000)
        let patience = call.patience.map { Duration.milliseconds($0) }
        switch call.form {
        case .callback:
            let handle = call.world.resolver.resolve(.name(call.host), patience: patience) {
                self.told($0, call, ticket)
            }
            leave(call) { handle.cancel() }
        case .task:
            let task = Task { await self.resolve(call, patience, ticket) }
            leave(call) { task.cancel() }
        case .lookup:
            let task = Task { await self.lookup(call, patience, ticket) }
            leave(call) { task.cancel() }
        }
    }

    private func leave(_ call: Call, _ body: @escaping @Sendable () -> Void) {
        guard let milliseconds = call.leavesAfter else { return }
        _ = alarms.schedule(at: clock.now().adding(milliseconds: milliseconds), body)
    }

    private func resolve(_ call: Call, _ patience: Duration?, _ ticket: Ticket) async {
        do throws(ResolutionFailure) {
            let found = try await call.world.resolver.resolve(.name(call.host), patience: patience)
            told(.success(found), call, ticket)
        } catch {
            told(.failure(error), call, ticket)
        }
    }

    private func lookup(_ call: Call, _ patience: Duration?, _ ticket: Ticket) async {
        let question = Question(name: call.host, type: call.type)
        do throws(LookupFailure) {
            let answer = try await call.world.resolver.lookup(question, patience: patience)
            ticket.told(ResolverEvent.Ending(answer).rawValue + (answer.isStale ? " stale" : ""))
            check.check(answer, of: question, in: call.world)
        } catch {
            ticket.told(ResolverEvent.Ending(error).rawValue)
        }
    }

    private func told(
        _ result: Result<ResolvedHost, ResolutionFailure>, _ call: Call, _ ticket: Ticket
    ) {
        switch result {
        case .success(let found):
            ticket.told(found.isStale ? "records stale" : "records")
            check.check(
                found.addresses, of: call.host, isStale: found.isStale, in: call.world)
            guard let outcome = call.outcome, let first = found.addresses.first else { return }
            call.world.resolver.report(first, for: call.host, outcome: outcome)
        case .failure(let failure): ticket.told(failure.label)
        }
    }

    // MARK: Storms

    /// Reads what is cached, many times, on the thread that calls it.
    func storm(_ numbers: Locked<SeededNumbers>) {
        // Two storms, fifty times a second each: five reads for each lookup.
        for _ in 0..<max(1, rate / 20) {
            let (world, host) = numbers.withLock { numbers in
                (
                    worlds[numbers.below(worlds.count)],
                    SoakZone.hosts[numbers.below(SoakZone.hosts.count / 10)]
                )
            }
            let found = world.resolver.cachedAddresses(for: host)
            check.check(found, of: host, isStale: found.isStale, in: world)
        }
    }
}
