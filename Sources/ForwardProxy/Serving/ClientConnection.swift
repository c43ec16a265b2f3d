internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSRedaction
internal import HTTPDNSRequestReading

/// One connection of a client, and what its requests lead to. Confined to the proxy's thread.
///
///     reading ── a plain request ──▶ exchanging ── response ended ──▶ reading | lingering
///        │ └──── CONNECT ──────────▶ routing ──▶ dialling ──▶ tunnelling ──▶ over
///        └────── refused ──────────▶ reading | lingering ──▶ over
///
/// Rules:
/// 1. A message of another turn is late, and ignored.
/// 2. Who writes faster than the other side reads is not read from.
/// 3. A connection is closed only after what it was told has been taken, or a moment has passed: a reset
///    would take the answer away from the client.
final class ClientConnection {
    enum Phase {
        case reading
        case exchanging(ExchangeTurn)
        case routing(TunnelTarget)
        case dialling(TunnelTarget, ProvenRoute)
        case tunnelling(TunnelTurn)
        case lingering
    }

    /// What is known of the request at hand, beyond its record.
    struct Asked {
        var isHead = false
        var isOld = false
        var keepsAlive = false
        var wantsHTML = false
        /// The field `Host`.
        var host: String?
    }

    let number: UInt64
    let desk: ProxyDesk
    let client: Channel
    var upstream: Channel?
    private let reader: RequestReader
    var phase = Phase.reading
    /// What came and has not been read.
    var input: [UInt8] = []
    var requestNumber: UInt64 = 0
    var asked = Asked()
    var record = ForwardProxyRecord()
    /// The request at hand has a record that is not told yet.
    var isRecording = false
    var begunAt = Monotonic.zero
    var deadline: Monotonic
    var isClientEnded = false
    /// Addresses of the host at hand that have failed.
    var excluded: Set<IPAddress> = []
    /// The search for its route, and when all of them must have ended.
    var search: RouteSearch?
    var routingEnds = Monotonic.zero
    /// What the resolver said of the host at hand.
    var resolution: ResolvedHost?
    /// Why the target of a tunnel has no address.
    var resolutionFailure: ResolutionFailure?
    private var lingeringOctets = 0
    private var hasEndedWriting = false
    var isOver = false
    /// The proxy is ending: nothing new is begun.
    var isStopping = false

    init?(_ socket: Int32, number: UInt64, desk: ProxyDesk, now: Monotonic) {
        self.number = number
        self.desk = desk
        client = Channel(socket, token: number << 1, poll: desk.poll)
        guard let reader = RequestReader(RequestLimits()) else { return nil }
        self.reader = reader
        deadline = now.adding(desk.settings.limits.keepAlive)
        client.wantsRead = true
    }

    var turn: Turn { Turn(connection: number, request: requestNumber) }

    /// Between two requests.
    var isIdle: Bool {
        if case .reading = phase { !reader.hasBegun && input.isEmpty } else { false }
    }

    /// To be called after each of the calls below.
    func settle() {
        guard !isOver else { return }
        if !client.settle() || !(upstream?.settle() ?? true) { abort() }
    }

    func clientReadable(_ scratch: UnsafeMutableRawBufferPointer, _ now: Monotonic) {
        if case .tunnelling(let tunnel) = phase { return pumpUp(tunnel, scratch, now) }
        switch client.read(into: scratch) {
        case .nothing: break
        case .broken: abort()
        case .end: clientEnded(now)
        case .octets(let count):
            let octets = UnsafeRawBufferPointer(rebasing: scratch[..<count])
            if case .lingering = phase { return discard(count) }
            input.append(contentsOf: octets)
            advance(now)
        }
    }

    private func clientEnded(_ now: Monotonic) {
        isClientEnded = true
        client.wantsRead = false
        switch phase {
        // Half a request is none; what was answered before is still to be taken.
        case .reading: linger(now)
        // Who has asked may have nothing more to say, and waits.
        case .exchanging(let turn): if !turn.isRequestWhole { abort() }
        // Who says nothing more cannot begin TLS; a client that has left looks the same.
        case .routing, .dialling: if input.isEmpty { abort() }
        case .tunnelling: break
        case .lingering: if client.unsentCount == 0 { close() }
        }
    }

