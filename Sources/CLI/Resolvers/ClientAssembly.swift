internal import HTTPDNS
internal import HTTPDNSCapture
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Puts the library together as a command's options and the configuration file say.
struct ClientAssembly {
    var configuration: ToolConfiguration
    var resolvers: ResolverArguments
    var overrides: [HostName: [IPAddress]] = [:]
    var trust = TrustPolicy()
    var cache: OfflineCacheSettings?
    /// Told what becomes of the cache; nil: nobody is.
    var report: (@Sendable (String) -> Void)?
    /// For finding the addresses of resolvers.
    var patience: Duration
    let console: Console
    /// Records what happens; nil: nobody does.
    var capture: Capture?

    /// - Throws: ``CommandFault``.
    func httpdns() async throws(CommandFault) -> HTTPDNS {
        var settings = HTTPDNSConfiguration()
        settings.overrides = overrides
        settings.trust = trust
        settings.capture = capture
        settings.offlineCache = cache
        if cache != nil { settings.report = report }
        settings.resolverOptions = configuration.resolverOptions
        let deadline = SystemMonotonicClock().now().adding(
            milliseconds: Int64(patience / .milliseconds(1)))
        let maker = BackendMaker(console: console)
        settings.resolvers = []
        var labels = SourceLabels()
        for resolver in resolvers.resolvers {
            do throws(QueryFailure) {
                let made = try await maker.backend(for: resolver, deadline: deadline)
                settings.customResolvers.append(
                    labels.labelled(made.backend, for: resolver.description))
            } catch {
                if case .misconfigured(let why) = error {
                    throw .usage("resolver \(resolver.description): \(why)")
                }
                throw CommandFault(
                    "resolver \(resolver.description): \(error)", code: LookupTrouble(error).code)
            }
        }
        try await ConfiguredRoutes(
            configuration: configuration, maker: maker, console: console, deadline: deadline
        ).apply(to: &settings, &labels)
        let made: HTTPDNS
        do throws(SetupFault) { made = try HTTPDNS(settings) } catch {
            throw .usage("\(error)")
        }
        // With a report it has been told.
        if settings.report == nil, let line = made.systemForPinned { console.note(line) }
        return made
    }
}
