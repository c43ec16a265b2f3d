public import HTTPDNSLookup
public import HTTPDNSNames
public import HTTPDNSWire

/// When something was seen, on the clock of one run.
public struct Sighting: Sendable, Hashable {
    /// From the start of the run to the outcome, in milliseconds.
    public let atMilliseconds: Int64
    /// From the asking to the outcome, in milliseconds.
    public let tookMilliseconds: Int64

    public init(atMilliseconds: Int64, tookMilliseconds: Int64) {
        self.atMilliseconds = atMilliseconds
        self.tookMilliseconds = tookMilliseconds
    }

    /// Where nothing was waited for.
    public static let atOnce = Sighting(atMilliseconds: 0, tookMilliseconds: 0)
}

/// What one answer says, without what it was wrapped in.
public struct Statement: Sendable, Hashable {
    public var code: ResponseCode
    /// At the end of the alias chain, in the order received.
    public var addresses: [IPAddress]
    /// In chain order; the name asked for is not among them.
    public var aliases: [WireName]
    /// The smallest of the chain in seconds, as it was sent; nil where the source gives none.
    public var ttlSeconds: UInt32?
    /// The AD bit. Source: RFC 4035 §3.2.3.
    public var isAuthenticData: Bool
    /// Why the source answers as it does, in its own words. Source: RFC 8914.
    public var extendedErrors: [ExtendedError]

    public init(
        code: ResponseCode = .noError, addresses: [IPAddress] = [], aliases: [WireName] = [],
        ttlSeconds: UInt32? = nil, isAuthenticData: Bool = false,
        extendedErrors: [ExtendedError] = []
    ) {
        self.code = code
        self.addresses = addresses
        self.aliases = aliases
        self.ttlSeconds = ttlSeconds
        self.isAuthenticData = isAuthenticData
        self.extendedErrors = extendedErrors
    }

    /// That there is something: addresses.
    public var isPositive: Bool { code == .noError && !addresses.isEmpty }

    /// That there is nothing: no such name, or no address. A failure of the server says neither.
    public var isNegative: Bool {
        code == .noSuchName || code == .noError && addresses.isEmpty
    }
}

/// What came of asking one source one question.
public struct AnswerEvidence: Sendable, Hashable {
    public let source: EvidenceSource
    /// The name under test, or one made up for the run.
    public let name: HostName
    public let type: RecordType
    public let result: Result<Statement, QueryFailure>
    public let seen: Sighting
    /// What came; nil where it was not kept, or the source gives none.
    public var raw: RawReply?

    public init(
        source: EvidenceSource, name: HostName, type: RecordType,
        result: Result<Statement, QueryFailure>, seen: Sighting = .atOnce, raw: RawReply? = nil
    ) {
        self.source = source
        self.name = name
        self.type = type
        self.result = result
        self.seen = seen
        self.raw = raw
    }

    /// What was said; nil where nothing usable came.
    public var statement: Statement? { try? result.get() }
}

/// Two answers to one query that say different things: one is not the server's.
public struct RaceEvidence: Sendable, Hashable {
    public let source: EvidenceSource
    public let type: RecordType
    /// The one that a program would have believed.
    public let first: Statement
    public let second: Statement
    /// From the first answer to the second.
    public let millisecondsApart: Int64
    public let seen: Sighting
    /// Both messages, the first one first; empty where they were not kept.
    public var raw: [RawReply]

    public init(
        source: EvidenceSource, type: RecordType, first: Statement, second: Statement,
        millisecondsApart: Int64, seen: Sighting = .atOnce, raw: [RawReply] = []
    ) {
        self.source = source
        self.type = type
        self.first = first
        self.second = second
        self.millisecondsApart = millisecondsApart
        self.seen = seen
        self.raw = raw
    }
}

/// What a source says of a name that nobody can have registered.
public struct RandomNameEvidence: Sendable, Hashable {
    /// What the made-up label was put before.
    public enum Parent: String, Sendable, Hashable {
        /// The name under test: a zone may hold a wildcard.
        case name
        /// The public suffix: as good as none holds one.
        case publicSuffix = "public_suffix"
    }

    public let parent: Parent
    /// Its ``AnswerEvidence/name`` is the name made up; the same one is put to every source.
    public let answer: AnswerEvidence

    public init(parent: Parent, answer: AnswerEvidence) {
        self.parent = parent
        self.answer = answer
    }
}

/// What came of a query to an address where no DNS server is.
public struct DarkEvidence: Sendable, Hashable {
    public let address: Endpoint
    /// Nil: nothing came, as it should be.
    public let statement: Statement?
    public let seen: Sighting
    public var raw: RawReply?

    public init(
        address: Endpoint, statement: Statement?, seen: Sighting = .atOnce, raw: RawReply? = nil
    ) {
        self.address = address
        self.statement = statement
        self.seen = seen
        self.raw = raw
    }
}

/// What came of a query to a port of a name server where it does no DNS.
public struct VacantPortEvidence: Sendable, Hashable {
    /// The name server, where it is asked otherwise.
    public let server: Endpoint
    /// Where it was asked.
    public let place: Endpoint
    /// Nil: nothing came, as it should be.
    public let statement: Statement?
    public let seen: Sighting
    public var raw: RawReply?

    public init(
        server: Endpoint, place: Endpoint, statement: Statement?, seen: Sighting = .atOnce,
        raw: RawReply? = nil
    ) {
        self.server = server
        self.place = place
        self.statement = statement
        self.seen = seen
        self.raw = raw
    }
}

/// What a server says about itself.
public struct IdentityEvidence: Sendable, Hashable {
    public let source: EvidenceSource
    /// `id.server`, `version.bind` (class CH), or the name of a service that tells whom it sees.
    public let probe: String
    /// Its texts, or the addresses that it sees us by; empty where it says nothing.
    public let texts: [String]
    public let seen: Sighting
    /// What came, a message for each question of the probe; empty where it was not kept.
    public var raw: [RawReply]

    public init(
        source: EvidenceSource, probe: String, texts: [String], seen: Sighting = .atOnce,
        raw: [RawReply] = []
    ) {
        self.source = source
        self.probe = probe
        self.texts = texts
        self.seen = seen
        self.raw = raw
    }
}
