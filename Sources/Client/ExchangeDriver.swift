internal import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSResolution
internal import HTTPDNSTransport
internal import HTTPDNSTrust

/// Drives one ``ExchangeMachine``: lock, step, unlock, perform.
///
/// Events come from the resolver's threads, the transport's thread, the alarm thread and the
/// caller; the caller is told from whichever performs, and the machine's rule 3 keeps that in
/// order.
final class ExchangeDriver: StartedExchange {
    struct State {
        var machine: ExchangeMachine
        var transfer: (any RunningTransfer)?
        /// What the cache has to do with the hop that runs; nil without a cache.
        var hop: CachedHop?
        /// Tells a transfer from an earlier one of this exchange.
        var generation: UInt64 = 0
        /// The last transfer that said it was over.
        var finishedGeneration: UInt64 = 0
        /// The transfer was cancelled, or told to go on, before its handle was known.
        var isCancelPending = false
        var isResumePending = false
        /// Whom to tell what becomes of the route.
        var feedback: RouteFeedback?
        /// The body source has been read from, by this exchange or an earlier one.
        var isBodyTouched = false
        /// The body source is this exchange's; see ``BodyClaims``.
        var isBodyClaimed = false
        var lookup: (any Stoppable)?
        var alarm: AlarmID?
        /// Rings when the rest of a body that nobody wants is waited for no longer.
        var drainAlarm: AlarmID?
        /// How often the challenge of its credentials was met.
        var challengeUses: UInt32 = 0
        /// Names of cookies that hops of this exchange have set.
        var cookiesSet: Set<[UInt8]> = []
        /// Body octets that came before the caller had the head.
        var held: [UInt8] = []
        /// The transfer was paused for that.
        var isHeldBack = false
        var isOver = false
    }

    let request: HTTPRequest
    let client: HTTPDNSClient
    let observer: any ExchangeObserver
    let cookies: any CookieKeeper
    /// One for all hops: a policy that changes meanwhile is for the next exchange.
    let verifier: any PeerVerifier
    let clock: any MonotonicSource
    let alarms: any AlarmSource
    let deadline: Monotonic
    /// When it began, to the cache: one that began before a sign-out keeps nothing after it.
    let era: ChangeTable.Era?
    let state: Locked<State>

    init(
        _ request: HTTPRequest, client: HTTPDNSClient, observer: any ExchangeObserver,
        cookies: any CookieKeeper
    ) {
        self.request = request
        self.client = client
        self.observer = observer
        self.cookies = cookies
        verifier = client.verifier
        era = client.parts.cache?.changes.era
        clock = client.resolver.clock
        alarms = client.resolver.alarms
        deadline =
            request.limits.total.map { client.resolver.clock.now().adding($0) } ?? .distantFuture
        var settings = ExchangeMachine.Settings(
            hasBody: request.body.isPresent, canReplayBody: request.body.canReplay,
            followsRedirects: request.followsRedirects, redirects: request.redirects,
            toASCII: client.parts.toASCII)
        if let fallback = client.parts.systemFallback {
            settings.allowsSystem = fallback.rule()
        }
        if let refuses = client.parts.refusesCleartext { settings.refusesCleartext = refuses }
        settings.proxies = request.proxies ?? client.parts.proxies
        settings.consults = client.parts.cache != nil || request.cacheMode == .onlyIfCached
        state = Locked(State(machine: ExchangeMachine(request.head, settings: settings)))
    }

    var report: ExchangeReport { state.withLock { $0.machine.reportSoFar } }

    func start() {
        step { $0.machine.start(now: $1) }
        guard deadline != .distantFuture else { return }
        let alarm = alarms.schedule(at: deadline) {
            self.stop(because: .timedOut(waitingFor: "total"))
        }
        let isLate = state.withLock { state in
            if !state.isOver { state.alarm = alarm }
            return state.isOver
        }
        if isLate { alarms.cancel(alarm) }
    }

    func cancel() { stop(because: .cancelled) }

    private func stop(because cause: ExchangeFailure.Cause) {
        state.withLock { $0.hop }?.stop()
        step { $0.machine.stopped(because: cause, now: $1) }
    }

    func resumeBody() {
        let transfer = state.withLock { state in
            state.isResumePending = state.transfer == nil
            return state.transfer
        }
        transfer?.resume()
    }

    func step(_ event: (inout State, Monotonic) -> [ExchangeMachine.Action]) {
        let now = clock.now()
        perform(state.withLock { event(&$0, now) })
    }

