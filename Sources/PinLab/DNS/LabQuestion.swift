public import HTTPDNSNames
public import HTTPDNSWire

/// What a ``LabDNSServer`` is asked.
public struct LabQuestion: Sendable, Hashable {
    /// The name, in the case it came in.
    public let name: WireName
    /// The record type.
    public let type: RecordType
    /// True over TCP and DNS over HTTPS, where nothing is truncated.
    public let isTCP: Bool

    /// A question of class IN.
    public init(name: WireName, type: RecordType, isTCP: Bool) {
        self.name = name
        self.type = type
        self.isTCP = isTCP
    }

    /// The name in lower case without a trailing dot.
    public var text: String { name.description.lowercased() }

    /// An answer with those of the addresses that the type asks for; none of them is an answer
    /// without data, with an SOA.
    public func answer(_ addresses: [IPAddress], ttlSeconds: UInt32 = 60) -> LabAnswer {
        var records: [ResourceRecord] = []
        for address in addresses where LabQuestion.type(of: address) == type {
            records.append(
                ResourceRecord(
                    name: name, type: type, ttlSeconds: ttlSeconds, data: .address(address)))
        }
        return records.isEmpty
            ? LabAnswer(authorities: [startOfAuthority()]) : LabAnswer(answers: records)
    }

    /// NXDOMAIN with an SOA. Source: RFC 2308 §2.1.
    public func noSuchName(minimumSeconds: UInt32 = 30) -> LabAnswer {
        LabAnswer(
            code: .noSuchName, authorities: [startOfAuthority(minimumSeconds: minimumSeconds)])
    }

    /// The SOA of the name's parent. The negative TTL is the smaller of the record's TTL and its
    /// minimum; both are `minimumSeconds` here. Source: RFC 2308 §5.
    public func startOfAuthority(minimumSeconds: UInt32 = 30) -> ResourceRecord {
        let zone = WireName(labels: Array(name.labels.dropFirst())) ?? .root
        let authority = StartOfAuthority(
            primary: zone, mailbox: zone, serial: 1, refreshSeconds: 3_600, retrySeconds: 600,
            expireSeconds: 86_400, minimumSeconds: minimumSeconds)
        return ResourceRecord(
            name: zone, type: .soa, ttlSeconds: minimumSeconds, data: .soa(authority))
    }

    private static func type(of address: IPAddress) -> RecordType {
        switch address.family {
        case .ipv4: .a
        case .ipv6: .aaaa
        }
    }
}

/// What a ``LabDNSServer`` does about one question.
public struct LabAnswer: Sendable, Hashable {
    /// What happens instead of, or besides, the answer.
    public enum Conduct: Sendable, Hashable {
        /// Sends the answer.
        case answers
        /// Stays silent.
        case drops
        /// Closes a TCP connection without an answer; silent over UDP.
        case hangsUp
        /// Over UDP sends an empty answer with TC set, over TCP the whole one.
        case truncates
        /// Sends the answer under another message number.
        case mistakesNumber
        /// Sends the answer to another question.
        case mistakesQuestion
        /// Sends these octets instead.
        case writes([UInt8])
        /// Sends these records first, as an attacker who is nearer does, then the answer.
        case forgesFirst([ResourceRecord])
    }

    /// The response code.
    public var code: ResponseCode
    /// The answer section.
    public var answers: [ResourceRecord]
    /// The authority section.
    public var authorities: [ResourceRecord]
    /// What happens besides.
    public var conduct: Conduct
    /// How long the answer takes.
    public var delayMilliseconds: Int64
    /// The code of an extended error that it carries, for clients that speak EDNS; nil: none.
    /// Source: RFC 8914 §4.
    public var extendedError: UInt16?

    /// An answer without faults.
    public init(
        code: ResponseCode = .noError, answers: [ResourceRecord] = [],
        authorities: [ResourceRecord] = []
    ) {
        self.code = code
        self.answers = answers
        self.authorities = authorities
        conduct = .answers
        delayMilliseconds = 0
    }

    /// No answer.
    public static let drop = LabAnswer().conducting(.drops)
    /// SERVFAIL.
    public static let serverFailure = LabAnswer(code: .serverFailure)
    /// REFUSED.
    public static let refused = LabAnswer(code: .refused)

    /// The same with another conduct.
    public func conducting(_ conduct: Conduct) -> LabAnswer {
        var copy = self
        copy.conduct = conduct
        return copy
    }

    /// The same after a delay.
    public func delayed(milliseconds: Int64) -> LabAnswer {
        var copy = self
        copy.delayMilliseconds = milliseconds
        return copy
    }
}
