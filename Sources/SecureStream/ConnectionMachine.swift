package import HTTPDNSLookup
package import HTTPDNSNames

/// Decides the life of one connection to a resolver: which address to dial, when to shake hands, how
/// long to keep it. Does no I/O.
///
/// The driver feeds it one event at a time and performs the actions it returns, in order:
///
///     connecting ─ connected ─▶ handshaking ─ secured ─▶ open ─ leaves ─▶ draining
///       ▲   │                       │                      │ └─ idle ──▶ closed
///       │   └─ none left ─▶ closed  │                      └─ broke ───▶ closed
///       └──────── refused ──────────┘                     draining ─ quiet, broke ─▶ closed
///
/// Rules (everything that changes the state lives in this file):
/// 1. Addresses are dialled as ``AddressRace`` says. The first that connects is spoken to; the others
///    have their turn again when its peer does not prove itself.
/// 2. An address whose peer does not prove itself is passed over like a dead one; when no address is
///    left, the trust failure is what is told.
/// 3. No octet of a question leaves before `secured`.
/// 4. An event about an address that was hung up on, or after the end, is ignored.
package struct ConnectionMachine: Sendable {
    package enum Action: Sendable, Hashable {
        /// Begin a TCP connection to the address of that number.
        case dial(Int)
        /// Close the socket to that address.
        case hangUp(Int)
        /// TCP stands: begin TLS on it.
        case shakeHands(Int)
        /// The peer has proved itself: questions may go out.
        case serve
        /// Give it no more questions.
        case retire
        /// Close what is open; nothing follows.
        case close(End)
    }

    /// Why a connection ended.
    package enum End: Sendable, Hashable {
        /// It never served: what every question that waits for it is told.
        case failed(QueryFailure)
        /// The server speaks no protocol of ours.
        case wrongProtocol
        /// Nobody needed it for a while, or all that was left is answered.
        case unused
        /// The peer or the network ended it; the text says how.
        case broken(String)
    }

    private enum State: Sendable {
        /// Valid: connected, refused, woke.
        case connecting
        /// TLS with the address of that number. Valid: secured, refused, broke, woke.
        case handshaking(Int)
        /// Valid: busied, quieted, leaves, broke, woke.
        case open
        /// Serves what it has, and no more. Valid: quieted, broke.
        case draining
        case closed
    }

    private var state = State.connecting
    private var race: AddressRace
    private var failures: [QueryFailure] = []
    /// When ``woke(now:)`` has something to do; never, where nothing is waited for.
    package private(set) var wakeAt = Monotonic.distantFuture

    /// A connection to the first of so many addresses that does.
    package init(addressCount: Int) { race = AddressRace(addressCount: addressCount) }

    /// How long TCP, and TLS after it, may take.
    ///
    /// Because: two lost packets (1 + 2 s, RFC 6298 §5) and a slow server fit; a lookup has given up by
    /// then, so it only frees what a silent peer holds.
    static let setUpMilliseconds: Int64 = 5_000
    /// How long a connection is kept for the next question.
    ///
    /// Because: public resolvers keep theirs for 10 to 120 s; a new one costs a handshake, an idle one a
    /// descriptor. Source: RFC 7766 §6.2.3, RFC 7858 §3.4.
    static let idleMilliseconds: Int64 = 30_000
}

// Events
extension ConnectionMachine {
    package var isServing: Bool { if case .open = state { true } else { false } }
    package var isClosed: Bool { if case .closed = state { true } else { false } }
    /// Not yet secured.
    package var isSettingUp: Bool {
        switch state {
        case .connecting, .handshaking: true
        case .open, .draining, .closed: false
        }
    }

    package mutating func start(now: Monotonic) -> [Action] {
        guard race.mayDial else {
            return close(.failed(.misconfigured("no address to connect to")))
        }
        return dialNext(now)
    }

    package mutating func connected(_ address: Int, now: Monotonic) -> [Action] {
        guard case .connecting = state, let others = race.connected(address) else { return [] }
        state = .handshaking(address)
        wakeAt = now.adding(milliseconds: Self.setUpMilliseconds)
        return others.map { .hangUp($0) } + [.shakeHands(address)]
    }

    /// The address could not be reached, or its peer did not prove itself.
    package mutating func refused(
        _ address: Int, _ failure: QueryFailure, now: Monotonic
    ) -> [Action] {
        switch state {
        case .connecting, .handshaking: break
        case .open, .draining, .closed: return []
        }
        guard race.failed(address) else { return [] }
        failures.append(failure)
        state = .connecting
        return [.hangUp(address)] + goOn(now)
    }

    /// The peer has proved that it is the host we mean.
    package mutating func secured(now: Monotonic) -> [Action] {
        guard case .handshaking = state else { return [] }
        state = .open
        wakeAt = now.adding(milliseconds: Self.idleMilliseconds)
        return [.serve]
    }

    /// The peer is the one we mean, but does not speak what we do.
    package mutating func misspoke() -> [Action] {
        guard case .handshaking = state else { return [] }
        return close(.wrongProtocol)
    }

    /// A question went out.
    package mutating func busied() {
        if case .open = state { wakeAt = .distantFuture }
    }

    /// No question is outstanding any more.
    package mutating func quieted(now: Monotonic) -> [Action] {
        switch state {
        case .open:
            wakeAt = now.adding(milliseconds: Self.idleMilliseconds)
            return []
        case .draining: return close(.unused)
        case .connecting, .handshaking, .closed: return []
        }
    }

    /// The server wants no more questions, or is suspected to be gone.
    package mutating func leaves(isQuiet: Bool) -> [Action] {
        guard case .open = state else { return [] }
        state = .draining
        wakeAt = .distantFuture
        return [.retire] + (isQuiet ? close(.unused) : [])
    }

    package mutating func broke(_ why: String) -> [Action] {
        switch state {
        case .open, .draining: close(.broken(why))
        case .connecting, .handshaking, .closed: []
        }
    }

    /// Nobody waits for it any more.
    package mutating func abandoned() -> [Action] {
        if case .closed = state { return [] }
        return close(.unused)
    }

    /// Call it when the clock has reached ``wakeAt``.
    package mutating func woke(now: Monotonic) -> [Action] {
        guard wakeAt <= now else { return [] }
        switch state {
        case .connecting:
            if race.mayDial { return dialNext(now) }
            return close(.failed(headline ?? .timedOut(tries: race.dialled.count)))
        case .handshaking(let address):
            return refused(address, .timedOut(tries: 1), now: now)
        case .open: return close(.unused)
        case .draining, .closed: return []
        }
    }

    private mutating func dialNext(_ now: Monotonic) -> [Action] {
        guard let address = race.dialNext(now: now) else { return [] }
        // Nobody is left to try beside it: then there is only its own time.
        wakeAt = race.mayDial ? race.nextAt : now.adding(milliseconds: Self.setUpMilliseconds)
        return [.dial(address)]
    }

    private mutating func goOn(_ now: Monotonic) -> [Action] {
        if race.mayDial { return dialNext(now) }
        guard race.isOver else { return [] }
        return close(.failed(headline ?? .unreachable("no address is left")))
    }

    private mutating func close(_ end: End) -> [Action] {
        state = .closed
        wakeAt = .distantFuture
        race = AddressRace(addressCount: 0)
        return [.close(end)]
    }

    /// The failure that says most: a peer that is not who it should be, then what the network said.
    private var headline: QueryFailure? {
        func rank(_ failure: QueryFailure) -> Int {
            switch failure {
            case .untrusted: 0
            case .unreachable: 1
            default: 2
            }
        }
        return failures.min { rank($0) < rank($1) }
    }
}
