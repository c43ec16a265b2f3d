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
///     try server.behave(.slow(milliseconds: 300))
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
    private let state: DNSState
    private let halves: Locked<Halves>

    private struct Halves: Sendable {
        var datagrams: DNSHalf?
        var listener: DNSHalf?
        var phase = Phase.made
    }

    private enum Phase: Sendable {
        case made
        case started
        case stopped
    }

    /// Takes a port that is free for both.
    ///
    /// - Throws: ``LabError``.
    public init(address: IPAddress = LabAddress.ipv4, zone: @escaping Zone) throws(LabError) {
        let (datagrams, listener) = try LabDNSServer.boundPair(address)
        self.address = address
        port = try listener.boundPort()
        state = DNSState(zone: zone)
        halves = Locked(
            Halves(
                datagrams: try DNSHalf(datagrams, state), listener: try DNSHalf(listener, state)))
    }

    /// Tells what the table holds.
    ///
    /// - Throws: ``LabError``.
    public convenience init(
        address: IPAddress = LabAddress.ipv4, table: LabTable
    ) throws(LabError) {
        try self.init(address: address) { table.answer($0) }
    }

    deinit {
        let halves = halves.withLock { $0 }
        halves.datagrams?.raiseStop()
        halves.listener?.raiseStop()
    }

    /// Begins to answer.
    ///
    /// - Throws: ``LabError`` when no thread can be started.
    public func start() throws(LabError) {
        let halves = halves.withLock { halves in
            halves.phase = .started
            return halves
        }
        try halves.datagrams?.start(stream: false)
        try halves.listener?.start(stream: true)
    }

    /// Ends, and returns when the last thread has ended. Never call it from the zone.
    public func stop() {
        let ended = halves.withLock { halves in
            defer { halves = Halves(phase: .stopped) }
            return halves
        }
        ended.datagrams?.end()
        ended.listener?.end()
    }

    /// The questions until now, in order, with those that were not answered.
    public var queries: [LabDNSQuery] { state.queries.withLock { $0 } }

    /// Forgets the questions until now, so that a long test does not fill the memory.
    public func forget() { state.queries.withLock { $0 = [] } }

    /// How it treats questions now.
    public var behaviour: LabDNSBehaviour { state.behaviour.withLock { $0 } }

    /// Behaves like this for every question that comes from now on. A server that was dying lives
    /// again, on the port it had; one that begins to die has let go of its port when this returns,
    /// and what it had still to send is lost.
    ///
    /// Call it from one thread at a time, after ``start()``, and never from the zone.
    ///
    /// - Throws: ``LabError`` when another process has taken the port meanwhile.
    public func behave(_ behaviour: LabDNSBehaviour) throws(LabError) {
        state.behaviour.withLock { $0 = behaviour }
        let wanted = behaviour.sockets
        try switchHalf(\.datagrams, isWanted: wanted.datagrams, stream: false)
        try switchHalf(\.listener, isWanted: wanted.listener, stream: true)
    }

    private func switchHalf(
        _ which: any WritableKeyPath<Halves, DNSHalf?> & Sendable, isWanted: Bool, stream: Bool
    ) throws(LabError) {
        let (present, phase) = halves.withLock { ($0[keyPath: which], $0.phase) }
        guard phase == .started, isWanted != (present != nil) else { return }
        guard isWanted else {
            halves.withLock { $0[keyPath: which] = nil }
            present?.end()
            return
        }
        let socket = try reclaimed(stream: stream)
        let half = try DNSHalf(socket, state)
        let isStill = halves.withLock { halves in
            guard halves.phase == .started else { return false }
            halves[keyPath: which] = half
            return true
        }
        if isStill { try half.start(stream: stream) }
    }

    /// The port it had. The system may have lent it to a connection of another meanwhile, which gives it
    /// back: that is waited for.
    private func reclaimed(stream: Bool) throws(LabError) -> Descriptor {
        var attempt = 0
        while true {
            do throws(LabError) {
                return try Descriptor.bound(stream: stream, address: address, port: port.number)
            } catch {
                attempt += 1
                guard case .system(_, EADDRINUSE) = error, attempt < Self.reclaims else {
                    throw error
                }
                _ = poll(nil, 0, Self.reclaimPause)
            }
        }
    }

    /// Because: connections of tests live for milliseconds, rarely seconds: five in all.
    private static let reclaims = 250
    private static let reclaimPause: Int32 = 20

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
