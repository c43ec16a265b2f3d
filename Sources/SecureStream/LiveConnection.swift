internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// One connection and what drives it: sockets, TLS, the session, and the machine that decides. Confined
/// to the engine's thread.
///
/// It reports through what it leaves behind: ``end`` when it has ended, ``isServing`` when questions may
/// go out.
final class LiveConnection {
    private let service: SecureService
    private let poll: EventPoll
    /// Its events have tokens that begin with it: see ``token(_:)``.
    let number: UInt64
    private var machine: ConnectionMachine
    private var attempts: [Int: Int32] = [:]
    private var stream: TLSStream?
    private var streamAddress = 0
    private var wantsWriting = false
    private let output = OutputBuffer()
    private let verdict = VerdictBox()
    /// The second of the wall clock in which the peer's proof was last asked for.
    private var provenAt = WallTime(secondsSince1970: .min)
    private(set) var session: (any StreamSession)?
    private(set) var end: ConnectionMachine.End?
    private(set) var isRetired = false
    /// When the last octet came.
    private(set) var heardAt = Monotonic.zero
    private(set) var serverText = ""
    /// Whose questions it carries.
    let desk: ServiceDesk
    /// Something may have to be sent.
    var isDirty = false
    /// OpenSSL holds octets that had no turn yet; no event will tell of them.
    private(set) var isUnread = false
    /// To read, OpenSSL must first write.
    private var readingWaitsForRoom = false

    init(for desk: ServiceDesk, number: UInt64, poll: EventPoll) {
        self.desk = desk
        service = desk.service.settled
        self.number = number
        self.poll = poll
        machine = ConnectionMachine(
            addressCount: min(desk.service.route.addresses.count, Self.maximumAddresses))
    }

    deinit { for socket in attempts.values { Dialling.close(socket) } }

    /// Because: the number of an address takes eight bits of a token.
    private static let maximumAddresses = 255

    private func token(_ address: Int) -> UInt64 { number << 8 | UInt64(address + 1) }

    /// Whose event it is.
    static func number(ofToken token: UInt64) -> UInt64 { token >> 8 }

    var wakeAt: Monotonic { machine.wakeAt }
    var isServing: Bool { machine.isServing && end == nil }
    var isSettingUp: Bool { machine.isSettingUp }

    func start(now: Monotonic) { perform(machine.start(now: now), now) }

    func woke(now: Monotonic) { perform(machine.woke(now: now), now) }

    /// Nobody waits for it any more.
    func abandon(now: Monotonic) { perform(machine.abandoned(), now) }

    /// It gets no more questions; what is outstanding is still waited for.
    func retire(now: Monotonic) {
        perform(machine.leaves(isQuiet: session?.outstanding ?? 0 == 0), now)
    }

    /// To be called after questions were submitted or withdrawn, or replies taken.
    func settle(now: Monotonic) {
        guard let session, end == nil else { return }
        if session.isLeaving { retire(now: now) }
        if session.outstanding > 0 {
            machine.busied()
        } else {
            perform(machine.quieted(now: now), now)
        }
    }

    func advance(_ event: EventPoll.Event, now: Monotonic, scratch: UnsafeMutableRawBufferPointer) {
        guard end == nil else { return }
        let address = Int(event.token & 0xFF) - 1
        guard let stream, address == streamAddress else { return dialled(address, now) }
        isDirty = true
        if machine.isSettingUp {
            shakeHands(stream, now)
            // What came with the end of the handshake is in OpenSSL's buffer: no event tells of it.
            if machine.isServing, end == nil, stream.holdsMore { drain(stream, scratch, now) }
        } else if event.isReadable || readingWaitsForRoom {
            drain(stream, scratch, now)
        }
    }

    /// Reads on where the last turn has ended.
    func readOn(now: Monotonic, scratch: UnsafeMutableRawBufferPointer) {
        guard end == nil, isUnread, let stream else { return }
        isDirty = true
        drain(stream, scratch, now)
    }
}

// Setting up
extension LiveConnection {
    private func perform(_ actions: [ConnectionMachine.Action], _ now: Monotonic) {
        for action in actions {
            switch action {
            case .dial(let address): dial(address, now)
            case .hangUp(let address): hangUp(address)
            case .shakeHands(let address): beginTLS(address, now)
            case .serve: break
            case .retire: isRetired = true
            case .close(let end): close(end)
            }
        }
    }

    private func dial(_ address: Int, _ now: Monotonic) {
        switch Dialling.begin(service.route.addresses[address], service.route.port) {
        case .failure(let failure): refused(address, .unreachable(failure.reason), now)
        case .success(let socket):
            guard poll.watch(socket, token: token(address), forWriting: true) else {
                Dialling.close(socket)
                return refused(address, .unreachable("the system can watch no more sockets"), now)
            }
            attempts[address] = socket
        }
    }

    private func dialled(_ address: Int, _ now: Monotonic) {
        guard let socket = attempts[address] else { return }
        if let failure = Dialling.trouble(socket) {
            return refused(address, .unreachable(failure.reason), now)
        }
        perform(machine.connected(address, now: now), now)
    }

    private func hangUp(_ address: Int) {
        if let socket = attempts.removeValue(forKey: address) { Dialling.close(socket) }
        if stream != nil, streamAddress == address { dropStream() }
    }

    private func dropStream() {
        stream = nil
        verdict.failure = nil
    }

