internal import HTTPDNSCaching
package import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSResolution
internal import HTTPDNSRules

/// One request under rules: each request that would go out, redirects included, is decided by them,
/// and then sent, played or refused.
///
///     deciding ─▶ running ── a redirect that the rules leave alone ──▶ running, the same exchange
///        ▲           │
///        │           └─ a redirect that they change ─▶ leaving ── the old exchange is over ─┐
///        └──────────────────────────────────────────────────────────────────────────────────┘
///
/// Rules:
/// 1. What rules add to one request does not reach the next one by a redirect: that starts from
/// what the application asked for.
/// 2. An exchange that is left is read to its end or cancelled; nothing of it is told any more.
/// 3. Exactly one end is told, and in order, as the exchanges below promise it.
package final class RuledExchange: StartedExchange {
    fileprivate struct State {
        /// As the application means it, at this hop.
        var asked: HTTPRequest
        /// As the rules have it.
        var decision: RuleDecision
        var number = 0
        var inner: (any RunningExchange)?
        var past = ExchangeReport()
        var followed = 0
        /// What follows once the exchange that runs is over.
        var next: (request: HTTPRequest, decision: RuleDecision)?
        var isCancelled = false
        var isResumePending = false
        var tape: FixtureTape?
        let toASCII: DomainToASCII
    }

    private let rules: LiveRules
    private let client: HTTPDNSClient
    private let observer: any ExchangeObserver
    private let cookies: any CookieKeeper
    private let deadline: Monotonic
    private let state: Locked<State>

    /// - Parameter first: what was decided of the request.
    init(
        _ request: HTTPRequest, _ first: RuleDecision, under rules: LiveRules,
        client: HTTPDNSClient, observer: any ExchangeObserver, cookies: any CookieKeeper
    ) {
        var request = request
        if !rules.switches.isCaptureEnabled { request.isWatched = true }
        // All of it is one record: what is sent for it, and what is not.
        let (watched, observer) = client.watched(request, observer)
        request = watched
        self.rules = rules
        self.client = client
        self.observer = observer
        self.cookies = cookies
        deadline =
            request.limits.total.map { client.resolver.clock.now().adding($0) } ?? .distantFuture
        state = Locked(
            State(asked: request, decision: first, toASCII: client.parts.toASCII))
    }

    package func start() { begin() }

    package func cancel() {
        let inner = state.withLock { state in
            state.isCancelled = true
            return state.inner
        }
        inner?.cancel()
    }

    package func resumeBody() {
        let inner = state.withLock { state in
            if state.inner == nil { state.isResumePending = true }
            return state.inner
        }
        inner?.resumeBody()
    }

    package func endSoon() {
        if let inner = state.withLock({ $0.inner }) { inner.endSoon() } else { cancel() }
    }

    package var report: ExchangeReport {
        let (past, inner) = state.withLock { ($0.past, $0.inner) }
        return inner.map { past.followed(by: $0.report) } ?? past
    }

    /// What was sent, or would have been, in the hop that runs.
    package var sent: RequestHead { state.withLock { $0.decision.request.head } }

    // MARK: The exchanges

    private func begin() {
        let (number, decision, request, isCancelled) = state.withLock { state in
            state.number += 1
            state.inner = nil
            state.isResumePending = false
            state.tape =
                state.decision.recorders.isEmpty
                ? nil : FixtureTape(state.decision.request, state.decision.recorders)
            return (state.number, state.decision, state.toSend, state.isCancelled)
        }
        guard !isCancelled else { return end(failing: .cancelled) }
        guard let inner = inner(decision, request, number) else { return }
        let (isUnwanted, resumes) = state.withLock { state in
            guard state.number == number else { return (false, false) }
            state.inner = inner
            return (state.isCancelled, state.isResumePending)
        }
        if isUnwanted { inner.cancel() } else if resumes { inner.resumeBody() }
    }

    /// What answers; nil when it was refused, and the end is told.
    private func inner(
        _ decision: RuleDecision, _ request: HTTPRequest, _ number: Int
    ) -> (any RunningExchange)? {
        var request = request
        if deadline != .distantFuture {
            request.limits.total = .milliseconds(
                deadline.millisecondsLeft(from: client.resolver.clock.now()))
        }
        let listener = HopListener(self, number)
        switch decision.verdict {
        case .refuse(let refusal):
            end(failing: .refusedByRule(refusal))
            return nil
        case .offline:
            // What nothing that is kept answers comes back as unsatisfied; see `received`.
            request.cacheMode = .onlyIfCached
            request.redirects.followed += state.withLock { $0.followed }
            // What is kept may vary with them, as with all that would be sent.
            let keeper = AddedCookies.keeper(decision.cookies, cookies, &request)
            return client.start(request, observer: listener, cookies: keeper)
        case .resolve, .pass:
            request.redirects.followed += state.withLock { $0.followed }
            let keeper = AddedCookies.keeper(decision.cookies, cookies, &request)
            return client.start(request, observer: listener, cookies: keeper)
        case .stub(let form, let rule):
            return play(form, rule, .stub, request, listener)
        case .replay(let fixture, let rule):
            return play(
                .listed([fixture.stub], after: .stay), rule, .replay, request, listener)
        }
    }

    private func play(
        _ form: Stub.Form, _ rule: String, _ answerer: ExchangeReport.Answerer,
        _ request: HTTPRequest, _ listener: HopListener
    ) -> StubPlayer {
        let (decision, followed) = state.withLock { ($0.decision, $0.followed) }
        let player = StubPlayer(
            StubPlayer.Order(
                request: request, ruled: decision.request, form: form, rule: rule,
                rules: decision.applied, answerer: answerer, followed: followed,
                deadline: deadline),
            client: client, observer: listener, cookies: cookies)
        player.start()
        return player
    }

    private func end(failing cause: ExchangeFailure.Cause) {
        let failure = state.withLock { state in
            let url = state.decision.request.url
            var hop = ExchangeReport.Hop(url, answeredBy: .nobody)
            hop.note(state.decision.applied, asked: state.asked.head.url)
            let report = state.past.followed(
                by: ExchangeReport(answered: hop, totalMilliseconds: 0))
            return ExchangeFailure(cause, url: url, report: report)
        }
        observer.exchange(ended: .failure(failure))
    }

    // MARK: What the exchange of a hop says

    fileprivate func offered(
        _ offer: RedirectOffer, _ number: Int,
        _ answer: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        guard let known = state.withLock({ $0.counts(number) ? $0.known(offer) : nil }) else {
            return answer(.follow)
        }
        observer.exchange(offers: known) { said in
            switch said {
            case .deliver: answer(.deliver)
            case .follow: self.follow(known, number, answer)
            }
        }
    }

    private func follow(
        _ offer: RedirectOffer, _ number: Int,
        _ answer: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        guard let next = state.withLock({ $0.counts(number) ? $0.next(after: offer) : nil }) else {
            return answer(.follow)
        }
        let decision = rules.decide(client.ruled(next))
        enum Way { case same, drained, cancelled }
        let (way, inner, tape) = state.withLock {
            state -> (Way, (any RunningExchange)?, FixtureTape?) in
            guard state.counts(number) else { return (.same, nil, nil) }
            state.followed += 1
            if state.decision.isPlain, decision.isPlain {
                state.asked = next
                state.decision = decision
                return (.same, nil, nil)
            }
            state.next = (next, decision)
            defer { state.tape = nil }
            return (
                offer.drains && state.isReal ? .drained : .cancelled, state.inner, state.tape
            )
        }
        tape?.keep(offer.response)
        switch way {
        case .same: answer(.follow)
        case .drained:
            answer(.deliver)
            inner?.resumeBody()
            inner?.endSoon()
        case .cancelled:
            // Without a handle it has just begun: `begin` looks again. It ends by itself then.
            if let inner { inner.cancel() } else { answer(.deliver) }
        }
    }

    fileprivate func sends(
        _ fields: HTTPFields, _ framing: SentFraming, _ head: RequestHead, _ number: Int
    ) {
        guard state.withLock({ $0.counts(number) }) else { return }
        observer.exchange(sends: fields, in: framing, of: head)
    }

    fileprivate func hinted(_ head: ResponseHead, _ number: Int) {
        guard state.withLock({ $0.counts(number) }) else { return }
        observer.exchange(interim: head)
    }

    fileprivate func received(_ head: ResponseHead, _ report: ExchangeReport, _ number: Int) {
        if let refusal = state.withLock({ $0.refusal(report, number) }) {
            return refuse(refusal, report)
        }
        let whole = state.withLock { state -> ExchangeReport? in
            guard state.counts(number) else { return nil }
            state.tape?.head = head
            return state.past.followed(by: state.noted(report))
        }
        guard let whole else { return }
        observer.exchange(received: head, report: whole)
    }

    /// Nothing that is kept answers, and the network may not be asked.
    private func refuse(_ refusal: RuleRefusal, _ report: ExchangeReport) {
        let (inner, failure) = state.withLock { state in
            // From now on nothing of it counts.
            state.number += 1
            defer { state.inner = nil }
            let whole = state.past.followed(by: state.noted(report))
            return (
                state.inner,
                ExchangeFailure(
                    .refusedByRule(refusal), url: state.decision.request.url, report: whole)
            )
        }
        inner?.cancel()
        observer.exchange(ended: .failure(failure))
    }

    fileprivate func received(_ body: UnsafeRawBufferPointer, _ number: Int) -> Flow {
        let isWanted = state.withLock { state in
            guard state.counts(number) else { return false }
            state.tape?.take(body)
            return true
        }
        return isWanted ? observer.exchange(received: body) : .more
    }

    fileprivate func ended(_ result: Result<ExchangeReport, ExchangeFailure>, _ number: Int) {
        enum Course {
            case over, next
            case end(ExchangeReport, FixtureTape?)
        }
        let course = state.withLock { state -> Course in
            guard state.number == number else { return .over }
            let report = state.past.followed(by: state.noted(result.report))
            state.inner = nil
            defer {
                state.tape = nil
                state.next = nil
            }
            guard let next = state.next else {
                // `begin`, where it still runs, must not hold what is over.
                state.number += 1
                return .end(report, state.tape)
            }
            state.past = report
            state.asked = next.request
            state.decision = next.decision
            return .next
        }
        switch (course, result) {
        case (.over, _): break
        case (.next, _): begin()
        case (.end(let report, let tape), .success):
            tape?.keep()
            observer.exchange(ended: .success(report))
        case (.end(let report, _), .failure(let failure)):
            observer.exchange(
                ended: .failure(ExchangeFailure(failure.cause, url: failure.url, report: report)))
        }
    }
}

