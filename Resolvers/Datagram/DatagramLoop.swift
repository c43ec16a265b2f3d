internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// What the engine's thread does: feeds the questions' machines with events and performs their
/// actions.
///
/// One round: take orders, let questions start, sleep, look at sockets, ring timers. All of it is
/// confined to one thread. UDP is ours (see docs/decisions/0006-own-udp-engine.md), TCP is c-ares'.
struct DatagramLoop {
    struct Orders: Sendable {
        let orders: [DatagramOrder]
        /// The engine was stopped.
        let isLast: Bool
    }

    private struct TCPErrand {
        let owner: RunningQuestion
        let attempt: DatagramQuery.Attempt
        let exchange: AresExchange
    }

    /// How an attempt ended; told to its machine when that one is not in the middle of a step.
    private struct Ended {
        let owner: RunningQuestion
        let attempt: DatagramQuery.Attempt
        let ending: AresExchange.Ending
        let sends: Int
    }

    private let poll: EventPoll
    private let clock = SystemMonotonicClock()
    private let maximumQuestions: Int
    private var waiting = WaitingQuestions()
    private var running: [DatagramQuestion.ID: RunningQuestion] = [:]
    private var pool: SocketPool
    /// What each place of the pool waits for.
    private var errands: [UDPErrand?] = []
    private var random = HardNumbers()
    private var tcp: [UInt64: TCPErrand] = [:]
    private var ended: [Ended] = []
    private var timers = TimerHeap<DatagramQuestion.ID>()
    private var watches = TimerHeap<UInt64>()
    private var selection = ServerSelection()
    private var statistics = DatagramStatistics()
    private var lastTCPToken = Self.tcpTokens
    private var lastUse = Monotonic.zero
    private var buffer = [UInt8](repeating: 0, count: Self.bufferOctets)

    init(poll: EventPoll, maximumQuestions: Int) {
        self.poll = poll
        self.maximumQuestions = maximumQuestions
        pool = SocketPool(poll: poll, maximumSockets: maximumQuestions)
    }

    /// What the loop needs of its engine.
    struct Door {
        let take: () -> Orders
        /// False when there are orders; true: who leaves one from here on wakes the poll.
        let maySleep: () -> Bool
        let awake: () -> Void
        /// Called after each round in which something happened.
        let publish: (DatagramStatistics) -> Void
    }

    /// Returns when the engine was stopped.
    mutating func run(_ door: Door) {
        var published = DatagramStatistics()
        while true {
            let orders = door.take()
            for order in orders.orders { obey(order) }
            if orders.isLast { return stop() }
            startWaiting()
            statistics.socketsOpened = pool.opened
            if statistics != published {
                published = statistics
                door.publish(published)
            }
            let now = clock.now()
            let events = poll.wait(until: door.maySleep() ? nextMoment : now, now: now)
            door.awake()
            for event in events { advance(event) }
            ringTimers()
        }
    }

    private var nextMoment: Monotonic? {
        [timers.first, watches.first, pool.closeIdleAt(lastUse)].compactMap { $0 }.min()
    }

    /// Tokens from here on are those of TCP. Because: a socket pool's tokens have 62 bits.
    private static let tcpTokens: UInt64 = 1 << 63
    /// Because: the longest datagram there is; we ask for no more than 1,232 octets.
    private static let bufferOctets = 65_535
    /// Because: below that, looking for useless entries costs more than they do.
    private static let spareTimers = 1_024
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

    private var socketsInUse: Int { pool.busyCount + tcp.count }

    /// Lets questions start as far as there is room; each that fails at once makes room again.
    private mutating func startWaiting() {
        reportEnded()
        while max(running.count, socketsInUse) < maximumQuestions,
            let question = waiting.popFirst()
        {
            let state = RunningQuestion(question)
            running[question.id] = state
            let plan = question.plan
            let order =
                plan.servers.count > 1
                ? selection.order(plan.servers, by: plan.order, now: clock.now()) : nil
            step(question.id) { query, now in query.start(now: now, order: order) }
            reportEnded()
        }
    }

