internal import CHTTPDNSSystem
package import HTTPDNSNames

/// Tells when the machine is on another network. Costs nothing until it is started, and then one
/// thread that sleeps until the kernel speaks of links, addresses or routes.
package final class NetworkMonitor: Sendable {
    private let nameServers: @Sendable () -> [Endpoint]
    private let onChange: @Sendable (NetworkID) -> Void
    private let state = Locked(State.idle)

    private enum State: Sendable {
        case idle
        case running(EventPoll)
        case stopped
    }

    /// - Parameters:
    ///   - nameServers: those in use now; called on the monitor's thread.
    ///   - onChange: called on the monitor's thread when the network is another one than at the start
    ///     or at the last call; must return at once.
    package init(
        nameServers: @escaping @Sendable () -> [Endpoint],
        onChange: @escaping @Sendable (NetworkID) -> Void
    ) {
        self.nameServers = nameServers
        self.onChange = onChange
    }

    deinit { stop() }

    /// Begins; false when the system does not allow it. Once is enough.
    @discardableResult
    package func start() -> Bool {
        let socket = httpdns_netlink_listen()
        guard socket >= 0 else { return false }
        guard let poll = EventPoll(), poll.register(socket, token: 1) else {
            close(socket)
            return false
        }
        let isFirst = state.withLock { state -> Bool in
            guard case .idle = state else { return false }
            state = .running(poll)
            return true
        }
        let loop = NetworkLoop(socket: socket, nameServers: nameServers, onChange: onChange)
        let isStarted =
            isFirst
            && DetachedThread.start(named: "httpdns-network") { [state] in
                loop.run(poll) {
                    state.withLock { if case .running = $0 { true } else { false } }
                }
            }
        if !isStarted {
            close(socket)
            if isFirst { state.withLock { $0 = .stopped } }
        }
        return isStarted
    }

    /// Ends; no call of `onChange` begins after the thread has seen it.
    package func stop() {
        let poll = state.withLock { state -> EventPoll? in
            defer { state = .stopped }
            guard case .running(let poll) = state else { return nil }
            return poll
        }
        poll?.wake()
    }

    /// What the kernel says of the network now; nil when it does not answer. May take a second.
    package static func facts() -> NetworkFacts? {
        let socket = httpdns_netlink_open()
        guard socket >= 0 else { return nil }
        defer { close(socket) }
        var facts = NetworkFacts()
        // Neighbours last: of them only the gateways of routes that are known count.
        for subject in [Int32(0), 1, 2] {
            guard httpdns_netlink_ask(socket, subject, UInt32(subject + 1)) == 0,
                readDump(socket, into: &facts)
            else {
                if subject == 2 { break }
                return nil
            }
        }
        return facts
    }

    /// Reads to the end of a dump; false when it does not come.
    private static func readDump(_ socket: Int32, into facts: inout NetworkFacts) -> Bool {
        var buffer = [UInt8](repeating: 0, count: bufferOctets)
        for _ in 0..<maximumDatagrams {
            let count = httpdns_netlink_receive(socket, &buffer, buffer.count)
            guard count >= 0 else { return false }
            let octets = Array(buffer[..<min(count, buffer.count)])
            if NetlinkMessages.read(octets, into: &facts).isDone { return true }
        }
        // More routes than any client has: what was read has the default ones among it, or not.
        return true
    }

    /// Because: the kernel fills 32 KiB at most. Source: NLMSG_GOODSIZE, netlink_dump.
    fileprivate static let bufferOctets = 65_536
    /// Because: 100,000 routes; a router with a full table need not be followed.
    private static let maximumDatagrams = 512
}

/// What the monitor's thread does.
private struct NetworkLoop: Sendable {
    let socket: Int32
    let nameServers: @Sendable () -> [Endpoint]
    let onChange: @Sendable (NetworkID) -> Void

    func run(_ poll: EventPoll, while goesOn: () -> Bool) {
        defer { close(socket) }
        let clock = SystemMonotonicClock()
        var quiet = NetworkQuiet()
        var known = look()
        while goesOn() {
            let events = poll.wait(until: quiet.lookAt, now: clock.now())
            if !events.isEmpty, drain() { quiet.heard(now: clock.now()) }
            guard quiet.isDue(now: clock.now()), let found = look() else { continue }
            let isSame = known?.isSameNetwork(as: found) ?? true
            if !isSame, goesOn() { onChange(found.id) }
            let before = known
            known = found
            if isSame, let before { known?.recallGateways(of: before) }
        }
    }

    private func look() -> NetworkFacts? {
        guard var facts = NetworkMonitor.facts() else { return nil }
        facts.nameServers = nameServers()
        return facts
    }

    /// Reads all that is there; true when something about the network was among it.
    private func drain() -> Bool {
        var buffer = [UInt8](repeating: 0, count: NetworkMonitor.bufferOctets)
        var tells = false
        while true {
            let count = httpdns_netlink_receive(socket, &buffer, buffer.count)
            // ENOBUFS: messages were lost, so something happened.
            if count < 0 { return tells || httpdns_socket_error() == ENOBUFS }
            var ignored = NetworkFacts()
            let octets = Array(buffer[..<min(count, buffer.count)])
            if NetlinkMessages.read(octets, into: &ignored).tellsOfChange { tells = true }
        }
    }
}
