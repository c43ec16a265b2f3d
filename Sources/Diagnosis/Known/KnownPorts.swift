public import HTTPDNSNames

/// Public resolvers that do plain DNS on a second port, too: who takes what goes to port 53 does mostly
/// not know it.
public enum KnownPorts {
    /// The other places of a server; empty for all but a few, and for one that is not asked on port 53.
    public static func besides(_ server: Endpoint) -> [Endpoint] {
        guard server.port == .dns, let number = ports[server.address.description],
            let port = Port(number)
        else { return [] }
        return [Endpoint(address: server.address, port: port)]
    }

    /// Source: AdguardTeam/AdGuardHome issue 170 (AdGuard and OpenDNS: 5353), ameshkov/dnslookup issue
    /// 57 (Quad9: 9953), both read in November 2026; Yandex as configurations of GoodbyeDPI and dnsmasq
    /// have it in use (1253).
    private static let ports: [String: UInt16] = [
        "208.67.222.222": 5_353, "208.67.220.220": 5_353,
        "9.9.9.9": 9_953, "149.112.112.112": 9_953,
        "94.140.14.14": 5_353, "94.140.15.15": 5_353,
        "77.88.8.8": 1_253, "77.88.8.1": 1_253,
    ]
}
