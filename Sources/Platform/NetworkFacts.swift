package import HTTPDNSNames

/// What tells one network from another: the ways out of it, our places in it, and its name servers.
///
/// Home routers give their networks the same few addresses, so that the gateway's own hardware address
/// tells them apart, once the kernel has learnt it. It is kept as a mark that many addresses share,
/// never as it is: it would tell where a device has been.
package struct NetworkFacts: Sendable, Hashable {
    /// A route for all addresses of a family.
    package struct DefaultRoute: Sendable, Hashable {
        package let family: IPAddress.Family
        /// Nil for a link without a gateway: a tunnel, a modem.
        package let gateway: IPAddress?
        package let interface: UInt32

        package init(family: IPAddress.Family, gateway: IPAddress?, interface: UInt32) {
            self.family = family
            self.gateway = gateway
            self.interface = interface
        }
    }

    package var defaultRoutes: Set<DefaultRoute> = []
    /// Of our global addresses; the addresses themselves change within one network (RFC 8981).
    package var prefixes: Set<AddressBlock> = []
    package var nameServers: [Endpoint] = []
    /// What the gateways of ``defaultRoutes`` are known by, as far as they are.
    package var gatewayMarks: [DefaultRoute: UInt32] = [:]

    package init() {}

    /// False when something is different; a gateway that one of them does not know yet is not.
    package func isSameNetwork(as other: NetworkFacts) -> Bool {
        defaultRoutes == other.defaultRoutes && prefixes == other.prefixes
            && nameServers == other.nameServers
            && gatewayMarks.allSatisfy { other.gatewayMarks[$0.key] ?? $0.value == $0.value }
    }

    /// Takes over what was known before of gateways that are unknown now.
    package mutating func recallGateways(of earlier: NetworkFacts) {
        for (route, mark) in earlier.gatewayMarks where defaultRoutes.contains(route) {
            if gatewayMarks[route] == nil { gatewayMarks[route] = mark }
        }
    }

    package var id: NetworkID { NetworkID(self) }
}

/// Names a network on this machine while it runs: equal when nothing that matters has changed.
package struct NetworkID: Sendable, Hashable, CustomStringConvertible {
    /// One fact a line, sorted; for people and logs.
    package let lines: [String]

    package init(_ facts: NetworkFacts) {
        let routes = facts.defaultRoutes.map { route in
            "default \(route.family == .ipv4 ? "IPv4" : "IPv6") via "
                + "\(route.gateway.map { "\($0)" } ?? "link") on \(route.interface)"
                + (facts.gatewayMarks[route].map { " marked \($0)" } ?? "")
        }
        let prefixes = facts.prefixes.map { "address in \($0)" }
        // Their order says whom the system asks first.
        let servers = facts.nameServers.map { "name server \($0)" }
        lines = routes.sorted() + prefixes.sorted() + servers
    }

    /// Nothing to reach anything by.
    package var isOffline: Bool { !lines.contains { $0.hasPrefix("default ") } }

    package var description: String { lines.joined(separator: "; ") }
}

