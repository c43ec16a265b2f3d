internal import HTTPDNSExchange
internal import HTTPDNSNames

/// The three time limits of one exchange.
struct TransferTimers {
    /// What the exchange is waiting for.
    enum Wait {
        case connection
        case response
        case octets
        /// Our observer or our body source: only the whole deadline runs.
        case ourselves
    }

    private let deadline: Monotonic
    private let connectMilliseconds: Int64
    private var connectDeadline: Monotonic
    private let idleMilliseconds: Int64
    private var lastHeard: Monotonic
    private var hasHeard = false

    init(_ limits: TransportLimits, now: Monotonic) {
        deadline = limits.deadline
        connectMilliseconds = max(limits.connectMilliseconds, 1)
        connectDeadline = now.adding(milliseconds: connectMilliseconds)
        idleMilliseconds = max(limits.idleMilliseconds, 1)
        lastHeard = now
    }

    /// Another connection is made, and has the time of one; the whole deadline stays as it is.
    mutating func connectAnew(now: Monotonic) {
        connectDeadline = now.adding(milliseconds: connectMilliseconds)
    }

    /// Something moved. The clock is read once a turn of the loop, not here.
    mutating func heard() { hasHeard = true }

    mutating func settle(now: Monotonic, isWaitingForUs: Bool) {
        if hasHeard || isWaitingForUs { lastHeard = now }
        hasHeard = false
    }

    func due(_ wait: Wait) -> (at: Monotonic, phase: TransportFailure.Phase) {
        let idle = lastHeard.adding(milliseconds: idleMilliseconds)
        let step: (at: Monotonic, phase: TransportFailure.Phase) =
            switch wait {
            case .connection: (connectDeadline, .connect)
            case .response: (idle, .response)
            case .octets: (idle, .idle)
            case .ourselves: (.distantFuture, .total)
            }
        return step.at < deadline ? step : (deadline, .total)
    }
}
