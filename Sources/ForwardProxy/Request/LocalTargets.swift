internal import HTTPDNSNames

/// Which hosts are this machine, or reached from it alone.
enum LocalTargets {
    /// `localhost` and names below it, loopback, unspecified and link-local addresses, also those that
    /// an IPv6 address holds. Source: RFC 6761 §6.3; RFC 6890.
    static func contains(_ host: Host) -> Bool {
        switch host {
        case .name(let name): name.text == "localhost" || name.text.hasSuffix(".localhost")
        case .address(let address): contains(address)
        }
    }

    static func contains(_ address: IPAddress) -> Bool {
        let octets = address.octets
        switch address.family {
        case .ipv4: return isLocal(ipv4: octets[...])
        case .ipv6:
            if octets.prefix(10).allSatisfy({ $0 == 0 }), octets.count == 16 {
                let isMapped = octets[10] == 0xFF && octets[11] == 0xFF
                let isCompatible = octets[10] == 0 && octets[11] == 0
                // Also :: and ::1.
                if isCompatible, octets[12] == 0 { return true }
                if isMapped || isCompatible { return isLocal(ipv4: octets[12...]) }
            }
            return octets.count == 16 && octets[0] == 0xFE && octets[1] & 0xC0 == 0x80
        }
    }

    private static func isLocal(ipv4 octets: ArraySlice<UInt8>) -> Bool {
        guard let first = octets.first, let second = octets.dropFirst().first else { return true }
        return first == 127 || first == 0 || (first == 169 && second == 254)
    }
}