extension RuledExchange.State {
    func counts(_ other: Int) -> Bool { number == other && next == nil }

    func refusal(_ report: ExchangeReport, _ other: Int) -> RuleRefusal? {
        guard counts(other), case .offline(let rule) = decision.verdict,
            report.hops.last?.cache?.outcome == .unsatisfied
        else { return nil }
        return RuleRefusal(
            .offline, rule: rule,
            "nothing that is kept answers \(decision.request.line), and the network is off")
    }

    /// The origin is asked: its connection is worth keeping.
    var isReal: Bool {
        switch decision.verdict {
        case .resolve, .pass: true
        case .stub, .replay, .refuse, .offline: false
        }
    }

    /// With what the rules did to the hop that runs.
    func noted(_ report: ExchangeReport) -> ExchangeReport {
        report.noting(decision.applied, asked: asked.head.url)
    }

    /// As the rules have it.
    var toSend: HTTPRequest {
        var request = asked
        request.head = decision.request.head
        request.addresses = decision.addresses
        return request
    }

    /// A redirect as it follows from what the application asked for: what rules added to the
    /// request is not carried on, to whomever it leads.
    func known(_ offer: RedirectOffer) -> RedirectOffer {
        guard !decision.isPlain else { return offer }
        var request = decision.request.head
        request.fields = asked.head.fields
        let decided = asked.redirects.decide(
            offer.response, to: request, hasBody: asked.body.isPresent, hops: 0, toASCII: toASCII)
        guard case .follow(let step) = decided else { return offer }
        return RedirectOffer(response: offer.response, step: step)
    }

