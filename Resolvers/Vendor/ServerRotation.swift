package import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSPlatform

/// A list of equal servers, and which of them to ask first. No I/O.
///
/// One that answers stays first; one that fails gives way to the next. Source: the best practice of
/// Aliyun (435287, 2868007) and the vendors' SDKs.
package struct ServerRotation: Sendable, Hashable {
    /// Each once, in the order of the list.
    package let servers: [Endpoint]
    /// The place of the server to ask first.
    package private(set) var cursor: Int

    /// A cursor beyond the list begins anew.
    package init(_ servers: [Endpoint], cursor: Int = 0) {
        var unique: [Endpoint] = []
        for server in servers where !unique.contains(server) { unique.append(server) }
        self.servers = unique
        self.cursor = unique.indices.contains(cursor) ? cursor : 0
    }

    package var current: Endpoint? { servers.isEmpty ? nil : servers[cursor] }

    /// All of them, the one to ask first in front.
    package var order: [Endpoint] { Array(servers[cursor...] + servers[..<cursor]) }

    /// The one behind that server is asked first; true when this leads back to the start of the list.
    ///
    /// It need not be the one that was to be asked first: where that one could not be reached, another
    /// has stood in.
    package mutating func failed(_ server: Endpoint) -> Bool {
        guard let place = servers.firstIndex(of: server) else { return false }
        cursor = (place + 1) % servers.count
        return cursor == 0
    }

    /// That server answered: it is asked first from now on.
    package mutating func answered(_ server: Endpoint) {
        if let place = servers.firstIndex(of: server) { cursor = place }
    }

    /// Those of the list that are not among `asked`, in order; the whole list when none is left.
    package func without(_ asked: [Endpoint]) -> ServerRotation {
        let others = asked.isEmpty ? [] : order.filter { !asked.contains($0) }
        return others.isEmpty ? self : ServerRotation(others)
    }

    /// Where to connect: the first server, and behind it those that listen at the same port.
    package var route: Route? {
        guard let first = current else { return nil }
        return Route(
            addresses: order.filter { $0.port == first.port }.map(\.address), port: first.port)
    }
}

/// Knows the servers of a service, and learns how they do.
package protocol ServerDirectory: Sendable {
    /// Which server to ask now, with those that may stand in.
    ///
    /// - Throws: ``QueryFailure/resting(milliseconds:)``.
    func plan() throws(QueryFailure) -> ServerRotation

    /// That server did not answer as it should.
    func failed(_ server: Endpoint)

    /// That server answered.
    func answered(_ server: Endpoint)

    /// The device is on another network.
    func networkChanged()

    /// True when all servers are this machine.
    var isLocal: Bool { get }
}

/// Servers that are known once and for all.
package final class FixedServers: ServerDirectory {
    private let rotation: Locked<ServerRotation>

    package init(_ servers: [Endpoint]) { rotation = Locked(ServerRotation(servers)) }

    package func networkChanged() {}

    package var isLocal: Bool {
        let servers = rotation.withLock { $0.servers }
        return !servers.isEmpty && servers.allSatisfy(\.address.isLoopback)
    }

    package func plan() throws(QueryFailure) -> ServerRotation { rotation.withLock { $0 } }

    package func failed(_ server: Endpoint) {
        rotation.withLock { rotation in _ = rotation.failed(server) }
    }

    package func answered(_ server: Endpoint) { rotation.withLock { $0.answered(server) } }
}
