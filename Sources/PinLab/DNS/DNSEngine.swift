internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// What the two halves of a DNS server share: whom to ask, how to behave, what was asked.
final class DNSState: Sendable {
    let queries = Locked<[LabDNSQuery]>([])
    let behaviour = Locked(LabDNSBehaviour.healthy)
    private let zone: LabDNSServer.Zone

    init(zone: @escaping LabDNSServer.Zone) { self.zone = zone }

    /// The query, on record; nil for what is none.
    func heard(_ octets: [UInt8], sourcePort: UInt16?) -> LabQuery? {
        guard let query = LabQuery(octets, isTCP: sourcePort == nil) else { return nil }
        queries.withLock {
            $0.append(
                LabDNSQuery(
                    question: query.question, number: query.number, sourcePort: sourcePort))
        }
        return query
    }

    func answer(_ query: LabQuery) -> (answer: LabAnswer, behaviour: LabDNSBehaviour) {
        (zone(query.question), behaviour.withLock { $0 })
    }
}

/// One socket of a DNS server, UDP or TCP, with the threads that serve it. Ended once; what comes
/// after it is another.
final class DNSHalf: Sendable {
    private let listener: Listener
    private let stop: StopSignal
    private let threads = ThreadGroup()
    private let state: DNSState

    init(_ socket: Descriptor, _ state: DNSState) throws(LabError) {
        listener = Listener(socket)
        stop = try StopSignal()
        self.state = state
    }

    deinit { stop.raise() }

    func start(stream: Bool) throws(LabError) {
        try threads.start { stream ? self.acceptAll() : self.answerDatagrams() }
    }

    /// Returns when the port is free and the last thread has ended.
    func end() {
        stop.raise()
        listener.close()
        threads.awaitAll()
    }

    /// Ends without waiting.
    func raiseStop() { stop.raise() }
}

// UDP.
extension DNSHalf {
    private struct Pending {
        let due: Monotonic
        let reply: LabReply
        let to: httpdns_endpoint
    }

    /// The UDP thread's life.
    private func answerDatagrams() {
        guard let socket = listener.current else { return }
        var pending: [Pending] = []
        while true {
            let left = pending.map { $0.due.millisecondsLeft(from: labNow()) }.min() ?? -1
            switch stop.wait(for: [(socket.raw, Int32(POLLIN))], milliseconds: left) {
            case .stopped: return
            case .ready: receive(socket, &pending)
            case .elapsed: break
            }
            let now = labNow()
            for reply in pending where reply.due <= now { send(reply, socket) }
            pending.removeAll { $0.due <= now }
        }
    }

    private func receive(_ socket: Descriptor, _ pending: inout [Pending]) {
        var octets = [UInt8](repeating: 0, count: 65_536)
        var from = httpdns_endpoint()
        let count = httpdns_datagram_receive(socket.raw, &octets, octets.count, &from)
        guard count > 0,
            let query = state.heard(Array(octets.prefix(count)), sourcePort: from.port)
        else { return }
        let (answer, behaviour) = state.answer(query)
        let now = labNow()
        for reply in behaviour.replies(to: query, answer) {
            let due = now.adding(milliseconds: reply.delayMilliseconds)
            pending.append(Pending(due: due, reply: reply, to: from))
        }
    }

    private func send(_ pending: Pending, _ socket: Descriptor) {
        var to = pending.to
        let octets = pending.reply.octets
        var sender = socket
        if pending.reply.usesOtherPort {
            // The client's address is of the server's own loopback: any port of it will do.
            guard
                let address = IPAddress(
                    octets: withUnsafeBytes(of: to.octets) { raw in
                        Array(raw.prefix(Int(to.count)))
                    }), let other = try? Descriptor.bound(stream: false, address: address)
            else { return }
            sender = other
        }
        _ = httpdns_datagram_send(sender.raw, octets, octets.count, &to)
    }
}

// TCP.
extension DNSHalf {
    /// The accepting thread's life.
    private func acceptAll() {
        guard let listener = listener.current else { return }
        acceptConnections(on: listener, stop: stop, threads: threads) { accepted in
            { self.converse(LabStream(accepted, stop: self.stop)) }
        }
    }

    /// Messages with two octets of length before each. Source: RFC 1035 §4.2.2.
    private func converse(_ stream: LabStream) {
        var buffer: [UInt8] = []
        while true {
            while buffer.count < 2 || buffer.count < 2 + length(buffer) {
                guard let octets = stream.read() else { return }
                buffer += octets
            }
            let message = Array(buffer[2..<2 + length(buffer)])
            buffer.removeFirst(2 + message.count)
            guard let query = state.heard(message, sourcePort: nil) else { return }
            let (answer, behaviour) = state.answer(query)
            if answer.conduct == .hangsUp, behaviour != .dead { return stream.close() }
            guard write(behaviour.replies(to: query, answer), to: stream) else { return }
        }
    }

    /// False when the connection or the server has ended.
    private func write(_ replies: [LabReply], to stream: LabStream) -> Bool {
        for reply in replies {
            let count = UInt16(truncatingIfNeeded: reply.octets.count)
            guard stream.pause(milliseconds: reply.delayMilliseconds),
                stream.write([UInt8(count >> 8), UInt8(count & 0xFF)] + reply.octets)
            else { return false }
        }
        return true
    }

    private func length(_ octets: [UInt8]) -> Int { Int(octets[0]) << 8 | Int(octets[1]) }
}