/// Reads rtnetlink messages as if a stranger had sent them. Source: rtnetlink(7), netlink(7).
package enum NetlinkMessages {
    /// What the messages of a dump told.
    package struct Reading: Sendable, Hashable {
        package var isDone = false
        /// A length that does not fit: the rest was not read.
        package var isDamaged = false
        /// Something about links, addresses or routes was among them.
        package var tellsOfChange = false
    }

    /// Adds to `facts` what the messages of one datagram say.
    package static func read(_ octets: [UInt8], into facts: inout NetworkFacts) -> Reading {
        var reading = Reading()
        var at = 0
        while octets.count - at >= headOctets {
            let length = Int(uint32(octets, at))
            guard length >= headOctets, length <= octets.count - at else {
                reading.isDamaged = true
                return reading
            }
            let body = octets[(at + headOctets)..<(at + length)]
            switch uint16(octets, at + 4) {
            case error, done: reading.isDone = true
            case newAddress:
                reading.tellsOfChange = true
                if let block = prefix(Array(body)) { facts.prefixes.insert(block) }
            case newRoute:
                reading.tellsOfChange = true
                if let route = defaultRoute(Array(body)) { facts.defaultRoutes.insert(route) }
            case newNeighbour: note(neighbour: Array(body), in: &facts)
            case 16...31: reading.tellsOfChange = true  // RTM_NEWLINK ... RTM_GETNEIGH
            default: break
            }
            // Source: NLMSG_ALIGN: the next one begins at a multiple of four.
            at += min((length + 3) & ~3, octets.count - at)
        }
        reading.isDamaged = at < octets.count
        return reading
    }

    // Source: linux/netlink.h, linux/rtnetlink.h.
    private static let headOctets = 16
    private static let error: UInt16 = 2
    private static let done: UInt16 = 3
    private static let newAddress: UInt16 = 20
    private static let newRoute: UInt16 = 24
    private static let newNeighbour: UInt16 = 28

    /// The body of RTM_NEWADDR: family, prefix length, flags, scope, interface; then attributes.
    private static func prefix(_ body: [UInt8]) -> AddressBlock? {
        // Scope 0 is the whole world: what holds on this link or machine alone says nothing.
        guard body.count >= 8, body[3] == 0 else { return nil }
        let attributes = self.attributes(body, from: 8)
        // IFA_LOCAL (2) is ours; IFA_ADDRESS (1) may be the other end of a tunnel.
        guard let address = (attributes[2] ?? attributes[1]).flatMap({ IPAddress(octets: $0) }),
            isOf(address, body[0]), !address.isLoopback
        else { return nil }
        return AddressBlock(address, prefixBits: Int(body[1]))
    }

    /// The body of RTM_NEWROUTE: family, prefix lengths, TOS, table, protocol, scope, type, flags.
    private static func defaultRoute(_ body: [UInt8]) -> NetworkFacts.DefaultRoute? {
        // RTN_UNICAST (1): a route that forbids or swallows leads nowhere.
        guard body.count >= 12, body[1] == 0, body[7] == 1, body[0] == 2 || body[0] == 10
        else { return nil }
        let attributes = self.attributes(body, from: 12)
        // RTA_GATEWAY (5), RTA_OIF (4).
        let gateway = attributes[5].flatMap { IPAddress(octets: $0) }
        let interface = attributes[4].map { $0.count == 4 ? uint32($0, 0) : 0 } ?? 0
        return NetworkFacts.DefaultRoute(
            family: body[0] == 2 ? .ipv4 : .ipv6, gateway: gateway, interface: interface)
    }

    /// The body of RTM_NEWNEIGH: family, padding, interface, state, flags, type. Only gateways of routes
    /// that are known already are of interest.
    private static func note(neighbour body: [UInt8], in facts: inout NetworkFacts) {
        // NUD_REACHABLE, STALE, DELAY, PROBE, PERMANENT: the others have no address, or a wrong one.
        // Source: linux/neighbour.h.
        guard body.count >= 12, uint16(body, 8) & (0x02 | 0x04 | 0x08 | 0x10 | 0x80) != 0 else {
            return
        }
        // NDA_DST (1), NDA_LLADDR (2).
        let attributes = self.attributes(body, from: 12)
        guard let address = attributes[1].flatMap({ IPAddress(octets: $0) }),
            isOf(address, body[0]), let hardware = attributes[2],
            hardware.contains(where: { $0 != 0 })
        else { return }
        let interface = uint32(body, 4)
        for route in facts.defaultRoutes
        where route.gateway == address && route.interface == interface {
            facts.gatewayMarks[route] = mark(hardware)
        }
    }

    /// 32 bits of FNV-1a: two gateways share one once in four thousand million, and 65,536 hardware
    /// addresses share each. Source: FNV-1a of Fowler, Noll and Vo.
    private static func mark(_ octets: [UInt8]) -> UInt32 {
        octets.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    private static func isOf(_ address: IPAddress, _ family: UInt8) -> Bool {
        // AF_INET, AF_INET6. Source: bits/socket.h.
        family == (address.family == .ipv4 ? 2 : 10)
    }

    /// Type and value of each attribute; of several of one type the first counts.
    private static func attributes(_ body: [UInt8], from start: Int) -> [UInt16: [UInt8]] {
        var found: [UInt16: [UInt8]] = [:]
        var at = start
        while body.count - at >= 4 {
            let length = Int(uint16(body, at))
            guard length >= 4, length <= body.count - at else { return found }
            // The two highest bits are flags. Source: NLA_TYPE_MASK.
            let type = uint16(body, at + 2) & 0x3FFF
            if found[type] == nil { found[type] = Array(body[(at + 4)..<(at + length)]) }
            at += min((length + 3) & ~3, body.count - at)
        }
        return found
    }

    // In the order of this machine's octets. The callers have checked the bounds.
    private static func uint16(_ octets: [UInt8], _ at: Int) -> UInt16 {
        native(UInt16(octets[at]) | UInt16(octets[at + 1]) << 8)
    }

    private static func uint32(_ octets: [UInt8], _ at: Int) -> UInt32 {
        let low = UInt32(octets[at]) | UInt32(octets[at + 1]) << 8
        return native(low | UInt32(octets[at + 2]) << 16 | UInt32(octets[at + 3]) << 24)
    }

    /// A number put together with the first octet lowest, as this machine means the same octets.
    private static func native<Number: FixedWidthInteger>(_ number: Number) -> Number {
        Number(littleEndian: number)
    }
}
