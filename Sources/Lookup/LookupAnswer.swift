public import HTTPDNSNames
public import HTTPDNSWire

/// The outcome of one question, positive or negative, with where it came from.
public struct LookupAnswer: Sendable, Hashable {
    /// What was answered.
    public let testimony: Testimony
    /// Seconds this answer may still be used: the smallest TTL of the alias chain, or the negative
    /// TTL; 0 when it must not be kept. At most ``AnswerLife/maximumSeconds``.
    public let ttlSeconds: UInt32
    /// True when it came from the cache, without asking.
    public let isCached: Bool
    /// True when the answer's life is over; a new one is being asked for. Source: RFC 8767 §4.
    public let isStale: Bool
    /// Sources that were asked before, and why each gave nothing usable.
    public let attempts: [LookupAttempt]

    public init(
        testimony: Testimony, ttlSeconds: UInt32, isCached: Bool, isStale: Bool = false,
        attempts: [LookupAttempt] = []
    ) {
        self.testimony = testimony
        self.ttlSeconds = ttlSeconds
        self.isCached = isCached
        self.isStale = isStale
        self.attempts = attempts
    }

    /// The addresses at the end of the alias chain, in the order received.
    public var addresses: [IPAddress] { AliasChain(testimony).addresses }

    /// What ``AddressPolicy`` judges: the addresses, and the hints of service bindings.
    package var everyAddress: [IPAddress] { AliasChain(testimony).everyAddress }

    /// The alias names, in chain order; the name asked for is not among them.
    public var aliases: [WireName] { AliasChain(testimony).aliases }

    /// What kind of answer this is.
    public var outcome: Outcome {
        if testimony.code == .noSuchName { return .noSuchName }
        guard testimony.code == .noError else { return .serverFailure(testimony.code) }
        return AliasChain(testimony).end.isEmpty ? .noData : .records
    }

    /// The kinds of answer.
    public enum Outcome: Sendable, Hashable {
        /// Records of the type asked for.
        case records
        /// The name exists, without records of that type. Source: RFC 2308 §2.2.
        case noData
        /// NXDOMAIN. Source: RFC 2308 §2.1.
        case noSuchName
        /// SERVFAIL, REFUSED and the like: the server answered, with a failure.
        case serverFailure(ResponseCode)
    }
}

/// One source that gave nothing usable.
public struct LookupAttempt: Sendable, Hashable {
    /// The back-end's label.
    public let resolver: String
    public let reason: Reason
    /// From the asking to the outcome; 0 where nothing was asked.
    public let milliseconds: Int64

    public init(resolver: String, reason: Reason, milliseconds: Int64 = 0) {
        self.resolver = resolver
        self.reason = reason
        self.milliseconds = milliseconds
    }

    /// Why it was not usable.
    public enum Reason: Sendable, Hashable {
        /// It answered with a code that settles nothing.
        case answered(ResponseCode)
        /// It answered "no address" without saying how long that holds.
        case emptyAnswer
        case failed(QueryFailure)

        /// A bounded label, safe in metrics and JSON.
        public var label: String {
            switch self {
            case .answered: "server_failure"
            case .emptyAnswer: "no_data"
            case .failed(let failure): failure.label
            }
        }
    }
}

/// Why a lookup ended without an answer.
public enum LookupFailure: Error, Sendable, Hashable {
    /// Every source failed; the attempts say how, in the order asked.
    case exhausted(question: Question, attempts: [LookupAttempt])
    /// The deadline passed first.
    case timedOut(question: Question, attempts: [LookupAttempt])
    /// There is no source that can be asked for this type.
    case noSource(question: Question)
    case cancelled

    /// A bounded label, safe in metrics and JSON.
    public var label: String {
        switch self {
        case .exhausted(_, let attempts): LookupFailure.headline(attempts)?.label ?? "exhausted"
        case .timedOut: "timed_out"
        case .noSource: "no_source"
        case .cancelled: "cancelled"
        }
    }

    /// All attempts, in the order asked.
    public var attempts: [LookupAttempt] {
        switch self {
        case .exhausted(_, let attempts), .timedOut(_, let attempts): attempts
        case .noSource, .cancelled: []
        }
    }

    /// The most telling failure among several: an identity not proven before anything else, a
    /// time-out last.
    static func headline(_ attempts: [LookupAttempt]) -> QueryFailure? {
        attempts.compactMap { attempt in
            if case .failed(let failure) = attempt.reason { failure } else { nil }
        }.max { rank($0) < rank($1) }
    }

    private static func rank(_ failure: QueryFailure) -> Int {
        switch failure {
        case .untrusted: 9
        case .refusedAddresses: 8
        case .misconfigured: 7
        case .rejected: 6
        case .overQuota: 5
        case .malformed: 4
        case .httpStatus: 3
        case .unreachable: 2
        case .timedOut: 1
        default: 0
        }
    }
}

