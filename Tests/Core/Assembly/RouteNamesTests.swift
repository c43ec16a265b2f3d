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

    @Test(arguments: ["gogle", "aliyun", "https://dns.example.test/dns-query"])
    func `a rule that leads nowhere is refused at the start`(name: String) {
        #expect(throws: SetupFault.self) { try resolver("*.shop.example = \(name)") }
    }
}
