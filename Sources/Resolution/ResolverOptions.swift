public import HTTPDNSLookup
public import HTTPDNSNames

/// How a resolver behaves.
public struct ResolverOptions: Sendable {
    /// Which kinds of address are asked for unless a call says otherwise.
    public var families: Set<IPAddress.Family> = [.ipv4, .ipv6]
    /// How long a caller waits unless it says otherwise.
    ///
    /// Because: two sources may each use their 1.5 s before a third answers.
    public var patience: Duration = .seconds(5)

    // Whom to ask

    /// Names whose addresses are known without asking: the first table that has a name answers.
    public var tables: [any HostTable] = []
    /// In which way the sources are asked.
    public var strategy = LookupStrategy.ordered
    /// How long an answer of a source that does not prove itself is held back while one that does is
    /// being asked; 0 lets the first answer count.
    public var preferenceWindow: Duration = .milliseconds(500)
    /// Names that are resolved elsewhere: by the system, by some of the sources, or by a table.
    public var routes = RoutingRules.none
    /// Which addresses cannot be right for a public name. Names that ``routes`` sends elsewhere are
    /// their rule's business.
    public var addressPolicy = AddressPolicy.standard
    /// For which names whom the network names is not asked, where ``routes`` do not send them there:
    /// those of pinned hosts. Nil: for none. Called under the resolver's lock.
    package var withholdsSystem: (@Sendable (HostName) -> Bool)?

    // What is kept

    /// Answers in the cache at most.
    ///
    /// Because: an app speaks to tens of hosts, a crawler to thousands.
    public var cacheEntries = 10_000
    /// Memory of the cache at most.
    ///
    /// Because: an answer takes 64 to 200 octets, so that this holds the default number of them.
    public var cacheOctets = 8_388_608
    /// How long answers live.
    public var lifeRules = LifeRules()
    /// Use of answers whose life is over; nil: none.
    public var staleAnswers: StaleAnswers?
    /// Asks again for a name that is in use when nine tenths of its answer's life are over.
    public var refreshesPopular = true
    /// Tells SERVFAIL, REFUSED and time-outs to those who ask within the next second or so (5 s at
    /// most, growing) without asking again. Source: RFC 2308 §7, RFC 9520 §3.2.
    public var holdsFailures = true
    /// Keeps answers over a restart.
    public var store: (any AnswerStore)?

    // Where addresses lead

    /// Puts addresses that did not connect, or proved nothing, behind those that did; see
    /// ``Resolver/report(_:for:outcome:)``.
    public var ranksAddresses = true
    /// Measures new addresses of a host, where there are several, by a TCP connection to this port that
    /// carries no octet, behind the answer; nil: only real connections count.
    public var probedPort: Port?
    /// How IPv4 is reached from a network that has only IPv6.
    public var nat64 = NAT64Mode.off
    /// Names the network at the start; see ``Resolver/networkDidChange(_:)``.
    public var network: String?

    // Who hears of it

    /// Hears every event on the thread where it happens, at once: it must return quickly and may not
    /// wait for this resolver.
    public var observer: (@Sendable (ResolverEvent) -> Void)?

    public init() {}
}

/// Use of answers whose life is over, while a new one is asked for. Source: RFC 8767.
public struct StaleAnswers: Sendable, Hashable {
    /// How long after the end of its life an answer may be used at most.
    ///
    /// Because: RFC 8767 §5 suggests one to three days for a shared resolver; an application that
    /// connects to what it is told feels a moved host sooner, so the default here is hours.
    public var maximumAge: Duration
    /// How long the new answer is waited for before the stale one is given; 0 gives it at once.
    /// Source: RFC 8767 §5 suggests 1.8 s for the "client response timer".
    public var after: Duration
    /// The life that a stale answer is said to have. Source: RFC 8767 §4, which recommends 30 seconds.
    public var ttlSeconds: UInt32 = 30

    public init(maximumAge: Duration = .seconds(4 * 3_600), after: Duration = .zero) {
        self.maximumAge = maximumAge
        self.after = after
    }
}

/// How IPv4 is reached from a network that has only IPv6.
public enum NAT64Mode: Sendable, Hashable {
    /// IPv4 addresses are used as they are.
    case off
    /// The network is asked for its prefix, once for each network. Source: RFC 7050.
    case detect
    /// Behind these prefixes.
    case prefixes([NAT64Prefix])
}
