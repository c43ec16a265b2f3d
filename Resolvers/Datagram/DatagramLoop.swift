internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// What the engine's thread does: feeds the questions' machines with events and performs their
/// actions.
///
/// One round: take orders, let questions start, sleep, advance sockets, ring timers. All of it is
/// confined to one thread.
struct DatagramLoop {
    struct Orders: Sendable {
        let orders: [DatagramOrder]
        /// The engine was stopped.
        let isLast: Bool
    }

    private final class Running {
        let question: DatagramQuestion
        var query: DatagramQuery
        var wakeAt: Monotonic
        var tokens: Set<UInt64> = []

        init(_ question: DatagramQuestion) {
            self.question = question
            query = question.query
            wakeAt = question.query.deadline
        }
    }

    private struct Sent {
        let owner: DatagramQuestion.ID
        let attempt: DatagramQuery.Attempt
        let exchange: AresExchange
    }

    /// How an attempt ended; told to its machine when that one is not in the middle of a step.
    private struct Ended {
        let owner: DatagramQuestion.ID
        let attempt: DatagramQuery.Attempt
        let ending: AresExchange.Ending
        let sends: Int
    }

    private let poll: EventPoll
    private let clock = SystemMonotonicClock()
    private let maximumQuestions: Int
    private var waiting = WaitingQuestions()
    private var running: [DatagramQuestion.ID: Running] = [:]
    private var sent: [UInt64: Sent] = [:]
    private var ended: [Ended] = []
    private var timers = TimerHeap<DatagramQuestion.ID>()
    private var lastToken: UInt64 = 0

    init(poll: EventPoll, maximumQuestions: Int) {
        self.poll = poll
        self.maximumQuestions = maximumQuestions
    }

    /// Returns when the engine was stopped.
    mutating func run(takeOrders: () -> Orders) {
        while true {
            let orders = takeOrders()
            for order in orders.orders { obey(order) }
            if orders.isLast { return stop() }
            startWaiting()
            for event in poll.wait(until: timers.first, now: clock.now()) { advance(event) }
            ringTimers()
        }
    }
}

extension DatagramLoop {
    private mutating func obey(_ order: DatagramOrder) {
        switch order {
        case .ask(let question):
            waiting.append(question)
            timers.add(question.id, at: question.query.deadline)
        case .cancel(let id):
            if let question = waiting.remove(id) { question.deliver(.failure(.cancelled)) }
            step(id) { query, _ in query.cancelled() }
        }
    }

    private mutating func stop() {
        while let question = waiting.popFirst() { question.deliver(.failure(.cancelled)) }
        for id in Array(running.keys) { step(id) { query, _ in query.cancelled() } }
    }

    /// Lets questions start as far as there is room; each that fails at once makes room again.
    private mutating func startWaiting() {
        reportEnded()
        while max(running.count, sent.count) < maximumQuestions,
            let question = waiting.popFirst()
        {
            running[question.id] = Running(question)
            step(question.id) { query, now in query.start(now: now) }
            reportEnded()
        }
    }

    private mutating func advance(_ event: EventPoll.Event) {
        // Gone: closed earlier in the same batch of events.
        guard let sent = sent[event.token] else { return }
        sent.exchange.advance(isReadable: event.isReadable, isWritable: event.isWritable)
        collect(event.token, sent)
        reportEnded()
    }

    /// Takes an exchange that has come to its end out of those that go on.
    private mutating func collect(_ token: UInt64, _ gone: Sent) {
        guard let ending = gone.exchange.ending else { return }
        sent[token] = nil
        running[gone.owner]?.tokens.remove(token)
        ended.append(
            Ended(
                owner: gone.owner, attempt: gone.attempt, ending: ending,
                sends: gone.exchange.sends))
    }

    private mutating func reportEnded() {
        while let one = ended.popLast() {
            step(one.owner) { query, now in
                switch one.ending {
                case .message(let bytes):
                    query.replied(one.attempt, bytes, sends: one.sends, now: now)
                case .trouble(let trouble):
                    query.failed(one.attempt, trouble, sends: one.sends, now: now)
                }
            }
        }
    }

    private mutating func ringTimers() {
        let now = clock.now()
        while let id = timers.popDue(now: now) {
            if let question = waiting.remove(id) {
                question.deliver(.failure(.timedOut(tries: 0)))
            } else if let state = running[id], state.wakeAt <= now {
                // Else the moment was replaced by a later one.
                step(id) { query, now in query.woke(now: now) }
            }
        }
        guard timers.count > Self.spareTimers + 4 * (running.count + waiting.count) else { return }
        timers.keep { [running] id, moment in running[id]?.wakeAt == moment }
    }

    /// Because: below that, looking for useless entries costs more than they do.
    private static let spareTimers = 1_024
}

extension DatagramLoop {
    /// Steps one machine and performs what it orders, in order.
    private mutating func step(
        _ id: DatagramQuestion.ID,
        _ event: (inout DatagramQuery, Monotonic) -> [DatagramQuery.Action]
    ) {
        guard let state = running[id] else { return }
        for action in event(&state.query, clock.now()) {
            switch action {
            case .send(let attempt): send(attempt, for: state)
            case .wake(let moment):
                state.wakeAt = moment
                timers.add(id, at: moment)
            case .settle(let result):
                running[id] = nil
                for token in state.tokens { sent[token] = nil }
                state.question.deliver(result)
            }
        }
    }

    private mutating func send(_ attempt: DatagramQuery.Attempt, for state: Running) {
        let owner = state.question.id
        let server = state.question.plan.servers[attempt.server]
        func fail(_ trouble: DatagramTrouble) {
            ended.append(
                Ended(owner: owner, attempt: attempt, ending: .trouble(trouble), sends: 0))
        }
        guard let scope = AresExchange.scope(of: server.address) else {
            return fail(.network("no network interface named \(server.address.zone ?? "")"))
        }
        guard let message = DatagramReply.message(asking: state.query.question) else {
            return fail(.fault("the question has no wire form"))
        }
        // A question may keep silent attempts open, but only while there is room for their sockets.
        if sent.count >= maximumQuestions, let oldest = state.tokens.min() {
            state.tokens.remove(oldest)
            sent[oldest] = nil
        }
        lastToken &+= 1
        guard
            let exchange = AresExchange(
                server, scope: scope, isOverTCP: attempt.isOverTCP, message: message,
                registeredWith: (poll, lastToken))
        else { return fail(.network("c-ares could not open a channel: out of memory")) }
        let entry = Sent(owner: owner, attempt: attempt, exchange: exchange)
        sent[lastToken] = entry
        state.tokens.insert(lastToken)
        collect(lastToken, entry)
    }
}
