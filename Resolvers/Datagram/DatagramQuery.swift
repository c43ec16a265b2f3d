package import HTTPDNSLookup
package import HTTPDNSNames

/// Decides one question put to plain DNS servers: whom to ask next, when, and what to believe.
/// Does no I/O.
///
///     start ──▶ asking ── reply that settles it ─────────▶ settled (testimony)
///                │  ├── truncated reply: same server, TCP
///                │  ├── failure, or silence: next server
///                │  └── nobody left, or the deadline ────▶ settled (best testimony, else failure)
///
/// Rules (everything that changes the state lives in this file):
/// 1. Servers are asked in the order given to ``start(now:order:)``, one new attempt at a time; a
///    round asks each once.
/// 2. Only silence is repeated: a server that replied or refused is out of the later rounds.
/// 3. An attempt that is silent stays open: a reply to it counts until the question is settled, or
///    until the engine needs its socket.
/// 4. A truncated reply is never used: the same server is asked over TCP, then and in later rounds.
///    Source: RFC 2181 §9, RFC 7766 §5.
/// 5. SERVFAIL, NOTIMP and REFUSED are kept; another server may know better. They are the result
///    only when none does.
/// 6. A server that does not know EDNS is asked again without it, then and in later rounds.
///    Source: RFC 6891 §6.2.2, §7.
/// 7. A reply to an attempt that is not open, or after the end, is ignored.
package struct DatagramQuery: Sendable {
    /// One send to one server.
    package struct Attempt: Sendable, Hashable {
        /// Counts from 1; names the attempt.
        package let number: Int
        /// The position in the list of servers.
        package let server: Int
        package let isOverTCP: Bool
        /// The message has an OPT record.
        package let hasEDNS: Bool

        package init(number: Int, server: Int, isOverTCP: Bool, hasEDNS: Bool = true) {
            self.number = number
            self.server = server
            self.isOverTCP = isOverTCP
            self.hasEDNS = hasEDNS
        }
    }

    package enum Action: Sendable, Hashable {
        case send(Attempt)
        /// Call ``woke(now:)`` at that moment; replaces the moment asked for before.
        case wake(at: Monotonic)
        /// The last action: close all attempts and deliver.
        case settle(Result<Testimony, QueryFailure>)
    }

    package let question: Question
    private let plan: DatagramPlan
    package let deadline: Monotonic

    /// Positions in the list of servers, in the order to ask.
    private var order: [Int] = []
    private var position = 0
    private var round = 0
    private var open: [Attempt] = []
    private var lastNumber = 0
    private var tries = 0
    private var servers: [ServerState]
    private var lame: Testimony?
    private var isSettled = false

    package init(question: Question, plan: DatagramPlan, deadline: Monotonic) {
        self.question = question
        self.plan = plan
        self.deadline = deadline
        servers = plan.servers.map { _ in ServerState(isOverTCP: plan.mode == .tcpOnly) }
    }

    /// - Parameters:
    ///   - now: the moment.
    ///   - order: positions in the list of servers, each once; nil: as they stand there.
    package mutating func start(now: Monotonic, order: [Int]? = nil) -> [Action] {
        self.order = order ?? Array(servers.indices)
        guard !plan.servers.isEmpty else {
            return settle(.failure(.misconfigured("no DNS server is named; give at least one")))
        }
        guard now < deadline else { return settle(.failure(.timedOut(tries: 0))) }
        return askNext(now: now)
    }

    /// A message with our id and question came for `attempt`, for which the question was sent
    /// `sends` times.
    package mutating func replied(
        _ attempt: Attempt, _ bytes: [UInt8], sends: Int, now: Monotonic
    ) -> [Action] {
        guard close(attempt, sends: sends) else { return [] }
        let source = Testimony.Source(
            resolver: plan.label, transport: attempt.isOverTCP ? .tcp : .udp,
            server: plan.serverTexts[attempt.server], tries: max(tries, 1))
        switch DatagramReply.read(
            bytes, for: question, hadEDNS: attempt.hasEDNS, from: source)
        {
        case .refusesEDNS:
            servers[attempt.server].knowsEDNS = false
            guard now < deadline else { return conclude(isLate: true) }
            return ask(attempt.server, now: now)
        case .truncated where !attempt.isOverTCP:
            servers[attempt.server].isOverTCP = true
            guard now < deadline else { return conclude(isLate: true) }
            return ask(attempt.server, now: now)
        case .truncated:
            return finish(attempt, with: .malformed("a truncated reply over TCP"), now: now)
        case .malformed(let why):
            return finish(attempt, with: .malformed(why), now: now)
        case .testimony(let testimony):
            guard testimony.code.isLame else { return settle(.success(testimony)) }
            lame = lame ?? testimony
            servers[attempt.server].isOut = true
            return now < deadline ? askNext(now: now) : conclude(isLate: true)
        }
    }

    /// The attempt ended without a message after so many sends.
    package mutating func failed(
        _ attempt: Attempt, _ trouble: DatagramTrouble, sends: Int, now: Monotonic
    ) -> [Action] {
        guard close(attempt, sends: sends) else { return [] }
        if case .fault(let what) = trouble { return settle(.failure(.unexpected(what))) }
        return finish(attempt, with: trouble, now: now)
    }

    /// The moment of the last ``Action/wake(at:)`` has come.
    package mutating func woke(now: Monotonic) -> [Action] {
        guard !isSettled else { return [] }
        return now < deadline ? askNext(now: now) : conclude(isLate: true)
    }

    package mutating func cancelled() -> [Action] {
        isSettled ? [] : settle(.failure(.cancelled))
    }
}

