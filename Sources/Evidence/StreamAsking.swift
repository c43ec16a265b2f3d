internal import HTTPDNSDatagram
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Puts one question to one server over TCP. Blocks its thread.
struct StreamAsking {
    /// Why no reply came.
    enum Failure: Error {
        /// The network's word.
        case network(String)
        case silent
    }

    let server: Endpoint
    let question: PlainQuestion
    let deadline: Monotonic

    /// The reply; ends by the deadline.
    func reply() throws(Failure) -> [UInt8] {
        guard let poll = EventPoll() else { throw .network("no descriptor left") }
        let socket: StreamSocket
        do { socket = try StreamSocket(to: server) } catch { throw .network(error.word) }
        guard poll.watch(socket.descriptor, token: 1, forWriting: true) else {
            throw .network("epoll refused a socket")
        }
        try wait(poll)
        if let fault = socket.fault { throw .network(fault) }
        // Source: RFC 1035 §4.2.2: two octets of length come first.
        let count = question.octets.count
        var rest = ([UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)] + question.octets)[...]
        while !rest.isEmpty {
            do { rest = rest.dropFirst(try socket.send(rest)) } catch { throw .network(error.word) }
            if !rest.isEmpty { try wait(poll) }
        }
        poll.rewatch(socket.descriptor, token: 1, forWriting: false)
        return try message(socket, poll)
    }

    private func message(_ socket: StreamSocket, _ poll: EventPoll) throws(Failure) -> [UInt8] {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            try wait(poll)
            switch socket.receive(&buffer) {
            case .nothing: continue
            case .closed: throw .network("it closed the connection before it answered")
            case .trouble(let word): throw .network(word)
            case .octets(let octets): received += octets
            }
            guard received.count >= 2 else { continue }
            let count = Int(received[0]) << 8 | Int(received[1])
            guard received.count >= count + 2 else { continue }
            let reply = Array(received[2..<(count + 2)])
            guard question.isAnswered(by: reply) else {
                throw .network("it answers another question")
            }
            return reply
        }
    }

    private func wait(_ poll: EventPoll) throws(Failure) {
        let clock = SystemMonotonicClock()
        while clock.now() < deadline {
            if !poll.wait(until: deadline, now: clock.now()).isEmpty { return }
        }
        throw .silent
    }
}
