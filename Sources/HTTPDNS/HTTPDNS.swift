public import HTTPDNSCapture
internal import HTTPDNSClient
public import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSLookup
public import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPlatform
internal import HTTPDNSPublicSuffix
public import HTTPDNSResolution
internal import HTTPDNSStore
internal import HTTPDNSSystem
internal import HTTPDNSTransport
public import HTTPDNSTrust

/// Truthful addresses, and requests that go to them as requests for the original host.
///
/// Make one for an application and keep it: it owns the cache, the connections and the cookies.
///
///     let httpdns = try HTTPDNS()
///     let response = try await httpdns.client.send(HTTPRequest(.get, try
///     HTTPURL("https://example.com/")))
public struct HTTPDNS: Sendable {
    /// Sends requests.
    public let client: HTTPDNSClient
    /// Finds addresses.
    public var resolver: Resolver { client.resolver }

    /// The responses that are kept; nil unless ``HTTPDNSConfiguration/offlineCache`` asks for it.
    public let offlineCache: OfflineCache?

    /// The hosts of the resolver's servers, where they were configured by name.
    package let resolverHosts: Set<HostName>
    /// Follows the network where the configuration asks for it.
    private let follower: NetworkFollower?
    private let cookieBox: CookieBox
    let policy: ChangingPolicy
    let resolverPolicy: ChangingPolicy
    let resolverJudge: ResolverJudge
    private let reporter: PinReporter
    /// Sends the reports; judges as ``client`` does.
    let reportSender: HTTPDNSClient
    /// Is told which dangerous options are set; see ``HTTPDNSConfiguration/report``.
    private let report: (@Sendable (String) -> Void)?

    /// Puts everything together; opens no connection and reads no network.
    ///
    /// - Throws: ``SetupFault``: a resolver or trust setting that cannot work.
    public init(_ configuration: HTTPDNSConfiguration = HTTPDNSConfiguration()) throws(SetupFault) {
        let transport = Transport(configuration.connections)
        let policy = ChangingPolicy(configuration.trust)
        reporter = PinReporter(configuration.pinReports)
        resolverJudge = ResolverJudge(
            try ResolverFactory.verifier(configuration.resolverTrust), reporter: reporter)
        resolverPolicy = ChangingPolicy(configuration.resolverTrust)
        var configuration = configuration
        configuration.resolverOptions.withholdsSystem = HTTPDNS.withholding(configuration, policy)
        let resolver = try HTTPDNS.resolver(configuration, transport, resolverJudge)
        let verifier = try ResolverFactory.verifier(configuration.trust)
        let isPublicSuffix: @Sendable (HostName) -> Bool = { PublicSuffix.isPublicSuffix($0) }
        cookieBox = CookieBox(configuration.cookies, isPublicSuffix: isPublicSuffix)
        var parts = HTTPDNSClient.Parts(
            transport: transport, verifier: verifier,
            cookies: cookieBox,
            toASCII: { (text) throws(NameError) in try IDNA.toASCII(text) },
            isPublicSuffix: isPublicSuffix, version: configuration.highestVersion)
        parts.refusesCleartext = { host in
            policy.current.pins.refusalOfCleartext(to: host, now: SystemWallClock().now())
        }
        parts.proxies = configuration.proxies
        if !configuration.systemFallback.isNever {
            parts.systemFallback = HTTPDNS.fallback(configuration, policy)
        }
        let sender = HTTPDNSClient(resolver: resolver, parts: parts)
        reporter.send(with: sender)
        parts.tap = configuration.capture
        parts.pinObserver = reporter
        offlineCache = configuration.offlineCache.map {
            OfflineCache($0, policy: policy, report: configuration.report)
        }
        parts.cache = offlineCache?.cache
        client = HTTPDNSClient(resolver: resolver, parts: parts)
        reportSender = sender
        self.policy = policy
        resolverHosts = Set(
            (configuration.resolvers + configuration.routedResolvers).compactMap(\.serverHost))
        follower = configuration.followsNetwork ? NetworkFollower(resolver) : nil
        report = configuration.report
        if let line = systemForPinned { report?(line) }
        confess(configuration.trust)
        confess(configuration.resolverTrust, ofResolvers: true)
    }

