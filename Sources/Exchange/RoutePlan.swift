package import HTTPDNSNames

/// Which addresses of a host to try for one hop, and which are out.
///
/// Rules:
/// 1. Addresses are tried in the order resolved (RFC 8305 §4); the transport passes over dead ones.
/// 2. An address whose peer failed to prove the origin is not tried again for this exchange.
package struct RoutePlan: Sendable, Hashable {
    private let port: Port
    private var left: [IPAddress]

    /// Those that are still in.
    var addresses: [IPAddress] { left }

    package init(addresses: [IPAddress], port: Port, without excluded: Set<IPAddress> = []) {
        self.port = port
        left = excluded.isEmpty ? addresses : addresses.filter { !excluded.contains($0) }
    }

    /// Where to connect next; nil when every address is out.
    package var route: Route? { Route(addresses: left, port: port) }

    /// Takes an address out; false when it was not in.
    package mutating func exclude(_ address: IPAddress) -> Bool {
        guard let at = left.firstIndex(of: address) else { return false }
        left.remove(at: at)
        return true
    }
}
