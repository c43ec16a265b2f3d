internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSResolution
internal import HTTPDNSRules

/// Plays one stub as if a server had answered.
///
///     prepared ─ body of the request read away ─ latency ─▶ head ─▶ piece, piece … ─▶ end
///
/// Rules:
/// 1. Everything happens on the stub thread, step by step; alarms and callers only leave word
/// there.
/// 2. Time-outs are those of the request: a silence longer than it bears ends it.
/// 3. Exactly one end is told; nothing after it.
final class StubPlayer: StartedExchange, @unchecked Sendable {
    // Safety: `stage` is touched on the stub thread alone, `shared` is locked, the rest never
    // changes.

    /// What is to be played, for whom.
    struct Order: Sendable {
        /// As the rules left it; its body as well.
        var request: HTTPRequest
        let ruled: RuledRequest
        let form: Stub.Form
        let rule: String
        let rules: [AppliedRule]
        let answerer: ExchangeReport.Answerer
        /// Redirects followed before.
        let followed: Int
        let deadline: Monotonic
    }

    private struct Stage {
        var isOver = false
        var response = StubResponse()
        var body: StubBody?
        var drain: BodyDrain?
        var isDrained = false
        /// Of the reading of the request's body.
        var reads = 0
        /// The closure that makes the response runs.
        var isMaking = false
        var making: Task<Void, Never>?
        var sent: Int64 = 0
        /// What the throttle counts from.
        var flowing: (since: Monotonic, octets: Int64)?
        var isPaused = false
    }

    private struct Shared {
        var hop: ExchangeReport.Hop
        var took: Double = 0
        var alarms: [AlarmID] = []
        var isOver = false
    }

    private let order: Order
    private let client: HTTPDNSClient
    private let observer: any ExchangeObserver
    private let cookies: any CookieKeeper
    private let thread = StubThread.shared
    private let clock: any MonotonicSource
    private let alarms: any AlarmSource
    private let startedAt: Monotonic
    private var stage = Stage()
    private let shared: Locked<Shared>

    init(
        _ order: Order, client: HTTPDNSClient, observer: any ExchangeObserver,
        cookies: any CookieKeeper
    ) {
        self.order = order
        self.client = client
        self.observer = observer
        self.cookies = cookies
        clock = client.resolver.clock
        alarms = client.resolver.alarms
        startedAt = clock.now()
        var hop = ExchangeReport.Hop(order.request.head.url, answeredBy: order.answerer)
        hop.appliedRules = order.rules
        shared = Locked(Shared(hop: hop))
    }

    var report: ExchangeReport {
        shared.withLock { ExchangeReport(answered: $0.hop, totalMilliseconds: $0.took) }
    }

    func start() {
        if order.deadline != .distantFuture {
            ring(at: order.deadline) { $0.fail(.timedOut(waitingFor: "total")) }
        }
        thread.run { self.prepare() }
    }

    func cancel() { thread.run { self.fail(.cancelled) } }

    func resumeBody() {
        thread.run {
            guard !self.stage.isOver, self.stage.isPaused else { return }
            self.stage.isPaused = false
            // What was held back is not made up for.
            self.stage.flowing = (self.clock.now(), self.stage.sent)
            self.flow()
        }
    }

    // MARK: Before the head

    private func prepare() {
        guard !stage.isOver else { return }
        switch order.form {
        case .listed(let responses, _): play(responses.first ?? StubResponse(status: 204))
        case .made(_, let make):
            let idle = order.request.limits.idle.wholeMilliseconds
            stage.isMaking = true
            ring(at: clock.now().adding(milliseconds: idle)) { player in
                if player.stage.isMaking { player.fail(.timedOut(waitingFor: "response")) }
            }
            stage.making = Task {
                let result: Result<StubResponse, any Error>
                do { result = .success(try await make(order.ruled)) } catch {
                    result = .failure(error)
                }
                thread.run { self.made(result) }
            }
        }
    }

    private func made(_ result: Result<StubResponse, any Error>) {
        stage.making = nil
        stage.isMaking = false
        guard !stage.isOver else { return }
        switch result {
        case .success(let response): play(response)
        case .failure(let error):
            fail(
                .refusedByRule(
                    RuleRefusal(
                        .stubFailed, rule: order.rule, "the closure threw \(type(of: error))",
                        error: error)))
        }
    }