    /// Tells which dangerous options a policy has that is put to use.
    func confess(_ trust: TrustPolicy, ofResolvers: Bool = false) {
        for line in trust.dangerous.lines { report?((ofResolvers ? "of resolvers, " : "") + line) }
    }

    /// The cookies of ``client``, for requests that are not of a `URLSession` with a storage of its
    /// own.
    ///
    /// A jar that was got is a copy. Setting it replaces all of them; what a response in flight
    /// brings is kept in the new one.
    public var cookies: CookieJar {
        get { cookieBox.kept }
        nonmutating set { cookieBox.kept = newValue }
    }

    /// What became of mismatches of pins so far.
    public var pinReportCounts: PinReportCounts { reporter.counts }

    /// For which hosts whom the network names is left out of the chain.
    private static func withholding(
        _ configuration: HTTPDNSConfiguration, _ policy: ChangingPolicy
    ) -> @Sendable (HostName) -> Bool {
        let rule = configuration.systemFallback
        return { name in
            let pins = policy.current.pins
            guard !pins.isEmpty, pins.match(for: .name(name))?.rule != nil else { return false }
            return !rule.allows(.name(name), pins: pins)
        }
    }

    /// What is to be said where there are pins, and a chain of nothing but the system: it was somebody's
    /// own choice, and is kept to.
    package var systemForPinned: String? {
        guard !policy.current.pins.isEmpty, !resolver.sources.isEmpty,
            !resolver.asksOthersThanTheSystem
        else { return nil }
        let names = resolver.sources.map(\.label).joined(separator: ", ")
        return
            "pinned hosts are looked up by what the network names, too: \(names) is all of the chain"
    }

    private static func fallback(
        _ configuration: HTTPDNSConfiguration, _ policy: ChangingPolicy
    ) -> HTTPDNSClient.SystemFallbackPart {
        let rule = configuration.systemFallback
        var options = ResolverOptions()
        options.families = configuration.resolverOptions.families
        options.addressPolicy = configuration.resolverOptions.addressPolicy
        return HTTPDNSClient.SystemFallbackPart(
            rule: {
                let pins = policy.current.pins
                return { host in rule.allows(host, pins: pins) }
            },
            resolver: Resolver(sources: [SystemBackend()], options: options))
    }

    private static func resolver(
        _ configuration: HTTPDNSConfiguration, _ transport: Transport, _ judge: ResolverJudge
    ) throws(SetupFault) -> Resolver {
        let factory = ResolverFactory(
            judge: judge, transport: transport, report: configuration.report ?? { _ in })
        var options = configuration.resolverOptions
        if !configuration.overrides.isEmpty {
            options.tables.insert(
                FixedHostTable(configuration.overrides, label: "override"), at: 0)
        }
        if configuration.usesHostsFile { options.tables.append(SystemHostTable.shared) }
        // Else the answers of the first network would be kept under no name, and found on any other
        // after a restart.
        if configuration.followsNetwork, options.network == nil {
            options.network = NetworkFollower.current()
        }
        let reports = StoreReports()
        if let path = configuration.storePath, options.store == nil {
            options.store = SQLiteAnswerStore(path: path) { reports.tell($0.description) }
        }
        var labels = SourceLabels()
        for own in configuration.customResolvers + configuration.customRoutedResolvers {
            labels.take(own.label)
        }
        let sources =
            try factory.backends(for: configuration.resolvers, &labels)
            + configuration.customResolvers
        var routed =
            try factory.backends(for: configuration.routedResolvers, &labels)
            + configuration.customRoutedResolvers
        var names = RouteNames(factory: factory, sources: sources, labels: labels)
        options.routes = try names.resolved(options.routes, adding: &routed)
        let resolver = Resolver(
            sources: sources, bypass: SystemBackend(), routed: routed, options: options)
        reports.pass(to: resolver)
        return resolver
    }
}

