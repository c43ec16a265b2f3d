public import HTTPDNSDiagnosis
public import HTTPDNSExchange
public import HTTPDNSLookup
public import HTTPDNSNames
public import HTTPDNSTrust

/// What a run asks, of whom, and how long.
///
/// What goes to a server that nobody named is off unless it is set here: ``darkAddress``, ``probe``,
/// ``asksIdentity``, ``whoami``, ``findsTranslators``.
public struct DiagnosisOptions: Sendable {
    /// Whom plain questions go to, by UDP and by TCP; nil takes those of `/etc/resolv.conf`.
    public var nameservers: [Endpoint]?
    /// Other sources to be judged.
    public var resolvers: [any ResolverBackend] = []
    /// What others are measured by. Each must prove itself, or be on this machine.
    public var trusted: [any ResolverBackend]
    /// Trusted sources that could not be set up, with the reason: they show in the report as silent.
    public var unusable: [(label: String, failure: QueryFailure)] = []
    /// Whether the system's own resolver is asked.
    public var asksSystem = true
    /// A file in the syntax of `/etc/hosts`; nil for none.
    public var hostsFile: String? = "/etc/hosts"
    /// What that file holds, where it was read already.
    package var hostsText: [UInt8]?
    /// What the name's servers must prove.
    public var trust = TrustPolicy()
    /// Where TLS is spoken.
    public var securePort = Port.https
    /// Where HTTP is spoken.
    public var plainPort = Port.http
    /// Whether the name's servers are sent a request for `/`, in clear and over TLS, once for each.
    public var fetches = true
    /// A URL whose answer is known beforehand, to find captive portals by; `http` shows most.
    public var probe: HTTPURL?
    public var probeExpectation = ProbeExpectation()
    /// An address where no DNS server is: an answer from there is somebody else's.
    ///
    /// An address of TEST-NET (`192.0.2.53`) is no one's anywhere; on a network that is watched such a
    /// packet can be noticed, so that none is sent unless this is set. Source: RFC 5737 §3.
    public var darkAddress: Endpoint?
    /// A port where the name servers do DNS, too: one whose word there is true, and another here, is
    /// answered for by somebody on the path. Where one is known to have such a port it is asked anyhow.
    public var otherPort: Port?
    /// Whether each name server is asked on a port, too, where it does no DNS: who answers there takes
    /// all that looks like DNS.
    public var asksVacantPorts = true
    /// That port; nil draws one for which nobody registers a service.
    public var vacantPort: Port?
    /// How long an answer is waited for that need not come: from such a port, and from one that a
    /// server is known to have besides its own.
    public var vacantPatience = Duration.milliseconds(DiagnosisOptions.vacantMilliseconds)
    /// Whether nameservers are asked who they are: `id.server` and `version.bind`.
    /// Source: RFC 4892 §2, RFC 4892 §1 for the older one.
    public var asksIdentity = false
    /// A name whose answer tells who asked: `whoami.akamai.net`.
    public var whoami: HostName?
    /// Whether `ipv4only.arpa` is asked for. Source: RFC 7050.
    public var findsTranslators = false
    /// The server name that is tried when the real one fails; it should be of another operator.
    public var otherServerName: HostName?
    /// How long the run may take in all.
    public var patience = DiagnosisOptions.defaultPatience
    /// When the run must be over, where ``patience`` began before it: for finding its resolvers.
    package var deadline: Monotonic?
    /// How long to listen for a second answer after the first.
    public var listening = Duration.milliseconds(DiagnosisOptions.listeningMilliseconds)
    /// Whether messages are kept as they came.
    public var keepsRaw = false
    /// Connects to loopback addresses alone: for tests.
    public var staysOnLoopback = false
    /// Whether private and loopback addresses of a public name are dialled that only a source under
    /// judgement gives. They are no request's target in clear even then.
    ///
    /// Off because a lying answer would have this machine knock at hosts of its own network.
    public var dialsOwnNetwork = false
    /// What certificates are judged at; nil is the system's clock.
    public var moment: WallTime?

    public init(trusted: [any ResolverBackend]) { self.trusted = trusted }

    /// Because: a person waits for 5 s; what is left is for the report.
    public static let defaultPatience = Duration.milliseconds(4_500)

    /// Because: who intercepts is nearer than the server, and its answer comes within a usual round
    /// trip; most such questions are dropped without a word, and must not hold up the report.
    public static let vacantMilliseconds: Int64 = 1_000

    /// Because: lists of blocked hosts have some megabytes.
    package static let mostHostsOctets = 16 << 20

    /// Because: a forger beside the path is some milliseconds ahead of the server, whose own answer
    /// then takes a usual round trip.
    public static let listeningMilliseconds: Int64 = 300
}