    private func play(_ response: StubResponse) {
        guard (200...599).contains(response.status) else {
            return refuse(
                RuleRefusal(
                    .stubFailed, rule: order.rule,
                    "\(response.status) is no status of a whole response: 200 to 599 are"))
        }
        stage.response = response
        do throws(RuleRefusal) {
            stage.body = try StubBody(response.body, rule: order.rule)
        } catch { return refuse(error) }
        guard case .stream(let source) = order.request.body else { return waitForHead() }
        let drain = BodyDrain(source) { self.thread.run { self.drain() } }
        stage.drain = drain
        took(drain.begin(order.request.head.url))
    }

    private func drain() {
        guard !stage.isOver, !stage.isDrained, let drain = stage.drain else { return }
        took(drain.goOn())
    }

    private func took(_ outcome: BodyDrain.Outcome) {
        switch outcome {
        case .later:
            stage.reads += 1
            let reads = stage.reads
            let idle = order.request.limits.idle.wholeMilliseconds
            ring(at: clock.now().adding(milliseconds: idle)) { player in
                guard !player.stage.isDrained, player.stage.reads == reads else { return }
                player.fail(.timedOut(waitingFor: "idle"))
            }
        case .failed(let cause): fail(cause)
        case .done:
            guard !stage.isDrained else { return }
            stage.isDrained = true
            waitForHead()
        }
    }

    private func waitForHead() {
        let latency = max(0, stage.response.latency.wholeMilliseconds)
        wait(latency, waitingFor: "response") { $0.judge() }
    }

    // MARK: The head

    private func judge() {
        let head = head()
        let lines = head.fields.texts("Set-Cookie")
        if !lines.isEmpty, order.request.usesCookies { cookies.store(lines, from: head.url) }
        let now = clock.now()
        shared.withLock { shared in
            shared.hop.status = head.status
            shared.hop.version = head.version
            shared.hop.timings.firstByte = Double(now.milliseconds(since: startedAt))
        }
        let request = order.request
        guard request.followsRedirects else { return deliver(head) }
        let decision = request.redirects.decide(
            head, to: request.head, hasBody: request.body.isPresent, hops: order.followed,
            toASCII: client.parts.toASCII)
        switch decision {
        case .deliver: deliver(head)
        case .refuse(let fault):
            shared.withLock { $0.hop.refusedRedirect = head }
            fail(.redirectRefused(fault))
        case .follow(let step):
            guard !step.keepsBody || request.body.canReplay else {
                return fail(.bodyNotReplayable(to: step.head.url))
            }
            observer.exchange(offers: RedirectOffer(response: head, step: step)) { answer in
                // Where it is followed, this one is cancelled.
                guard answer == .deliver else { return }
                self.thread.run { if !self.stage.isOver { self.deliver(head) } }
            }
        }
    }

    private func head() -> ResponseHead {
        var fields = stage.response.fields
        if let type = stage.body?.type, !fields.contains("Content-Type") {
            try? fields.set("Content-Type", type)
        }
        let isFramed = fields.contains("Content-Length") || fields.contains("Transfer-Encoding")
        // What was recorded of a HEAD has a length where one was told.
        let isTold = mayHaveBody || isHead && order.answerer == .stub
        if let length = stage.body?.length, !isFramed, isTold {
            try? fields.set("Content-Length", "\(length)")
        }
        return ResponseHead(
            url: order.request.head.url, status: stage.response.status, version: .http11,
            fields: fields)
    }

    private var isHead: Bool { order.request.head.method == .head }

    /// Source: RFC 9110 §6.4.1.
    private var mayHaveBody: Bool { !isHead && ![204, 304].contains(stage.response.status) }

    private func deliver(_ head: ResponseHead) {
        observer.exchange(received: head, report: report)
        stage.flowing = (clock.now(), 0)
        flow()
    }

    // MARK: The body

    private func flow() {
        guard !stage.isOver, !stage.isPaused else { return }
        // It is whole with its head: there is no body to break off in.
        guard mayHaveBody else { return finish() }
        let breaks = stage.response.failure.map { Int64(max(0, $0.afterOctets)) }
        if let breaks, stage.sent >= breaks { return breakOff() }
        let mostNow = breaks.map { Int(clamping: $0 - stage.sent) } ?? Int.max
        guard let piece = next(mostNow) else { return }
        // A body that ends before it was to break off breaks off at its end.
        guard !piece.isEmpty else { return breaks == nil ? finish() : breakOff() }
        if let most = order.request.limits.maximumBodyOctets, stage.sent + Int64(piece.count) > most
        {
            return fail(.bodyTooLarge)
        }
        stage.isPaused = piece.withUnsafeBytes { observer.exchange(received: $0) } == .pause
        stage.sent += Int64(piece.count)
        if !stage.isPaused { waitForPiece() }
    }

