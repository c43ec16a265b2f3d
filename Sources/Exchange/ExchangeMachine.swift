package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSTrust

/// The life of one request, from its first lookup to its last redirect. Does no I/O.
///
/// The driver feeds it one event at a time and performs the actions it returns, in order:
///
///     idle ─ start ─▶ resolving ─ resolved ─▶ connecting ─ head ─▶ delivering ─▶ receiving ─▶ ended
///                         ▲                    │      ▲      │          ▲
///                         │     untrusted, next address      │ a redirect: the caller is asked
///                         │                    └──────┘      ▼          │
///                         └─── transfer over ─── draining ◀── asking ───┘
///
/// Rules (everything that changes the state lives in this file):
/// 1. Every hop goes through resolution and verification; nothing is carried over from the one before
///    but the fields that ``RedirectRules`` lets pass.
/// 2. An address whose peer did not prove the origin is never tried again; another is, because no octet
///    of the request was sent. When none is left, the trust failure is what the caller sees.
/// 3. While a transfer runs, the exchange ends only when the transfer has said that it is over, and
///    while the caller is being handed the head, everything else waits: so what it is told comes in
///    order, one thing at a time.
/// 4. A late event (of a transfer or lookup that no longer counts) is ignored.
package struct ExchangeMachine: Sendable {
    package enum Action: Sendable, Hashable {
        case resolve(Host)
        case stopResolving
        /// Send the request; the address goes into the route and nowhere else.
        case transfer(RequestHead, Route, sendsBody: Bool)
        case cancelTransfer
        /// Keep these `Set-Cookie` lines under the logical URL.
        case storeCookies([String], from: HTTPURL)
        /// Ask the caller, who answers by ``ExchangeMachine/redirectAnswered(_:now:)``.
        case offerRedirect(RedirectOffer)
        /// Hand over the head, then what was held back, then say so by
        /// ``ExchangeMachine/handedOver(now:)``.
        case deliver(ResponseHead)
        case finish(ExchangeReport)
        case fail(ExchangeFailure)
    }

    /// Whether body octets of the running transfer are the caller's.
    package enum BodyUse: Sendable, Hashable {
        case deliver
        case discard
        /// The caller is still being asked.
        case hold
    }

    private enum State: Sendable, Hashable {
        /// Valid: start.
        case idle
        /// Valid: resolved, resolutionFailed, stopped.
        case resolving
        /// A transfer runs and has no head yet. Valid: verified, received, finished, stopped.
        case connecting(RoutePlan)
        /// The caller is asked about a redirect, while the transfer may run or be over.
        /// Valid: redirectAnswered, finished, stopped.
        case asking(RedirectOffer, over: TransferResult?)
        /// The redirect's own body is read away before the next hop. Valid: finished, stopped.
        case draining(RedirectStep)
        /// The caller is being handed the head; a stop and the end of the transfer wait.
        /// Valid: handedOver, finished, stopped.
        case delivering(stop: ExchangeFailure.Cause?, over: TransferResult?)
        /// The caller gets the body. Valid: finished, stopped.
        case receiving
        /// A failure is decided; the transfer still has to say that it is over. Valid: finished.
        case ending(ExchangeFailure.Cause)
        /// Valid: every event, each ignored.
        case ended
    }

    package typealias TransferResult = Result<TransferFacts, TransportFailure>

    private var state = State.idle
    private var head: RequestHead
    private var sendsBody: Bool
    private let canReplayBody: Bool
    private let rules: RedirectRules
    private let follows: Bool
    private let toASCII: DomainToASCII
    private var report = ExchangeReport()
    /// The most telling failure of any address so far.
    private var headline: ExchangeFailure.Cause?
    private var startedAt = Monotonic.zero
    private var hopStartedAt = Monotonic.zero

    package init(_ request: RequestHead, settings: Settings) {
        head = request
        sendsBody = settings.hasBody
        canReplayBody = settings.canReplayBody
        rules = settings.redirects
        follows = settings.followsRedirects
        toASCII = settings.toASCII
    }

    /// What is fixed for the whole exchange.
    package struct Settings: Sendable {
        package var hasBody: Bool
        package var canReplayBody: Bool
        package var followsRedirects: Bool
        package var redirects: RedirectRules
        package var toASCII: DomainToASCII

        package init(
            hasBody: Bool, canReplayBody: Bool, followsRedirects: Bool = true,
            redirects: RedirectRules = RedirectRules(),
            toASCII: @escaping DomainToASCII = HTTPURL.refusingUnicode
        ) {
            self.hasBody = hasBody
            self.canReplayBody = canReplayBody
            self.followsRedirects = followsRedirects
            self.redirects = redirects
            self.toASCII = toASCII
        }
    }

    package var bodyUse: BodyUse {
        switch state {
        case .receiving: .deliver
        case .asking, .delivering: .hold
        default: .discard
        }
    }

    /// What happened so far.
    package var reportSoFar: ExchangeReport { report }

    package mutating func start(now: Monotonic) -> [Action] {
        if case .ended = state { return [] }
        guard case .idle = state else { preconditionFailure("an exchange is started once") }
        startedAt = now
        return beginHop(now: now)
    }

    package mutating func resolved(_ host: ResolvedHost, now: Monotonic) -> [Action] {
        guard case .resolving = state else { return [] }
        let took = milliseconds(since: hopStartedAt, now)
        note {
            $0.resolution = host
            $0.resolveMilliseconds = took
        }
        return connect(RoutePlan(addresses: host.addresses, port: head.url.origin.port), now: now)
            ?? end(.unexpected("a resolution without addresses"), now: now)
    }

    package mutating func resolutionFailed(
        _ failure: ResolutionFailure, now: Monotonic
    ) -> [Action] {
        guard case .resolving = state else { return [] }
        let took = milliseconds(since: hopStartedAt, now)
        note { $0.resolveMilliseconds = took }
        return end(.notResolved(failure), now: now)
    }

    /// The request cannot be put on the wire as it is.
    package mutating func unsendable(_ fault: RewriteFault, now: Monotonic) -> [Action] {
        guard case .connecting = state else { return [] }
        return end(.unsendable(fault), now: now)
    }

    /// The body cannot be sent a second time after all.
    package mutating func bodyLost(now: Monotonic) -> [Action] {
        guard case .connecting = state else { return [] }
        return end(.bodyNotReplayable(to: head.url), now: now)
    }

    package mutating func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {
        guard case .connecting = state else { return }
        note {
            $0.peer = peer
            $0.remote = connection.remote
            $0.isReusedConnection = connection.isReused
            $0.tlsVersion = connection.tlsVersion
        }
    }

    package mutating func received(_ response: ResponseHead) -> [Action] {
        guard case .connecting = state else { return [] }
        note {
            $0.status = response.status
            $0.version = response.version
        }
        var response = response
        response.url = head.url
        let cookies = response.fields.all("Set-Cookie")
        let stored: [Action] =
            cookies.isEmpty ? [] : [.storeCookies(cookies, from: head.url)]
        return stored + judge(response)
    }

    /// The caller's word on a redirect that was offered.
    package mutating func redirectAnswered(
        _ answer: RedirectAnswer, now: Monotonic
    ) -> [Action] {
        guard case .asking(let offer, let over) = state else { return [] }
        switch answer {
        case .follow:
            guard over == nil else { return hop(offer.step, now: now) }
            state = .draining(offer.step)
            return offer.drains ? [] : [.cancelTransfer]
        case .deliver:
            state = .delivering(stop: nil, over: over)
            return [.deliver(offer.response)]
        }
    }

    /// The caller has the head, and all that was held back.
    package mutating func handedOver(now: Monotonic) -> [Action] {
        guard case .delivering(let stop, let over) = state else { return [] }
        switch (stop, over) {
        case (nil, nil): state = .receiving
        case (let cause?, nil): state = .ending(cause)
        case (let cause?, _?): return end(cause, now: now)
        case (nil, let result?): return close(result, now: now)
        }
        return []
    }

    /// The running transfer is over.
    package mutating func finished(
        _ result: TransferResult, remote: IPAddress?, now: Monotonic
    ) -> [Action] {
        if case .success(let facts) = result {
            let timings = timings(facts)
            note { $0.timings = timings }
        }
        switch state {
        case .idle, .resolving, .ended:
            return []
        case .connecting(let plan):
            guard case .failure(let failure) = result else {
                return end(.unexpected("a transfer without a response head"), now: now)
            }
            return retry(plan, after: failure, remote: remote, now: now)
        case .asking(let offer, _):
            state = .asking(offer, over: result)
            return []
        case .delivering(let stop, _):
            state = .delivering(stop: stop, over: result)
            return []
        case .draining(let step):
            return hop(step, now: now)
        case .receiving:
            return close(result, now: now)
        case .ending(let cause):
            return end(cause, now: now)
        }
    }

    /// The caller gave up, or the deadline passed.
    package mutating func stopped(
        because cause: ExchangeFailure.Cause, now: Monotonic
    ) -> [Action] {
        switch state {
        case .ended, .ending, .delivering(stop: _?, _): return []
        case .idle: return end(cause, now: now)
        case .resolving: return [.stopResolving] + end(cause, now: now)
        case .asking(_, over: _?): return end(cause, now: now)
        case .delivering(nil, let over):
            state = .delivering(stop: cause, over: over)
            return over == nil ? [.cancelTransfer] : []
        case .connecting, .asking, .draining, .receiving:
            state = .ending(cause)
            return [.cancelTransfer]
        }
    }
}

