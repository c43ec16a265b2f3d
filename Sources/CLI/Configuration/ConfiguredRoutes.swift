internal import HTTPDNS
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSResolution

/// The routes of a configuration file, with the resolvers that they need.
struct ConfiguredRoutes {
    let configuration: ToolConfiguration
    let maker: BackendMaker
    let console: Console
    /// When the system must have found the addresses of a resolver.
    let deadline: Monotonic

    /// Puts them into a resolver's settings, behind its chain. A route that cannot be gone is an error:
    /// its names must not go the usual way instead.
    ///
    /// - Parameter labels: those of the chain; two resolvers may differ in what a label hides.
    /// - Throws: ``CommandFault``.
    func apply(
        to settings: inout HTTPDNSConfiguration, _ labels: inout SourceLabels,
        observing: (any ResolverBackend) -> any ResolverBackend = { $0 }
    ) async throws(CommandFault) {
        var rules: [RoutingRules.Rule] = []
        for route in configuration.routes {
            let pattern: HostPattern
            do { pattern = try HostPattern(route.pattern, wildcard: .anyDepth) } catch {
                throw fault(route, "\(error)")
            }
            guard route.resolvers != ["system"] else {
                rules.append(RoutingRules.Rule(pattern: pattern, target: .bypass))
                continue
            }
            var sources: [String] = []
            for text in route.resolvers {
                let (made, description) = try await backend(text, of: route)
                let backend = labels.labelled(made, for: description)
                let known = settings.customResolvers + settings.customRoutedResolvers
                if !known.contains(where: { $0.label == backend.label }) {
                    settings.customRoutedResolvers.append(observing(backend))
                }
                sources.append(backend.label)
            }
            rules.append(RoutingRules.Rule(pattern: pattern, target: .sources(sources)))
        }
        do { settings.resolverOptions.routes = try RoutingRules(rules) } catch {
            throw .usage("\(configuration.path ?? "configuration"): routes: \(error)")
        }
    }

    private func backend(
        _ text: String, of route: ToolConfiguration.Route
    ) async throws(CommandFault) -> (any ResolverBackend, ResolverDescription) {
        let resolver = try ResolverArguments.resolver(text, configuration, console)
        do throws(QueryFailure) {
            let made = try await maker.backend(for: resolver, deadline: deadline)
            return (made.backend, resolver.description)
        } catch {
            throw fault(route, "\(text): \(error)", code: LookupTrouble(error).code)
        }
    }

    private func fault(
        _ route: ToolConfiguration.Route, _ why: String, code: ExitCode = .usage
    ) -> CommandFault {
        CommandFault(
            "\(configuration.path ?? "configuration"): routes.\(route.pattern): \(why)", code: code)
    }
}
