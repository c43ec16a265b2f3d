internal import CHTTPDNSSystem
package import HTTPDNSNames
internal import HTTPDNSPlatform

/// True as soon as the condition holds; false when it did not within the bound. For what no event
/// announces; asks again every few milliseconds without blocking the cooperative pool.
package func eventually(
    withinMilliseconds limit: Int64 = 5_000, _ condition: @escaping @Sendable () async -> Bool
) async -> Bool {
    let deadline = SystemMonotonicClock().now().adding(milliseconds: limit)
    while SystemMonotonicClock().now() < deadline {
        if await condition() { return true }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return await condition()
}

/// A loopback port that nothing listens on: connections to it are refused at once.
package func closedPort(address: IPAddress) throws -> Port {
    let socket = httpdns_socket_bound(1, address.octets, address.octets.count, 0)
    guard socket >= 0 else { throw CommandError(description: "cannot bind to \(address)") }
    defer { close(socket) }
    guard let port = Port(httpdns_socket_port(socket)) else {
        throw CommandError(description: "no port on \(address)")
    }
    return port
}

/// A monotonic clock that moves only when told.
package final class FakeClock: MonotonicSource {
    private let time: Locked<Monotonic>

    package init(_ start: Monotonic = .zero) { time = Locked(start) }

    package func now() -> Monotonic { time.withLock { $0 } }

    package func advance(milliseconds: Int64) {
        time.withLock { $0 = $0.adding(milliseconds: milliseconds) }
    }
}

/// A wall clock that shows what it was set to.
package final class FakeWallClock: WallSource {
    private let time: Locked<WallTime>

    package init(_ start: WallTime) { time = Locked(start) }

    package func now() -> WallTime { time.withLock { $0 } }

    package func set(_ moment: WallTime) { time.withLock { $0 = moment } }
}
