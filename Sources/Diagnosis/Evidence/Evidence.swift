public import HTTPDNSLookup
public import HTTPDNSNames

/// All that was found out about one name on one network; ``Judgement`` makes a verdict of it.
public struct Evidence: Sendable, Hashable {
    /// The name under test.
    public var name: HostName
    /// Under which it is registered (`example.co.uk` for `www.example.co.uk`); nil when unknown.
    public var registrableDomain: HostName?
    /// Whether the name ends in a suffix that registries run; one that ends in another (`.lan`, `.corp`)
    /// is a network's own, which may answer for every name there.
    public var isUnderRegistry = true
    /// What this machine holds for the time.
    public var now: WallTime
    /// Every source that was to be asked.
    public var sources: [EvidenceSource] = []
    /// About the name under test, A and AAAA.
    public var answers: [AnswerEvidence] = []
    public var races: [RaceEvidence] = []
    public var randomNames: [RandomNameEvidence] = []
    /// Nil: not asked.
    public var dark: DarkEvidence?
    /// At most one for each name server.
    public var vacantPorts: [VacantPortEvidence] = []
    public var identities: [IdentityEvidence] = []
    /// One for each distinct address.
    public var peers: [PeerEvidence] = []
    public var fetches: [FetchEvidence] = []
    /// What sources say the time is, the first word of each; pages have their own date.
    public var times: [TimeEvidence] = []
    /// What the probe URL answers where nobody interferes; nil when there was none to ask.
    public var expectedProbe: ProbeExpectation?
    public var network = NetworkEvidence()
    /// How long the run could take, in milliseconds; nil: long enough.
    public var patienceMilliseconds: Int64?
    /// What the deadline left undone, in words.
    public var unfinished: [String] = []
    /// Whether the run was ended from outside before its own end.
    public var isInterrupted = false
    /// What this machine itself lacked so that somebody was not asked, or not heard: the system's words,
    /// each once.
    public var shortages: [String] = []
    /// What was not looked into because nobody asked for it, in words.
    public var skipped: [String] = []
    /// From the start to the end of the run, in milliseconds.
    public var tookMilliseconds: Int64 = 0

    public init(name: HostName, now: WallTime) {
        self.name = name
        self.now = now
    }
}

/// What a probe URL answers on a network without a portal.
public struct ProbeExpectation: Sendable, Hashable {
    /// The HTTP status code.
    public var status: Int
    /// What the body holds; nil when it does not matter.
    public var body: String?

    /// 204 without a body is what the well-known probes answer.
    public init(status: Int = 204, body: String? = nil) {
        self.status = status
        self.body = body
    }
}

/// What the kernel and the configuration say about this network.
public struct NetworkEvidence: Sendable, Hashable {
    /// Where the kernel has a way to; nil while it has not said.
    public var routes: RouteEvidence?
    /// Whom plain questions go to.
    public var nameservers: [Endpoint] = []
    /// How this network translates IPv4; nil when it was not asked.
    public var translation: TranslationEvidence?

    public init() {}

    /// A way to all IPv4 addresses. Where the kernel does not say, the rest of the evidence must.
    public var hasIPv4Route: Bool { routes?.hasIPv4 ?? true }

    /// A way to all IPv6 addresses.
    public var hasIPv6Route: Bool { routes?.hasIPv6 ?? false }

    /// A way to anywhere.
    public var hasRoute: Bool { hasIPv4Route || hasIPv6Route }

    /// The prefixes under which this network has IPv4 addresses.
    public var translators: [NAT64Prefix] { translation?.prefixes ?? [] }
}

/// What the kernel says of default routes.
public struct RouteEvidence: Sendable, Hashable {
    public let hasIPv4: Bool
    public let hasIPv6: Bool
    public let seen: Sighting

    public init(hasIPv4: Bool, hasIPv6: Bool, seen: Sighting = .atOnce) {
        self.hasIPv4 = hasIPv4
        self.hasIPv6 = hasIPv6
        self.seen = seen
    }
}

/// What came of asking for `ipv4only.arpa`, which tells how the network translates IPv4.
/// Source: RFC 7050 §3.
public struct TranslationEvidence: Sendable, Hashable {
    /// Who was asked, as a source is labelled.
    public let resolver: String
    public let result: Result<Statement, QueryFailure>
    /// Empty: it does not translate, or nobody said.
    public let prefixes: [NAT64Prefix]
    public let seen: Sighting
    /// What came; nil where it was not kept, or the source gives none.
    public var raw: RawReply?

    public init(
        resolver: String, result: Result<Statement, QueryFailure>, prefixes: [NAT64Prefix],
        seen: Sighting = .atOnce, raw: RawReply? = nil
    ) {
        self.resolver = resolver
        self.result = result
        self.prefixes = prefixes
        self.seen = seen
        self.raw = raw
    }
}
