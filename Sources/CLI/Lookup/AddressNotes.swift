internal import HTTPDNSLookup
package import HTTPDNSNames

/// What a person should know about an answer, besides the answer. Pure.
package enum AddressNotes {
    /// For each address that cannot be right for a public name: why.
    package static func impossible(_ addresses: [IPAddress], for name: HostName) -> [String] {
        guard name.isPublic else { return [] }
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

    /// What kind of address it is, where no public host can have it.
    private static func reserved(_ address: IPAddress) -> String? {
        address.isMapped ? "an IPv4 address in IPv6 form" : SpecialAddress.kind(of: address)
    }
}

extension IPAddress {
    /// Source: RFC 4291 §2.5.5.2.
    fileprivate var isMapped: Bool { family == .ipv6 && high == 0 && low >> 32 == 0xFFFF }
}
