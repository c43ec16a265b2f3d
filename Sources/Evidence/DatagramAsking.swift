internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Puts several questions to one server over UDP, each from a socket of its own, and goes on listening
/// after the first answer to each. Blocks its thread.
struct DatagramAsking {
    /// What came of one question.
    enum Reply: Sendable {
        case first([UInt8])
        /// One more, so many milliseconds after the first, to a question that was sent once.
        case further([UInt8], millisecondsApart: Int64)
        /// The network's word.
        case failed(String)
        case silent(tries: Int)
    }

    let server: Endpoint
    let questions: [PlainQuestion]
    let listeningMilliseconds: Int64
    let deadline: Monotonic

    private struct Line {
        var question: PlainQuestion
        var socket: DatagramSocket
        var tries = 1
        var sentAt: Monotonic
        var firstAt: Monotonic?
        /// The question went out more than once, so that two answers to it are no wonder.
        var isRepeated = false
        var isOver = false
    }

    /// Tells of each reply by the place of its question; ends by the deadline.
    func run(_ tell: (Int, Reply) -> Void) {
        guard let poll = EventPoll() else {
            for place in questions.indices { tell(place, .failed("no descriptor left")) }
            return
        }
        let clock = SystemMonotonicClock()
        var lines: [Int: Line] = [:]
        for (place, question) in questions.enumerated() {
            do throws(DatagramSocket.Trouble) {
                let socket = try DatagramSocket(to: server)
                try socket.send(question.octets)
                guard poll.register(socket.descriptor, token: UInt64(place) + 1) else {
                    throw DatagramSocket.Trouble(word: "epoll refused a socket")
                }
                lines[place] = Line(question: question, socket: socket, sentAt: clock.now())
            } catch { tell(place, .failed(error.word)) }
        }
        while lines.values.contains(where: { !$0.isOver }), clock.now() < deadline {
            let events = poll.wait(until: nextMoment(lines), now: clock.now())
            let now = clock.now()
            for event in events {
                guard let place = Int(exactly: event.token &- 1) else { continue }
                read(place, &lines, poll, now, tell)
            }
            for place in lines.keys { tend(place, &lines, now) }
        }
        for (place, line) in lines where line.firstAt == nil && !line.isOver {
            tell(place, .silent(tries: line.tries))
        }
    }

    /// When something is to be done though nothing came.
    private func nextMoment(_ lines: [Int: Line]) -> Monotonic {
        let moments = lines.values.filter { !$0.isOver }.map { line in
            line.firstAt?.adding(milliseconds: listeningMilliseconds)
                ?? line.sentAt.adding(milliseconds: DatagramAsking.retryMilliseconds)
        }
        return min(moments.min() ?? deadline, deadline)
    }

    private func read(
        _ place: Int, _ lines: inout [Int: Line], _ poll: EventPoll, _ now: Monotonic,
        _ tell: (Int, Reply) -> Void
    ) {
        guard var line = lines[place], !line.isOver else { return }
        var buffer = [UInt8](repeating: 0, count: DatagramAsking.largestOctets)
        // Bounded: a flood must not keep this from the deadline.
        for _ in 0..<DatagramAsking.mostAtOnce {
            switch line.socket.receive(&buffer) {
            case .nothing:
                lines[place] = line
                return
            case .trouble(let word):
                if line.firstAt == nil { tell(place, .failed(word)) }
                line.isOver = true
                // A closed port is told again and again; nobody listens any more.
                lines[place] = line
                return
            case .datagram(let octets):
                guard line.question.isAnswered(by: octets) else { continue }
                if line.firstAt == nil, line.question.isPuzzling(octets), resend(&line, now) {
                    continue
                }
                if let first = line.firstAt {
                    let apart = now.milliseconds(since: first)
                    tell(place, .further(octets, millisecondsApart: apart))
                } else {
                    line.firstAt = now
                    line.isOver = line.isRepeated
                    tell(place, .first(octets))
                    guard !line.isOver else {
                        lines[place] = line
                        return
                    }
                }
            }
        }
        lines[place] = line
    }

    /// Once more, without what the server does not know; false when that was done before.
    private func resend(_ line: inout Line, _ now: Monotonic) -> Bool {
        guard let plainer = line.question.plainer,
            plainer.octets.count < line.question.octets.count,
            (try? line.socket.send(plainer.octets)) != nil
        else { return false }
        line.question = plainer
        line.isRepeated = true
        line.sentAt = now
        return true
    }

    /// Ends the listening, or sends again.
    private func tend(_ place: Int, _ lines: inout [Int: Line], _ now: Monotonic) {
        guard var line = lines[place], !line.isOver else { return }
        if let first = line.firstAt {
            line.isOver = now.milliseconds(since: first) >= listeningMilliseconds
        } else if now.milliseconds(since: line.sentAt) >= DatagramAsking.retryMilliseconds {
            line.tries += 1
            line.isRepeated = true
            line.sentAt = now
            // What a full queue swallows, the next try sends.
            try? line.socket.send(line.question.octets)
        }
        lines[place] = line
    }

    /// Because: above nearly every round trip, and two tries fit before the deadline.
    static let retryMilliseconds: Int64 = 800
    /// Because: more datagrams to one question than this are a flood.
    private static let mostAtOnce = 32
    /// Source: RFC 6891 §6.2.5 lets a sender take up to 4,096 octets; we say 1,232.
    private static let largestOctets = 4_096
}
