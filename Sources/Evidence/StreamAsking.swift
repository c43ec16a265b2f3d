internal import HTTPDNSDatagram
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Puts several questions to one server over TCP, each on a connection of its own: a server may close
/// one after its first answer, and may answer in any order. Blocks its thread.
struct StreamAsking {
    /// Why no reply came.
    enum Failure: Error {
        /// The network's word.
        case network(String)
        case silent
    }

    typealias Reply = Result<[UInt8], Failure>

    let server: Endpoint
    let questions: [PlainQuestion]
    let deadline: Monotonic

    private struct Line {
        let question: PlainQuestion
        let socket: StreamSocket
        var unsent: ArraySlice<UInt8>
        var isConnected = false
        var received: [UInt8] = []

        init(_ question: PlainQuestion, _ socket: StreamSocket) {
            self.question = question
            self.socket = socket
            // Source: RFC 1035 §4.2.2: two octets of length come first.
            let count = question.octets.count
            unsent = ([UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)] + question.octets)[...]
        }
    }

    /// Tells once of each question by its place; ends by the deadline.
    func run(_ tell: (Int, Reply) -> Void) {
        guard let poll = EventPoll() else {
            for place in questions.indices {
                tell(place, .failure(.network("no descriptor left")))
            }
            return
        }
        let clock = SystemMonotonicClock()
        var lines: [Int: Line] = [:]
        for place in questions.indices {
            do throws(DatagramSocket.Trouble) {
                lines[place] = try line(place, poll)
            } catch { tell(place, .failure(.network(error.word))) }
        }
        while !lines.isEmpty, clock.now() < deadline {
            for event in poll.wait(until: deadline, now: clock.now()) {
                guard let place = Int(exactly: event.token &- 1), var line = lines[place] else {
                    continue
                }
                let reply = step(&line, event, poll)
                // Without a line the connection is closed.
                lines[place] = reply == nil ? line : nil
                if let reply { tell(place, reply) }
            }
        }
        for place in lines.keys.sorted() { tell(place, .failure(.silent)) }
    }

    private func line(_ place: Int, _ poll: EventPoll) throws(DatagramSocket.Trouble) -> Line {
        let socket = try StreamSocket(to: server)
        guard poll.watch(socket.descriptor, token: UInt64(place) + 1, forWriting: true) else {
            throw DatagramSocket.Trouble(word: "epoll refused a socket")
        }
        return Line(questions[place], socket)
    }

    /// Sends what is left and takes what is there; nil while there is more to come.
    private func step(_ line: inout Line, _ event: EventPoll.Event, _ poll: EventPoll) -> Reply? {
        if !line.isConnected {
            if let fault = line.socket.fault { return .failure(.network(fault)) }
            line.isConnected = true
        }
        if !line.unsent.isEmpty {
            do throws(DatagramSocket.Trouble) {
                line.unsent = line.unsent.dropFirst(try line.socket.send(line.unsent))
            } catch { return .failure(.network(error.word)) }
            if line.unsent.isEmpty {
                poll.rewatch(line.socket.descriptor, token: event.token, forWriting: false)
            }
        }
        return event.isReadable ? read(&line) : nil
    }

    private func read(_ line: inout Line) -> Reply? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        switch line.socket.receive(&buffer) {
        case .nothing: return nil
        case .closed:
            return .failure(.network("it closed the connection before it answered"))
        case .trouble(let word): return .failure(.network(word))
        case .octets(let octets): line.received += octets
        }
        guard line.received.count >= 2 else { return nil }
        let count = Int(line.received[0]) << 8 | Int(line.received[1])
        guard line.received.count >= count + 2 else { return nil }
        let reply = Array(line.received[2..<(count + 2)])
        guard line.question.isAnswered(by: reply) else {
            return .failure(.network("it answers another question"))
        }
        return .success(reply)
    }
}
