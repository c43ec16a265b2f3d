internal import HTTPDNSLookup
public import HTTPDNSNames

/// What an address is known to be, whoever gives it.
public enum AddressMeaning: Sendable, Hashable {
    /// 0.0.0.0 and ::, by which a filter says "nowhere".
    case null
    /// 127.0.0.0/8 and ::1.
    case loopback
    /// Of a network of its own: RFC 1918, RFC 6598, RFC 4193.
    case ownNetwork
    /// 198.18.0.0/15, which local proxies hand out in place of the real addresses.
    case proxy
    /// What a filter or a censor is known to give; the text says which.
    case sinkhole(String)
    /// No host can be there: for documentation, link-local, multicast, reserved.
    case impossible(String)
}

extension AddressMeaning {
    /// Nil for an address that says nothing by itself.
    public init?(of address: IPAddress) {
        let inner = SpecialAddress.embedded(in: address) ?? address
        if let name = AddressMeaning.sinkholes[inner.description] {
            self = .sinkhole(name)
            return
        }
        guard let kind = SpecialAddress.kind(of: address) else { return nil }
        self.init(kind: kind)
    }

    private init(kind: String) {
        let word = kind.split(separator: ",").first.map { String($0) } ?? kind
        switch word {
        case "the null address": self = .null
        case "loopback": self = .loopback
        case "for benchmarks": self = .proxy
        case "a carrier's own (RFC 6598)": self = .ownNetwork
        case let word where word.hasPrefix("private"): self = .ownNetwork
        default: self = .impossible(kind)
        }
    }

    /// Whether a connection there could reach anything.
    public var canBeDialled: Bool {
        switch self {
        case .null, .impossible: false
        case .loopback, .ownNetwork, .proxy, .sinkhole: true
        }
    }

    /// Whether what is there is this machine's or its network's own, and no public server.
    public var isInternal: Bool {
        switch self {
        case .loopback, .ownNetwork: true
        case .null, .proxy, .sinkhole, .impossible: false
        }
    }

    /// For a sentence: "… is" this.
    public var words: String {
        switch self {
        case .null: "the null address, which means nowhere"
        case .loopback: "this machine itself"
        case .ownNetwork: "of a private network"
        case .proxy: "what local proxies hand out (198.18.0.0/15)"
        case .sinkhole(let whose): "known as a sinkhole: \(whose)"
        case .impossible(let kind): kind
        }
    }

    /// Addresses that stand for "blocked".
    ///
    /// Source: OpenDNS, "What are the Cisco Umbrella block page IP addresses" (146.112.61.104 to 110);
    /// Fortinet, FortiGuard DNS filter, redirect portal (208.91.112.55); Aryan et al., "Internet
    /// Censorship in Iran", FOCI 2013 (10.10.34.34 to 36); "Towards a Comprehensive Picture of the
    /// Great Firewall's DNS Censorship", FOCI 2014 (the rest).
    private static let sinkholes: [String: String] = {
        var table: [String: String] = ["208.91.112.55": "FortiGuard's block page"]
        for last in 104...110 { table["146.112.61.\(last)"] = "Cisco Umbrella's block page" }
        for last in 34...36 { table["10.10.34.\(last)"] = "the block page of Iran's networks" }
        for address in [
            "8.7.198.45", "37.61.54.158", "46.82.174.68", "59.24.3.173", "78.16.49.15",
            "93.46.8.89", "159.106.121.75", "203.98.7.65", "243.185.187.39",
        ] { table[address] = "given by the filters of mainland China" }
        return table
    }()
}