/// How an ``HTTPDNS`` is put together.
public struct HTTPDNSConfiguration: Sendable {
    /// Whom to ask, most trusted first.
    ///
    /// For a pinned host those that the network names (`system`, `resolv.conf`) are left out, unless
    /// ``systemFallback`` allows them for it, a route sends it there, or there is nobody else.
    public var resolvers = ResolverDescription.builtIn
    /// Back-ends of the application's own; asked after ``resolvers``.
    public var customResolvers: [any ResolverBackend] = []
    public var resolverOptions = ResolverOptions()
    /// Addresses that replace resolution for a host; never its identity.
    public var overrides: [HostName: [IPAddress]] = [:]
    /// Resolvers that only ``ResolverOptions/routes`` lead to.
    public var routedResolvers: [ResolverDescription] = []
    /// Back-ends of the application's own that only ``ResolverOptions/routes`` lead to, by label.
    public var customRoutedResolvers: [any ResolverBackend] = []
    /// Notices when the machine is on another network, and tells the resolver: see
    /// ``Resolver/networkDidChange(_:)``. Linux only; elsewhere the application tells it.
    public var followsNetwork = false
    /// A file that keeps answers over a restart, of mode 0600; made when it is missing. What goes
    /// wrong with it is told as ``ResolverEvent/storeFailed(_:)`` and costs no lookup. Nil: none.
    public var storePath: String?
    /// Keeps responses and answers with them; nil: none. What goes wrong with it is told to
    /// ``report`` and costs no request.
    public var offlineCache: OfflineCacheSettings?
    /// Whether, and for whom, the system is asked when all sources have failed.
    public var systemFallback = SystemFallback()
    /// Through which proxies origins are reached, unless a request says otherwise; resolvers are
    /// always connected to directly. No proxy of the environment is used but by
    /// ``ProxyPolicy/ofEnvironment()``.
    public var proxies = ProxyPolicy.none
    /// How connections to origins are kept.
    public var connections = ConnectionOptions()
    /// Answers from the system's hosts file first, as all programs on the machine do.
    public var usesHostsFile = true
    /// Records what the client sends and gets, the sessions it is installed into included; nil: nobody
    /// does. See also ``Capture/isEnabled``.
    public var capture: Capture?
    /// The cookies to begin with: of an earlier run, say; see ``CookieJar/init(netscape:)``.
    public var cookies = CookieJar()
    /// What origins must prove, besides their names.
    public var trust = TrustPolicy()
    /// Who is told when an origin or a resolver does not have the keys that it is pinned to.
    public var pinReports = PinReporting()
    /// What resolvers over HTTPS must prove, besides their names.
    public var resolverTrust = TrustPolicy()
    /// Is told, in a line, what goes wrong where no lookup can say it: a damaged file of servers, a
    /// list of servers that could not be fetched; and, at the start and with each policy that
    /// replaces another, which ``DangerousOptions`` are set. Called on any thread; must return
    /// quickly.
    public var report: (@Sendable (String) -> Void)?
    /// The highest HTTP version to offer to origins.
    public var highestVersion = HTTPVersion.http2

    /// The built-in order of resolvers and the system's roots.
    public init() {}
}

/// A setting that cannot work: the text says which, why, and what to do.
public enum SetupFault: Error, Sendable, Hashable, CustomStringConvertible {
    case trust(TrustSetupError)
    case resolver(String, QueryFailure)

    public var description: String {
        switch self {
        case .trust(let error): "\(error)"
        case .resolver(let label, let failure): "resolver \(label): \(failure)"
        }
    }
}

extension HTTPURL {
    /// Reads an `http` or `https` URL; a host that is not ASCII becomes A-labels (UTS 46).
    ///
    /// - Throws: ``URLFault``, which says what is wrong, where, and what to do.
    public init(_ text: String) throws(URLFault) {
        try self.init(text, toASCII: { (text) throws(NameError) in try IDNA.toASCII(text) })
    }
}