// Transitions
extension ExchangeMachine {
    private mutating func beginHop(now: Monotonic) -> [Action] {
        hopStartedAt = now
        report.hops.append(ExchangeReport.Hop(url: head.url))
        state = .resolving
        return [.resolve(head.url.origin.host)]
    }

    private mutating func connect(_ plan: RoutePlan, now: Monotonic) -> [Action]? {
        guard let route = plan.route else { return nil }
        state = .connecting(plan)
        return [.transfer(head, route, sendsBody: sendsBody)]
    }

    private mutating func judge(_ response: ResponseHead) -> [Action] {
        guard follows else { return receive(response) }
        let decision = rules.decide(
            response, to: head, hasBody: sendsBody, hops: report.hops.count - 1, toASCII: toASCII)
        switch decision {
        case .deliver:
            return receive(response)
        case .refuse(let fault):
            state = .ending(.redirectRefused(fault))
            return [.cancelTransfer]
        case .follow(let step):
            guard !step.keepsBody || canReplayBody else {
                state = .ending(.bodyNotReplayable(to: step.head.url))
                return [.cancelTransfer]
            }
            let offer = RedirectOffer(response: response, step: step)
            state = .asking(offer, over: nil)
            return [.offerRedirect(offer)]
        }
    }

    private mutating func receive(_ response: ResponseHead) -> [Action] {
        state = .delivering(stop: nil, over: nil)
        return [.deliver(response)]
    }

