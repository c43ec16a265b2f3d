internal import Foundation
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One task being answered: takes the events of its exchanges from the transport's thread to the
/// work queue, and the application's answers back.
///
/// Rules:
/// 1. Everything that Foundation is told is told on the task's work queue; delegates are asked on
///    the delegate queue.
/// 2. After a stop nothing is told. While the task is suspended, or the application is asked
///    something, events wait, and the sender with them.
/// 3. Exactly one end is told.
/// 4. Only the exchange with the last number counts.
final class Loading: TurnListener, @unchecked Sendable {
    // Safety: `owner`, `authentication` and `isDone` are touched on the work queue alone
    // (`startLoading`, `stopLoading` and `drain` run there); everything else is immutable or behind
    // `state`.

    enum Event: Sendable {
        case redirect(RedirectOffer, OpenQuestion<RedirectAnswer>)
        case head(ResponseHead)
        case body(Data)
        /// Counts have changed.
        case progress
        case ended(Result<Delivery, any Error>)
    }

    struct State {
        var events: [Event] = []
        var isScheduled = false
        /// The task is suspended.
        var isHeld = false
        /// The application is being asked.
        var isAsking = false
        var isStopped = false
        var number = 0
        /// The exchange that ended last.
        var endedNumber = 0
        var attempt: Attempt?
        var exchange: (any RunningExchange)?
        /// The one that rules decide, until the next begins.
        var ruled: RuledExchange?
        /// Begins when the exchange before it has read its body away.
        var next: Plan?
        var plan: Plan
        /// Octets handed to a delegate and not yet consumed, or waiting to be handed over.
        var pending = 0
        /// Room for as much as was delivered at once last.
        var room = 0
        var isFileFull = false
        var isPaused = false
        var progress = TaskProgress()
    }

    /// Because: each piece costs two operations on the delegate's queue; a body of 1 GB takes an eighth
    /// less processor time than with half as much, and a task half a mebibyte more.
    fileprivate static let highWaterOctets = 524_288

    weak var owner: HTTPDNSURLProtocol?
    let task: URLSessionTask
    let session: URLSession
    let delegates: Delegates
    let style: DeliveryStyle
    let installation: Installation
    var authentication: Authentication
    var isDone = false
    /// What nothing kept may answer fails, instead of a 504.
    let failsUncached: Bool
    let state: Locked<State>
    /// What this task was asked about before it began; used once, on the work queue.
    private let ticket: RuleTicket
    private let queue: WorkQueue
    private let cookies: SessionCookies
    /// The task's own URL, and as a response shows it.
    let first: (url: HTTPURL, shown: URL?)
    private let clock = SystemMonotonicClock()
    private let deadline: Monotonic

    init(
        _ owner: HTTPDNSURLProtocol, installation: Installation
    ) throws(LoadingFault) {
        guard let task = owner.task, let session = TaskInternals.session(of: task) else {
            throw .missingInternal("the task's session")
        }
        guard let queue = WorkQueue.current() else { throw .missingInternal("the work queue") }
        let manner = TaskInternals.manner(of: task, in: session)
        style = manner.style
        if case .download = style, !TaskInternals.canHandOverFiles {
            throw .missingInternal("the place for the file of a download")
        }
        delegates = Delegates(task: task, session: session, manner: manner)
        self.owner = owner
        self.task = task
        self.session = session
        self.queue = queue
        self.installation = installation
        ticket = RuledReading.ticket(owner.request, isNeeded: installation.rules != nil)
        let configuration = session.configuration
        let parts = installation.client.parts
        cookies = SessionCookies(
            configuration, request: owner.request, isPublicSuffix: parts.isPublicSuffix)
        let reading = try RequestReading(
            task, owner.request, configuration, cookies: cookies, toASCII: parts.toASCII)
        first = (reading.request.head.url, reading.shown)
        authentication = Authentication(
            storage: configuration.urlCredentialStorage, first: reading.request.head.url)
        failsUncached = reading.failsUncached
        let now = clock.now()
        deadline =
            reading.request.limits.total.map { now.adding(milliseconds: $0.wholeMilliseconds) }
            ?? .distantFuture
        state = Locked(State(plan: Plan(request: reading.request, body: reading.body)))
    }

    func start() {
        state.withLock { $0.progress.expect(toSend: $0.plan.body.length) }
        begin(state.withLock { $0.plan })
    }

    /// The task is suspended.
    func hold() { state.withLock { $0.isHeld = true } }

    func goOn() {
        change { $0.isHeld = false }
    }

    /// The task is cancelled, or over.
    func stop() {
        isDone = true
        // Let go outside of the lock: there may be questions among them.
        var dropped: [Event] = []
        let (exchange, attempt) = state.withLock { state in
            state.isStopped = true
            swap(&dropped, &state.events)
            state.next = nil
            defer {
                state.exchange = nil
                state.ruled = nil
                state.attempt = nil
            }
            return (state.exchange, state.attempt)
        }
        exchange?.cancel()
        attempt?.giveUp()
    }

