import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSWire

/// The truth: what every name of the soak stands for, computed from its number.
///
/// An answer of a plain server carries, beside the truth, the moment it was made at as an address, so
/// that whoever is told it can say how old it is.
///
/// The names are public ones, for which the address policy counts; nobody but the soak's own servers is
/// asked about them.
enum SoakZone {
    static let count = 3_000
    /// The most popular names first.
    static let hosts: [HostName] = (0..<count).compactMap { try? HostName("n\($0).example.com") }
    /// Names that only the bypass may be asked for.
    static let inner: [HostName] = (0..<20).compactMap {
        try? HostName("c\($0).corp.example.com")
    }
    static let innerSuffix = ".corp.example.com"
    static let canary = "canary.example.com"
    static let canaryAddress = IPAddress(family: .ipv4, high: 0, low: 20 << 24 | 0xFF_FFFF)

    private static let lives: [UInt32] = [1, 2, 3, 5, 8, 13, 30]

    /// The number that a name carries; nil for names of others.
    static func number(of text: some StringProtocol) -> Int? {
        guard let first = text.first, first == "n" || first == "c" else { return nil }
        return Int(text.dropFirst().prefix { $0.isNumber })
    }

    static func exists(_ number: Int) -> Bool { number % 20 != 19 }

    static func lifeSeconds(_ number: Int) -> UInt32 { lives[number % lives.count] }

    static func address(_ number: Int, _ family: IPAddress.Family) -> IPAddress? {
        guard exists(number) else { return nil }
        switch family {
        case .ipv4: return IPAddress(family: .ipv4, high: 0, low: 20 << 24 | UInt64(number))
        case .ipv6:
            guard number % 20 != 18 else { return nil }
            return IPAddress(family: .ipv6, high: 0x2600 << 48, low: UInt64(number))
        }
    }

    static func addresses(_ number: Int) -> [IPAddress] {
        [address(number, .ipv4), address(number, .ipv6)].compactMap { $0 }
    }

    // MARK: Stamps and lies

    /// A moment as an address of either family, in tenths of a second since the start.
    static func stamps(_ tenths: Int64) -> [IPAddress] {
        let low = UInt64(tenths) & 0xFF_FFFF
        return [
            IPAddress(family: .ipv4, high: 0, low: 11 << 24 | low),
            IPAddress(family: .ipv6, high: 0x2601 << 48, low: low),
        ]
    }

    static func tenths(_ address: IPAddress) -> Int64? {
        switch address.family {
        case .ipv4: address.low >> 24 == 11 ? Int64(address.low & 0xFF_FFFF) : nil
        case .ipv6: address.high == 0x2601 << 48 ? Int64(address.low) : nil
        }
    }

    /// What liars tell: addresses that a public host could have.
    static let lies = [
        IPAddress(family: .ipv4, high: 0, low: 66 << 24 | 0x06_06_06),
        IPAddress(family: .ipv6, high: 0x2602 << 48, low: 6),
    ]

    /// Addresses that no public host can have: the policy must keep them out.
    static let impossible = [
        IPAddress(family: .ipv4, high: 0, low: 10 << 24 | 6),
        IPAddress(family: .ipv6, high: 0xFC00 << 48, low: 6),
    ]

    // MARK: As servers tell it

    static func answer(_ question: LabQuestion, stampedAt tenths: Int64) -> LabAnswer {
        guard let number = number(of: question.text), exists(number) else {
            return question.noSuchName(minimumSeconds: 5)
        }
        let wanted: IPAddress.Family = question.type == .a ? .ipv4 : .ipv6
        guard question.type == .a || question.type == .aaaa, let truth = address(number, wanted)
        else { return question.answer([]) }
        return question.answer(
            [truth] + stamps(tenths), ttlSeconds: lifeSeconds(number))
    }

    static var table: LabTable {
        var entries: [HostName: LabTable.Entry] = [:]
        for (number, host) in hosts.enumerated() where exists(number) {
            entries[host] = LabTable.Entry(
                addresses(number), ttlSeconds: lifeSeconds(number))
        }
        return LabTable(entries)
    }

    /// For a server of its own process, as lines of unbound's `server:` section.
    static var localData: String {
        var text = """
            local-zone: "example.com." static
            local-data: "example.com. 60 IN SOA ns.example.com. host.example.com. 1 3600 600 86400 5"

            """
        for number in 0..<count {
            for address in addresses(number) {
                let type = address.family == .ipv4 ? "A" : "AAAA"
                let record = "n\(number).example.com. \(lifeSeconds(number)) IN \(type) \(address)"
                text += "local-data: \"\(record)\"\n"
            }
        }
        return text
    }
}
