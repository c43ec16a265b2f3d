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
///     let response = try await httpdns.client.send(HTTPRequest(.get, try HTTPURL("https://example.com/")))
public struct HTTPDNS: Sendable {
    /// Sends requests.
    public let client: HTTPDNSClient
    /// Finds addresses.
    public var resolver: Resolver { client.resolver }

    /// Follows the network where the configuration asks for it.
    private let follower: NetworkFollower?
    private let policy: Locked<TrustPolicy>
    private let reporter: PinReporter
    /// Sends the reports; judges as ``client`` does.
    private let reportSender: HTTPDNSClient

    /// Puts everything together; opens no connection and reads no network.
    ///
    /// - Throws: ``SetupFault``: a resolver or trust setting that cannot work.
    public init(_ configuration: HTTPDNSConfiguration = HTTPDNSConfiguration()) throws(SetupFault) {
        let transport = Transport(configuration.connections)
        let policy = Locked(configuration.trust)
        let resolver = try HTTPDNS.resolver(configuration, transport)
        let verifier = try ResolverFactory.verifier(configuration.trust)
        let isPublicSuffix: @Sendable (HostName) -> Bool = { PublicSuffix.isPublicSuffix($0) }
        var parts = HTTPDNSClient.Parts(
            transport: transport, verifier: verifier,
            cookies: CookieBox(isPublicSuffix: isPublicSuffix),
            toASCII: { (text) throws(NameError) in try IDNA.toASCII(text) },
            isPublicSuffix: isPublicSuffix, version: configuration.highestVersion)
        parts.proxies = configuration.proxies
        if !configuration.systemFallback.isNever {
            parts.systemFallback = HTTPDNS.fallback(configuration, policy)
        }
        let sender = HTTPDNSClient(resolver: resolver, parts: parts)
        reporter = PinReporter(configuration.pinReports)
        reporter.send(with: sender)
        parts.pinObserver = reporter
        client = HTTPDNSClient(resolver: resolver, parts: parts)
        reportSender = sender
        self.policy = policy
        follower = configuration.followsNetwork ? NetworkFollower(resolver) : nil
        for line in configuration.trust.dangerous.lines { configuration.report?(line) }
        for line in configuration.resolverTrust.dangerous.lines {
            configuration.report?("of resolvers, " + line)
        }
    }

    /// What origins must prove now, besides their names.
    public var trust: TrustPolicy { policy.withLock { $0 } }

    /// From the next request on `trust` decides about origins, for every user of this client, a
    /// `URLSession` it was installed into included.
    ///
    /// Nothing in flight is broken: an exchange that has begun ends under the policy it began with. No
    /// connection and no session that was made under another policy is used again. The policy of
    /// resolvers stays.
    ///
    /// - Throws: ``SetupFault/trust(_:)``; then the old policy stays.
    public func update(trust: TrustPolicy) throws(SetupFault) {
        let verifier = try ResolverFactory.verifier(trust)
        policy.withLock { policy in
            policy = trust
            client.judge(with: verifier)
            reportSender.judge(with: verifier)
        }
    }

    /// The same for pins alone: roots and all else stay.
    ///
    /// - Throws: ``SetupFault/trust(_:)``; then the old policy stays.
    public func update(pins: PinSet) throws(SetupFault) {
        var changed = trust
        changed.pins = pins
        try update(trust: changed)
    }

    /// What became of mismatches of pins so far.
    public var pinReportCounts: PinReportCounts { reporter.counts }

    private static func fallback(
        _ configuration: HTTPDNSConfiguration, _ policy: Locked<TrustPolicy>
    ) -> HTTPDNSClient.SystemFallbackPart {
        let rule = configuration.systemFallback
        var options = ResolverOptions()
        options.families = configuration.resolverOptions.families
        options.addressPolicy = configuration.resolverOptions.addressPolicy
        return HTTPDNSClient.SystemFallbackPart(
            rule: {
                let pins = policy.withLock { $0.pins }
                return { host in rule.allows(host, pins: pins) }
            },
            resolver: Resolver(sources: [SystemBackend()], options: options))
    }

    private static func resolver(
        _ configuration: HTTPDNSConfiguration, _ transport: Transport
    ) throws(SetupFault) -> Resolver {
        let factory = try ResolverFactory(
            trust: configuration.resolverTrust, transport: transport,
            report: configuration.report ?? { _ in })
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
        let sources =
            try factory.backends(for: configuration.resolvers)
            + configuration.customResolvers
        var routed =
            try factory.backends(for: configuration.routedResolvers)
            + configuration.customRoutedResolvers
        options.routes = try RouteNames(factory: factory, sources: sources)
            .resolved(options.routes, adding: &routed)
        let resolver = Resolver(
            sources: sources, bypass: SystemBackend(), routed: routed, options: options)
        reports.pass(to: resolver)
        return resolver
    }
}

/// How an ``HTTPDNS`` is put together.
public struct HTTPDNSConfiguration: Sendable {
    /// Whom to ask, most trusted first.
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
    /// A file that keeps answers over a restart, of mode 0600; made when it is missing. What goes wrong
    /// with it is told as ``ResolverEvent/storeFailed(_:)`` and costs no lookup. Nil: none.
    public var storePath: String?
    /// Whether, and for whom, the system is asked when all sources have failed.
    public var systemFallback = SystemFallback()
    /// Through which proxies origins are reached, unless a request says otherwise; resolvers are always
    /// connected to directly. No proxy of the environment is used but by
    /// ``ProxyPolicy/ofEnvironment()``.
    public var proxies = ProxyPolicy.none
    /// How connections to origins are kept.
    public var connections = ConnectionOptions()
    /// Answers from the system's hosts file first, as all programs on the machine do.
    public var usesHostsFile = true
    /// What origins must prove, besides their names.
    public var trust = TrustPolicy()
    /// Who is told when an origin does not have the keys that it is pinned to.
    public var pinReports = PinReporting()
    /// What resolvers over HTTPS must prove, besides their names.
    public var resolverTrust = TrustPolicy()
    /// Is told, in a line, what goes wrong where no lookup can say it: a damaged file of servers, a list
    /// of servers that could not be fetched; and, at the start, which ``DangerousOptions`` are set.
    /// Called on any thread; must return quickly.
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