    /// The task's end is told: nothing is held any more.
    func close() {
        isDone = true
        state.withLock { state in
            state.isStopped = true
            state.ruled = nil
            state.attempt = nil
        }
    }

    /// Ends the task as failed; from any thread.
    func end(with error: URLError) {
        queue.async {
            guard !self.isDone else { return }
            self.stop()
            self.owner?.fail(error)
        }
    }

    /// Runs later, unless the task is over by then.
    func onWorkQueue(_ work: @escaping @Sendable () -> Void) {
        queue.async { if !self.isDone { work() } }
    }

    // MARK: The exchanges

    private func begin(_ plan: Plan) {
        let number = state.withLock { state in
            state.number += 1
            state.plan = plan
            return state.number
        }
        var request = plan.request
        if let source = plan.body.source(newer: plan.stream, supply: delegates.supply) {
            request.body = .stream(
                CountingSource(
                    source, onRead: { [weak self] in self?.sent($0) },
                    onRewind: { [weak self] in self?.sendsAgain() }))
        }
        request.limits.total = .milliseconds(deadline.millisecondsLeft(from: clock.now()))
        request.origin = RequestOrigin(
            session.sessionDescription ?? "session", task: task.taskIdentifier)
        request.tap = installation.capture
        let attempt = Attempt(number, of: self, style: style)
        state.withLock { if $0.number == number { $0.attempt = attempt } }
        let exchange = start(request, plan.body, observer: attempt, isFirst: number == 1)
        let isWanted = state.withLock { state in
            guard !state.isStopped, state.number == number else { return false }
            // It may have ended by now.
            if state.endedNumber != number { state.exchange = exchange }
            return true
        }
        if isWanted { change { _ in } } else { exchange.cancel() }
    }

    private func start(
        _ request: HTTPRequest, _ body: UploadBody, observer: Attempt, isFirst: Bool
    ) -> any RunningExchange {
        let client = installation.client
        guard let rules = installation.rules else {
            return client.start(request, observer: observer, cookies: cookies)
        }
        var request = request
        request.knownBody = { body.octets }
        let ruled = client.ruled(request)
        let decision =
            isFirst
            ? rules.begin(ruled, ticket, isMore: RuledReading.knowsMore(task, session))
            : rules.decide(ruled)
        let exchange = client.exchange(
            request, decision, under: rules, observer: observer, cookies: cookies)
        // Before anything is heard of it.
        state.withLock { if $0.number == observer.number { $0.ruled = exchange } }
        exchange.start()
        return exchange
    }

    /// What was asked last, as rules have it.
    var sentHead: RequestHead {
        let (ruled, asked) = state.withLock { ($0.ruled, $0.plan.request.head) }
        return ruled?.sent ?? asked
    }

    /// Begins another exchange in the place of this one, whose answer nobody is to see.
    ///
    /// - Parameter drains: read the rest of its body away, which keeps the connection.
    func begin(_ plan: Plan, insteadDraining drains: Bool) {
        var dropped: [Event] = []
        let (old, attempt, isNow) = state.withLock { state in
            guard !state.isStopped else {
                return (nil as (any RunningExchange)?, nil as Attempt?, false)
            }
            state.isAsking = false
            swap(&dropped, &state.events)
            state.pending = 0
            state.isFileFull = false
            state.progress.beginAgain()
            let (exchange, attempt) = (state.exchange, state.attempt)
            guard drains, exchange != nil, attempt != nil else {
                // From now on nothing of it counts.
                state.number += 1
                state.exchange = nil
                state.attempt = nil
                return (exchange, attempt, true)
            }
            state.next = plan
            state.isPaused = false
            return (exchange, attempt, false)
        }
        attempt?.giveUp()
        if isNow {
            old?.cancel()
            begin(plan)
        } else {
            old?.resumeBody()
            old?.endSoon()
        }
    }

    // MARK: On the transport's thread

    /// True while what this exchange says is wanted.
    func counts(_ number: Int) -> Bool { state.withLock { $0.counts(number) } }

    /// False when the end of this exchange is nobody's business, or only that of the next.
    func exchangeEnded(_ number: Int) -> Bool {
        let (isWanted, next) = state.withLock { state -> (Bool, Plan?) in
            guard state.number == number, !state.isStopped else { return (false, nil) }
            state.endedNumber = number
            state.exchange = nil
            if state.next != nil { state.attempt = nil }
            defer { state.next = nil }
            return (state.next == nil, state.next)
        }
        if let next { begin(next) }
        return isWanted
    }

    func post(_ event: Event, _ number: Int) {
        let isFirst = state.withLock { state in
            if state.counts(number) { state.events.append(event) }
            return state.schedules()
        }
        if isFirst { LoopTurn.tellAtEnd(self) }
    }

