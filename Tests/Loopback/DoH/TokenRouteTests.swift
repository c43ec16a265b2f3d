import HTTPDNS
import HTTPDNSPinLab
import TestSupport
import Testing

/// Two resolvers whose URLs differ in a token alone, which no label shows.
@Suite(.timeLimit(.minutes(2))) struct TokenRouteTests {
    private static let open = String(repeating: "0a", count: 16)
    private static let corp = String(repeating: "1b", count: 16)

    private func server(_ root: TestAuthority) throws -> LabServer {
        let identity = try root.leaf([.address(LabAddress.ipv4)])
        let server = try LabServer(security: .tls(identity)) { request in
            LabResponse(
                fields: [LabField("Content-Type", "application/dns-message")],
                body: ContractZone.octets(
                    answering: Base64URL.decoded(request.query["dns"] ?? "")) ?? [])
        }
        try server.start()
        return server
    }

    private func url(_ server: LabServer, _ token: String) -> String {
        "https://\(server.address):\(server.port)/dns-query?token=\(token)"
    }

    /// The chain has the open token, and names under `corp.test` go with the other one.
    private func resolver(
        _ server: LabServer, _ root: TestAuthority, isListed: Bool
    ) throws -> Resolver {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = [try ResolverDescription(url(server, Self.open))]
        if isListed {
            configuration.routedResolvers = [try ResolverDescription(url(server, Self.corp))]
        }
        configuration.resolverTrust = TrustPolicy(roots: .pem(root.certificatePEM))
        configuration.usesHostsFile = false
        configuration.resolverOptions.addressPolicy = .off
        configuration.resolverOptions.patience = .seconds(60)
        configuration.resolverOptions.routes = try RoutingRules([
            RoutingRules.Rule(
                pattern: try HostPattern("*.corp.test", wildcard: .anyDepth),
                target: .sources([url(server, Self.corp)])),
            RoutingRules.Rule(
                pattern: try HostPattern("*.open.test", wildcard: .anyDepth),
                target: .sources([url(server, Self.open)])),
        ])
        return try HTTPDNS(configuration).resolver
    }

    /// Which tokens a look-up is sent with, and who is said to have answered.
    private func asked(
        _ name: String, _ resolver: Resolver, _ server: LabServer
    ) async throws -> (tokens: Set<String>, source: String) {
        let before = server.record.requests.count
        let answer = try await resolver.lookup(
            Question(name: try HostName(name), type: .a))
        let tokens = server.record.requests.dropFirst(before).compactMap { $0.query["token"] }
        return (Set(tokens), answer.testimony.source.resolver)
    }

    @Test(arguments: [true, false])
    func `names of a route go with its token, and all others with the chain's`(
        isListed: Bool
    ) async throws {
        let root = try TestAuthority()
        let server = try server(root)
        defer { server.stop() }
        let resolver = try resolver(server, root, isListed: isListed)
        let corp = try await asked("ok.corp.test", resolver, server)
        let usual = try await asked("ok.shop.test", resolver, server)
        let open = try await asked("ok.open.test", resolver, server)
        #expect(corp.tokens == [Self.corp])
        #expect(usual.tokens == [Self.open])
        #expect(open.tokens == [Self.open])
        #expect(corp.source != usual.source)
        #expect(open.source == usual.source)
        // The rule for the chain's own resolver adds none.
        #expect(resolver.routed.map(\.label) == [corp.source])
        for label in (resolver.sources + resolver.routed).map(\.label) {
            #expect(label.contains("token=REDACTED"))
            #expect(!label.contains(Self.open))
            #expect(!label.contains(Self.corp))
        }
    }
}
