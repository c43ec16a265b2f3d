import HTTPDNS
import HTTPDNSLookup
import HTTPDNSNames
import Testing

@Suite struct RouteNamesTests {
    private func resolver(_ rules: String) throws -> Resolver {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = [try ResolverDescription("udp://127.0.0.1:1")]
        configuration.usesHostsFile = false
        configuration.resolverOptions.routes = try RoutingRules(rules)
        return try HTTPDNS(configuration).resolver
    }

    @Test func `a rule may name a provider, which is then asked for its names alone`() throws {
        let resolver = try resolver("*.shop.example = cloudflare-udp, resolv.conf")
        #expect(resolver.sources.count == 1)
        #expect(resolver.routed.count == 2)
        let name = try HostName("www.shop.example")
        guard case .sources(let labels)? = resolver.options.routes.target(for: name) else {
            Issue.record("no route")
            return
        }
        #expect(labels == resolver.routed.map(\.label))
    }

    @Test func `a rule that names a source of the chain adds none`() throws {
        let resolver = try resolver("*.shop.example = udp://127.0.0.1:1")
        #expect(resolver.routed.isEmpty)
    }

    @Test func `resolvers that differ in a token alone have labels of their own, always the same`()
        throws
    {
        let urls = ["0a", "1b", "2c"].map { part in
            "https://127.0.0.1:1/dns-query?token=" + String(repeating: part, count: 16)
        }
        func labels() throws -> [String] {
            var configuration = HTTPDNSConfiguration()
            configuration.resolvers = try urls.prefix(2).map { try ResolverDescription($0) }
            configuration.usesHostsFile = false
            configuration.resolverOptions.routes = try RoutingRules([
                RoutingRules.Rule(
                    pattern: try HostPattern("*.shop.example", wildcard: .anyDepth),
                    target: .sources([urls[2], urls[1]]))
            ])
            let resolver = try HTTPDNS(configuration).resolver
            let name = try HostName("www.shop.example")
            guard case .sources(let routed)? = resolver.options.routes.target(for: name) else {
                return []
            }
            #expect(routed == resolver.routed.map(\.label) + [resolver.sources[1].label])
            return (resolver.sources + resolver.routed).map(\.label)
        }
        let shown = "https://127.0.0.1:1/dns-query?token=REDACTED"
        #expect(try labels() == [shown, shown + " (2)", shown + " (3)"])
        #expect(try labels() == labels())
    }

    @Test(arguments: ["gogle", "aliyun", "https://dns.example.test/dns-query"])
    func `a rule that leads nowhere is refused at the start`(name: String) {
        #expect(throws: SetupFault.self) { try resolver("*.shop.example = \(name)") }
    }
}