    /// A piece for the delegate.
    func took(_ piece: UnsafeRawBufferPointer, _ number: Int) -> Flow {
        let (flow, isFirst) = state.withLock { state -> (Flow, Bool) in
            guard state.counts(number) else { return (.more, false) }
            state.join(piece)
            state.pending += piece.count
            let flow = state.took(piece.count, highWaterOctets: Loading.highWaterOctets)
            return (flow, state.schedules())
        }
        if isFirst { LoopTurn.tellAtEnd(self) }
        return flow
    }

    /// A piece that is kept elsewhere.
    func took(_ count: Int, isFileFull: Bool, _ number: Int) -> Flow {
        let (flow, isFirst) = state.withLock { state -> (Flow, Bool) in
            guard state.counts(number) else { return (.more, false) }
            state.isFileFull = isFileFull
            let flow = state.took(count, highWaterOctets: Loading.highWaterOctets)
            return (flow, state.schedules())
        }
        if isFirst { LoopTurn.tellAtEnd(self) }
        return flow
    }

    private func sent(_ count: Int) {
        state.withLock { $0.noteProgress { $0.sent(count) } }
        schedule()
    }

    private func sendsAgain() { state.withLock { $0.progress.sendAgain() } }

    // MARK: On the file's queue

    func wrote(_ count: Int, _ number: Int) {
        state.withLock { state in
            guard state.number == number else { return }
            state.noteProgress { $0.wrote(count) }
        }
        schedule()
    }

    func hasRoom(_ number: Int) {
        change { state in
            if state.number == number { state.isFileFull = false }
        }
    }

    // MARK: From any thread

    /// A question of that exchange was let go, so that it would wait for ever.
    func wasLetGo(_ number: Int) {
        if counts(number) { delegates.cancelTask() }
    }

    /// Changes what holds events or the sender back, and lets them go where nothing does any more.
    func change(_ change: (inout State) -> Void) {
        let exchange = state.withLock { state -> (any RunningExchange)? in
            change(&state)
            // Before its handle is known there is nobody to tell; `begin` looks again.
            guard state.isPaused, !state.isFull(Loading.highWaterOctets / 2),
                let exchange = state.exchange
            else { return nil }
            state.isPaused = false
            return exchange
        }
        exchange?.resumeBody()
        schedule()
    }

    private func schedule() {
        if state.withLock({ $0.schedules() }) { LoopTurn.tellAtEnd(self) }
    }

    /// One wake-up for all that a turn of the transport's thread has brought.
    func turnEnded() {
        queue.async { self.drain() }
    }

    // MARK: On the work queue

    private func drain() {
        while let event = next() { deliver(event) }
    }

    private func next() -> Event? {
        state.withLock { state in
            guard !state.isWaiting, !state.isStopped, !state.events.isEmpty else {
                state.isScheduled = false
                return nil
            }
            let event = state.events.removeFirst()
            if case .progress = event, state.endsAtOnce {
                return state.events.removeFirst()
            }
            return event
        }
    }
}

extension Loading.State {
    /// What the exchange of that number says is wanted.
    func counts(_ other: Int) -> Bool { number == other && !isStopped && next == nil }

    /// Events stay where they are.
    var isWaiting: Bool { isHeld || isAsking }

    /// True for the first event that nobody is on the way to deliver.
    mutating func schedules() -> Bool {
        guard !isScheduled, !events.isEmpty, !isWaiting else { return false }
        isScheduled = true
        return true
    }

    /// Only a good end waits, and tells of the counts itself; nobody asked to be told of each step.
    var endsAtOnce: Bool {
        guard events.count == 1, case .ended(.success(.whole)) = events.first else { return false }
        return !progress.hasNewlySent
    }

    func isFull(_ octets: Int) -> Bool { isWaiting || isFileFull || pending >= octets }

    mutating func took(_ count: Int, highWaterOctets: Int) -> Flow {
        noteProgress { $0.received(count) }
        isPaused = isFull(highWaterOctets)
        return isPaused ? .pause : .more
    }

    /// Pieces that wait for the same delivery become one: each costs two operations on the delegate's
    /// queue.
    mutating func join(_ piece: UnsafeRawBufferPointer) {
        if let last = bodyEvent, case .body(var octets) = events[last],
            octets.count + piece.count <= Loading.highWaterOctets
        {
            // Not twice in memory while it grows.
            events[last] = .progress
            octets.append(contentsOf: piece)
            events[last] = .body(octets)
            return
        }
        var octets = Data(capacity: max(piece.count, room))
        octets.append(contentsOf: piece)
        events.append(.body(octets))
    }

    /// The body among the events that nothing but progress follows.
    private var bodyEvent: Int? {
        guard let last = events.last else { return nil }
        if case .body = last { return events.count - 1 }
        guard case .progress = last, events.count > 1, case .body = events[events.count - 2] else {
            return nil
        }
        return events.count - 2
    }

    /// One event tells of all changes until it is delivered.
    mutating func noteProgress(_ change: (inout TaskProgress) -> Void) {
        change(&progress)
        guard !progress.isPosted, !isStopped, next == nil else { return }
        progress.isPosted = true
        events.append(.progress)
    }
}