extension LookupFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .exhausted(let question, let attempts):
            "no source could answer for \(question.name)" + LookupFailure.list(attempts)
        case .timedOut(let question, let attempts):
            "no answer in time for \(question.name)" + LookupFailure.list(attempts)
        case .noSource(let question):
            "no configured source can be asked for \(question.name) type \(question.type.name)"
        case .cancelled: "the lookup was cancelled"
        }
    }

    private static func list(_ attempts: [LookupAttempt]) -> String {
        attempts.map { "\n  \($0.resolver): \($0.reason)" }.joined()
    }
}

extension LookupAttempt.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .answered(let code): "it answered \(code.name)"
        case .emptyAnswer: "it answered without an address"
        case .failed(let failure): failure.description
        }
    }
}

/// Follows the aliases of an answer from the name asked for to the records at the end.
///
/// Records are taken wherever they stand in the section; a chain that loops ends where it would
/// repeat. Records of names that the chain does not reach are ignored: they answer another question.
/// Costs time linear in the section. A question for aliases, or for any type, follows none.
struct AliasChain: Sendable {
    let aliases: [WireName]
    /// The chain's last name: the one asked for when there is no alias.
    let name: WireName
    /// The records of the asked type at the chain's last name.
    let end: [ResourceRecord]
    /// The smallest TTL over aliases and end; nil when there is neither.
    let ttlSeconds: UInt32?

    var addresses: [IPAddress] {
        end.compactMap { if case .address(let address) = $0.data { address } else { nil } }
    }

    /// Those, and the ones that a service binding would have a client connect to.
    var everyAddress: [IPAddress] {
        end.flatMap { record -> [IPAddress] in
            switch record.data {
            case .address(let address): [address]
            case .service(let binding): binding.hintedAddresses
            default: []
            }
        }
    }

    init(_ testimony: Testimony) {
        self.init(of: testimony.question, in: testimony.answers)
    }

    init(of question: Question, in answers: [ResourceRecord]) {
        let wanted = question.type
        let links = wanted == .cname || wanted == .any ? [:] : AliasChain.links(answers)
        var name = WireName(question.name)
        var aliases: [WireName] = []
        var seen: Set<WireName> = [name]
        var ttl: UInt32?
        while let link = links[name], seen.insert(link.target).inserted {
            ttl = min(ttl ?? link.ttlSeconds, link.ttlSeconds)
            aliases.append(link.target)
            name = link.target
        }
        self.aliases = aliases
        self.name = name
        end = answers.filter {
            $0.recordClass == 1 && ($0.type == wanted || wanted == .any) && $0.name == name
        }
        for record in end { ttl = min(ttl ?? record.ttlSeconds, record.ttlSeconds) }
        ttlSeconds = ttl
    }

    /// The aliases by their owner; of several for one owner the first counts.
    private static func links(
        _ records: [ResourceRecord]
    ) -> [WireName: (target: WireName, ttlSeconds: UInt32)] {
        var links: [WireName: (target: WireName, ttlSeconds: UInt32)] = [:]
        for record in records where record.type == .cname && record.recordClass == 1 {
            guard case .name(let target) = record.data, links[record.name] == nil else { continue }
            links[record.name] = (target, record.ttlSeconds)
        }
        return links
    }
}

/// How long an answer lives by what it says itself: the smallest TTL of its chain, or the negative TTL.
package struct AnswerLife: Sendable, Hashable {
    /// Source: RFC 8767 §4 recommends a cap of 7 days on stored TTLs.
    package static let maximumSeconds: UInt32 = 604_800
    /// Source: RFC 2308 §5: "one to three hours have been found to work well"; we take the larger.
    package static let maximumNegativeSeconds: UInt32 = 10_800

    /// 0: it must not be kept.
    package let seconds: UInt32
    /// No such name, or no record of that type.
    package let isNegative: Bool

    /// A server failure has no life: it says nothing about the name.
    package init(of testimony: Testimony) {
        let chain = AliasChain(testimony)
        isNegative = chain.end.isEmpty || testimony.code != .noError
        switch testimony.code {
        case .noError where !chain.end.isEmpty:
            seconds = min(chain.ttlSeconds ?? 0, AnswerLife.maximumSeconds)
        case .noError, .noSuchName:
            let negative = testimony.negativeTTLSeconds ?? 0
            seconds = min(
                negative, chain.ttlSeconds ?? negative, AnswerLife.maximumNegativeSeconds)
        default:
            seconds = 0
        }
    }

    package static func seconds(of testimony: Testimony) -> UInt32 {
        AnswerLife(of: testimony).seconds
    }
}
