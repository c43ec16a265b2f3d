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
    public var identities: [IdentityEvidence] = []
    /// One for each distinct address.
    public var peers: [PeerEvidence] = []
    public var fetches: [FetchEvidence] = []
    /// What sources say the time is, the first word of each; pages have their own date.
    public var times: [TimeEvidence] = []
    /// What the probe URL answers where nobody interferes; nil when there was none to ask.
    public var expectedProbe: ProbeExpectation?
    public var network = NetworkEvidence()
    /// What the deadline left undone, in words.
    public var unfinished: [String] = []
    /// Whether the run was ended from outside before its own end.
    public var isInterrupted = false
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
    /// A way to all IPv4 addresses.
    public var hasIPv4Route = true
    /// A way to all IPv6 addresses.
    public var hasIPv6Route = false
    /// Whom plain questions go to.
    public var nameservers: [Endpoint] = []
    /// How this network translates IPv4; empty also when it was not asked. Source: RFC 7050.
    public var translators: [NAT64Prefix] = []

    public init() {}

    /// A way to anywhere.
    public var hasRoute: Bool { hasIPv4Route || hasIPv6Route }
}
