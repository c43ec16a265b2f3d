public import HTTPDNSNames
public import HTTPDNSWire

/// Names and what they stand for: the truth, or a lie, that the laboratory's resolvers tell.
public struct LabTable: Sendable, Hashable {
    /// What one name stands for.
    public struct Entry: Sendable, Hashable {
        /// IPv4 and IPv6 addresses, in the order they are told.
        public var addresses: [IPAddress]
        /// The TTL of each record.
        public var ttlSeconds: UInt32
        /// The name this is an alias of; its addresses are told too.
        public var alias: HostName?
        /// What is told instead of addresses, unless it is `noError`.
        public var code: ResponseCode
        /// The vendor's extra text, as HTTP-DNS services tell it; nil for none.
        public var extra: String?
        /// Other addresses for clients of these subnets; of several that fit, the longest prefix.
        public var bySubnet: [AddressBlock: [IPAddress]]

        /// An entry; an alias needs no addresses of its own.
        public init(
            _ addresses: [IPAddress] = [], ttlSeconds: UInt32 = 60, alias: HostName? = nil
        ) {
            self.addresses = addresses
            self.ttlSeconds = ttlSeconds
            self.alias = alias
            code = .noError
            extra = nil
            bySubnet = [:]
        }
    }

    /// The entries; a name in none of them does not exist.
    public var entries: [HostName: Entry]
    /// What every other name stands for; nil: it does not exist.
    public var otherwise: Entry?

    /// A table of these names.
    public init(_ entries: [HostName: Entry] = [:]) { self.entries = entries }

    /// A table of one name.
    public init(_ name: HostName, _ addresses: [IPAddress], ttlSeconds: UInt32 = 60) {
        entries = [name: Entry(addresses, ttlSeconds: ttlSeconds)]
    }

    /// The answer to a DNS question: records with their aliases, no data with an SOA, or NXDOMAIN
    /// with an SOA.
    public func answer(_ question: LabQuestion) -> LabAnswer {
        guard let name = question.name.hostName, let entry = entries[name] ?? otherwise,
            entry.code != .noSuchName
        else { return question.noSuchName() }
        guard entry.code == .noError else { return LabAnswer(code: entry.code) }
        guard let alias = entry.alias else {
            return question.answer(entry.addresses, ttlSeconds: entry.ttlSeconds)
        }
        let link = ResourceRecord(
            name: question.name, type: .cname, ttlSeconds: entry.ttlSeconds,
            data: .name(WireName(alias)))
        let target = LabQuestion(
            name: WireName(alias), type: question.type, isTCP: question.isTCP)
        // An alias of an alias ends here: a table holds no chain, so it holds no loop.
        var answer = entries[alias].map {
            target.answer($0.addresses, ttlSeconds: $0.ttlSeconds)
        }
        answer?.answers.insert(link, at: 0)
        return answer ?? LabAnswer(code: .noSuchName, answers: [link])
    }

    /// The addresses of a family and their TTL, aliases followed; nil for a name not in the table.
    func lookup(_ name: String, _ type: RecordType) -> (addresses: [IPAddress], ttl: UInt32)? {
        guard let host = try? HostName(name), let entry = entries[host] ?? otherwise else {
            return nil
        }
        let target = entry.alias.flatMap { entries[$0] } ?? entry
        let family: IPAddress.Family = type == .aaaa ? .ipv6 : .ipv4
        return (
            target.addresses.filter { $0.family == family },
            min(entry.ttlSeconds, target.ttlSeconds)
        )
    }

    /// The table as a client of that address sees it: ``Entry/bySubnet`` applied.
    func seen(from client: IPAddress) -> LabTable {
        mapped { entry in
            let fitting = entry.bySubnet.filter { $0.key.contains(client) }
            guard let nearest = fitting.max(by: { $0.key.prefixBits < $1.key.prefixBits }) else {
                return entry
            }
            var entry = entry
            entry.addresses = nearest.value
            return entry
        }
    }

    /// Each entry changed, the one for other names too.
    func mapped(_ change: (Entry) -> Entry) -> LabTable {
        var table = LabTable(entries.mapValues(change))
        table.otherwise = otherwise.map(change)
        return table
    }
}
