import HTTPDNS
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// Says what it is told to, and counts.
private final class Source: ResolverBackend {
    let label: String
    let isAuthenticated: Bool
    let isOfTheSystem: Bool
    let supportedTypes: Set<RecordType>? = nil
    private let answer: String?
    private let count = Locked(0)

    init(_ label: String, isOfTheSystem: Bool = false, says answer: String? = nil) {
        self.label = label
        self.isOfTheSystem = isOfTheSystem
        self.answer = answer
        isAuthenticated = !isOfTheSystem
    }

    var asked: Int { count.withLock { $0 } }

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        count.withLock { $0 += 1 }
        guard let answer else { throw .unreachable("nobody there") }
        guard let address = try? IPAddress(answer) else { throw .unexpected("a bad test") }
        return Testimony(
            question: question, code: .noError,
            answers: [
                ResourceRecord(
                    name: WireName(question.name), type: question.type, ttlSeconds: 60,
                    data: .address(address))
            ], source: Testimony.Source(resolver: label, transport: .system))
    }
}

@Suite(.timeLimit(.minutes(1))) struct PinnedHostTests {
    private let own = Source("own")
    private let network = Source("network", isOfTheSystem: true, says: "192.0.2.7")
    private let pinned = "pinned.example.test"
    private let free = "free.example.test"

    private func httpdns(
        _ change: (inout HTTPDNSConfiguration) throws -> Void = { _ in }
    ) throws -> HTTPDNS {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.customResolvers = [own, network]
        configuration.usesHostsFile = false
        configuration.resolverOptions.families = [.ipv4]
        configuration.resolverOptions.addressPolicy = .off
        configuration.resolverOptions.patience = .seconds(50)
        configuration.trust.pins = try pins(pinned)
        try change(&configuration)
        return try HTTPDNS(configuration)
    }

    private func pins(_ pattern: String) throws -> PinSet {
        var pins = PinSet()
        let octets = [UInt8](repeating: 7, count: 32)
        try pins.add(
            [Pin("sha256/" + Base64.encoded(octets))], for: HostPattern(pattern), backup: .waived)
        return pins
    }

    private func resolve(_ httpdns: HTTPDNS, _ host: String) async throws -> ResolvedHost {
        try await httpdns.resolver.resolve(.name(try HostName(host)))
    }

    @Test func `a pinned host is not looked up by the network's own resolver`() async throws {
        let httpdns = try httpdns()
        let failure = await #expect(throws: ResolutionFailure.self) {
            try await resolve(httpdns, pinned)
        }
        #expect(network.asked == 0)
        #expect(own.asked == 1)
        guard case .failed(let lookup)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(lookup.label == "unreachable")
        #expect(lookup.attempts.map(\.resolver) == ["own", "network"])
        #expect(lookup.attempts.last?.reason == .failed(.withheld))
    }

    @Test func `any other host is, and the result says which step that was`() async throws {
        let found = try await resolve(try httpdns(), free)
        #expect(found.source.resolver == "network")
        #expect(found.step == 2)
        #expect(found.attempts.map(\.resolver) == ["own"])
        #expect(found.attempts.map(\.reason.label) == ["unreachable"])
    }

    @Test func `it is where that was allowed for the host, pins or not`() async throws {
        let httpdns = try httpdns { configuration in
            configuration.systemFallback.hosts = [try HostPattern(pinned)]
        }
        await #expect(throws: ResolutionFailure.self) { try await resolve(httpdns, pinned) }
        #expect(network.asked == 0)
        let allowed = try self.httpdns { configuration in
            configuration.systemFallback.hosts = [try HostPattern(pinned)]
            configuration.systemFallback.includesPinnedHosts = true
        }
        #expect(try await resolve(allowed, pinned).step == 2)
    }

    @Test func `it is where a route sends the host there`() async throws {
        let httpdns = try httpdns { configuration in
            configuration.resolverOptions.routes = try RoutingRules([
                RoutingRules.Rule("\(pinned) = network")
            ])
        }
        #expect(try await resolve(httpdns, pinned).source.resolver == "network")
    }

    @Test func `a chain of nothing else is kept to, and said`() async throws {
        let lines = Locked<[String]>([])
        let httpdns = try httpdns { configuration in
            configuration.customResolvers = [network]
            configuration.report = { line in lines.withLock { $0.append(line) } }
        }
        #expect(try await resolve(httpdns, pinned).step == 1)
        #expect(lines.withLock { $0 }.contains { $0.contains("network is all of the chain") })
    }

    @Test func `what the network said before a host was pinned does not count after`() async throws
    {
        let httpdns = try httpdns()
        #expect(try await resolve(httpdns, free).isCached == false)
        #expect(try await resolve(httpdns, free).isCached)
        let asked = network.asked
        try httpdns.update(pins: try pins("**.example.test"))
        await #expect(throws: ResolutionFailure.self) { try await resolve(httpdns, free) }
        #expect(network.asked == asked)
        #expect(!httpdns.resolver.cachedAddresses(for: try HostName(free)).isKnown)
        try httpdns.update(pins: PinSet())
        #expect(try await resolve(httpdns, free).source.resolver == "network")
    }

    @Test func `pins that bind keep a host from http; those that only report do not`() throws {
        let host = Host.name(try HostName(pinned))
        let now = WallTime(secondsSince1970: 1_800_000_000)
        #expect(
            try pins(pinned).refusalOfCleartext(to: host, now: now)?.label == "pinned_over_http")
        #expect(try pins(free).refusalOfCleartext(to: host, now: now) == nil)
        var rule = try #require(pins(pinned).rule(under: HostPattern(pinned)))
        func isRefused(_ rule: PinRule) throws -> Bool {
            var set = PinSet()
            try set.add(rule, for: HostPattern(pinned))
            return set.refusalOfCleartext(to: host, now: now) != nil
        }
        let past = WallTime(secondsSince1970: 1)
        for (then, isLeft) in [
            (PinRule.AfterExpiry.failClosed, true), (.reportOnly, false), (.unpinned, false),
        ] {
            rule.expiry = PinRule.Expiry(at: past, then: then)
            #expect(try isRefused(rule) == isLeft)
        }
        rule.expiry = nil
        rule.enforcement = .reportOnly
        #expect(try !isRefused(rule))
    }
}