    func clientWritable(_ now: Monotonic) {
        guard client.flush() else { return abort() }
        switch phase {
        case .tunnelling(let tunnel): drainedDown(tunnel, now)
        case .exchanging(let turn):
            deadline = now.adding(desk.settings.limits.idle)
            acknowledge(turn)
        case .lingering: endLingering(now)
        case .reading: if client.unsentCount == 0 { advance(now) }
        case .routing, .dialling: break
        }
    }

    /// Reads on in what has come, as far as the phase allows.
    func advance(_ now: Monotonic) {
        while !isOver {
            switch phase {
            case .reading:
                guard readHead(now) else {
                    // What is left of a client that has ended is no request.
                    if isClientEnded, client.unsentCount == 0, !isOver { linger(now) }
                    return bound()
                }
            case .exchanging(let turn): guard readBody(turn, now) else { return bound() }
            default: return bound()
            }
        }
    }

    /// What is not read yet is bounded: by the system's buffers beyond that.
    private func bound() {
        guard !isClientEnded else { return }
        switch phase {
        case .tunnelling: break
        case .lingering: client.wantsRead = true
        case .exchanging(let turn) where !turn.isRequestWhole:
            client.wantsRead = !turn.isBodyFull
        case .reading:
            client.wantsRead = client.unsentCount < ClientConnection.maximumUnreadOctets
        default: client.wantsRead = input.count < ClientConnection.maximumUnreadOctets
        }
    }

    /// False when there is nothing to go on with.
    private func readHead(_ now: Monotonic) -> Bool {
        guard !input.isEmpty, client.unsentCount < ClientConnection.maximumUnreadOctets else {
            return false
        }
        let hadBegun = reader.hasBegun
        let (taken, step) = input.withUnsafeBytes { reader.read($0) }
        input.removeFirst(taken)
        if !hadBegun {
            begunAt = now
            deadline = now.adding(desk.settings.limits.head)
        }
        switch step {
        case .more: return false
        case .end: return true
        case .broken(let breach):
            beginRecord(now)
            refuse(Refusal(breach), now)
        case .head: begin(now)
        }
        return true
    }

    private func begin(_ now: Monotonic) {
        beginRecord(now)
        let head: ClientHead
        do throws(RequestBreach) { head = try reader.head() } catch {
            return refuse(Refusal(error), now)
        }
        asked.isHead = head.method == "HEAD"
        asked.isOld = head.minorVersion == 0
        asked.keepsAlive = head.keepsAlive && !isStopping
        // Of two nobody knows which one is meant.
        let hosts = head.fields.all("Host")
        asked.host = hosts.count == 1 ? hosts[0] : nil
        asked.wantsHTML = head.fields.all("Accept").contains { $0.contains("text/html") }
        record.method = head.method
        record.target = ClientConnection.shown(head.target, of: head.method)
        let hasBody = head.isReadChunked || (head.readLength ?? 0) > 0
        // The end of the head, and with it of the request.
        if !hasBody {
            let (taken, _) = input.withUnsafeBytes {
                reader.read(UnsafeRawBufferPointer(rebasing: $0.prefix(1)))
            }
            input.removeFirst(taken)
        }
        guard !isStopping else { return refuse(.stopping, now) }
        switch desk.rules.decide(head) {
        case .refuse(let refusal): refuse(hasBody ? refusal.ending() : refusal, now)
        case .answer(let page): answer(page, now)
        case .tunnel(let target): beginTunnel(target, now)
        case .forward(let request): beginExchange(request, hasBody: hasBody, now)
        }
    }

    /// False when there is nothing to go on with.
    private func readBody(_ turn: ExchangeTurn, _ now: Monotonic) -> Bool {
        guard !turn.isRequestWhole, !turn.isBodyFull, !input.isEmpty else { return false }
        let (taken, step) = input.withUnsafeBytes { reader.read($0) }
        input.removeFirst(taken)
        deadline = now.adding(desk.settings.limits.idle)
        let body = reader.takeBody()
        record.octetsUp += Int64(body.count)
        if !body.isEmpty, let pipe = turn.pipe { turn.isBodyFull = !pipe.add(body) }
        switch step {
        case .more, .head: return turn.isBodyFull ? false : !input.isEmpty
        case .end:
            turn.isRequestWhole = true
            turn.pipe?.finish(.end)
            return false
        case .broken(let breach):
            turn.pipe?.finish(.failed("the client's request is malformed"))
            breakOff(turn, Refusal(breach), now)
            return true
        }
    }