    func next(after offer: RedirectOffer) -> HTTPRequest {
        var request = asked
        request.redirects.visited.append(asked.head.url)
        request.head = offer.step.head
        if !offer.step.keepsBody {
            request.body = .none
            request.knownBody = nil
        }
        return request
    }
}

extension Result where Success == ExchangeReport, Failure == ExchangeFailure {
    fileprivate var report: ExchangeReport {
        switch self {
        case .success(let report): report
        case .failure(let failure): failure.report
        }
    }
}

/// Tells one exchange of a ruled one from those before it.
private final class HopListener: ExchangeObserver {
    private let exchange: RuledExchange
    private let number: Int

    init(_ exchange: RuledExchange, _ number: Int) {
        self.exchange = exchange
        self.number = number
    }

    func exchange(
        offers redirect: RedirectOffer, answer: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        exchange.offered(redirect, number, answer)
    }

    func exchange(sends fields: HTTPFields, in framing: SentFraming, of head: RequestHead) {
        exchange.sends(fields, framing, head, number)
    }

    func exchange(interim head: ResponseHead) { exchange.hinted(head, number) }

    func exchange(received head: ResponseHead, report: ExchangeReport) {
        exchange.received(head, report, number)
    }

    func exchange(received body: UnsafeRawBufferPointer) -> Flow {
        exchange.received(body, number)
    }

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
        exchange.ended(result, number)
    }
}
