package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSTrust

/// The life of one request, from its first lookup to its last redirect. Does no I/O.
///
/// The driver feeds it one event at a time and performs the actions it returns, in order:
///
///     idle ─ start ─▶ resolving ─ resolved ─▶ connecting ─ head ─▶ delivering ─▶ receiving ─▶
///     ended
///                         ▲                    │      ▲      │          ▲
///                         │        lost, next address ┤      │ a redirect: the caller is asked
///                         │                    │ 421  │      ▼          │
///                         │                    └▶ leaving    │          │
///                         └─── transfer over ─── draining ◀── asking ───┘
///
/// Rules (everything that changes the state lives in this file):
/// 1. Every hop goes through resolution and verification; nothing is carried over from the one
///    before but the fields that ``RedirectRules`` lets pass.
/// 2. An address whose peer did not prove the origin is never tried again in its hop; another is,
///    because no octet of the request was sent. When none is left, the trust failure is what the
///    caller sees.
///    Whether a request of which something was sent goes out again is for ``RetryRules`` to say.
/// 3. While a transfer runs, the exchange ends only when the transfer has said that it is over, and
///    while the caller is being handed the head, everything else waits: so what it is told comes in
///    order, one thing at a time.
/// 4. A late event (of a transfer or lookup that no longer counts) is ignored.
/// 5. Addresses of a kept answer that all failed are asked for once more, past the cache: the host
///    may have moved. The system is asked only where the caller allows it, and after everybody
///    else.
package struct ExchangeMachine: Sendable {
    private enum State: Sendable, Hashable {
        /// Valid: start.
        case idle
        /// Valid: resolved, resolutionFailed, stopped.
        case resolving
        /// The cache is asked. Valid: isKept, notKept, stopped.
        case consulting
        /// A transfer runs and has no head yet. Valid: verified, received, finished, stopped.
        case connecting(RoutePlan)
        /// The caller is asked about a redirect, while the transfer may run or be over.
        /// Valid: redirectAnswered, finished, stopped.
        case asking(RedirectOffer, over: TransferResult?)
        /// The answer is not wanted; the request goes out again once its transfer is over.
        /// Valid: finished, stopped.
        case leaving(RoutePlan)
        /// The redirect's own body is read away before the next hop.
        /// Valid: drainedLongEnough, finished, stopped.
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
    package private(set) var sendsBody: Bool
    private let canReplayBody: Bool
    private let rules: RedirectRules
    private let follows: Bool
    private let toASCII: DomainToASCII
    private let allowsSystem: @Sendable (Host) -> Bool
    /// Of the hop that runs.
    private var tally = RetryRules.Tally()
    private let refusesCleartext: @Sendable (Host) -> TrustFailure?
    private let proxies: ProxyPolicy
    /// Of the hop that runs, and which addresses it may be told to connect to.
    private var proxy: Proxy?
    private var targets: [IPAddress] = []
    /// There is a cache, and whether it has something for a network that fails.
    private let consults: Bool
    private var fallsBack = false
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
        allowsSystem = settings.allowsSystem
        refusesCleartext = settings.refusesCleartext
        proxies = settings.proxies
        consults = settings.consults
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

    /// The cache has nothing that may answer by itself.
    ///
    /// - Parameter fallsBack: what it has may answer if the network fails.
    package mutating func notKept(fallsBack: Bool, now: Monotonic) -> [Action] {
        guard case .consulting = state else { return [] }
        self.fallsBack = fallsBack
        hopStartedAt = now
        return resolve()
    }

    /// The cache answers: its head and body come as those of a transfer. False when it is too late.
    package mutating func isKept() -> Bool {
        guard case .consulting = state else { return false }
        fallsBack = false
        state = .connecting(RoutePlan(addresses: [], port: head.url.origin.port))
        return true
    }

    package mutating func note(_ provenance: CacheProvenance) { note { $0.cache = provenance } }

    package mutating func resolved(_ host: ResolvedHost, now: Monotonic) -> [Action] {
        guard case .resolving = state else { return [] }
        let took = milliseconds(since: hopStartedAt, now)
        note { $0.resolveMilliseconds = took }
        if asksForOrigin { note { $0.resolution = host } }
        if let proxy, asksForOrigin {
            targets = host.addresses
            return [.resolve(proxy.host)]
        }
        let plan = RoutePlan(
            addresses: host.addresses, port: proxy?.port ?? head.url.origin.port,
            without: tally.excluded)
        return connect(plan, now: now)
            ?? end(headline ?? .unexpected("a resolution without addresses"), now: now)
    }

    package mutating func resolutionFailed(
        _ failure: ResolutionFailure, now: Monotonic
    ) -> [Action] {
        guard case .resolving = state else { return [] }
        let took = milliseconds(since: hopStartedAt, now)
        note { $0.resolveMilliseconds = took }
        let host = head.url.origin.host
        let isFirst = report.hops.last?.systemFallback == nil && headline == nil
        if isFirst, asksForOrigin, failure.leavesTheHostOpen, allowsSystem(host) {
            note { $0.systemFallback = failure }
            return [.resolveBySystem(host)]
        }
        note { $0.resolutionFailure = failure }
        // Addresses that failed say more than that nobody knows others.
        let told = report.hops.last?.systemFallback ?? failure
        return end(headline ?? .notResolved(told), now: now)
    }

    /// The request cannot be put on the wire as it is.
    package mutating func unsendable(_ fault: RewriteFault, now: Monotonic) -> [Action] {
        unbegun(.unsendable(fault), now: now)
    }

    /// The body cannot be sent a second time after all, or another exchange is sending it.
    package mutating func bodyLost(isTaken: Bool = false, now: Monotonic) -> [Action] {
        isTaken
            ? unbegun(.bodySourceFailed("another request is sending it now"), now: now)
            : unbegun(.bodyNotReplayable(to: head.url), now: now)
    }

    package mutating func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {
        guard case .connecting = state else { return }
        note { $0.take(peer, connection) }
    }

    /// The request was let out on a connection that is gone; true lets it out once more.
    package mutating func mayRepeat(after loss: RequestLoss, remote: IPAddress?) -> Bool {
        guard case .connecting = state, retryRules.repeats(after: loss, tally) else { return false }
        tally.repeats += 1
        noteAttempt(.requestLost(loss, RetryRules.text(loss)), at: remote)
        return true
    }

    package mutating func received(_ response: ResponseHead) -> [Action] {
        guard case .connecting(let plan) = state else { return [] }
        note { $0.take(response) }
        fallsBack = false
        var response = response
        response.url = head.url
        let cookies = response.fields.texts("Set-Cookie")
        if response.status == RetryRules.misdirectedStatus, retryRules.retriesMisdirected(tally) {
            tally.wasMisdirected = true
            note { $0.attempts.append(.misdirected($0)) }
            state = .leaving(plan)
            return storing(cookies, before: [.cancelTransfer])
        }
        return storing(cookies, before: judge(response))
    }

    private func storing(_ cookies: [FieldText], before actions: [Action]) -> [Action] {
        cookies.isEmpty ? actions : [.storeCookies(cookies, from: head.url)] + actions
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
            return offer.drains ? offer.hasBody ? [.limitDraining] : [] : [.cancelTransfer]
        case .deliver:
            state = .delivering(stop: nil, over: over)
            return [.deliver(offer.response)]
        }
    }

    /// The rest of a redirect's body has been waited for long enough: another connection costs less.
    package func drainedLongEnough() -> [Action] {
        if case .draining = state { [.cancelTransfer] } else { [] }
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

    /// What was seen of the running transfer, which is about to be over without a good end.
    package mutating func brokeOff(_ facts: TransferFacts) {
        note { $0.timings = ExchangeReport.Timings(facts) }
    }

    /// The running transfer is over.
    package mutating func finished(
        _ result: TransferResult, _ failed: FailedAddresses, now: Monotonic
    ) -> [Action] {
        if case .success(let facts) = result {
            note { $0.timings = ExchangeReport.Timings(facts) }
        }
        switch state {
        case .idle, .resolving, .consulting, .ended:
            return []
        case .connecting(let plan):
            guard case .failure(let failure) = result else {
                return end(.unexpected("a transfer without a response head"), now: now)
            }
            return retry(plan, after: failure, at: failed, now: now)
        case .asking(let offer, _):
            state = .asking(offer, over: result)
            return []
        case .delivering(let stop, _):
            state = .delivering(stop: stop, over: result)
            return []
        case .draining(let step):
            return hop(step, now: now)
        case .leaving(let plan):
            return connect(plan, now: now, freshly: true)
                ?? end(.unexpected("a route without addresses"), now: now)
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
        case .idle, .consulting: return end(cause, now: now)
        case .resolving: return [.stopResolving] + end(cause, now: now)
        case .asking(_, over: _?): return end(cause, now: now)
        case .delivering(nil, let over):
            state = .delivering(stop: cause, over: over)
            return over == nil ? [.cancelTransfer] : []
        case .leaving:
            // Its transfer is being ended already.
            state = .ending(cause)
            return []
        case .connecting, .asking, .draining, .receiving:
            state = .ending(cause)
            return [.cancelTransfer]
        }
    }
}

// Transitions
extension ExchangeMachine {
    /// No transfer will say that it is over; the exchange may have been stopped meanwhile.
    private mutating func unbegun(_ cause: ExchangeFailure.Cause, now: Monotonic) -> [Action] {
        switch state {
        case .connecting: end(cause, now: now)
        case .ending(let decided): end(decided, now: now)
        default: []
        }
    }

    private mutating func beginHop(now: Monotonic) -> [Action] {
        hopStartedAt = now
        tally = RetryRules.Tally()
        headline = nil
        proxy = proxies.proxy(for: head.url.origin)
        targets = []
        report.hops.append(ExchangeReport.Hop(url: head.url, proxy: proxy))
        if head.url.origin.scheme == .http, let why = refusesCleartext(head.url.origin.host) {
            return end(.untrusted(why), now: now)
        }
        guard !consults else {
            state = .consulting
            return [.consult(head)]
        }
        return resolve()
    }

    private mutating func resolve() -> [Action] {
        state = .resolving
        return [
            .resolve(asksForOrigin ? head.url.origin.host : proxy?.host ?? head.url.origin.host)
        ]
    }

    /// What is resolved is the origin: a proxy that is told names spares us that.
    private var asksForOrigin: Bool {
        guard let proxy else { return true }
        return proxy.target == .address && targets.isEmpty
    }

    private mutating func connect(
        _ plan: RoutePlan, now: Monotonic, freshly: Bool = false
    ) -> [Action]? {
        guard let route = plan.route else { return nil }
        state = .connecting(plan)
        tally.transfers += 1
        tally.startedAt = now
        let path = proxy.map { ProxyPath(proxy: $0, address: targets.first) }
        return [.transfer(head, route, sendsBody: sendsBody, freshly: freshly, via: path)]
    }

    private mutating func judge(_ response: ResponseHead) -> [Action] {
        guard follows else { return receive(response) }
        let decision = rules.decide(
            response, to: head, hasBody: sendsBody, hops: report.hops.count - 1, toASCII: toASCII,
            wasVisited: report.visited)
        switch decision {
        case .deliver(let reason):
            note { $0.notFollowed = reason.isRefusal ? reason : nil }
            return receive(response)
        case .refuse(let fault):
            note { $0.refusedRedirect = response }
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

    /// Another address or another connection after a transfer that gave no head; else the end.
    private mutating func retry(
        _ plan: RoutePlan, after failure: TransportFailure, at failed: FailedAddresses,
        now: Monotonic
    ) -> [Action] {
        let remote = failed.remote
        var plan = plan
        tally.passOver(failed.before, in: &plan)
        let cause = ExchangeFailure.Cause(failure)
        let isTelling = headline.map { cause.rank >= $0.rank } ?? true
        if isTelling { headline = cause }
        note { $0.attempts += failed.before.map { RouteAttempt($0) } }
        noteAttempt(failure, at: remote, of: plan.addresses)
        if case .requestLost(let loss, _) = failure {
            guard retryRules.repeats(after: loss, tally, alone: true), retryRules.hasRoom(tally)
            else {
                return end(cause, now: now)
            }
            tally.repeats += 1
            return connect(plan, now: now, freshly: true) ?? end(cause, now: now)
        }
        guard failure.provesNothingWasSent else { return end(headline ?? cause, now: now) }
        if targets.count > 1, retryRules.hasRoom(tally) {
            targets.removeFirst()
            return connect(plan, now: now) ?? end(headline ?? cause, now: now)
        }
        if let remote {
            // One that was not planned must not lead to a second try of the rest.
            guard plan.exclude(remote) else { return end(headline ?? cause, now: now) }
            tally.excluded.insert(remote)
            if retryRules.hasRoom(tally), let next = connect(plan, now: now) { return next }
        } else {
            tally.excluded.formUnion(plan.addresses)
        }
        return refresh() ?? end(headline ?? cause, now: now)
    }

    /// Asks for the addresses once more when all that were kept have failed, or led to somebody else:
    /// then those of another source, or of one whose answer was forged, may not.
    private mutating func refresh() -> [Action]? {
        guard proxy == nil, !tally.wasRefreshed, retryRules.hasRoom(tally),
            let found = report.hops.last?.resolution, case .name = head.url.origin.host
        else { return nil }
        var doubted: String?
        if case .untrusted? = headline, ![.hosts, .literal].contains(found.source.transport) {
            doubted = found.source.resolver
        }
        guard found.isCached || doubted != nil else { return nil }
        tally.wasRefreshed = true
        note { $0.wasRefreshed = true }
        state = .resolving
        return [.refresh(head.url.origin.host, doubting: doubted)]
    }

    private mutating func end(_ cause: ExchangeFailure.Cause, now: Monotonic) -> [Action] {
        if fallsBack, cause.isOfTheNetwork {
            fallsBack = false
            state = .consulting
            return [.fallBack]
        }
        state = .ended
        if let took = tally.startedAt.map({ milliseconds(since: $0, now) }) {
            note { $0.timings.total = max($0.timings.total ?? 0, took) }
        }
        return [.fail(ExchangeFailure(cause, url: head.url, report: closed(now)))]
    }

    private mutating func close(_ result: TransferResult, now: Monotonic) -> [Action] {
        if case .failure(let failure) = result { return end(.init(failure), now: now) }
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
    private var retryRules: RetryRules {
        RetryRules(
            isIdempotent: head.method.isIdempotent, canReplay: !sendsBody || canReplayBody)
    }

    private mutating func noteAttempt(
        _ failure: TransportFailure, at remote: IPAddress?, of route: [IPAddress] = []
    ) {
        note { $0.attempts += RouteAttempt.all(failure, $0.url, at: remote, of: route) }
    }

    private mutating func note(_ change: (inout ExchangeReport.Hop) -> Void) {
        guard !report.hops.isEmpty else { return }
        change(&report.hops[report.hops.count - 1])
    }

    private func milliseconds(since start: Monotonic, _ now: Monotonic) -> Double {
        Double(now.nanoseconds - start.nanoseconds) / 1_000_000
    }
}
