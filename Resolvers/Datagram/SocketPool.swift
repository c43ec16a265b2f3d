internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// The UDP sockets of an engine. Owned by the engine's thread.
///
/// Each question in flight has a socket of its own, connected to its server, on a port of the system's
/// choice. A socket whose question was answered is used again for a few others, taken at random: making
/// one costs more than a question does. One whose question was not answered is closed: a late
/// reply then finds nobody.
struct SocketPool {
    /// A place in the pool.
    struct Slot: Hashable {
        let index: Int
    }

    private struct Place {
        var socket: DatagramSocket?
        var group: Int
        var uses = 0
        var idleSince: Monotonic?
        /// Tells a socket's events from those of one that had the place before.
        var generation: UInt32 = 0
    }

    private var places: [Place] = []
    private var free: [Int] = []
    /// The idle places of each server.
    private var groups: [(server: Endpoint, idle: [Int])] = []
    private var groupOf: [Endpoint: Int] = [:]
    private var lastGroup = 0
    private(set) var idleCount = 0
    private(set) var busyCount = 0
    private(set) var opened = 0
    private let poll: EventPoll
    private let maximumSockets: Int

    init(poll: EventPoll, maximumSockets: Int) {
        self.poll = poll
        self.maximumSockets = maximumSockets
    }

    /// A socket to `server`, used or new; `random` chooses among those that are idle.
    mutating func take(
        _ server: Endpoint, _ random: inout HardNumbers
    ) throws(DatagramSocket.Trouble) -> Slot {
        if let used = takeIdle(group(server), &random) { return used }
        if idleCount > 0, idleCount + busyCount >= maximumSockets { closeAnyIdle() }
        let socket = try DatagramSocket(to: server)
        // Not before: with the last socket that is closed, all groups may go.
        let group = group(server)
        let index = free.popLast() ?? places.count
        if index == places.count { places.append(Place(socket: nil, group: group)) }
        places[index].generation &+= 1
        places[index].socket = socket
        places[index].group = group
        places[index].uses = 1
        places[index].idleSince = nil
        guard poll.register(socket.descriptor, token: token(Slot(index: index))) else {
            places[index].socket = nil
            free.append(index)
            throw DatagramSocket.Trouble(word: "epoll refused a socket")
        }
        opened += 1
        busyCount += 1
        return Slot(index: index)
    }

    /// True when the socket has been used before, so that an error may be an old one's.
    func isUsed(_ slot: Slot) -> Bool { places[slot.index].uses > 1 }

    func socket(_ slot: Slot) -> DatagramSocket? { places[slot.index].socket }

    func token(_ slot: Slot) -> UInt64 {
        UInt64(places[slot.index].generation & 0x3FFF_FFFF) << 32 | UInt64(slot.index + 1)
    }

    /// The place of an event; nil when its socket is gone.
    func slot(_ token: UInt64) -> Slot? {
        let index = Int(token & 0xFFFF_FFFF) - 1
        guard places.indices.contains(index), places[index].socket != nil else { return nil }
        let slot = Slot(index: index)
        return self.token(slot) == token ? slot : nil
    }

    /// Its question was answered: it may serve another.
    mutating func giveBack(_ slot: Slot, now: Monotonic) {
        let group = places[slot.index].group
        guard places[slot.index].uses < Self.maximumUses,
            groups[group].idle.count < Self.maximumIdle,
            idleCount + busyCount <= maximumSockets
        else { return close(slot) }
        busyCount -= 1
        idleCount += 1
        places[slot.index].idleSince = now
        groups[group].idle.append(slot.index)
    }

    /// Closes a socket, busy or idle.
    mutating func close(_ slot: Slot) {
        if places[slot.index].idleSince == nil {
            busyCount -= 1
        } else {
            idleCount -= 1
            groups[places[slot.index].group].idle.removeAll { $0 == slot.index }
        }
        places[slot.index].socket = nil
        places[slot.index].idleSince = nil
        free.append(slot.index)
        // Nothing is open: what was known of servers goes too, so that it cannot pile up.
        if idleCount + busyCount == 0, groups.count > Self.spareGroups {
            groups = []
            groupOf = [:]
        }
    }

    /// When the next idle socket has been so for long enough; nil without one. Costs nothing.
    func closeIdleAt(_ lastUse: Monotonic) -> Monotonic? {
        idleCount > 0 ? lastUse.adding(milliseconds: Self.idleMilliseconds) : nil
    }

    /// Closes all that have been idle for long.
    mutating func closeIdle(now: Monotonic) {
        for index in places.indices {
            guard let since = places[index].idleSince,
                now.milliseconds(since: since) >= Self.idleMilliseconds
            else { continue }
            close(Slot(index: index))
        }
    }

    private mutating func group(_ server: Endpoint) -> Int {
        if groups.indices.contains(lastGroup), groups[lastGroup].server == server {
            return lastGroup
        }
        if let known = groupOf[server] {
            lastGroup = known
        } else {
            lastGroup = groups.count
            groups.append((server, []))
            groupOf[server] = lastGroup
        }
        return lastGroup
    }

    private mutating func takeIdle(_ group: Int, _ random: inout HardNumbers) -> Slot? {
        // Few of them would be few ports to guess among: make another instead.
        let count = groups[group].idle.count
        guard count >= Self.warmIdle else { return nil }
        groups[group].idle.swapAt(random.next(below: count), count - 1)
        let index = groups[group].idle.removeLast()
        idleCount -= 1
        busyCount += 1
        places[index].idleSince = nil
        places[index].uses += 1
        return Slot(index: index)
    }

    private mutating func closeAnyIdle() {
        guard let index = groups.first(where: { !$0.idle.isEmpty })?.idle.first else { return }
        close(Slot(index: index))
    }

    /// Because: enough for a busy moment, few enough that they are no burden when it is over.
    private static let maximumIdle = 128
    /// Because: a choice among as many ports again for each question, none known to a stranger.
    private static let warmIdle = 16
    /// Because: opening and closing then costs a question a fiftieth of what it would cost alone, and
    /// no port lives long. Source: measured on loopback, 2026-11-30.
    private static let maximumUses = 64
    /// Because: more servers than one program names.
    private static let spareGroups = 64
    /// Because: a network that changes leaves the sockets with an old address of ours; nobody asks
    /// through them for longer than that.
    private static let idleMilliseconds: Int64 = 5_000
}
