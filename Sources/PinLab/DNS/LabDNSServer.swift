internal import CHTTPDNSSystem
public import HTTPDNSNames
internal import HTTPDNSPlatform

/// One question that a ``LabDNSServer`` received.
public struct LabDNSQuery: Sendable, Hashable {
    /// What was asked.
    public let question: LabQuestion
    /// The message number.
    public let number: UInt16
    /// The client's port; nil over TCP.
    public let sourcePort: UInt16?
}

/// A DNS server on UDP and TCP, the same free port of a loopback address, that tells what a test
/// says, in the way it says.
///
///     let server = try LabDNSServer { question in
///         question.type == .aaaa ? .drop : question.answer([LabAddress.ipv4])
///     }
///     try server.start()
///     defer { server.stop() }
///
/// It is not recursive and asks nobody. The zone runs on the server's own threads, over UDP for one
/// question at a time; a delayed answer does not hold up the next.
public final class LabDNSServer: Sendable {
    /// What is told: called for each question.
    public typealias Zone = @Sendable (LabQuestion) -> LabAnswer

    /// The loopback address.
    public let address: IPAddress
    /// The port of both UDP and TCP.
    public let port: Port
    private let core: DNSCore

    /// Takes a port that is free for both.
    ///
    /// - Throws: ``LabError``.
    public init(address: IPAddress = LabAddress.ipv4, zone: @escaping Zone) throws(LabError) {
        let (datagrams, listener) = try LabDNSServer.boundPair(address)
        self.address = address
        port = try listener.boundPort()
        core = DNSCore(
            datagrams: Listener(datagrams), listener: Listener(listener),
            stop: try StopSignal(), zone: zone)
    }

    /// Tells what the table holds.
    ///
    /// - Throws: ``LabError``.
    public convenience init(
        address: IPAddress = LabAddress.ipv4, table: LabTable
    ) throws(LabError) {
        try self.init(address: address) { table.answer($0) }
    }

    deinit { core.stop.raise() }

    /// Begins to answer.
    ///
    /// - Throws: ``LabError`` when no thread can be started.
    public func start() throws(LabError) {
        let core = core
        try core.threads.start { core.answerDatagrams() }
        try core.threads.start { core.acceptAll() }
    }

    /// Ends, and returns when the last thread has ended. Never call it from the zone.
    public func stop() {
        core.stop.raise()
        core.datagrams.close()
        core.listener.close()
        core.threads.awaitAll()
    }

    /// The questions until now, in order, with those that were not answered.
    public var queries: [LabDNSQuery] { core.queries.withLock { $0 } }

    /// `address:port`, with brackets for IPv6.
    public var endpoint: String { "\(address.uriText):\(port)" }

    private static func boundPair(
        _ address: IPAddress
    ) throws(LabError) -> (datagrams: Descriptor, listener: Descriptor) {
        var attempt = 0
        while true {
            let listener = try Descriptor.bound(stream: true, address: address)
            let port = try listener.boundPort().number
            do throws(LabError) {
                return (
                    try Descriptor.bound(stream: false, address: address, port: port), listener
                )
            } catch {
                attempt += 1
                guard attempt < pairAttempts else { throw error }
            }
        }
    }

    /// Because: a port free for TCP is seldom taken for UDP; a hundred in a row never are.
    private static let pairAttempts = 100
}

/// The part of a server that its threads share.
private final class DNSCore: Sendable {
    let datagrams: Listener
    let listener: Listener
    let stop: StopSignal
    let threads = ThreadGroup()
    let queries = Locked<[LabDNSQuery]>([])
    private let zone: LabDNSServer.Zone

    init(
        datagrams: Listener, listener: Listener, stop: StopSignal,
        zone: @escaping LabDNSServer.Zone
    ) {
        self.datagrams = datagrams
        self.listener = listener
        self.stop = stop
        self.zone = zone
    }

    private struct Pending {
        let due: Monotonic
        let octets: [UInt8]
        let to: httpdns_endpoint
    }

    /// The UDP thread's life.
    func answerDatagrams() {
        guard let socket = datagrams.current else { return }
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
        guard count > 0, let query = LabQuery(Array(octets.prefix(count)), isTCP: false) else {
            return
        }
        record(query, sourcePort: from.port)
        let answer = zone(query.question)
        let due = labNow().adding(milliseconds: answer.delayMilliseconds)
        for octets in query.replies(answer) {
            pending.append(Pending(due: due, octets: octets, to: from))
        }
    }

    private func send(_ reply: Pending, _ socket: Descriptor) {
        var to = reply.to
        _ = httpdns_datagram_send(socket.raw, reply.octets, reply.octets.count, &to)
    }

    /// The TCP accepting thread's life.
    func acceptAll() {
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
            guard let query = LabQuery(message, isTCP: true) else { return }
            record(query, sourcePort: nil)
            let answer = zone(query.question)
            guard stream.pause(milliseconds: answer.delayMilliseconds) else { return }
            if answer.conduct == .hangsUp { return stream.close() }
            for octets in query.replies(answer) {
                let count = UInt16(truncatingIfNeeded: octets.count)
                guard stream.write([UInt8(count >> 8), UInt8(count & 0xFF)] + octets) else {
                    return
                }
            }
        }
    }

    private func length(_ octets: [UInt8]) -> Int { Int(octets[0]) << 8 | Int(octets[1]) }

    private func record(_ query: LabQuery, sourcePort: UInt16?) {
        queries.withLock {
            $0.append(
                LabDNSQuery(
                    question: query.question, number: query.number, sourcePort: sourcePort))
        }
    }
}