/// What one server has shown so far.
private struct ServerState: Sendable {
    var isOverTCP: Bool
    var knowsEDNS = true
    var isOut = false
    var trouble: DatagramTrouble?
}

extension DatagramQuery {
    private mutating func close(_ attempt: Attempt, sends: Int) -> Bool {
        guard !isSettled, let index = open.firstIndex(of: attempt) else { return false }
        open.remove(at: index)
        // The first send was counted when it was ordered.
        tries += max(0, sends - 1)
        return true
    }

    private mutating func finish(
        _ attempt: Attempt, with trouble: DatagramTrouble, now: Monotonic
    ) -> [Action] {
        servers[attempt.server].isOut = true
        servers[attempt.server].trouble = trouble
        return now < deadline ? askNext(now: now) : conclude(isLate: true)
    }

    private mutating func askNext(now: Monotonic) -> [Action] {
        while round < plan.rounds {
            while position < order.count {
                let server = order[position]
                position += 1
                if !servers[server].isOut { return ask(server, now: now) }
            }
            guard servers.contains(where: { !$0.isOut }) else { break }
            position = 0
            round += 1
        }
        return conclude(isLate: false)
    }

    private mutating func ask(_ server: Int, now: Monotonic) -> [Action] {
        lastNumber += 1
        tries += 1
        let attempt = Attempt(
            number: lastNumber, server: server, isOverTCP: servers[server].isOverTCP,
            hasEDNS: servers[server].knowsEDNS)
        open.append(attempt)
        let patience = plan.patienceMilliseconds(round: round)
        return [.send(attempt), .wake(at: min(deadline, now.adding(milliseconds: patience)))]
    }

    /// `isLate`: the deadline has passed, so that silence is the first thing to tell.
    private mutating func conclude(isLate: Bool) -> [Action] {
        if let lame { return settle(.success(lame)) }
        let malformed = servers.indices.filter { servers[$0].trouble?.isMalformed == true }
        if !malformed.isEmpty { return settle(.failure(.malformed(words(malformed)))) }
        // Where time was not the reason, say what each server did.
        guard !isLate, servers.contains(where: { $0.trouble != nil }) else {
            return settle(.failure(.timedOut(tries: tries)))
        }
        return settle(.failure(.unreachable(words(Array(servers.indices)))))
    }

    private func words(_ indices: [Int]) -> String {
        indices.map { index in
            let state = servers[index]
            let transport = state.isOverTCP ? "tcp " : ""
            return transport + plan.serverTexts[index] + ": "
                + (state.trouble?.description ?? "no reply")
        }.joined(separator: "; ")
    }

    private mutating func settle(_ result: Result<Testimony, QueryFailure>) -> [Action] {
        isSettled = true
        open = []
        return [.settle(result)]
    }
}
