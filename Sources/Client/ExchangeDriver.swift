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
        /// Body octets that came before the caller had the head.
        var held: [UInt8] = []
        /// The transfer was paused for that.
        var isHeldBack = false
        var isOver = false
    }

    let request: HTTPRequest
    let client: HTTPDNSClient
    private let observer: any ExchangeObserver
    let cookies: any CookieKeeper
    /// One for all hops: a policy that changes meanwhile is for the next exchange.
    let verifier: any PeerVerifier
    let clock: any MonotonicSource
    private let alarms: any AlarmSource
    private let deadline: Monotonic
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
        let actions = state.withLock { event(&$0, now) }
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
        case .storeCookies(let lines, let url):
            if request.usesCookies { cookies.store(lines, from: url) }
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
        let (alarm, hop) = state.withLock { state in
            defer { state.hop = nil }
            state.isOver = true
            state.transfer = nil
            state.lookup = nil
            return (state.alarm, state.hop)
        }
        hop?.end()
        if let alarm { alarms.cancel(alarm) }
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
                for action in actions { perform(action) }
                return
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

// The transfer of one hop
extension ExchangeDriver {
    private func transfer(
        _ head: RequestHead, over route: Route, sendsBody: Bool, freshly: Bool, via path: ProxyPath?
    ) {
        var wire: TransportRequest
        do { wire = try self.wire(head, over: route, sendsBody: sendsBody) } catch {
            step { $0.machine.unsendable(error, now: $1) }
            return
        }
        wire.needsFreshConnection = freshly
        wire.via = path
        observer.exchange(sends: wire.fields, of: head)
        if let credentials = request.credentials, credentials.origin == head.url.origin,
            !wire.fields.contains("Authorization")
        {
            wire.credentials = credentials
        }
        let generation = state.withLock { state in
            // A cancel that came since the last transfer ended is for this one: it stays noted.
            state.generation &+= 1
            state.isResumePending = false
            state.isHeldBack = false
            state.transfer = nil
            // The route to a proxy says nothing of the origin's addresses.
            state.feedback = path == nil ? RouteFeedback(head.url.origin, route) : nil
            return state.generation
        }
        if sendsBody, case .stream(let source) = request.body {
            guard claim(source) else {
                step { $0.machine.bodyLost(isTaken: true, now: $1) }
                return
            }
            guard !state.withLock({ $0.isBodyTouched }) || source.rewind() else {
                step { $0.machine.bodyLost(now: $1) }
                return
            }
        }
        let listener = TransferListener(driver: self, generation: generation)
        let transfer: any RunningTransfer
        if let hop = state.withLock({ $0.hop }) {
            transfer = hop.transfer(wire, by: client.parts.transport, for: listener) {
                self.note($0, of: generation)
            }
        } else {
            transfer = client.parts.transport.start(wire, observer: listener)
        }
        let (isUnwanted, resumes) = state.withLock { state in
            guard state.generation == generation, state.finishedGeneration != generation,
                !state.isOver
            else { return (true, false) }
            state.transfer = transfer
            return (state.isCancelPending, state.isResumePending)
        }
        if isUnwanted { transfer.cancel() } else if resumes { transfer.resume() }
    }

    /// False while another exchange has it.
    private func claim(_ source: any RequestBodySource) -> Bool {
        guard !state.withLock({ $0.isBodyClaimed }) else { return true }
        let claim = BodyClaims.shared.claim(source)
        guard claim != .taken else { return false }
        state.withLock { state in
            state.isBodyClaimed = true
            state.isBodyTouched = claim == .begun
        }
        return true
    }

    /// The next exchange may have the source; nothing of this one reads from it any more.
    private func giveBodyBack() {
        guard case .stream(let source) = request.body else { return }
        let (isClaimed, isTouched) = state.withLock { state in
            defer { state.isBodyClaimed = false }
            return (state.isBodyClaimed, state.isBodyTouched)
        }
        guard isClaimed else { return }
        // What cannot be repeated, and was not sent, keeps what it has read for another try.
        let isOver = isTouched || source.canRewind
        if isOver { source.letGo() }
        BodyClaims.shared.giveBack(source, isBegun: isOver)
    }

    private func wire(
        _ head: RequestHead, over route: Route, sendsBody: Bool
    ) throws(RewriteFault) -> TransportRequest {
        let value = request.usesCookies ? cookies.cookies(for: head.url) : nil
        let fields = try HostRewriter().fields(of: head, cookies: value)
        var body = sendsBody ? request.body : .none
        if let watch = request.bodyWatch, case .stream(let source) = body {
            body = .stream(WatchedSource(source, watch))
        }
        let promised = try RequestFraming.promisedLength(fields, of: body)
        if let promised, case .stream(let source) = body {
            body = .stream(MeasuredSource(source, length: promised))
        }
        var wire = TransportRequest(
            origin: head.url.origin, route: route, method: head.method, target: head.url.target,
            fields: fields, body: body,
            verifier: verifier, limits: limits(), version: client.parts.version)
        // A part of a coded body cannot be decoded. Source: Fetch standard, §4.5, step of `Range`.
        wire.decodesContent = !fields.contains("Accept-Encoding") && !fields.contains("Range")
        wire.expectsContinue = request.expectsContinue
        return wire
    }

