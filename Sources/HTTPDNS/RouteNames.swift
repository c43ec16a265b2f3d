internal import HTTPDNSLookup

/// Makes the names in routing rules those of sources: a rule may name a provider or describe a resolver,
/// as in ``ResolverDescription``, and a resolver knows its sources by their labels.
struct RouteNames {
    let factory: ResolverFactory
    /// Those of the chain.
    let sources: [any ResolverBackend]
    /// Of all sources so far.
    var labels: SourceLabels

    /// The rules with labels in place of names; sources that are only named there are added.
    ///
    /// - Throws: ``SetupFault/resolver(_:_:)``: a name that is no source and no resolver. A rule that
    ///   leads nowhere must not be found out by a lookup.
    mutating func resolved(
        _ rules: RoutingRules, adding routed: inout [any ResolverBackend]
    ) throws(SetupFault) -> RoutingRules {
        guard !rules.isEmpty else { return rules }
        var resolved: [RoutingRules.Rule] = []
        for rule in rules.rules {
            guard case .sources(let names) = rule.target else {
                resolved.append(rule)
                continue
            }
            var labels: [String] = []
            for name in names { labels.append(try label(name, adding: &routed)) }
            resolved.append(RoutingRules.Rule(pattern: rule.pattern, target: .sources(labels)))
        }
        do { return try RoutingRules(resolved) } catch {
            throw .resolver("routes", .misconfigured("\(error)"))
        }
    }

    private mutating func label(
        _ name: String, adding routed: inout [any ResolverBackend]
    ) throws(SetupFault) -> String {
        if (sources + routed).contains(where: { $0.label == name }) { return name }
        let description: ResolverDescription
        do throws(DescriptionError) { description = try ResolverDescription(name) } catch {
            throw .resolver("routes", .misconfigured("\(error)"))
        }
        // By all of its URL: a label may hide in what it differs from a source of the chain.
        if let known = labels.known(description) { return known }
        let backend = labels.labelled(try factory.backend(for: description), for: description)
        if !(sources + routed).contains(where: { $0.label == backend.label }) {
            routed.append(backend)
        }
        return backend.label
    }
}
