package import HTTPDNSNames

/// What a person should know about an answer, besides the answer. Pure.
package enum AddressNotes {
    /// For each address that cannot be right for a public name: why.
    package static func impossible(_ addresses: [IPAddress], for name: HostName) -> [String] {
        guard isPublic(name) else { return [] }
        return addresses.compactMap { address in
            reserved(address).map {
                "note: \(address) is \($0): it cannot be right for a public name such as \(name)"
            }
        }
    }

    /// When the hosts file has the name and another source was asked.
    package static func hosts(
        _ table: [HostName: [IPAddress]], has name: HostName, asked source: String
    ) -> String? {
        guard let addresses = table[name] else { return nil }
        let list = addresses.map(\.description).joined(separator: ", ")
        return "note: /etc/hosts has \(list) for \(name); programs that ask the system get that, "
            + "here \(source) was asked"
    }

    /// A name of the public tree: of two labels or more, under no domain that is set aside.
    ///
    /// Source: IANA "Special-Use Domain Names"; ICANN resolutions 2018-02-04 (corp, home, mail) and
    /// 2024-07-29 (internal); `lan` and `intranet` by habit.
    private static func isPublic(_ name: HostName) -> Bool {
        guard name.labels.count > 1, let last = name.labels.last else { return false }
        return !aside.contains(String(last)) && !name.text.hasSuffix(".home.arpa")
    }

    private static let aside: Set<String> = [
        "test", "local", "localhost", "invalid", "example", "onion", "internal", "corp", "home",
        "mail", "lan", "intranet", "alt", "arpa",
    ]

    /// What kind of address it is, where no public host can have it.
    ///
    /// Source: IANA "IPv4 Special-Purpose Address Registry" and its IPv6 counterpart.
    private static func reserved(_ address: IPAddress) -> String? {
        let octets = address.octets
        switch address.family {
        case .ipv4: return reservedIPv4(octets[0], octets[1], octets[2])
        case .ipv6:
            if octets.dropLast().allSatisfy({ $0 == 0 }) {
                return octets[15] == 1 ? "loopback" : octets[15] == 0 ? "the null address" : nil
            }
            switch (octets[0], octets[1]) {
            case (0xFC...0xFD, _): return "private (unique local)"
            case (0xFE, 0x80...0xBF): return "link-local"
            case (0xFF, _): return "multicast"
            case (0x20, 0x01) where octets[2] == 0x0D && octets[3] == 0xB8:
                return "for documentation"
            case (0, 0) where octets[2..<10].allSatisfy({ $0 == 0 }) && octets[10] == 0xFF:
                return "an IPv4 address in IPv6 form"
            default: return nil
            }
        }
    }

    private static func reservedIPv4(_ a: UInt8, _ b: UInt8, _ c: UInt8) -> String? {
        switch (a, b, c) {
        case (0, _, _): "the null address"
        case (10, _, _), (172, 16...31, _), (192, 168, _): "private"
        case (100, 64...127, _): "a carrier's own (RFC 6598)"
        case (127, _, _): "loopback"
        case (169, 254, _): "link-local"
        case (192, 0, 2), (198, 51, 100), (203, 0, 113): "for documentation"
        case (198, 18...19, _): "for benchmarks"
        case (224...239, _, _): "multicast"
        case (240...255, _, _): "reserved"
        default: nil
        }
    }
}
