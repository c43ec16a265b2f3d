internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// What the engine's thread does: carries questions to connections and replies back.
///
/// One round: take orders, ring timers, hand questions to connections, send, sleep, read everything that
/// came, deliver. So what is asked because of replies goes out in one write. Confined to one thread.
final class StreamLoop {
    private let poll: EventPoll
    private let mailbox: StreamMailbox
    private let clock = SystemMonotonicClock()
    private let scratch = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 64 * 1_024, alignment: 16)
    private var now = Monotonic.zero
    private var connections: [UInt64: LiveConnection] = [:]
    private var lastConnection: UInt64 = 0
    private var desks: [ObjectIdentifier: ServiceDesk] = [:]
    /// Every exchange that is not settled.
    private var live: [StreamExchange] = []
    /// No deadline of `live` is before it.
    private var nextDeadline = Monotonic.distantFuture

    init(poll: EventPoll, mailbox: StreamMailbox) {
        self.poll = poll
        self.mailbox = mailbox
    }

    deinit { scratch.deallocate() }

    /// Returns when the engine was stopped.
    func run() {
        while true {
            now = clock.now()
            let orders = mailbox.take()
            for order in orders { obey(order) }
            guard !mailbox.isStopped else { return stop() }
            ring()
            serve()
            guard mailbox.maySleep() else { continue }
            let events = poll.wait(until: nextMoment, now: now)
            now = clock.now()
            // Their next turn: no event tells of them.
            for connection in connections.values where connection.isUnread {
                connection.readOn(now: now, scratch: scratch)
                collect(connection)
            }
            for event in events { advance(event) }
        }
    }

    /// When to wake at the latest; now, where octets wait that no event tells of.
    private var nextMoment: Monotonic? {
        guard !connections.values.contains(where: \.isUnread) else { return now }
        let moment = connections.values.reduce(nextDeadline) { min($0, $1.wakeAt) }
        return moment == .distantFuture ? nil : moment
    }

    private func advance(_ event: EventPoll.Event) {
        // Gone: closed earlier in the same batch of events.
        guard let connection = connections[LiveConnection.number(ofToken: event.token)] else {
            return
        }
        connection.advance(event, now: now, scratch: scratch)
        collect(connection)
    }
}

// Orders
extension StreamLoop {
    private func obey(_ order: StreamOrder) {
        switch order {
        case .ask(let exchange, let desk): ask(exchange, desk)
        case .cancel(let exchange):
            exchange.isCancelled = true
            guard !exchange.isSettled else { return }
            withdraw(exchange)
            settle(exchange, .failure(.query(.cancelled)))
        case .renew(let desk):
            guard let connection = desk.connection else { return }
            renew(connection, of: desk)
        case .leave(let desk): leave(desk)
        }
    }

    /// One that is still being set up took the judge of before with it: let it come to its end, and
    /// steady traffic would keep it in use, under a policy that no longer holds. What waits for it has
    /// not gone out, so it waits for the next one.
    private func renew(_ connection: LiveConnection, of desk: ServiceDesk) {
        if connection.isSettingUp {
            desk.connection = nil
            connection.abandon(now: now)
        } else {
            connection.retire(now: now)
        }
        collect(connection)
    }

    private func ask(_ exchange: StreamExchange, _ desk: ServiceDesk) {
        if exchange.isCancelled {
            exchange.deliver?(.failure(.query(.cancelled)))
            exchange.deliver = nil
            return
        }
        exchange.desk = desk
        exchange.place = live.count
        live.append(exchange)
        guard exchange.deadline > now else {
            return settle(exchange, .failure(.query(.timedOut(tries: 0))))
        }
        nextDeadline = min(nextDeadline, exchange.deadline)
        desks[ObjectIdentifier(desk)] = desk
        desk.append(exchange)
    }

    private func leave(_ desk: ServiceDesk) {
        for exchange in live where exchange.desk === desk {
            withdraw(exchange)
            settle(exchange, .failure(.query(.cancelled)))
        }
        for connection in connections.values where connection.desk === desk {
            connection.abandon(now: now)
            collect(connection)
        }
        desks[ObjectIdentifier(desk)] = nil
    }

    private func stop() {
        for connection in connections.values { connection.abandon(now: now) }
        connections = [:]
        for desk in desks.values { desk.connection = nil }
        for exchange in live { settle(exchange, .failure(.query(.cancelled))) }
        desks = [:]
    }

    /// Nobody waits for it any more; it is still in `live`.
    private func withdraw(_ exchange: StreamExchange) {
        if let carrier = exchange.carrier {
            carrier.session?.withdraw(exchange)
            carrier.settle(now: now)
            carrier.isDirty = true
        } else {
            exchange.desk?.settledWaiting()
        }
    }

    private func settle(_ exchange: StreamExchange, _ outcome: StreamExchange.Outcome) {
        guard exchange.place >= 0 else { return }
        let last = live.count - 1
        live.swapAt(exchange.place, last)
        live[exchange.place].place = exchange.place
        live.removeLast()
        exchange.place = -1
        exchange.carrier = nil
        exchange.desk = nil
        let deliver = exchange.deliver
        exchange.deliver = nil
        deliver?(outcome)
    }
}

// Connections
extension StreamLoop {
    /// Hands what waits to connections and sends what there is to send.
    private func serve() {
        // Ends: each round without a connection settles questions or uses up one of their two tries.
        var needsMore = true
        while needsMore {
            needsMore = false
            for desk in desks.values where desk.waitingCount > 0 {
                serve(desk)
                if desk.connection == nil, desk.waitingCount > 0 { needsMore = true }
            }
            for connection in connections.values where connection.isDirty {
                connection.flush(now: now)
                collect(connection)
                if connection.end != nil, connection.desk.waitingCount > 0 { needsMore = true }
            }
        }
    }