    func tick(_ now: Monotonic) {
        guard now >= deadline else { return }
        switch phase {
        case .reading:
            guard reader.hasBegun else { return close() }
            beginRecord(now)
            refuse(.slow, now)
        case .exchanging(let turn):
            breakOff(turn, turn.isRequestWhole ? .silent : .slow, now)
        case .routing(let target): routingFailed(target, now)
        case .dialling(let target, let route):
            dialFailed(target, route, "no connection in time", now)
        case .tunnelling(let tunnel): cut(tunnel, "idle", "The tunnel was silent for too long.")
        // What was not taken is missing: that is not to look like the end of it.
        case .lingering: over(resetting: client.unsentCount > 0)
        }
    }

    /// Because: a head fits, and what a client sends ahead of an answer is little.
    static let maximumUnreadOctets = 131_072
}

// Ends
extension ClientConnection {
    /// Lets the client read what it was told, and closes.
    func linger(_ now: Monotonic) {
        phase = .lingering
        input = []
        client.wantsRead = !isClientEnded
        endLingering(now)
    }

    private func endLingering(_ now: Monotonic) {
        guard client.unsentCount == 0 else {
            // A client that reads slowly gets all of it, one that does not read is let go.
            deadline = now.adding(desk.settings.limits.idle)
            return
        }
        if isClientEnded { return close() }
        guard !hasEndedWriting else { return }
        hasEndedWriting = true
        deadline = now.adding(ClientConnection.lingerPatience)
        client.endWriting()
    }

    private func discard(_ count: Int) {
        lingeringOctets += count
        // It is left to its time: a close would take the answer away from it.
        if lingeringOctets > ClientConnection.maximumLingeringOctets { client.wantsRead = false }
    }

    func close() { over(resetting: false) }

    /// The connection is of no use any more.
    func abort() {
        if case .exchanging(let turn) = phase {
            turn.pipe?.finish(.failed("the client has left"))
            turn.origin.cancel()
        }
        if case .tunnelling(let tunnel) = phase {
            return cut(tunnel, "connection_lost", "One side broke off.")
        }
        if isRecording { endRecord("client_left", "The client has left.") }
        over(resetting: true)
    }

    /// The proxy has ended, and waits no longer.
    func cutShort() {
        let words = ("stopping", "The proxy has ended.")
        if case .tunnelling(let tunnel) = phase { return cut(tunnel, words.0, words.1) }
        if isRecording { endRecord(words.0, words.1) }
        abort()
    }

    func over(resetting: Bool) {
        guard !isOver else { return }
        isOver = true
        leaveSearch()
        client.close(resetting: resetting)
        upstream?.close(resetting: resetting)
    }

    /// Because: what a client sends before it reads a refusal of its upload.
    private static let maximumLingeringOctets = 1 << 20
    /// Because: the answer is in the system's buffers; a client that lives takes it at once.
    private static let lingerPatience: Duration = .seconds(2)

    /// Without the name and password that it may hold, and not longer than anybody reads.
    static func shown(_ target: String, of method: String) -> String {
        // Of a target that is refused nobody knows how it is meant, unless it is a path.
        let isAuthority = method == "CONNECT" || !target.hasPrefix("/")
        let text = TextRedactor.withoutUserinfo(
            target, isAuthority: isAuthority, placeholder: "…")
        return text.utf8.count > 2_048 ? String(text.prefix(2_048)) + "…" : text
    }
}

extension Refusal {
    static let silent = Refusal(
        504, "timed_out", "http_response_timeout", "Nothing moved for too long.")
}

extension Monotonic {
    func adding(_ duration: Duration) -> Monotonic {
        adding(milliseconds: duration.wholeMilliseconds)
    }
}
