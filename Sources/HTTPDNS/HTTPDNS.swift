internal import HTTPDNSClient
public import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSLookup
public import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPublicSuffix
public import HTTPDNSResolution
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

    /// Puts everything together; opens no connection and reads no network.
    ///
    /// - Throws: ``SetupFault``: a resolver or trust setting that cannot work.
    public init(_ configuration: HTTPDNSConfiguration = HTTPDNSConfiguration()) throws(SetupFault) {
        let transport = Transport()
        let factory = try ResolverFactory(
            trust: configuration.resolverTrust, transport: transport,
            report: configuration.report ?? { _ in })
        var sources: [any ResolverBackend] = []
        for description in configuration.resolvers {
            sources.append(try factory.backend(for: description))
        }
        sources += configuration.customResolvers
        var options = configuration.resolverOptions
        if !configuration.overrides.isEmpty {
            options.tables.insert(
                FixedHostTable(configuration.overrides, label: "override"), at: 0)
        }
        if configuration.usesHostsFile { options.tables.append(SystemHostTable.shared) }
        let verifier = try ResolverFactory.verifier(configuration.trust)
        let isPublicSuffix: @Sendable (HostName) -> Bool = { PublicSuffix.isPublicSuffix($0) }
        client = HTTPDNSClient(
            resolver: Resolver(sources: sources, bypass: SystemBackend(), options: options),
            parts: HTTPDNSClient.Parts(
                transport: transport, verifier: verifier,
                cookies: CookieBox(isPublicSuffix: isPublicSuffix),
                toASCII: { (text) throws(NameError) in try IDNA.toASCII(text) },
                isPublicSuffix: isPublicSuffix, version: configuration.highestVersion))
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
    /// Answers from the system's hosts file first, as all programs on the machine do.
    public var usesHostsFile = true
    /// What origins must prove, besides their names.
    public var trust = TrustPolicy()
    /// What resolvers over HTTPS must prove, besides their names.
    public var resolverTrust = TrustPolicy()
    /// Is told, in a line, what goes wrong where no lookup can say it: a damaged file of servers, a list
    /// of servers that could not be fetched. Called on any thread; must return quickly.
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
