internal import CHTTPDNSSystem
package import HTTPDNSNames

/// Where a proxy listens, and which addresses lead there.
struct OwnPlace: Sendable {
    let endpoint: Endpoint
    /// Whether an address is one of this machine. Asked for a proxy that listens on all of them.
    var isOfThisMachine: @Sendable (IPAddress) -> Bool = { address in
        let octets = address.octets
        return httpdns_address_is_own(octets, octets.count) == 1
    }

    init(_ endpoint: Endpoint) { self.endpoint = endpoint }

    /// Who connects there has the proxy itself.
    ///
    /// - The null address connects to loopback. Source: RFC 1122 §3.2.1.3 (a); Linux's `ip(7)`.
    /// - A listener on `::` hears IPv4, too. Source: RFC 3493 §5.3.
    func isReached(by address: IPAddress, _ port: Port) -> Bool {
        guard port == endpoint.port else { return false }
        let target = address.withoutMapping
        let own = endpoint.address.withoutMapping
        if target == own { return true }
        guard own.isNull else { return target.isNull && own == target.loopbackOfFamily }
        guard own.family == .ipv6 || target.family == .ipv4 else { return false }
        return target.isNull || target.isLoopback || isOfThisMachine(target)
    }

    /// Where programs of this machine find it: nobody connects to the null address on purpose.
    var nearby: Endpoint { Endpoint(address: endpoint.address.nearby, port: endpoint.port) }
}

extension IPAddress {
    /// `0.0.0.0` or `::`.
    package var isNull: Bool { high == 0 && low == 0 }

    /// Loopback in place of the null address.
    package var nearby: IPAddress { isNull ? loopbackOfFamily : self }

    /// The IPv4 address that an IPv6 address holds, for connecting the same.
    /// Source: RFC 4291 §2.5.5.2.
    fileprivate var withoutMapping: IPAddress {
        guard family == .ipv6, high == 0, low >> 32 == 0xFFFF else { return self }
        return IPAddress(family: .ipv4, high: 0, low: low & 0xFFFF_FFFF)
    }

    fileprivate var loopbackOfFamily: IPAddress {
        IPAddress(family: family, high: 0, low: family == .ipv4 ? 0x7F00_0001 : 1)
    }
}
