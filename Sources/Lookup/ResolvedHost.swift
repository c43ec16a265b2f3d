public import HTTPDNSNames
public import HTTPDNSWire

/// The addresses of a host, and everything about where they came from.
public struct ResolvedHost: Sendable, Hashable {
    /// The host asked for.
    public let host: Host
    /// IPv6 and IPv4 in turn, IPv6 first, each family in the order received; never empty.
    /// Source: RFC 8305 §4.
    public private(set) var addresses: [IPAddress]
    /// The alias chain, where there is one.
    public let aliases: [WireName]
    /// Seconds the addresses may still be used: the smallest over the families.
    public let ttlSeconds: UInt32
    /// True when all addresses came from the cache.
    public let isCached: Bool
    /// True when an address's life is over and a new answer is being asked for.
    public let isStale: Bool
    /// Those addresses that were made for a network without IPv4. Source: RFC 6052.
    public private(set) var synthesised: [IPAddress] = []
    /// Who said so.
    public let source: Testimony.Source
    /// Sources that gave nothing usable before.
    public let attempts: [LookupAttempt]
    /// Which source of the resolver's chain it was, from 1; nil where the chain was not asked: a table,
    /// a rule, a literal.
    public private(set) var step: Int?

    /// An address that needs no lookup.
    package init(literal address: IPAddress) {
        self.init(
            host: .address(address), literals: [address])
    }

    /// Addresses that the standards fix, such as those of `localhost`.
    package init(host: Host, literals: [IPAddress]) {
        self.init(host: host, given: literals, by: "literal")
    }

    /// Addresses that were given without asking, by whom the label says.
    package init(host: Host, given literals: [IPAddress], by label: String) {
        self.host = host
        addresses = literals
        aliases = []
        ttlSeconds = AnswerLife.maximumSeconds
        isCached = false
        isStale = false
        source = Testimony.Source(resolver: label, transport: .literal, tries: 0)
        attempts = []
    }

    /// Joins the answers of the families that were gathered.
    ///
    /// - Throws: ``ResolutionFailure`` when no family gave an address.
    package init(
        host: HostName, outcomes: [IPAddress.Family: AddressGathering.Outcome]
    ) throws(ResolutionFailure) {
        let ordered = [IPAddress.Family.ipv6, .ipv4].compactMap { outcomes[$0] }
        let answers = ordered.compactMap { try? $0.get() }
        let usable = answers.filter { !$0.addresses.isEmpty }
        guard let last = usable.last else {
            throw ResolvedHost.failure(ordered, answers: answers)
        }
        self.host = .name(host)
        addresses = ResolvedHost.interleaved(usable.map(\.addresses))
        aliases = last.aliases
        ttlSeconds = usable.map(\.ttlSeconds).min() ?? 0
        isCached = usable.allSatisfy(\.isCached)
        isStale = usable.contains(where: \.isStale)
        source = last.testimony.source
        attempts = ordered.flatMap { outcome -> [LookupAttempt] in
            switch outcome {
            case .success(let answer): answer.attempts
            case .failure(let failure): failure.attempts
            }
        }
    }

    /// The same with its addresses in another order, or with made ones among them.
    package func replacing(addresses: [IPAddress], synthesised: [IPAddress]) -> ResolvedHost {
        var other = self
        other.addresses = addresses
        other.synthesised = synthesised
        return other
    }

    /// The same with its place in the chain.
    package func placed(at step: Int?) -> ResolvedHost {
        var other = self
        other.step = source.transport == .hosts || source.transport == .literal ? nil : step
        return other
    }

    private static func failure(
        _ outcomes: [AddressGathering.Outcome], answers: [LookupAnswer]
    ) -> ResolutionFailure {
        if let denied = answers.first(where: { $0.outcome == .noSuchName }) {
            return .negative(denied)
        }
        for case .failure(let failure) in outcomes.reversed() { return .failed(failure) }
        guard let empty = answers.last else { return .failed(.cancelled) }
        return .negative(empty)
    }

    /// One of each list in turn.
    package static func interleaved(_ lists: [[IPAddress]]) -> [IPAddress] {
        var joined: [IPAddress] = []
        var seen: Set<IPAddress> = []
        for position in 0..<(lists.map(\.count).max() ?? 0) {
            for list in lists where position < list.count {
                if seen.insert(list[position]).inserted { joined.append(list[position]) }
            }
        }
        return joined
    }
}

/// Why a host has no addresses.
public enum ResolutionFailure: Error, Sendable, Hashable {
    /// A source answered: no such name, no address of that family, or a server failure.
    case negative(LookupAnswer)
    /// No source answered.
    case failed(LookupFailure)

    /// Nobody has said that the host has no address: another source might know.
    package var leavesTheHostOpen: Bool {
        switch self {
        case .negative(let answer):
            if case .serverFailure = answer.outcome { true } else { false }
        case .failed(.cancelled): false
        case .failed: true
        }
    }

    /// A bounded label, safe in metrics and JSON.
    public var label: String {
        switch self {
        case .negative(let answer):
            switch answer.outcome {
            case .noSuchName: "no_such_name"
            case .noData, .records: "no_data"
            case .serverFailure: "server_failure"
            }
        case .failed(let failure): failure.label
        }
    }
}

extension ResolutionFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .negative(let answer):
            "\(answer.testimony.question.name): \(ResolutionFailure.word(answer)) "
                + "(said by \(answer.testimony.source.resolver))"
        case .failed(let failure): failure.description
        }
    }

    private static func word(_ answer: LookupAnswer) -> String {
        switch answer.outcome {
        case .noSuchName: "no such name (NXDOMAIN)"
        case .noData, .records: "the name has no address (no data)"
        case .serverFailure(let code): "the server failed (\(code.name))"
        }
    }
}
