internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSResolution
internal import HTTPDNSTransport
internal import HTTPDNSTrust

/// Drives one ``ExchangeMachine``: lock, step, unlock, perform.
///
/// Events come from the resolver's threads, the transport's thread, the alarm thread and the caller;
/// the caller is told from whichever performs, and the machine's rule 3 keeps that in order.
final class ExchangeDriver: RunningExchange {
    fileprivate struct State {
        var machine: ExchangeMachine
        var transfer: Transfer?
        /// Tells a transfer from an earlier one of this exchange.
        var generation: UInt64 = 0
        /// The transfer was cancelled before its handle was known.
        var isCancelPending = false
        var lookup: (any Stoppable)?
        var alarm: AlarmID?
        /// Body octets that came while the caller was being asked about a redirect.
        var held: [UInt8] = []
        /// The caller took those and asked for a pause.
        var isPausedByCaller = false
        var isCancelled = false
    }

    private let request: HTTPRequest
    private let client: HTTPDNSClient
    private let observer: any ExchangeObserver
    private let cookies: any CookieKeeper
    private let clock: any MonotonicSource
    private let alarms: any AlarmSource
    private let deadline: Monotonic
    private let state: Locked<State>

    init(
        _ request: HTTPRequest, client: HTTPDNSClient, observer: any ExchangeObserver,
        cookies: any CookieKeeper
    ) {
        self.request = request
        self.client = client
        self.observer = observer
        self.cookies = cookies
        clock = client.resolver.clock
        alarms = client.resolver.alarms
        deadline =
            request.limits.total.map { client.resolver.clock.now().adding($0) } ?? .distantFuture
        let settings = ExchangeMachine.Settings(
            hasBody: request.body.isPresent, canReplayBody: request.body.canReplay,
            followsRedirects: request.followsRedirects, redirects: request.redirects,
            toASCII: client.parts.toASCII)
        state = Locked(State(machine: ExchangeMachine(request.head, settings: settings)))
    }

    var report: ExchangeReport { state.withLock { $0.machine.reportSoFar } }

    func start() {
        if deadline != .distantFuture {
            let alarm = alarms.schedule(at: deadline) {
                self.step { $0.machine.stopped(because: .timedOut(waitingFor: "total"), now: $1) }
            }
            state.withLock { $0.alarm = alarm }
        }
        step { $0.machine.start(now: $1) }
        if state.withLock({ $0.isCancelled }) { cancel() }
    }

    func cancel() {
        state.withLock { $0.isCancelled = true }
        step { $0.machine.stopped(because: .cancelled, now: $1) }
    }

    func resumeBody() {
        state.withLock { $0.transfer }?.resume()
    }

    private func step(_ event: (inout State, Monotonic) -> [ExchangeMachine.Action]) {
        let now = clock.now()
        let actions = state.withLock { event(&$0, now) }
        for action in actions { perform(action) }
    }

    private func perform(_ action: ExchangeMachine.Action) {
        switch action {
        case .resolve(let host): resolve(host)
        case .stopResolving: state.withLock { $0.lookup }?.stop()
        case .transfer(let head, let route, let sendsBody):
            transfer(head, over: route, sendsBody: sendsBody)
        case .cancelTransfer: cancelTransfer()
        case .storeCookies(let lines, let url):
            if request.usesCookies { cookies.store(lines, from: url) }
        case .offerRedirect(let offer):
            observer.exchange(offers: offer) { answer in self.answered(answer) }
        case .deliver(let head):
            observer.exchange(received: head, report: report)
            deliverHeld()
        case .finish(let report): end(.success(report))
        case .fail(let failure): end(.failure(failure))
        }
    }

    private func end(_ result: Result<ExchangeReport, ExchangeFailure>) {
        let alarm = state.withLock { state in
            state.transfer = nil
            state.lookup = nil
            return state.alarm
        }
        if let alarm { alarms.cancel(alarm) }
        observer.exchange(ended: result)
    }

    private func resolve(_ host: Host) {
        let left = Duration.milliseconds(deadline.millisecondsLeft(from: clock.now()))
        let lookup = client.resolver.startResolving(
            host, patience: min(request.limits.resolve, left)
        ) { result in
            switch result {
            case .success(let host): self.step { $0.machine.resolved(host, now: $1) }
            case .failure(let failure):
                self.step { $0.machine.resolutionFailed(failure, now: $1) }
            }
        }
        state.withLock { $0.lookup = lookup }
    }