    /// The next piece; nil when an end has been told.
    private func next(_ most: Int) -> [UInt8]? {
        var count = min(StubPlayer.pieceOctets, most)
        if let rate = stage.response.octetsPerSecond {
            count = min(count, max(1, rate / StubPlayer.piecesPerSecond))
        }
        do throws(RuleRefusal) { return try stage.body?.next(count, rule: order.rule) ?? [] } catch
        {
            refuse(error)
            return nil
        }
    }

    private func waitForPiece() {
        guard let rate = stage.response.octetsPerSecond, rate > 0, let flowing = stage.flowing
        else { return thread.run { self.flow() } }
        let octets = Double(stage.sent - flowing.octets)
        let due = flowing.since.adding(
            milliseconds: Int64(min(octets * 1_000 / Double(rate), 1e12)))
        wait(due.millisecondsLeft(from: clock.now()), waitingFor: "idle") { $0.flow() }
    }

    private func breakOff() {
        switch stage.response.failure?.error {
        case .network(.networkConnectionLost), nil:
            fail(.connectionLost("the stub breaks off", hadResponse: true))
        case .network(.timedOut): fail(.timedOut(waitingFor: "idle"))
        case .network(let fault):
            refuse(
                RuleRefusal(
                    .stubFailed, rule: order.rule, "the stub fails as if it were \(fault.rawValue)",
                    fault: fault))
        case .refused:
            refuse(RuleRefusal(.blocked, rule: order.rule, "the request is blocked"))
        case .own(let error):
            refuse(
                RuleRefusal(
                    .stubFailed, rule: order.rule, "the stub fails with \(type(of: error))",
                    error: error))
        }
    }

    /// Because: the largest piece that the transport delivers is of the same order.
    private static let pieceOctets = 65_536
    /// Because: finer steps cost more than anybody sees.
    private static let piecesPerSecond = 20
}

// Time, and the end
extension StubPlayer {
    /// Goes on after a while; a silence longer than the request bears ends it.
    private func wait(
        _ milliseconds: Int64, waitingFor what: String,
        then: @escaping @Sendable (StubPlayer) -> Void
    ) {
        guard milliseconds > 0 else { return thread.run { if !self.stage.isOver { then(self) } } }
        let idle = order.request.limits.idle.wholeMilliseconds
        let now = clock.now()
        if milliseconds > idle {
            ring(at: now.adding(milliseconds: idle)) { $0.fail(.timedOut(waitingFor: what)) }
        } else {
            ring(at: now.adding(milliseconds: milliseconds), then)
        }
    }

    private func ring(at moment: Monotonic, _ then: @escaping @Sendable (StubPlayer) -> Void) {
        let alarm = alarms.schedule(at: moment) {
            self.thread.run { if !self.stage.isOver { then(self) } }
        }
        let isLate = shared.withLock { shared in
            if !shared.isOver {
                // The deadline's stays; of the others only the last still waits.
                shared.alarms = Array(shared.alarms.prefix(1)) + [alarm]
            }
            return shared.isOver
        }
        if isLate { alarms.cancel(alarm) }
    }

    private func refuse(_ refusal: RuleRefusal) { fail(.refusedByRule(refusal)) }

    private func fail(_ cause: ExchangeFailure.Cause) {
        end { .failure(ExchangeFailure(cause, url: self.order.request.head.url, report: $0)) }
    }

    private func finish() { end { .success($0) } }

    private func end(_ result: (ExchangeReport) -> Result<ExchangeReport, ExchangeFailure>) {
        guard !stage.isOver else { return }
        stage.isOver = true
        stage.body = nil
        stage.drain?.end()
        stage.drain = nil
        stage.making?.cancel()
        stage.making = nil
        let now = clock.now()
        let waiting = shared.withLock { shared in
            shared.isOver = true
            shared.took = Double(now.milliseconds(since: startedAt))
            shared.hop.timings.total = shared.took
            defer { shared.alarms = [] }
            return shared.alarms
        }
        for alarm in waiting { alarms.cancel(alarm) }
        observer.exchange(ended: result(report))
    }
}
