internal import HTTPDNSExchange
internal import HTTPDNSNames

/// The connections that are being made for one transfer, as far as its driver has to help libcurl.
///
///     begun ──▶ made
///       │ └───▶ refused: its socket is gone
///       └─────▶ given up, so that the next is tried ──▶ silent: its socket is gone
///
/// Rules:
/// 1. libcurl begins the next attempt only when it is called again after one has come to nothing, and
///    asks nobody to call it: whoever drives it by sockets does (``lost(_:)``). Otherwise the next
///    address is tried when some timer of libcurl's runs out, or never.
///    Source: curl 7.88, connect.c, `is_connected`; measured.
/// 2. libcurl has one attempt at a time in each family, and waits for a silent address for half of
///    what is left of the time to connect. Here it has ``patienceMilliseconds`` while there are
///    addresses of its family that were not tried; the last has all the rest.
/// 3. Only what is not connected is given up: a handshake, with the peer or with a proxy, has its time.
struct Dialling {
    /// A socket: its number may be given again, the rest of its name is not.
    struct Socket: Hashable {
        let number: Int32
        let inode: UInt64
    }

    struct Attempt: Hashable {
        let endpoint: Endpoint
        let socket: Socket
        /// Nil until the engine has looked at its clock.
        var since: Monotonic?
        var state = State.begun

        var isOpen: Bool { state == .begun || state == .made || state == .givenUp }
    }

    enum State: Hashable {
        case begun
        case made
        case refused
        case givenUp
        case silent
    }

    private(set) var attempts: [Attempt] = []

    /// Addresses that came to nothing, in the order in which they were tried.
    var passedOver: [PassedOver] {
        attempts.compactMap { attempt in
            switch attempt.state {
            case .begun, .made: nil
            case .refused: PassedOver(attempt.endpoint.address, wasSilent: false)
            case .givenUp, .silent: PassedOver(attempt.endpoint.address, wasSilent: true)
            }
        }
    }

    /// Those whose sockets were there at the last look.
    var open: [Attempt] { attempts.filter(\.isOpen) }

    mutating func begins(_ endpoint: Endpoint, on socket: Socket) {
        // A number that is given again was given back.
        for place in attempts.indices where attempts[place].socket.number == socket.number {
            end(place)
        }
        attempts.append(Attempt(endpoint: endpoint, socket: socket))
    }

    /// The engine has looked at its clock.
    mutating func settle(now: Monotonic) {
        for place in attempts.indices where attempts[place].since == nil {
            attempts[place].since = now
        }
    }

    /// That socket is closed.
    ///
    /// - Returns: false when its attempt was over before.
    @discardableResult
    mutating func lost(_ socket: Socket) -> Bool {
        guard let place = attempts.firstIndex(where: { $0.socket == socket }) else { return false }
        return end(place)
    }

    @discardableResult
    private mutating func end(_ place: Int) -> Bool {
        guard attempts[place].isOpen else { return false }
        attempts[place].state = attempts[place].state == .givenUp ? .silent : .refused
        return true
    }

    /// Those were left since another was connected.
    mutating func forget(_ sockets: [Socket]) {
        attempts.removeAll { sockets.contains($0.socket) }
    }

    /// That one is connected.
    mutating func made(_ socket: Socket) { change(socket, .made) }

    /// That one is given up; libcurl has yet to notice.
    mutating func gaveUp(_ socket: Socket) { change(socket, .givenUp) }

    private mutating func change(_ socket: Socket, _ state: State) {
        guard let place = attempts.firstIndex(where: { $0.socket == socket }),
            attempts[place].state == .begun
        else { return }
        attempts[place].state = state
    }

    /// The moment from which an attempt may be given up for an address that is left.
    func due(among planned: [IPAddress]) -> Monotonic {
        waiting(among: planned).map(\.since)
            .min()?.adding(milliseconds: Dialling.patienceMilliseconds) ?? .distantFuture
    }

    /// Those whose patience is at its end.
    func overdue(now: Monotonic, among planned: [IPAddress]) -> [Socket] {
        waiting(among: planned).filter {
            $0.since.adding(milliseconds: Dialling.patienceMilliseconds) <= now
        }.map(\.socket)
    }

    private func waiting(among planned: [IPAddress]) -> [(socket: Socket, since: Monotonic)] {
        attempts.compactMap { attempt in
            guard attempt.state == .begun, let since = attempt.since,
                isLeft(attempt.endpoint.address.family, of: planned)
            else { return nil }
            return (attempt.socket, since)
        }
    }

    /// An address of that family was not tried yet.
    private func isLeft(_ family: IPAddress.Family, of planned: [IPAddress]) -> Bool {
        planned.contains { address in
            address.family == family && !attempts.contains { $0.endpoint.address == address }
        }
    }

    /// Source: RFC 8305 §5: an attempt delays the next by 2 seconds at most. Because: here it ends, too,
    /// so that the least is too little: a lost first segment is sent again after one second.
    static let patienceMilliseconds: Int64 = 2_000
}