    private func limits() -> TransportLimits {
        var limits = TransportLimits()
        limits.deadline = deadline
        limits.connectMilliseconds = request.limits.connect.wholeMilliseconds
        limits.idleMilliseconds = request.limits.idle.wholeMilliseconds
        limits.maximumBodyOctets = request.limits.maximumBodyOctets
        limits.maximumHeadOctets = request.limits.maximumHeadOctets
        limits.maximumExpansion = request.limits.maximumExpansion
        limits.maximumDecodedOctets = request.limits.maximumDecodedOctets
        return limits
    }

    private func cancelTransfer() {
        let transfer = state.withLock { state in
            state.isCancelPending = state.transfer == nil
            return state.transfer
        }
        transfer?.cancel()
    }

    func heard(
        _ generation: UInt64, _ event: (inout State, Monotonic) -> [ExchangeMachine.Action]
    ) {
        step { state, now in
            state.generation == generation ? event(&state, now) : []
        }
    }

    fileprivate func verified(
        _ generation: UInt64, _ peer: VerifiedPeer?, _ connection: ConnectionFacts
    ) {
        heard(generation) { state, _ in
            // Before this gate nothing is read from the source of the body.
            state.isBodyTouched = true
            state.machine.verified(peer, connection: connection)
            return []
        }
        // A connection is reported once, however many requests it carries.
        if !connection.isReused, let peer, case .mismatched(let mismatch) = peer.pinning {
            sighted(generation, mismatch, peer.chain, connection.remote.address, refusal: nil)
        }
    }

    /// Tells the observer of pins, with what the exchange knows of the way.
    private func sighted(
        _ generation: UInt64, _ mismatch: PinMismatch, _ chain: [CertificateFacts],
        _ address: IPAddress?, refusal: TrustFailure.Code?
    ) {
        guard let observer = client.parts.pinObserver else { return }
        let hop = state.withLock {
            $0.generation == generation ? $0.machine.reportSoFar.hops.last : nil
        }
        guard let hop else { return }
        observer.sighted(
            PinSighting(
                host: hop.url.origin.host, port: hop.url.origin.port, address: address,
                giver: hop.resolution?.source.resolver, mismatch: mismatch, chain: chain,
                refusal: refusal))
    }

    fileprivate func mayRepeat(
        _ generation: UInt64, after loss: RequestLoss, _ remote: IPAddress?
    ) -> Bool {
        state.withLock {
            $0.generation == generation && $0.machine.mayRepeat(after: loss, remote: remote)
        }
    }

    fileprivate func received(_ generation: UInt64, _ head: ResponseHead) {
        heard(generation) { state, _ in state.machine.received(head) }
    }

    fileprivate func received(_ generation: UInt64, body: UnsafeRawBufferPointer) -> Flow {
        let use = state.withLock { state -> ExchangeMachine.BodyUse in
            guard state.generation == generation else { return .discard }
            let use = state.machine.bodyUse
            if use == .hold {
                state.held += body
                state.isHeldBack = true
            }
            return use
        }
        switch use {
        case .deliver: return observer.exchange(received: body)
        case .discard: return .more
        case .hold: return .pause
        }
    }

    fileprivate func finished(
        _ generation: UInt64, _ result: Result<TransferFacts, TransportFailure>,
        _ remote: IPAddress?
    ) {
        let feedback = state.withLock { $0.generation == generation ? $0.feedback : nil }
        feedback?.tell(client.resolver, result, failedAt: remote)
        if case .failure(.untrusted(let failure)) = result, let mismatch = failure.facts.mismatch {
            sighted(generation, mismatch, failure.facts.chain, remote, refusal: failure.code)
        }
        heard(generation) { state, now in
            state.transfer = nil
            state.finishedGeneration = generation
            // A cancel was for the transfer that is over; one from now on is for the next.
            state.isCancelPending = false
            return state.machine.finished(result, remote: remote, now: now)
        }
    }
}

/// Passes on what one transfer says, with the generation it belongs to.
final class TransferListener: TransferObserver, @unchecked Sendable {
    // Safety: `failedAt` is touched where the transfer's events come, one at a time.
    private let driver: ExchangeDriver
    private let generation: UInt64
    private var failedAt: IPAddress?

    init(driver: ExchangeDriver, generation: UInt64) {
        self.driver = driver
        self.generation = generation
    }

    func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {
        driver.verified(generation, peer, connection)
    }

    func mayRepeat(after loss: RequestLoss, sentTo remote: Endpoint?) -> Bool {
        driver.mayRepeat(generation, after: loss, remote?.address)
    }

    func received(_ head: ResponseHead) { driver.received(generation, head) }
    func brokeOff(_ facts: TransferFacts) { driver.brokeOff(generation, facts) }
    func failed(at remote: Endpoint) { failedAt = remote.address }

    func received(body: UnsafeRawBufferPointer) -> Flow {
        driver.received(generation, body: body)
    }

    func finished(_ result: Result<TransferFacts, TransportFailure>) {
        driver.finished(generation, result, failedAt)
    }
}

extension Monotonic {
    func adding(_ duration: Duration) -> Monotonic {
        adding(milliseconds: duration.wholeMilliseconds)
    }
}
