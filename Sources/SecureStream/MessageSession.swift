/// DNS messages over a stream: many queries at a time, replies in any order. Confined to the engine's
/// thread.
///
/// Source: RFC 7766 §6.2.1 and §7, RFC 7858 §3.3. Ids are random and belong to one question at a
/// time; the id of a question that nobody waits for any more stays taken until its reply comes, lest
/// that be taken for another's.
final class MessageSession: StreamSession {
    private enum Holder {
        case waiting(StreamExchange)
        case nobody
    }

    private var holders: [UInt16: Holder] = [:]
    private var framing = MessageFraming()
    private var pending: [StreamExchange] = []
    private var ended: [EndedExchange] = []
    /// Replies to nothing, or to another question than was asked.
    private(set) var strays = 0
    private(set) var outstanding = 0
    private(set) var answered = 0

    /// Because: with half of the 65,536 ids free, one is found in two draws.
    static let maximumQuestions = 32_768
    /// Because: a late reply to a withdrawn question is none; a server that sends a thousand replies to
    /// nothing is broken or hostile.
    static let maximumStrays = 1_000

    /// True when too many ids belong to questions that nobody waits for.
    var isLeaving: Bool { holders.count - outstanding > Self.maximumQuestions / 2 }
    var isTold: Bool { false }
    var room: Int { max(0, Self.maximumQuestions - holders.count) }

    func submit(_ exchange: StreamExchange) -> Bool {
        guard room > 0, exchange.payload.count >= 2, exchange.payload.count <= 65_535 else {
            return false
        }
        // The default generator is the system's own: getrandom(2).
        var id = UInt16.random(in: .min ... .max)
        while holders[id] != nil { id = UInt16.random(in: .min ... .max) }
        holders[id] = .waiting(exchange)
        exchange.number = Int(id)
        outstanding += 1
        pending.append(exchange)
        return true
    }

    func withdraw(_ exchange: StreamExchange) {
        let id = UInt16(truncatingIfNeeded: exchange.number)
        guard case .waiting(let holder) = holders[id], holder === exchange else { return }
        outstanding -= 1
        if let index = pending.firstIndex(where: { $0 === exchange }) {
            pending.remove(at: index)
            holders[id] = nil
        } else {
            holders[id] = .nobody
        }
    }

    func receive(_ octets: UnsafeRawBufferPointer) -> String? {
        framing.receive(octets) { take($0) }
        return strays > Self.maximumStrays ? "\(strays) replies to nothing that was asked" : nil
    }

    private func take(_ message: UnsafeRawBufferPointer) {
        guard message.count >= 2 else {
            strays += 1
            return
        }
        let id = UInt16(message[0]) << 8 | UInt16(message[1])
        switch holders[id] {
        case .waiting(let exchange) where MessageMatch.answers(message, exchange.payload):
            holders[id] = nil
            outstanding -= 1
            answered += 1
            exchange.status = 200
            exchange.body = Array(message)
            ended.append(EndedExchange(exchange: exchange, ending: .replied))
        case .nobody: holders[id] = nil
        case .waiting, nil: strays += 1
        }
    }

    func fill(_ output: OutputBuffer) -> String? {
        var taken = 0
        for exchange in pending {
            guard !output.isFull else { break }
            let payload = exchange.payload
            let count = UInt16(truncatingIfNeeded: payload.count)
            let id = UInt16(truncatingIfNeeded: exchange.number)
            let head: [UInt8] = [
                UInt8(count >> 8), UInt8(count & 0xFF), UInt8(id >> 8), UInt8(id & 0xFF),
            ]
            guard head.withUnsafeBytes({ output.append($0) }),
                payload.withUnsafeBytes({ output.append(.init(rebasing: $0[2...])) })
            else { return "a DNS message larger than any buffer" }
            taken += 1
        }
        pending.removeFirst(taken)
        return nil
    }

    func takeEnded() -> [EndedExchange] {
        guard !ended.isEmpty else { return [] }
        defer { ended.removeAll(keepingCapacity: true) }
        return ended
    }

    func surrender() -> [StreamExchange] {
        defer {
            holders = [:]
            pending = []
            outstanding = 0
        }
        return holders.values.compactMap { holder in
            if case .waiting(let exchange) = holder { exchange } else { nil }
        }
    }
}
