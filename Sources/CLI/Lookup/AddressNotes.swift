internal import HTTPDNSLookup
package import HTTPDNSNames

/// What a person should know about an answer, besides the answer. Pure.
package enum AddressNotes {
    /// The addresses that cannot be right for a public name, and why: one line for all.
    package static func impossible(_ addresses: [IPAddress], for name: HostName) -> String? {
        guard name.isPublic else { return nil }
        let found = addresses.compactMap { address in
            reserved(address).map { "\(address) is \($0)" }
        }
        guard let first = found.first else { return nil }
        let tail = "cannot be right for a public name such as \(name)"
        guard found.count > 1 else { return "note: \(first): it \(tail)" }
        let list = found.prefix(shown).joined(separator: ", ")
        let more = found.count > shown ? " and \(found.count - shown) more" : ""
        return "note: \(list)\(more): they \(tail)"
    }

    /// Because: they tell what kind of thing is wrong, and the table above has all.
    private static let shown = 5

    /// For each answer with a TTL that no TTL can be. Source: RFC 2181 §8.
    package static func excessiveTTLs(_ report: LookupReport) -> [String] {
        let sent = report.answered.compactMap(\.testimony.excessiveTTLSeconds)
        return Set(sent).sorted().map {
            "note: a TTL of \($0) was sent, which is out of range (above 2147483647) and counts as 0 "
                + "(RFC 2181, section 8)"
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
