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
///     idle ── start ──▶ asking(0) ── usable answer ─────────────▶ settled
///                          │  ▲
///            failed, empty, │  │ next source
///            its time is up ▼  │
///                       asking(n) ── last failed, none better ──▶ failed
///                          └─ deadline of the lookup ───────────▶ failed
///
/// Rules (everything that changes the state lives in this file):
/// 1. Sources are asked one after the other, in the order of the chain: the order is the order of trust.
/// 2. Records, NXDOMAIN, and "no data" that carries an SOA settle the lookup.
/// 3. "No data" without an SOA or from an HTTP-DNS service (one that does not serve the name answers
///    so) and server failures send the lookup on; when the chain ends without better, the first such
///    answer settles it, so that the caller learns what was said.
/// 4. A source has ``patienceMilliseconds``, the last one all the time that is left.
/// 5. A late or repeated reply is ignored: its ``QueryID`` is no longer pending.
/// 6. `now` is read once per event by the driver, and stored here only as a deadline.
package struct LookupMachine: Sendable {
    package enum Action: Sendable, Hashable {
        /// Ask that source; it must answer or fail by the time given.
        case ask(QueryID, by: Monotonic)
        /// Nobody waits for that query any longer.
        case abandon(QueryID)
        /// Wake the machine by ``LookupMachine/timeReached(now:)`` then; replaces an earlier alarm.
        case armAlarm(Monotonic)
        case disarmAlarm
        case settle(Testimony, attempts: [LookupAttempt])
        case fail(LookupFailure)
    }

    /// How long one source is waited for while there is another to ask.
    ///
    /// Because: a healthy source answers in well under a second, and falling over to the next within
    /// 2 s (1 500 ms here, then the next source's own round trip) is what people put up with.
    package static let patienceMilliseconds: Int64 = 1_500

    private let question: Question
    private let labels: [String]
    /// When the lookup ends at the latest.
    package let deadline: Monotonic
    private var state = State.idle
    private var attempts: [LookupAttempt] = []
    private var secondBest: Testimony?

    private enum State: Sendable {
        /// Valid: start.
        case idle
        /// One source is being asked. Valid: answered, failed, timeReached, stopped.
        case asking(QueryID, until: Monotonic)
        /// Nothing more will be said. Valid: every event, each ignored.
        case ended
    }

    /// - Parameters:
    ///   - labels: the sources that can be asked for this type, in order.
    ///   - deadline: of the whole lookup.
    package init(question: Question, labels: [String], deadline: Monotonic) {
        self.question = question
        self.labels = labels
        self.deadline = deadline
    }

    package mutating func start(now: Monotonic) -> [Action] {
        guard case .idle = state else { preconditionFailure("a lookup is started once") }
        guard !labels.isEmpty else {
            state = .ended
            return [.fail(.noSource(question: question))]
        }
        return ask(0, now: now)
    }

    package mutating func answered(
        _ id: QueryID, _ testimony: Testimony, now: Monotonic
    ) -> [Action] {
        guard isPending(id) else { return [] }
        if settles(testimony) { return end(.settle(testimony, attempts: attempts)) }
        secondBest = secondBest ?? testimony
        let reason: LookupAttempt.Reason =
            testimony.code == .noError ? .emptyAnswer : .answered(testimony.code)
        return goOn(after: id, reason: reason, now: now)
    }

    package mutating func failed(
        _ id: QueryID, _ failure: QueryFailure, now: Monotonic
    ) -> [Action] {
        guard isPending(id) else { return [] }
        return goOn(after: id, reason: .failed(failure), now: now)
    }

    /// The alarm rang: a source's time or the lookup's is up.
    package mutating func timeReached(now: Monotonic) -> [Action] {
        guard case .asking(let id, let until) = state else { return [] }
        guard now >= until else { return [.armAlarm(until)] }
        return [.abandon(id)] + goOn(after: id, reason: .failed(.timedOut(tries: 1)), now: now)
    }

    /// What has come to nothing until now, with the source that is being asked: what somebody is told
    /// whose patience ends before the lookup does.
    package var attemptsSoFar: [LookupAttempt] {
        guard case .asking(let id, _) = state else { return attempts }
        let pending = LookupAttempt(
            resolver: labels[id.source], reason: .failed(.timedOut(tries: 1)))
        return attempts + [pending]
    }

    /// The last waiter left.
    package mutating func stopped() -> [Action] {
        guard case .asking(let id, _) = state else { return [] }
        return [.abandon(id)] + end(.fail(.cancelled))
    }

    private func isPending(_ id: QueryID) -> Bool {
        if case .asking(let pending, _) = state { pending == id } else { false }
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

    private mutating func goOn(
        after id: QueryID, reason: LookupAttempt.Reason, now: Monotonic
    ) -> [Action] {
        // A table that does not know the name has not failed: that is no news.
        if reason != .failed(.notCovered) {
            attempts.append(LookupAttempt(resolver: labels[id.source], reason: reason))
        }
        let next = id.source + 1
        if next < labels.count, now < deadline { return ask(next, now: now) }
        if let secondBest { return end(.settle(secondBest, attempts: attempts)) }
        let isLate = now >= deadline
        return end(
            .fail(
                isLate
                    ? .timedOut(question: question, attempts: attempts)
                    : .exhausted(question: question, attempts: attempts)))
    }

    private mutating func ask(_ source: Int, now: Monotonic) -> [Action] {
        let isLast = source == labels.count - 1
        let patience = now.adding(milliseconds: LookupMachine.patienceMilliseconds)
        let until = isLast ? deadline : min(deadline, patience)
        state = .asking(QueryID(source: source), until: until)
        return [.ask(QueryID(source: source), by: until), .armAlarm(until)]
    }

    private mutating func end(_ last: Action) -> [Action] {
        state = .ended
        return [.disarmAlarm, last]
    }
}