    private func serve(_ desk: ServiceDesk) {
        if desk.connection == nil { connect(desk) }
        guard let connection = desk.connection, connection.isServing,
            let session = connection.session
        else { return }
        while session.room > 0, let exchange = desk.popFirst() {
            guard session.submit(exchange) else {
                connection.retire(now: now)
                askAgain(exchange, "the connection takes no more questions")
                break
            }
            exchange.carrier = connection
            exchange.takenBy = connection.number
            exchange.sentAt = now
            exchange.tries += 1
            connection.isDirty = true
        }
        connection.settle(now: now)
        collect(connection)
    }

    private func connect(_ desk: ServiceDesk) {
        lastConnection &+= 1
        let connection = LiveConnection(for: desk, number: lastConnection, poll: poll)
        connections[lastConnection] = connection
        desk.connection = connection
        connection.start(now: now)
        collect(connection)
    }

    /// Takes what a connection has to say: replies, and its end.
    private func collect(_ connection: LiveConnection) {
        if let ended = connection.session?.takeEnded(), !ended.isEmpty {
            for one in ended { finish(one, connection) }
            connection.settle(now: now)
        }
        let desk = connection.desk
        let isCurrent = desk.connection === connection
        if connection.isRetired || connection.end != nil, isCurrent { desk.connection = nil }
        guard let end = connection.end,
            connections.removeValue(forKey: connection.number) != nil
        else { return }
        finish(end, connection, wasCurrent: isCurrent)
    }

    private func finish(_ ended: EndedExchange, _ connection: LiveConnection) {
        let exchange = ended.exchange
        switch ended.ending {
        case .replied:
            let reply = StreamReply(
                octets: exchange.body, status: exchange.status, contentType: exchange.contentType,
                age: exchange.age, date: exchange.date, server: connection.serverText,
                tries: exchange.tries)
            settle(exchange, .success(reply))
        case .failed(let failure): settle(exchange, .failure(failure))
        case .refused: askAgain(exchange, "the server does not take the question up")
        }
    }

    private func finish(
        _ end: ConnectionMachine.End, _ connection: LiveConnection, wasCurrent: Bool
    ) {
        let lost = connection.session?.surrender() ?? []
        let isBarren = wasCurrent && connection.session?.answered == 0
        switch end {
        case .failed(let failure): fail(connection.desk.takeWaiting(), .query(failure))
        case .wrongProtocol: fail(connection.desk.takeWaiting(), .speaksNoHTTP2)
        case .unused:
            for exchange in lost { askAgain(exchange, "the connection was closed") }
            if isBarren { charge(connection, "the connection was closed") }
        case .broken(let why):
            broke(connection, lost, why)
            if isBarren { charge(connection, why) }
        }
    }

    private func broke(_ connection: LiveConnection, _ lost: [StreamExchange], _ why: String) {
        if connection.session?.isTold == true {
            // A server that says what it took up may have acted on it.
            fail(lost, .query(.unreachable("the connection ended: \(why)")))
        } else {
            for exchange in lost { askAgain(exchange, why) }
        }
    }

    /// What still waits has used one of its tries too where nothing was answered, lest a server that
    /// only ever hangs up, or takes its leave at once, is asked for ever.
    private func charge(_ connection: LiveConnection, _ why: String) {
        let desk = connection.desk
        for exchange in desk.takeWaiting() {
            // One that the connection took up and gave back has used its try already.
            if exchange.takenBy == connection.number {
                desk.append(exchange)
            } else {
                askAgain(exchange, why)
            }
        }
    }

    private func fail(_ exchanges: [StreamExchange], _ failure: StreamFailure) {
        for exchange in exchanges { settle(exchange, .failure(failure)) }
    }

    /// Questions change nothing, so one may be put again; once.
    private func askAgain(_ exchange: StreamExchange, _ why: String) {
        guard exchange.place >= 0, let desk = exchange.desk else { return }
        guard exchange.retries < Self.maximumRetries else {
            return settle(exchange, .failure(.query(.unreachable("the connection ended: \(why)"))))
        }
        exchange.retries += 1
        exchange.startOver()
        desk.append(exchange)
    }

    /// Because: a kept connection may die with the question on it, a fresh one rarely. Source: RFC 7766
    /// §6.2.4, RFC 9113 §8.7.
    private static let maximumRetries = 1
}

// Time
extension StreamLoop {
    private func ring() {
        if nextDeadline <= now { expire() }
        for connection in connections.values where connection.wakeAt <= now {
            connection.woke(now: now)
            collect(connection)
        }
    }

    private func expire() {
        let late = live.filter { $0.deadline <= now }
        nextDeadline = .distantFuture
        for exchange in late { expire(exchange) }
        nextDeadline = live.reduce(.distantFuture) { min($0, $1.deadline) }
    }

    private func expire(_ exchange: StreamExchange) {
        let carrier = exchange.carrier
        let desk = exchange.desk
        withdraw(exchange)
        settle(exchange, .failure(.query(.timedOut(tries: exchange.tries))))
        if let carrier {
            // Nothing at all came since: the peer may be gone without a word, so that the next question
            // must not be put to it.
            guard carrier.end == nil, carrier.heardAt <= exchange.sentAt else { return }
            carrier.retire(now: now)
            collect(carrier)
        } else if let desk, desk.waitingCount == 0, let connection = desk.connection,
            connection.isSettingUp
        {
            connection.abandon(now: now)
            collect(connection)
        }
    }
}