    func perform(_ actions: [ExchangeMachine.Action]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: ExchangeMachine.Action) {
        switch action {
        case .consult(let head): consult(head)
        case .fallBack: fallBack()
        case .resolve(let host): resolve(host, with: client.resolver)
        case .refresh(let host, let doubted):
            if let doubted, case .name(let name) = host {
                client.resolver.doubt(doubted, for: name)
            }
            resolve(host, with: client.resolver, use: .refresh)
        case .resolveBySystem(let host):
            resolve(host, with: client.parts.systemFallback?.resolver ?? client.resolver)
        case .stopResolving: state.withLock { $0.lookup }?.stop()
        case .transfer(let head, let route, let sendsBody, let freshly, let path):
            transfer(head, over: route, sendsBody: sendsBody, freshly: freshly, via: path)
        case .cancelTransfer: cancelTransfer()
        case .limitDraining:
            let generation = state.withLock { $0.generation }
            drain { driver in
                driver.told(generation) { $0.machine.drainedLongEnough() }
            }
        case .storeCookies(let lines, let url): store(lines, from: url)
        case .offerRedirect(let offer):
            let isAnswered = Locked(false)
            observer.exchange(offers: offer) { answer in
                // A second word would answer the next redirect's question.
                let isFirst = isAnswered.withLock { isAnswered in
                    defer { isAnswered = true }
                    return !isAnswered
                }
                if isFirst { self.answered(answer) }
            }
        case .deliver(let head):
            observer.exchange(received: head, report: report)
            handOverHeld()
        case .finish(let report): end(.success(report))
        case .fail(let failure): end(.failure(failure))
        }
    }

    private func end(_ result: Result<ExchangeReport, ExchangeFailure>) {
        let (set, hop) = state.withLock { state in
            defer { state.hop = nil }
            state.isOver = true
            state.transfer = nil
            state.lookup = nil
            return ([state.alarm, state.drainAlarm], state.hop)
        }
        hop?.end()
        for alarm in set.compactMap(\.self) { alarms.cancel(alarm) }
        giveBodyBack()
        observer.exchange(ended: result)
    }

    private func resolve(_ host: Host, with resolver: Resolver, use: CacheUse = .normal) {
        if let given = request.addresses, host == request.head.url.origin.host,
            client.parts.proxies.proxy(for: request.head.url.origin)?.host != host
        {
            let host = ResolvedHost(host: host, given: given, by: "rule")
            return step { $0.machine.resolved(host, now: $1) }
        }
        let left = Duration.milliseconds(deadline.millisecondsLeft(from: clock.now()))
        let lookup = resolver.startResolving(
            host, patience: min(request.limits.resolve, left), use: use
        ) { result in
            switch result {
            case .success(let found): self.screen(found)
            case .failure(let failure):
                self.step { $0.machine.resolutionFailed(failure, now: $1) }
            }
        }
        // The answer may have come, and the exchange ended, before the handle was known.
        let isLate = state.withLock { state in
            if !state.isOver { state.lookup = lookup }
            return state.isOver
        }
        if isLate { lookup?.stop() }
    }

    private func screen(_ found: ResolvedHost) {
        let kept = request.screen.map { $0(found) } ?? found
        step { state, now in
            kept.map { state.machine.resolved($0, now: now) }
                ?? state.machine.resolutionFailed(found.refusal, now: now)
        }
    }

    private func answered(_ answer: RedirectAnswer) {
        if answer == .follow { state.withLock { $0.hop }?.follow() }
        step { state, now in
            if answer == .follow { state.held = [] }
            return state.machine.redirectAnswered(answer, now: now)
        }
        if answer == .follow, state.withLock({ $0.takeHeldBack() }) { resumeBody() }
    }

    /// Body octets that came before the caller had the head; they are its own now.
    private func handOverHeld() {
        var flow = Flow.more
        while true {
            let now = clock.now()
            let (held, actions) = state.withLock { state in
                defer { state.held = [] }
                return (state.held, state.held.isEmpty ? state.machine.handedOver(now: now) : [])
            }
            guard !held.isEmpty else {
                if flow == .more, state.withLock({ $0.takeHeldBack() }) { resumeBody() }
                return perform(actions)
            }
            flow = held.withUnsafeBytes { observer.exchange(received: $0) }
        }
    }
}

extension ExchangeDriver.State {
    fileprivate mutating func takeHeldBack() -> Bool {
        defer { isHeldBack = false }
        return isHeldBack
    }
}

extension Monotonic {
    func adding(_ duration: Duration) -> Monotonic {
        adding(milliseconds: duration.wholeMilliseconds)
    }
}