    private mutating func hop(_ step: RedirectStep, now: Monotonic) -> [Action] {
        head = step.head
        sendsBody = step.keepsBody
        return beginHop(now: now)
    }

    /// The next address after one that could not be trusted; anything else ends the exchange.
    private mutating func retry(
        _ plan: RoutePlan, after failure: TransportFailure, remote: IPAddress?, now: Monotonic
    ) -> [Action] {
        let cause = cause(of: failure)
        let isTelling = headline.map { cause.rank >= $0.rank } ?? true
        if isTelling { headline = cause }
        var plan = plan
        note {
            $0.attempts.append(
                RouteAttempt(
                    address: remote, label: failure.label,
                    message: ExchangeFailure(cause, url: $0.url, report: ExchangeReport())
                        .description))
        }
        guard failure.provesNothingWasSent, let remote, plan.exclude(remote),
            let next = connect(plan, now: now)
        else { return end(headline ?? cause, now: now) }
        return next
    }

    private mutating func end(_ cause: ExchangeFailure.Cause, now: Monotonic) -> [Action] {
        state = .ended
        return [.fail(ExchangeFailure(cause, url: head.url, report: closed(now)))]
    }

    private mutating func close(_ result: TransferResult, now: Monotonic) -> [Action] {
        if case .failure(let failure) = result { return end(cause(of: failure), now: now) }
        state = .ended
        return [.finish(closed(now))]
    }

    private mutating func closed(_ now: Monotonic) -> ExchangeReport {
        guard !report.hops.isEmpty else { return report }
        report.totalMilliseconds = milliseconds(since: startedAt, now)
        return report
    }
}

// Bookkeeping
extension ExchangeMachine {
    private mutating func note(_ change: (inout ExchangeReport.Hop) -> Void) {
        guard !report.hops.isEmpty else { return }
        change(&report.hops[report.hops.count - 1])
    }

    private func milliseconds(since start: Monotonic, _ now: Monotonic) -> Double {
        Double(now.nanoseconds - start.nanoseconds) / 1_000_000
    }

    private func timings(_ facts: TransferFacts) -> ExchangeReport.Timings {
        var timings = ExchangeReport.Timings()
        timings.connected = facts.connectedMilliseconds
        timings.secured = facts.securedMilliseconds
        timings.firstByte = facts.firstByteMilliseconds
        timings.total = facts.totalMilliseconds
        timings.sentOctets = facts.sentOctets
        timings.receivedOctets = facts.receivedOctets
        return timings
    }

    private func cause(of failure: TransportFailure) -> ExchangeFailure.Cause {
        switch failure {
        case .cannotConnect(let why): .cannotConnect(why)
        case .untrusted(let trust): .untrusted(trust)
        case .handshakeFailed(let why): .handshakeFailed(why)
        case .timedOut(let phase): .timedOut(waitingFor: phase.rawValue)
        case .connectionLost(let why, let hadResponse):
            .connectionLost(why, hadResponse: hadResponse)
        case .malformedResponse(let why): .malformedResponse(why)
        case .headTooLarge: .headTooLarge
        case .bodyTooLarge: .bodyTooLarge
        case .bodySourceFailed(let why): .bodySourceFailed(why)
        case .cancelled: .cancelled
        case .unavailable(let why): .unavailable(why)
        case .unexpected(let why): .unexpected(why)
        }
    }
}