    private func answered(_ answer: RedirectAnswer) {
        step { $0.machine.redirectAnswered(answer, now: $1) }
        let (transfer, isPaused) = state.withLock { ($0.transfer, $0.isPausedByCaller) }
        if !isPaused { transfer?.resume() }
    }

    /// The body octets that came while the caller was being asked.
    private func deliverHeld() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        guard !held.isEmpty else { return }
        let flow = held.withUnsafeBytes { observer.exchange(received: $0) }
        state.withLock { $0.isPausedByCaller = flow == .pause }
    }
}

// The transfer of one hop
extension ExchangeDriver {
    private func transfer(_ head: RequestHead, over route: Route, sendsBody: Bool) {
        let fields: HTTPFields
        do {
            let value = request.usesCookies ? cookies.cookies(for: head.url) : nil
            fields = try HostRewriter().fields(of: head, cookies: value)
        } catch {
            step { $0.machine.unsendable(error, now: $1) }
            return
        }
        var wire = TransportRequest(
            origin: head.url.origin, route: route, method: head.method, target: head.url.target,
            fields: fields, body: sendsBody ? request.body : .none,
            verifier: client.parts.verifier, limits: limits(), version: client.parts.version)
        wire.decodesContent = !fields.contains("Accept-Encoding")
        let generation = state.withLock { state in
            state.generation &+= 1
            state.isCancelPending = false
            state.transfer = nil
            return state.generation
        }
        if sendsBody, generation > 1, case .stream(let source) = request.body {
            guard source.rewind() else {
                step { $0.machine.bodyLost(now: $1) }
                return
            }
        }
        let listener = TransferListener(driver: self, generation: generation)
        let transfer = client.parts.transport.start(wire, observer: listener)
        let isUnwanted = state.withLock { state in
            guard state.generation == generation else { return true }
            state.transfer = transfer
            return state.isCancelPending
        }
        if isUnwanted { transfer.cancel() }
    }

    private func limits() -> TransportLimits {
        var limits = TransportLimits()
        limits.deadline = deadline
        limits.connectMilliseconds = request.limits.connect.wholeMilliseconds
        limits.idleMilliseconds = request.limits.idle.wholeMilliseconds
        limits.maximumBodyOctets = request.limits.maximumBodyOctets
        return limits
    }

    private func cancelTransfer() {
        let transfer = state.withLock { state in
            state.isCancelPending = state.transfer == nil
            return state.transfer
        }
        transfer?.cancel()
    }

    fileprivate func heard(
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
            state.machine.verified(peer, connection: connection)
            return []
        }
    }

    fileprivate func received(_ generation: UInt64, _ head: ResponseHead) {
        heard(generation) { state, _ in state.machine.received(head) }
    }

    fileprivate func received(_ generation: UInt64, body: UnsafeRawBufferPointer) -> Flow {
        let use = state.withLock { state -> ExchangeMachine.BodyUse in
            guard state.generation == generation else { return .discard }
            let use = state.machine.bodyUse
            if use == .hold { state.held += body }
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
        heard(generation) { state, now in
            state.transfer = nil
            return state.machine.finished(result, remote: remote, now: now)
        }
    }
}

/// Passes on what one transfer says, with the generation it belongs to.
private final class TransferListener: TransferObserver {
    private let driver: ExchangeDriver
    private let generation: UInt64
    private let failedAt = Locked<IPAddress?>(nil)

    init(driver: ExchangeDriver, generation: UInt64) {
        self.driver = driver
        self.generation = generation
    }

    func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {
        driver.verified(generation, peer, connection)
    }

    func received(_ head: ResponseHead) { driver.received(generation, head) }

    func received(body: UnsafeRawBufferPointer) -> Flow {
        driver.received(generation, body: body)
    }

    func failed(at remote: Endpoint) { failedAt.withLock { $0 = remote.address } }

    func finished(_ result: Result<TransferFacts, TransportFailure>) {
        driver.finished(generation, result, failedAt.withLock { $0 })
    }
}

extension RequestBody {
    var isPresent: Bool {
        switch self {
        case .none: false
        case .bytes(let octets): !octets.isEmpty
        case .stream: true
        }
    }

    var canReplay: Bool {
        switch self {
        case .none, .bytes: true
        case .stream(let source): source.canRewind
        }
    }
}

extension Monotonic {
    func adding(_ duration: Duration) -> Monotonic {
        adding(milliseconds: duration.wholeMilliseconds)
    }
}