    private mutating func reportEnded() {
        while let one = ended.popLast() {
            if let observer = one.owner.question.observer, case .message(let bytes) = one.ending {
                observer(ReceivedReply(RawReply(.dnsMessage, bytes)))
            }
            step(one.owner.question.id) { query, now in
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
                markSilent(state, now)
                step(id) { query, now in query.woke(now: now) }
                reportEnded()
            }
        }
        while let token = watches.popDue(now: now) { release(token) }
        if let moment = pool.closeIdleAt(lastUse), moment <= now {
            pool.closeIdle(now: now)
            lastUse = now
        }
        guard timers.count > Self.spareTimers + 4 * (running.count + waiting.count) else { return }
        timers.keep { [running, waiting] id, moment in
            // One that waits has its deadline alone.
            running[id].map { $0.wakeAt == moment } ?? waiting.contains(id)
        }
    }

    /// The newest attempt had all its time.
    private mutating func markSilent(_ state: RunningQuestion, _ now: Monotonic) {
        guard state.question.plan.servers.count > 1, let token = state.tokens.last else { return }
        let server =
            tcp[token].map { $0.attempt.server }
            ?? pool.slot(token).flatMap { errand($0) }?.attempt.server
        guard let server else { return }
        selection.silent(state.question.plan.servers[server], now: now)
    }
}

// One machine's step, and what it orders.
extension DatagramLoop {
    /// Gives the result that settled the question, if this step did.
    @discardableResult
    private mutating func step(
        _ id: DatagramQuestion.ID,
        _ event: (inout DatagramQuery, Monotonic) -> [DatagramQuery.Action]
    ) -> Result<Testimony, QueryFailure>? {
        guard let state = running[id] else { return nil }
        var settled: Result<Testimony, QueryFailure>?
        for action in event(&state.query, clock.now()) {
            switch action {
            case .send(let attempt): send(attempt, for: state)
            case .wake(let moment):
                state.wakeAt = moment
                timers.add(id, at: moment)
            case .settle(let result):
                running[id] = nil
                for token in state.tokens { release(token) }
                state.tokens = []
                settled = result
                state.question.deliver(result)
            }
        }
        return settled
    }

    private mutating func send(_ attempt: DatagramQuery.Attempt, for state: RunningQuestion) {
        // A question may keep silent attempts open, but only while there is room for their sockets.
        if socketsInUse >= maximumQuestions, let oldest = state.tokens.first {
            state.tokens.removeFirst()
            release(oldest)
        }
        let plan = state.question.plan
        guard
            let message = DatagramReply.message(
                asking: state.query.question, id: random.next(), hasEDNS: attempt.hasEDNS,
                asksForAD: plan.asksForAD)
        else {
            return fail(state, attempt, .fault("the question has no wire form"))
        }
        if attempt.isOverTCP {
            sendOverTCP(attempt, message, for: state)
        } else {
            sendDatagram(attempt, message, for: state)
        }
    }

    private mutating func sendDatagram(
        _ attempt: DatagramQuery.Attempt, _ message: [UInt8], for state: RunningQuestion
    ) {
        let server = state.question.plan.servers[attempt.server]
        while true {
            do throws(DatagramSocket.Trouble) {
                let slot = try pool.take(server, &random)
                do throws(DatagramSocket.Trouble) {
                    try pool.socket(slot)?.send(message)
                } catch {
                    // A used socket may tell of a datagram before ours: ask through another one.
                    let mayBeOld = pool.isUsed(slot)
                    pool.close(slot)
                    if mayBeOld { continue }
                    throw error
                }
                statistics.sent += 1
                lastUse = clock.now()
                while errands.count <= slot.index { errands.append(nil) }
                errands[slot.index] = UDPErrand(
                    owner: state, attempt: attempt, server: server, message: message,
                    sentAt: lastUse)
                state.tokens.append(pool.token(slot))
                return
            } catch {
                selection.refused(server, now: clock.now())
                return fail(state, attempt, .network(error.word))
            }
        }
    }

    private mutating func sendOverTCP(
        _ attempt: DatagramQuery.Attempt, _ message: [UInt8], for state: RunningQuestion
    ) {
        let server = state.question.plan.servers[attempt.server]
        guard let scope = DatagramSocket.scope(of: server.address) else {
            let zone = server.address.zone ?? ""
            return fail(state, attempt, .network("no network interface named \(zone)"))
        }
        lastTCPToken += 1
        guard
            let exchange = AresExchange(
                server, scope: scope, isOverTCP: true, message: message,
                registeredWith: (poll, lastTCPToken))
        else {
            return fail(
                state, attempt, .network("c-ares could not open a channel: out of memory"))
        }
        statistics.overTCP += 1
        let errand = TCPErrand(owner: state, attempt: attempt, exchange: exchange)
        tcp[lastTCPToken] = errand
        state.tokens.append(lastTCPToken)
        collect(lastTCPToken, errand)
    }