    private func refused(_ address: Int, _ failure: QueryFailure, _ now: Monotonic) {
        let name = Endpoint(address: service.route.addresses[address], port: service.route.port)
        var told = failure
        if case .unreachable(let why) = failure { told = .unreachable("\(name): \(why)") }
        perform(machine.refused(address, told, now: now), now)
    }

    private func beginTLS(_ address: Int, _ now: Monotonic) {
        guard let socket = attempts.removeValue(forKey: address) else { return }
        guard let stream = TLSStream(socket, for: service, verdict: verdict) else {
            return refused(address, .unexpected("a TLS connection cannot be set up"), now)
        }
        self.stream = stream
        streamAddress = address
        wantsWriting = true
        shakeHands(stream, now)
    }

    private func shakeHands(_ stream: TLSStream, _ now: Monotonic) {
        switch stream.shakeHands() {
        case .wantsRead: watch(stream, forWriting: false)
        case .wantsWrite: watch(stream, forWriting: true)
        case .over(let why, let isProtocolRefused):
            if let failure = verdict.failure {
                refused(streamAddress, .untrusted(failure.firstLine), now)
            } else if isProtocolRefused, case .http2 = service.form {
                perform(machine.misspoke(), now)
            } else {
                refused(streamAddress, .unreachable("the TLS handshake failed: \(why)"), now)
            }
        case .done: secured(stream, now)
        }
    }

    private func secured(_ stream: TLSStream, _ now: Monotonic) {
        do throws(TrustFailure) { try stream.prove(service) } catch {
            return refused(streamAddress, .untrusted(error.firstLine), now)
        }
        switch service.form {
        case .messages: session = MessageSession()
        case .http2(let head):
            guard stream.agreedProtocol == Array("h2".utf8) else {
                return perform(machine.misspoke(), now)
            }
            session = HTTP2Session(head)
        }
        guard session != nil else {
            return refused(streamAddress, .unexpected("HTTP/2 cannot be set up"), now)
        }
        watch(stream, forWriting: false)
        heardAt = now
        serverText =
            Endpoint(
                address: service.route.addresses[streamAddress], port: service.route.port
            ).description
        perform(machine.secured(now: now), now)
    }

    private func watch(_ stream: TLSStream, forWriting: Bool) {
        guard forWriting != wantsWriting else { return }
        wantsWriting = forWriting
        poll.rewatch(stream.descriptor, token: token(streamAddress), forWriting: forWriting)
    }

    private func close(_ end: ConnectionMachine.End) {
        if case .unused = end { stream?.sayGoodbye() }
        for address in Array(attempts.keys) { hangUp(address) }
        dropStream()
        self.end = end
    }
}

// Serving
extension LiveConnection {
    /// Reads what there is before anything is written, for one turn at most.
    private func drain(
        _ stream: TLSStream, _ scratch: UnsafeMutableRawBufferPointer, _ now: Monotonic
    ) {
        guard let session else { return }
        isUnread = false
        readingWaitsForRoom = false
        var left = Self.octetsInTurn
        for _ in 0..<Self.readsInTurn where left > 0 {
            switch stream.read(into: scratch) {
            case .done(let count) where count > 0:
                heardAt = now
                left -= count
                let octets = UnsafeRawBufferPointer(rebasing: scratch[..<count])
                if let why = session.receive(octets) { return broke(why, now) }
            case .done, .wantsRead: return
            case .wantsWrite:
                readingWaitsForRoom = true
                return watch(stream, forWriting: true)
            case .over(let why, _): return broke(why, now)
            }
            guard stream.holdsMore else { return }
        }
        isUnread = true
    }

    /// How many records and octets are read before other connections have their turn.
    ///
    /// Because: hundreds of answers, in about a millisecond; a peer that sends without end must not keep
    /// the thread for itself.
    private static let readsInTurn = 256
    private static let octetsInTurn = 256 * 1_024

    /// Sends what the session has, many frames a write.
    func flush(now: Monotonic) {
        isDirty = false
        guard let stream, let session, end == nil, !machine.isSettingUp else { return }
        guard isProven(stream, now) else { return }
        while true {
            if !output.isFull, let why = session.fill(output) { return broke(why, now) }
            guard !output.isEmpty else { return watch(stream, forWriting: readingWaitsForRoom) }
            switch stream.write(output.front) {
            case .done(let count): output.consume(count)
            // What comes makes it go on: a socket that has room would only wake the thread for nothing.
            case .wantsRead: return watch(stream, forWriting: readingWaitsForRoom)
            case .wantsWrite: return watch(stream, forWriting: true)
            case .over(let why, _): return broke(why, now)
            }
        }
    }

    /// The last gate, before every write: the peer is proven under the policy at this moment. What
    /// decides has seconds, so it is asked once a second.
    private func isProven(_ stream: TLSStream, _ now: Monotonic) -> Bool {
        let second = SystemWallClock().now()
        guard second != provenAt else { return true }
        do throws(TrustFailure) {
            try stream.prove(service)
            provenAt = second
            return true
        } catch {
            broke("its certificate is no longer good: \(error.firstLine)", now)
            return false
        }
    }

    private func broke(_ why: String, _ now: Monotonic) {
        perform(machine.broke(why), now)
    }
}

extension TrustFailure {
    var firstLine: String {
        description.split(separator: "\n").first.map(String.init) ?? label
    }
}
