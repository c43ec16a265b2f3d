package import HTTPDNSNames

/// In which order the servers of a list are asked, by what they have shown before. Does no I/O.
///
/// Rules:
/// 1. The configured order holds among servers in good standing, from the first, from the next one in
///    turn (``DatagramPlan/Order/rotate``), or the fastest first (``DatagramPlan/Order/fastest``).
/// 2. A server that the network refused, or that was silent twice in a row, rests: it is asked after all
///    others, never left out.
/// 3. When its rest is over, one question asks it in its place again. An answer clears it; else it
///    rests twice as long, up to a limit.
package struct ServerSelection: Sendable {
    private struct Health: Sendable {
        /// Source: RFC 6298 §2: a new measurement counts an eighth.
        var smoothedMicroseconds: Int64?
        var silences = 0
        /// How often it has been put to rest since it last answered.
        var rests = 0
        var restUntil = Monotonic.zero
    }

    private var health: [Endpoint: Health] = [:]
    private var turn = 0

    package init() {}

    /// Positions in `servers`, in the order to ask.
    package mutating func order(
        _ servers: [Endpoint], by order: DatagramPlan.Order, now: Monotonic
    ) -> [Int] {
        guard servers.count > 1 else { return Array(servers.indices) }
        var positions = Array(servers.indices)
        switch order {
        case .asGiven: break
        case .rotate:
            turn = (turn &+ 1) & Int(Int32.max)
            let first = turn % servers.count
            positions = positions.map { ($0 + first) % servers.count }
        case .fastest:
            // One that was never measured is measured now.
            positions.sort { (speed(servers[$0]), $0) < (speed(servers[$1]), $1) }
        }
        let resting = positions.filter { isResting(servers[$0], now) }
        guard !resting.isEmpty else {
            if let first = positions.first { askedFirst(servers[first], now) }
            return positions
        }
        let standing = positions.filter { !resting.contains($0) }
        if let first = standing.first { askedFirst(servers[first], now) }
        return standing + resting
    }

    package mutating func answered(_ server: Endpoint, afterMicroseconds microseconds: Int64) {
        if health.count >= Self.maximumServers { health.removeAll() }
        var shown = health[server] ?? Health()
        let measured = max(0, microseconds)
        shown.smoothedMicroseconds =
            shown.smoothedMicroseconds.map {
                $0 + (measured - $0) / 8
            } ?? measured
        shown.silences = 0
        shown.rests = 0
        shown.restUntil = .zero
        health[server] = shown
    }

    /// The network refused it.
    package mutating func refused(_ server: Endpoint, now: Monotonic) {
        var shown = health[server] ?? Health()
        rest(&shown, now)
        health[server] = shown
    }

    /// Its patience ran out.
    package mutating func silent(_ server: Endpoint, now: Monotonic) {
        var shown = health[server] ?? Health()
        shown.silences += 1
        if shown.silences >= Self.tolerableSilences || shown.rests > 0 { rest(&shown, now) }
        health[server] = shown
    }

    /// The smoothed round trip; nil when it never answered.
    package func smoothedMicroseconds(_ server: Endpoint) -> Int64? {
        health[server]?.smoothedMicroseconds
    }

    package func isResting(_ server: Endpoint, _ now: Monotonic) -> Bool {
        health[server].map { $0.restUntil > now } ?? false
    }

    private func speed(_ server: Endpoint) -> Int64 { smoothedMicroseconds(server) ?? 0 }

    /// The one question that finds out whether a server is back: the others still ask it last.
    private mutating func askedFirst(_ server: Endpoint, _ now: Monotonic) {
        guard var shown = health[server], shown.rests > 0 else { return }
        shown.restUntil = now.adding(milliseconds: Self.restMilliseconds)
        health[server] = shown
    }

    private mutating func rest(_ shown: inout Health, _ now: Monotonic) {
        let doublings = Int64(min(shown.rests, 4))
        shown.rests += 1
        shown.silences = 0
        shown.restUntil = now.adding(milliseconds: Self.restMilliseconds << doublings)
    }

    /// Because: one lost packet says nothing about a server; two in a row seldom are chance.
    private static let tolerableSilences = 2
    /// Because: a server that restarts is back within seconds; doubled four times it is 80 s.
    private static let restMilliseconds: Int64 = 5_000
    /// Because: a list has a few; this only bounds a caller that makes lists without end.
    private static let maximumServers = 256
}