    private mutating func fail(
        _ state: RunningQuestion, _ attempt: DatagramQuery.Attempt, _ trouble: DatagramTrouble
    ) {
        ended.append(Ended(owner: state, attempt: attempt, ending: .trouble(trouble), sends: 0))
    }

    /// Closes what an attempt or a watch holds.
    private mutating func release(_ token: UInt64) {
        if token >= Self.tcpTokens {
            tcp[token] = nil
        } else if let slot = pool.slot(token), errand(slot) != nil {
            errands[slot.index] = nil
            pool.close(slot)
        }
    }
}

// What sockets bring.
extension DatagramLoop {
    private mutating func advance(_ event: EventPoll.Event) {
        if event.token >= Self.tcpTokens {
            // Gone: closed earlier in the same batch of events.
            guard let errand = tcp[event.token] else { return }
            errand.exchange.advance(isReadable: event.isReadable, isWritable: event.isWritable)
            collect(event.token, errand)
            return reportEnded()
        }
        guard let slot = pool.slot(event.token), let socket = pool.socket(slot) else { return }
        switch (errand(slot), socket.receive(&buffer)) {
        case (_, .nothing): return
        case (nil, .datagram): statistics.unexpected += 1
        case (nil, .trouble): pool.close(slot)
        case (let errand?, .datagram(let octets)): take(octets, errand, slot)
        case (let errand?, .trouble(let word)):
            let isWatched = errand.watched != nil
            errand.owner.tokens.removeAll { $0 == event.token }
            release(event.token)
            guard !isWatched else { return }
            statistics.refusals += 1
            selection.refused(errand.server, now: clock.now())
            fail(errand.owner, errand.attempt, .network(word))
        }
        reportEnded()
    }

    private mutating func take(_ octets: [UInt8], _ errand: UDPErrand, _ slot: SocketPool.Slot) {
        switch errand.verdict(octets) {
        case .ours: break
        case .wrongID:
            statistics.wrongID += 1
            return
        case .wrongQuestion:
            statistics.wrongQuestion += 1
            return
        case .notReply:
            statistics.notReplies += 1
            return
        }
        if let answer = errand.watched { return compare(octets, with: answer) }
        let now = clock.now()
        statistics.replies += 1
        if octets[2] & 0x02 != 0 { statistics.truncated += 1 }
        let question = errand.owner.question
        if question.plan.servers.count > 1 {
            let nanoseconds = now.nanoseconds &- errand.sentAt.nanoseconds
            selection.answered(errand.server, afterMicroseconds: nanoseconds / 1_000)
        }
        let token = pool.token(slot)
        errand.owner.tokens.removeAll { $0 == token }
        errands[slot.index] = nil
        question.observer?(ReceivedReply(RawReply(.dnsMessage, octets)))
        let settled = step(question.id) { query, now in
            query.replied(errand.attempt, octets, sends: 1, now: now)
        }
        // Watching must not keep questions from starting.
        if let watch = question.watch, case .success(let first) = settled,
            socketsInUse <= maximumQuestions / 2 + 1
        {
            errand.watched = WatchedAnswer(
                watch: watch, hadEDNS: errand.attempt.hasEDNS, first: first, firstAt: now)
            errands[slot.index] = errand
            watches.add(token, at: now.adding(milliseconds: watch.milliseconds))
        } else {
            pool.giveBack(slot, now: now)
        }
    }

    private mutating func compare(_ octets: [UInt8], with answer: WatchedAnswer) {
        guard let evidence = answer.evidence(octets, now: clock.now()) else {
            statistics.unexpected += 1
            return
        }
        statistics.contradictions += 1
        answer.watch.report(evidence)
    }

    /// Takes an exchange that has come to its end out of those that go on.
    private mutating func collect(_ token: UInt64, _ gone: TCPErrand) {
        guard let ending = gone.exchange.ending else { return }
        tcp[token] = nil
        gone.owner.tokens.removeAll { $0 == token }
        ended.append(
            Ended(
                owner: gone.owner, attempt: gone.attempt, ending: ending,
                sends: gone.exchange.sends))
    }

    private func errand(_ slot: SocketPool.Slot) -> UDPErrand? {
        slot.index < errands.count ? errands[slot.index] : nil
    }
}
