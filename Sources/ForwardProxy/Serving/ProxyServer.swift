internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// The proxy's thread: accepts, and gives each connection its events. All that it holds is its own.
final class ProxyServer {
    private let desk: ProxyDesk
    private var listener: Int32
    private let maximumConnections: Int
    private let clock = SystemMonotonicClock()
    private var connections: [UInt64: ClientConnection] = [:]
    private var lastNumber: UInt64 = 0
    private var isListening = false
    /// When accepting is tried again after the system had no room.
    private var acceptsAgainAt: Monotonic?
    /// When accepting was paused last.
    private var pausedAt: Monotonic?
    private var stopsAt: Monotonic?
    private var sweepsAt = Monotonic.zero

    /// Takes the listening socket over.
    init(_ desk: ProxyDesk, listener: Int32, maximumConnections: Int) {
        self.desk = desk
        self.listener = listener
        self.maximumConnections = maximumConnections
    }

    deinit { if listener >= 0 { close(listener) } }

    /// Serves until it is told to stop.
    func run() {
        let scratch = UnsafeMutableRawBufferPointer.allocate(
            byteCount: ProxyServer.scratchOctets, alignment: 16)
        defer { scratch.deallocate() }
        listen()
        while !isFinished {
            var now = clock.now()
            let events = desk.poll.wait(until: wakeAt, now: now)
            now = clock.now()
            for event in events { advance(event, scratch, now) }
            deliver(now)
            if now >= sweepsAt { sweep(now) }
            if let again = acceptsAgainAt, now >= again { resumeAccepting() }
        }
        for connection in connections.values { connection.cutShort() }
    }

    private var isFinished: Bool {
        guard let stopsAt else { return false }
        return connections.isEmpty || clock.now() >= stopsAt
    }

    private var wakeAt: Monotonic? {
        let sweep = connections.isEmpty ? nil : sweepsAt
        return [sweep, acceptsAgainAt, stopsAt].compactMap { $0 }.min()
    }

    private func advance(
        _ event: EventPoll.Event, _ scratch: UnsafeMutableRawBufferPointer, _ now: Monotonic
    ) {
        guard event.token != ProxyServer.listenerToken else { return accept(now) }
        guard let connection = connections[event.token >> 1] else { return }
        let isUpstream = event.token & 1 == 1
        if event.isWritable {
            if isUpstream {
                connection.upstreamWritable(now)
            } else {
                connection.clientWritable(now)
            }
        }
        if event.isReadable, !connection.isOver {
            // A peer that has hung up is told of whether it is read from or not.
            if isUpstream, connection.upstream?.wantsRead == true {
                connection.upstreamReadable(scratch, now)
            } else if !isUpstream, connection.client.wantsRead {
                connection.clientReadable(scratch, now)
            }
        }
        settle(connection)
    }

    private func settle(_ connection: ClientConnection) {
        connection.settle()
        guard connection.isOver, connections.removeValue(forKey: connection.number) != nil else {
            return
        }
        desk.count { $0.openConnections -= 1 }
        resumeAccepting()
    }

    private func deliver(_ now: Monotonic) {
        let mail = desk.takeMail()
        for (turn, message) in mail.messages {
            guard let connection = connections[turn.connection], connection.turn == turn else {
                continue
            }
            connection.told(message, now)
            settle(connection)
        }
        if let moment = mail.stopsAt, stopsAt != moment { stop(at: moment) }
    }

    /// Time-outs are looked at once a second: they are in seconds, and thousands of timers cost more.
    private func sweep(_ now: Monotonic) {
        sweepsAt = now.adding(milliseconds: ProxyServer.sweepMilliseconds)
        for connection in connections.values where connection.deadline <= now {
            connection.tick(now)
            connection.advance(now)
            settle(connection)
        }
    }

    private func stop(at moment: Monotonic) {
        stopsAt = moment
        if listener >= 0 {
            close(listener)
            listener = -1
            isListening = false
        }
        for connection in connections.values {
            connection.isStopping = true
            if connection.isIdle { connection.close() }
            settle(connection)
        }
    }

    /// Because: connections count from 1, and have twice their number as token.
    private static let listenerToken: UInt64 = 1
    /// Because: four of TLS's largest records, and what the system gives at once over loopback.
    private static let scratchOctets = 65_536
    /// Because: every time-out of the proxy is in seconds.
    private static let sweepMilliseconds: Int64 = 1_000
}

// Accepting
extension ProxyServer {
    private func listen() {
        guard listener >= 0, !isListening else { return }
        isListening = desk.poll.register(listener, token: ProxyServer.listenerToken)
    }

    private func pauseAccepting(_ why: String, until moment: Monotonic?, _ now: Monotonic) {
        guard isListening else { return }
        isListening = false
        epoll_ctl(desk.poll.descriptor, EPOLL_CTL_DEL, listener, nil)
        acceptsAgainAt = moment
        // Without room each connection that ends lets one in, and is a pause of its own.
        let isOfSameEpisode =
            pausedAt.map { now < $0.adding(milliseconds: ProxyServer.episodeMilliseconds) } ?? false
        pausedAt = now
        if !isOfSameEpisode { desk.settings.observer?(.acceptingPaused(why)) }
    }

    private func resumeAccepting() {
        acceptsAgainAt = nil
        guard connections.count < maximumConnections else { return }
        listen()
    }

    private func accept(_ now: Monotonic) {
        for _ in 0..<ProxyServer.acceptedAtOnce where listener >= 0 {
            guard connections.count < maximumConnections else {
                return pauseAccepting(
                    "\(maximumConnections) connections are open: more wait", until: nil, now)
            }
            let socket = httpdns_socket_accept(listener)
            guard socket >= 0 else { return notAccepted(httpdns_errno(), now) }
            lastNumber += 1
            guard
                let connection = ClientConnection(
                    socket, number: lastNumber, desk: desk, now: now)
            else { continue }
            connections[lastNumber] = connection
            desk.count { counts in
                counts.connections += 1
                counts.openConnections += 1
            }
            if connections.count == 1 { sweepsAt = now }
            settle(connection)
        }
    }

    private func notAccepted(_ error: Int32, _ now: Monotonic) {
        switch error {
        // Nobody is there, or whoever was has gone.
        case EAGAIN, EWOULDBLOCK, ECONNABORTED, EINTR, EPROTO, EPERM: break
        default:
            // No descriptor or no memory is left: trying again at once would only spin.
            pauseAccepting(
                systemWord(error),
                until: now.adding(milliseconds: ProxyServer.acceptPauseMilliseconds), now)
        }
    }

    /// Because: others have a turn between.
    private static let acceptedAtOnce = 64
    /// Because: descriptors come back when a connection ends, which resumes it at once; this is for
    /// those of the rest of the process.
    private static let acceptPauseMilliseconds: Int64 = 200
    /// How long accepting must have gone on without a pause before the next one is told.
    ///
    /// Because: one line a minute is read, one for each connection floods a log.
    private static let episodeMilliseconds: Int64 = 60_000
}
