internal import CHTTPDNSSystem
package import HTTPDNSNames

/// How long a TCP connection to each of several addresses takes: for choosing among them.
package enum ConnectProbe {
    package enum Outcome: Sendable, Hashable {
        case connected(microseconds: Int64)
        /// The system's word: refused, unreachable.
        case failed(String)
        /// Not connected when the time was over, or the task was cancelled.
        case timedOut
    }

    /// Connects to all at once, sends nothing, and closes.
    ///
    /// Costs a thread while it runs. A cancelled task gets what is known by then.
    /// - Returns: an outcome for each endpoint; all have ended by `deadline`.
    package static func run(
        _ endpoints: [Endpoint], deadline: Monotonic
    ) async -> [Endpoint: Outcome] {
        let wanted = Set(endpoints)
        guard !wanted.isEmpty, let poll = EventPoll() else {
            return Dictionary(
                uniqueKeysWithValues: wanted.map { ($0, .failed("no descriptor left")) })
        }
        let isCancelled = Locked(false)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isStarted = DetachedThread.start(named: "httpdns-probe") {
                    var probing = Probing(poll: poll, waiting: Array(wanted), deadline: deadline)
                    probing.run { isCancelled.withLock { $0 } }
                    continuation.resume(returning: probing.outcomes)
                }
                guard !isStarted else { return }
                continuation.resume(
                    returning: Dictionary(
                        uniqueKeysWithValues: wanted.map { ($0, .failed("no thread left")) }))
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
            poll.wake()
        }
    }

    /// Because: more connections at once would measure our own queue.
    fileprivate static let maximumAtOnce = 64
}

/// One run. Confined to its thread.
private struct Probing {
    private struct Attempt {
        let endpoint: Endpoint
        let socket: Int32
        let begun: Monotonic
    }

    private let poll: EventPoll
    private let deadline: Monotonic
    private let clock = SystemMonotonicClock()
    private var waiting: [Endpoint]
    private var attempts: [UInt64: Attempt] = [:]
    private var lastToken: UInt64 = 0
    private(set) var outcomes: [Endpoint: ConnectProbe.Outcome] = [:]

    init(poll: EventPoll, waiting: [Endpoint], deadline: Monotonic) {
        self.poll = poll
        self.waiting = waiting
        self.deadline = deadline
    }

    mutating func run(isCancelled: () -> Bool) {
        defer { for attempt in attempts.values { close(attempt.socket) } }
        while clock.now() < deadline, !isCancelled() {
            while attempts.count < ConnectProbe.maximumAtOnce, let next = waiting.popLast() {
                begin(next)
            }
            guard !attempts.isEmpty else { break }
            for event in poll.wait(until: deadline, now: clock.now()) { end(event.token) }
        }
        for endpoint in waiting + attempts.values.map({ $0.endpoint }) {
            outcomes[endpoint] = .timedOut
        }
    }

    private mutating func begin(_ endpoint: Endpoint) {
        let octets = endpoint.address.octets
        let begun = clock.now()
        guard let scope = DatagramSocket.scope(of: endpoint.address) else {
            outcomes[endpoint] = .failed("no such network interface")
            return
        }
        let socket = httpdns_connecting(octets, octets.count, scope, endpoint.port.number)
        guard socket >= 0 else {
            outcomes[endpoint] = .failed(systemWord())
            return
        }
        lastToken += 1
        guard poll.register(socket, token: lastToken, isForWriting: true) else {
            close(socket)
            outcomes[endpoint] = .failed("epoll refused a socket")
            return
        }
        attempts[lastToken] = Attempt(endpoint: endpoint, socket: socket, begun: begun)
    }

    private mutating func end(_ token: UInt64) {
        guard let attempt = attempts.removeValue(forKey: token) else { return }
        let nanoseconds = clock.now().nanoseconds &- attempt.begun.nanoseconds
        let error = httpdns_connect_outcome(attempt.socket)
        close(attempt.socket)
        outcomes[attempt.endpoint] =
            error == 0
            ? .connected(microseconds: max(0, nanoseconds / 1_000))
            : .failed(systemWord(error))
    }
}
