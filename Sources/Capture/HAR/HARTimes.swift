/// The parts of a hop's time, as HAR has them, in the order in which they follow each other; nil for
/// what did not happen or is not known. `ssl` is a part of `connect`.
///
/// Rules:
/// 1. Their sum is the time of the entry. Source: HAR 1.2, "timings".
/// 2. Of a hop that failed, the part that was under way has lasted until the failure: also where nobody
///    says more than how long the record took.
/// 3. Where no part is known, as of what a cache answered, all of it was waiting.
struct HARTimes {
    private(set) var blocked: Double?
    private(set) var dns: Double?
    private(set) var connect: Double?
    private(set) var ssl: Double?
    private(set) var send: Double
    private(set) var wait: Double
    private(set) var receive: Double

    /// - Parameters:
    ///   - hop: what happened.
    ///   - elapsed: what the record took with this hop, its last; nil of any other.
    ///   - hasFailed: it ended by a failure.
    init(_ hop: CaptureRecord.Hop, elapsed: Double?, hasFailed: Bool) {
        let timings = hop.timings
        let ready = timings.secured ?? timings.connected
        if let secured = timings.secured, let connected = timings.connected {
            ssl = max(0, secured - connected)
        }
        blocked = timings.blocked
        dns = hop.resolveMilliseconds
        connect = hop.isReusedConnection ? nil : ready
        let start = connect ?? 0
        let end = timings.total ?? timings.firstByte ?? timings.sent ?? ready ?? 0
        let first = timings.firstByte ?? end
        let sent = timings.sent ?? start
        send = max(0, sent - start)
        wait = max(0, first - max(sent, start))
        receive = max(0, end - first)
        if hasFailed { close(hop) }
        let missing = max(0, elapsed ?? 0) - sum
        if missing > 0, missing.isFinite, hasFailed || sum <= 0 {
            extend(hop, by: missing, hasFailed)
        }
        round()
    }

    /// As HAR has it.
    var sum: Double { (blocked ?? 0) + (dns ?? 0) + (connect ?? 0) + send + wait + receive }

    private enum Open { case dns, connect, wait, receive }

    /// What was under way when a hop failed.
    private static func open(_ hop: CaptureRecord.Hop) -> Open {
        if hop.status != nil || hop.timings.firstByte != nil { return .receive }
        let wasSent =
            hop.isReusedConnection || hop.timings.sent != nil || hop.timings.secured != nil
            || hop.peer != nil
        if wasSent { return .wait }
        let isSecure = CapturedURL(hop.url).scheme == "https"
        if hop.timings.connected != nil { return isSecure ? .connect : .wait }
        if hop.resolution != nil || hop.proxy != nil { return .connect }
        return hop.resolveMilliseconds == nil ? .wait : .dns
    }

    /// What is known to have lasted, and was taken for waiting.
    private mutating func close(_ hop: CaptureRecord.Hop) {
        guard HARTimes.open(hop) == .connect else { return }
        if connect != nil { ssl = wait }
        connect = (connect ?? 0) + wait
        wait = 0
    }

    private mutating func extend(
        _ hop: CaptureRecord.Hop, by missing: Double, _ hasFailed: Bool
    ) {
        switch hasFailed ? HARTimes.open(hop) : .wait {
        case .dns: dns = (dns ?? 0) + missing
        case .connect:
            ssl = ssl.map { $0 + missing }
            connect = (connect ?? 0) + missing
        case .wait: wait += missing
        case .receive: receive += missing
        }
    }

    /// As many digits as are written, so that what is written adds up.
    private mutating func round() {
        func rounded(_ part: Double) -> Double { (part * 1_000).rounded() / 1_000 }
        blocked = blocked.map(rounded)
        dns = dns.map(rounded)
        connect = connect.map(rounded)
        ssl = ssl.map(rounded)
        (send, wait, receive) = (rounded(send), rounded(wait), rounded(receive))
    }
}
