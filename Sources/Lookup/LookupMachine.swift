package import HTTPDNSNames
internal import HTTPDNSWire

/// Names one asking of one source inside a lookup.
package struct QueryID: Sendable, Hashable {
    /// Position in the chain, first asked first.
    package let source: Int

    package init(source: Int) { self.source = source }
}

/// Decides one lookup: whom to ask, how long to wait, which answer to believe. Does no I/O.
///
/// The driver feeds it one event at a time and performs the actions it returns, in order:
///
///     idle ── start ──▶ asking ── usable answer ────────────────────▶ settled
///                        │  ▲ └── unproven answer ──▶ holding ──┐
///          failed, empty,│  │ next source,            │ proven one, window over,
///          time is up    ▼  │ beside or after         ▼ no proven one can come
///                       asking ── last failed, none better ────────▶ failed or second best
///                          └───── deadline of the lookup ──────────▶ failed or second best
///
/// Rules (everything that changes the state lives in this file):
/// 1. The order of the chain is the order of trust. `ordered` asks one after the other, each for
///    ``patienceMilliseconds``, the last one for all the time that is left; `hedged` asks the next
///    beside one that is late; `raced` asks all at once.
/// 2. Records, NXDOMAIN, and "no data" that carries an SOA settle the lookup.
/// 3. "No data" without an SOA or from an HTTP-DNS service (one that does not serve the name answers
///    so) and server failures send the lookup on; when the chain ends without better, the first such
///    answer settles it, so that the caller learns what was said.
/// 4. An answer whose source proves nothing is held while a source that does is being asked, for the
///    preference window at most; meanwhile every such source that was not asked yet is asked. Where
///    the proven answer differs, that is told as a disagreement.
///    So that it may, an ordered lookup goes on listening to a proven source whose time is over when
///    it has to ask one that proves nothing; to it alone for no longer than the window.
/// 5. Addresses that cannot be right for the name make an answer unusable.
/// 6. A source that rests is asked only when no other is left: a lookup never fails for want of trying.
/// 7. A late or repeated reply is ignored: its ``QueryID`` is no longer pending.
/// 8. `now` is read once per event by the driver, and stored here only as a moment to act at.
/// 9. Where a caller's patience is short, no source has more than half of what is left of it to itself:
///    then the next is asked beside it, and an answer that proves nothing is held no longer either. That
///    a caller has no time says nothing about the source: it is passed, and judged by what it does
///    within its own time.
/// 10. In a hedged lookup a source that is late by its own measure when another's answer settles it is
///    missed, too: else one that is silent would delay every lookup. One that proves itself is not
///    missed for the answer of one that does not: else whoever delays it would be believed in its place.
/// 11. One on probation holds nobody up, whatever the strategy. The next that is well is asked beside
///    it at once: without it that one would have had the question alone. Where none is well the next
///    follows after the shortest hedge delay. No answer is held for it, as none is for one that rests.
///    It is heard out when the lookup has ended: for as long as a hedged one would have waited for it
///    at most, else, and where only an unproven answer stands against it, for its own time. So one
///    that has become slower comes back, and one that is silent rests longer.
/// 12. Where all that were asked are silent, those that rest are tried after ``patienceMilliseconds``.
package struct LookupMachine: Sendable {
    package enum Action: Sendable, Hashable {
        /// Ask that source; it must answer or fail by the time given.
        case ask(QueryID, by: Monotonic)
        /// Nobody waits for that query any longer.
        case abandon(QueryID)
        /// The lookup has ended without it; what it says until then tells how its source does.
        case hearOut(QueryID, until: Monotonic)
        /// Its time is over, and others are asked; it is still listened to.
        case miss(QueryID)
        /// Others are asked beside it for a caller in a hurry; it may be well.
        case pass(QueryID)
        /// Wake the machine by ``LookupMachine/timeReached(now:)`` then; replaces an earlier alarm.
        case armAlarm(Monotonic)
        case disarmAlarm
        /// Its addresses cannot be right.
        case refuse(QueryID, [IPAddress])
        /// What was believed and what was not differ.
        case disagree(Disagreement)
        case settle(Testimony, attempts: [LookupAttempt])
        case fail(LookupFailure)
    }

    /// How long one source is waited for while there is another to ask.
    ///
    /// Because: a healthy source answers in well under a second, and falling over to the next within
    /// 2 s (1 500 ms here, then the next source's own round trip) is what people put up with.
    package static let patienceMilliseconds: Int64 = 1_500

    private let question: Question
    private let sources: [PlannedSource]
    private let rules: LookupRules
    /// When the lookup ends at the latest.
    package let deadline: Monotonic
    private var phase = Phase.idle
    private var attempts: [LookupAttempt] = []
    private var secondBest: Testimony?
    /// Not asked yet, in order.
    private var waiting: [Int] = []
    /// Those that rest, in order: asked when no other is left.
    private var resting: [Int] = []
    private var pending: [Pending] = []
    private var held: Held?
    /// When the next source is due beside the one asked last.
    private var hedgeAt: Monotonic?
    /// When somebody is due beside one that is on probation, or one that rests beside those that are
    /// silent.
    private var companyAt: Monotonic?
    /// When the patience of the caller ends who has least of it.
    private var limit: Monotonic?
    /// When the driver was last told to wake the machine.
    private var alarm: Monotonic?

    private enum Phase: Sendable {
        /// Valid: start.
        case idle
        /// Valid: answered, failed, timeReached, stopped.
        case asking
        /// Nothing more will be said. Valid: every event, each ignored.
        case ended
    }

    private struct Pending: Sendable {
        let id: QueryID
        let asked: Monotonic
        var until: Monotonic
        /// Its time was over; it may still speak against what proves nothing.
        var isOverdue = false
    }

    private struct Held: Sendable {
        let testimony: Testimony
        let since: Monotonic
        var until: Monotonic
    }

    /// - Parameters:
    ///   - sources: those that can be asked for this type, in order.
    ///   - deadline: of the whole lookup.
    ///   - limit: when the patience of the one who asks ends; nil when it outlives the lookup.
    package init(
        question: Question, sources: [PlannedSource], deadline: Monotonic,
        limit: Monotonic? = nil, rules: LookupRules = LookupRules()
    ) {
        self.question = question
        self.sources = sources
        self.deadline = deadline
        self.limit = limit
        self.rules = rules
    }

    package mutating func start(now: Monotonic) -> [Action] {
        guard case .idle = phase else { preconditionFailure("a lookup is started once") }
        guard !sources.isEmpty else {
            phase = .ended
            return [.fail(.noSource(question: question))]
        }
        phase = .asking
        for (at, source) in sources.enumerated() {
            guard let rest = source.restMilliseconds else {
                waiting.append(at)
                continue
            }
            resting.append(at)
            attempts.append(
                LookupAttempt(resolver: source.label, reason: .failed(.resting(milliseconds: rest)))
            )
        }
        return goOn(now: now)
    }

    /// Somebody joined whose patience ends then.
    package mutating func joined(until limit: Monotonic, now: Monotonic) -> [Action] {
        let known = self.limit.flatMap { $0 > now ? $0 : nil }
        guard limit < deadline, limit < known ?? deadline else { return [] }
        self.limit = limit
        guard case .asking = phase, let share = share(now: now) else { return [] }
        if rules.strategy != .raced, pending.contains(where: { !$0.isOverdue }), mayHedge {
            hedgeAt = min(hedgeAt ?? share, share)
        }
        companyAt = companyAt.map { min($0, share) }
        if let held { self.held?.until = min(held.until, share) }
        return goOn(now: now)
    }

    package mutating func answered(
        _ id: QueryID, _ testimony: Testimony, now: Monotonic
    ) -> [Action] {
        guard let query = take(id) else { return [] }
        let source = sources[id.source]
        let addresses = AliasChain(testimony).everyAddress
        if !addresses.isEmpty,
            case .refused(let refused) = rules.policy.verdict(
                for: question.name, addresses: addresses, isLocalSource: source.isLocal)
        {
            let explained = AddressPolicy.explanation(refused)
            note(query, .failed(.refusedAddresses(explained)), now: now)
            return [.refuse(id, refused)] + goOn(now: now)
        }
        guard settles(testimony) else {
            secondBest = secondBest ?? testimony
            let isEmpty = testimony.code == .noError
            note(query, isEmpty ? .emptyAnswer : .answered(testimony.code), now: now)
            return goOn(now: now)
        }
        if source.isAuthenticated || !provenMayCome {
            if held == nil || source.isAuthenticated { return settle(testimony, now: now) }
        } else if held == nil {
            let window = now.adding(milliseconds: rules.preferenceWindowMilliseconds)
            let until = min(window, deadline, share(now: now) ?? deadline)
            held = Held(testimony: testimony, since: now, until: until)
        }
        return goOn(now: now)
    }

    package mutating func failed(
        _ id: QueryID, _ failure: QueryFailure, now: Monotonic
    ) -> [Action] {
        guard let query = take(id) else { return [] }
        note(query, .failed(failure), now: now)
        return goOn(now: now)
    }

    /// The alarm rang: a source's time, the window's or the lookup's is up.
    package mutating func timeReached(now: Monotonic) -> [Action] {
        guard case .asking = phase else { return [] }
        alarm = nil
        var actions: [Action] = []
        for query in pending where query.until <= now {
            if !query.isOverdue { note(query, .failed(.timedOut(tries: 1)), now: now) }
            if isWorthHearing(query), now < deadline {
                keepListening(to: query.id)
                actions.append(.miss(query.id))
            } else {
                _ = take(query.id)
                actions.append(.abandon(query.id))
            }
        }
        return actions + passBy(now: now) + goOn(now: now)
    }

    /// Those who are late for a caller's patience, in an ordered lookup.
    private mutating func passBy(now: Monotonic) -> [Action] {
        guard case .ordered = rules.strategy, let hedgeAt, hedgeAt <= now, held == nil, !isLastAsked
        else { return [] }
        var actions: [Action] = []
        for query in pending where !query.isOverdue {
            note(query, .failed(.timedOut(tries: 1)), now: now)
            keepListening(to: query.id)
            actions.append(.pass(query.id))
        }
        return actions
    }

    /// What has come to nothing until now, with the sources that are being asked: what somebody is told
    /// whose patience ends before the lookup does.
    package func attemptsSoFar(now: Monotonic) -> [LookupAttempt] {
        attempts
            + pending.filter { !$0.isOverdue }.map {
                LookupAttempt(
                    resolver: sources[$0.id.source].label, reason: .failed(.timedOut(tries: 1)),
                    milliseconds: now.milliseconds(since: $0.asked))
            }
    }

    /// The last waiter left.
    package mutating func stopped() -> [Action] {
        guard case .asking = phase else { return [] }
        return end([.fail(.cancelled)])
    }

    // MARK: What follows from an event

    private mutating func goOn(now: Monotonic) -> [Action] {
        if let held, !provenMayCome || now >= held.until {
            return settle(held.testimony, now: now)
        }
        var actions: [Action] = []
        while let next = nextSource(now: now) { actions.append(ask(next, now: now)) }
        boundOverdue(now: now)
        guard !pending.isEmpty else { return conclude(isLate: now >= deadline) }
        let moments =
            pending.map(\.until)
            // While an answer is held nobody is asked beside: a moment that is over would ring at once,
            // again and again.
            + [
                held?.until, held == nil && mayHedge ? hedgeAt : nil,
                held == nil && !isLastAsked ? companyAt : nil,
            ].compactMap { $0 }
        guard let moment = moments.min(), moment != alarm || !actions.isEmpty else {
            return actions
        }
        alarm = moment
        return actions + [.armAlarm(moment)]
    }

    /// Who is to be asked now, if anybody.
    private func nextSource(now: Monotonic) -> Int? {
        guard now < deadline else { return nil }
        if held != nil, let proven = waiting.first(where: { sources[$0].isAuthenticated }) {
            return proven
        }
        if held == nil, let companyAt, companyAt <= now { return nextWaiting ?? resting.first }
        let isFree = pending.allSatisfy(\.isOverdue)
        guard let next = nextWaiting else { return isFree ? resting.first : nil }
        switch rules.strategy {
        case .raced: return next
        case .ordered: return isFree || companyAt == nil && !isWellAwaited() ? next : nil
        case .hedged:
            let isDue = hedgeAt.map { $0 <= now } ?? true
            return pending.isEmpty || isDue && held == nil ? next : nil
        }
    }

    /// Beside one on probation somebody who is well, if there is one: two that may fail are no help.
    private var nextWaiting: Int? {
        guard pending.contains(where: isOnProbation), let well = waiting.first(where: isWell) else {
            return waiting.first
        }
        return well
    }

    private func isWell(_ source: Int) -> Bool { !sources[source].isOnProbation }

    private func isOnProbation(_ query: Pending) -> Bool { !isWell(query.id.source) }

    /// One that is well is waited for.
    private func isWellAwaited(besides id: QueryID? = nil) -> Bool {
        pending.contains { $0.id != id && !$0.isOverdue && !isOnProbation($0) }
    }

    private mutating func ask(_ source: Int, now: Monotonic) -> Action {
        waiting.removeAll { $0 == source }
        resting.removeAll { $0 == source }
        var until = deadline
        switch rules.strategy {
        case .ordered where !isLastAsked:
            until = min(
                deadline, now.adding(milliseconds: LookupMachine.patienceMilliseconds))
            hedgeAt = share(now: now).flatMap { $0 < until ? $0 : nil }
        case .hedged(let fixed):
            let delay = fixed?.wholeMilliseconds ?? sources[source].hedgeDelayMilliseconds
            let due = now.adding(milliseconds: max(0, delay))
            hedgeAt = min(due, share(now: now) ?? due)
        case .ordered, .raced: hedgeAt = nil
        }
        companyAt = company(for: source, now: now)
        let id = QueryID(source: source)
        pending.append(Pending(id: id, asked: now, until: until))
        return .ask(id, by: until)
    }

    /// When somebody is due beside this one, though its successor may not be.
    private func company(for source: Int, now: Monotonic) -> Monotonic? {
        var delay = LookupMachine.patienceMilliseconds
        if waiting.isEmpty {
            guard rules.strategy != .ordered, !resting.isEmpty else { return nil }
        } else if isWell(source) {
            return nil
        } else if waiting.contains(where: isWell) {
            delay = 0
        } else {
            delay = SourceHealth.shortestHedgeMilliseconds
            if case .hedged(let fixed?) = rules.strategy {
                delay = min(delay, max(0, fixed.wholeMilliseconds))
            }
        }
        let due = now.adding(milliseconds: delay)
        return min(due, share(now: now) ?? due)
    }

    /// Somebody is left who may be asked beside another.
    private var mayHedge: Bool { rules.strategy == .ordered ? !isLastAsked : !waiting.isEmpty }

    /// Nobody is left to ask.
    private var isLastAsked: Bool { waiting.isEmpty && resting.isEmpty }

    /// Half of what is left to the caller with the least patience; nil when nobody is in a hurry.
    private func share(now: Monotonic) -> Monotonic? {
        guard let limit, limit > now else { return nil }
        return now.adding(milliseconds: limit.millisecondsLeft(from: now) / 2)
    }

    /// A proven source that is late, while only unproven ones are left to ask in its place.
    private func isWorthHearing(_ query: Pending) -> Bool {
        guard case .ordered = rules.strategy, !query.isOverdue,
            sources[query.id.source].isAuthenticated
        else { return false }
        return (waiting + resting).contains { !sources[$0].isAuthenticated }
    }

    private mutating func keepListening(to id: QueryID) {
        guard let at = pending.firstIndex(where: { $0.id == id }) else { return }
        pending[at].isOverdue = true
        pending[at].until = deadline
    }

    /// Nobody else is left to wait for: those who are late get the window and no more.
    private mutating func boundOverdue(now: Monotonic) {
        guard !pending.isEmpty, pending.allSatisfy(\.isOverdue) else { return }
        let limit = now.adding(milliseconds: rules.preferenceWindowMilliseconds)
        for at in pending.indices { pending[at].until = min(pending[at].until, limit) }
    }

    private mutating func take(_ id: QueryID) -> Pending? {
        guard case .asking = phase, let at = pending.firstIndex(where: { $0.id == id }) else {
            return nil
        }
        return pending.remove(at: at)
    }

    private mutating func note(
        _ query: Pending, _ reason: LookupAttempt.Reason, now: Monotonic
    ) {
        // A source that failed is not waited for: its successor is due; that of one on probation is
        // being asked.
        if !query.isOverdue, isWell(query.id.source) || !isWellAwaited(besides: query.id) {
            hedgeAt = nil
            if !waiting.isEmpty { companyAt = nil }
        }
        // A table that does not know the name has not failed: that is no news.
        guard reason != .failed(.notCovered) else { return }
        attempts.append(
            LookupAttempt(
                resolver: sources[query.id.source].label, reason: reason,
                milliseconds: now.milliseconds(since: query.asked)))
    }

    /// A source that proves itself is being asked, and is expected to answer.
    private var provenMayCome: Bool {
        let mayProve = { (source: Int) in isWell(source) && sources[source].isAuthenticated }
        return pending.contains { mayProve($0.id.source) }
            || rules.strategy != .ordered && waiting.contains(where: mayProve)
    }

    private func settles(_ testimony: Testimony) -> Bool {
        switch testimony.code {
        case .noSuchName: true
        case .noError:
            !AliasChain(testimony).end.isEmpty
                || testimony.negativeTTLSeconds != nil && testimony.source.transport != .httpdns
        default: false
        }
    }

    // MARK: The end

    private mutating func settle(_ testimony: Testimony, now: Monotonic) -> [Action] {
        var last: [Action] = []
        if let held, held.testimony != testimony,
            let found = Disagreement(
                authenticated: testimony, plain: held.testimony,
                millisecondsApart: held.since.milliseconds(since: now))
        {
            last.append(.disagree(found))
        }
        let losers = judgeLosers(to: testimony, now: now)
        return losers + end(last + [.settle(testimony, attempts: attempts)])
    }

    /// What becomes of the others when an answer settles a hedged lookup: who is late is missed.
    private mutating func judgeLosers(to testimony: Testimony, now: Monotonic) -> [Action] {
        guard case .hedged = rules.strategy else { return [] }
        let winner = sources.first { $0.label == testimony.source.resolver }
        let isProven = winner?.isAuthenticated == true
        var actions: [Action] = []
        for at in pending.indices {
            let source = sources[pending[at].id.source]
            guard isProven || !source.isAuthenticated else { continue }
            if source.isOnProbation {
                let longest = now.adding(milliseconds: SourceHealth.longestHedgeMilliseconds)
                pending[at].until = min(pending[at].until, longest)
            } else if now.milliseconds(since: pending[at].asked) >= source.hedgeDelayMilliseconds {
                actions.append(.miss(pending[at].id))
            }
        }
        guard !isProven, now < deadline else { return actions }
        // A proven one on probation is not waited for here, and is tried all the same: else one that
        // stands behind a plain one would never come back.
        let unasked = waiting.filter { !isWell($0) && sources[$0].isAuthenticated }
        return actions + unasked.map { ask($0, now: now) }
    }

    private mutating func conclude(isLate: Bool) -> [Action] {
        let attempts = attempts + rules.withheld
        if let secondBest { return end([.settle(secondBest, attempts: attempts)]) }
        return end([
            .fail(
                isLate
                    ? .timedOut(question: question, attempts: attempts)
                    : .exhausted(question: question, attempts: attempts))
        ])
    }

    private mutating func end(_ last: [Action]) -> [Action] {
        let left = pending.map { query -> Action in
            isOnProbation(query) && !query.isOverdue
                ? .hearOut(query.id, until: query.until) : .abandon(query.id)
        }
        pending = []
        phase = .ended
        return left + [.disarmAlarm] + last
    }
}
