import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// Trust that changes while it is used: roots that are read again, and what resolvers must prove.
@Suite(.timeLimit(.minutes(2))) struct TrustChangeTests {
    private static let stranger = "sha256/" + String(repeating: "A", count: 43) + "="

    @Test func `roots that are read again hold for the next request, and break nothing in flight`()
        async throws
    {
        let lab = try ClientLab()
        let other = try TestAuthority("Other Root")
        let files = try TemporaryDirectory()
        let path = try files.write("roots.pem", lab.root.certificatePEM)
        let isAsked = ConditionLocked<[Bool]>([])
        let mayAnswer = ConditionLocked<[Bool]>([])
        let origin = try lab.origin { request in
            guard request.path == "/slow" else { return .text("fast") }
            isAsked.withLockSignalling { $0 = [true] }
            _ = mayAnswer.waitAndTake({ said, _ in said }, until: { _ in nil })
            return .text("slow")
        }
        defer { origin.stop() }
        let httpdns = try lab.httpdns { $0.trust = TrustPolicy(roots: .file(path)) }
        _ = try await httpdns.client.get(origin.httpURL("/"))
        let slowURL = try origin.httpURL("/slow")
        let slow = Task { try await httpdns.client.get(slowURL) }
        _ = try await offPool { isAsked.waitAndTake({ said, _ in said }, until: { _ in nil }) }
        try files.write("roots.pem", other.certificatePEM)
        // Until it is said, nothing is read again.
        _ = try await httpdns.client.get(origin.httpURL("/still"))
        try await httpdns.reloadRoots()
        let failure = await httpdns.client.failure(of: HTTPRequest(.get, try origin.httpURL("/")))
        #expect(failure?.label == "unknown_issuer")
        mayAnswer.withLockSignalling { $0 = [true] }
        #expect(try await slow.value.text == "slow")
        try files.write("roots.pem", other.certificatePEM + lab.root.certificatePEM)
        try await httpdns.reloadRoots()
        _ = try await httpdns.client.get(origin.httpURL("/again"))
        // What cannot be read changes nothing.
        try files.write("roots.pem", "nothing")
        await #expect(throws: SetupFault.self) { try await httpdns.reloadRoots() }
        _ = try await httpdns.client.get(origin.httpURL("/kept"))
    }

    /// An HTTP-DNS resolver of one answer, and a client that asks it.
    private func resolving(
        _ lab: ClientLab, change: (inout HTTPDNSConfiguration) -> Void = { _ in }
    ) throws -> (httpdns: HTTPDNS, server: LabServer, leaf: TestIdentity) {
        let leaf = try lab.root.leaf(["dns.example.test"])
        let server = try LabServer(security: .tls(leaf)) { request in
            let isV6 = request.target.contains("type=28") || request.target.contains("type=AAAA")
            let answer =
                "{\"name\":\"shop.example.test.\",\"type\":1,\"TTL\":1,\"data\":\"127.0.0.1\"}"
            return LabResponse(
                fields: [LabField("Content-Type", "application/json")],
                body: Array(
                    """
                    {"Status":0,"TC":false,"RD":true,"RA":true,"AD":false,"CD":false,
                     "Question":[{"name":"shop.example.test.","type":\(isV6 ? 28 : 1)}],
                     "Answer":[\(isV6 ? "" : answer)]}
                    """.utf8))
        }
        try server.start()
        var description = try ResolverDescription(
            "json+https://dns.example.test:\(server.port)/resolve")
        description.bootstrap = [server.address]
        let httpdns = try lab.httpdns([:]) { configuration in
            configuration.resolvers = [description]
            configuration.usesHostsFile = false
            configuration.resolverTrust = TrustPolicy(roots: .pem(lab.root.certificatePEM))
            change(&configuration)
        }
        return (httpdns, server, leaf)
    }

    private func ask(_ httpdns: HTTPDNS) async -> String? {
        do {
            let name = try HostName("shop.example.test")
            _ = try await httpdns.resolver.resolve(.name(name), patience: .seconds(50))
            return nil
        } catch { return "\(error)" }
    }

    private static func pins(
        _ text: String, _ enforcement: PinRule.Enforcement = .enforce
    ) throws -> PinSet {
        var pins = PinSet()
        var rule = PinRule([try Pin(text)], backup: .waived)
        rule.enforcement = enforcement
        try pins.add(rule, for: HostPattern("dns.example.test"))
        return pins
    }

    @Test func `changed pins of resolvers hold for the next question, on a new connection`()
        async throws
    {
        let lab = try ClientLab()
        let (httpdns, server, leaf) = try resolving(lab)
        defer { server.stop() }
        #expect(await ask(httpdns) == nil)
        let asked = server.record.requests.count
        try httpdns.update(resolverPins: Self.pins(Self.stranger))
        httpdns.resolver.removeCachedAnswers()
        let refusal = try #require(await ask(httpdns))
        #expect(refusal.contains("No pin matched"), "\(refusal)")
        #expect(server.record.requests.count == asked)
        #expect(
            httpdns.resolverTrust.pins.pins(for: .name(try HostName("dns.example.test"))) != nil)
        try httpdns.update(resolverPins: Self.pins("\(leaf.pin)"))
        httpdns.resolver.removeCachedAnswers()
        let held = await ask(httpdns)
        #expect(held == nil, "\(held ?? "")")
        #expect(throws: SetupFault.self) {
            try httpdns.update(resolverTrust: TrustPolicy(roots: .file("/nonexistent.pem")))
        }
        httpdns.resolver.removeCachedAnswers()
        #expect(await ask(httpdns) == nil)
    }

    @Test func `a resolver without its pins is reported like an origin`() async throws {
        let lab = try ClientLab()
        let reports = Locked<[PinReport]>([])
        let told = ConditionLocked<[Bool]>([])
        for enforcement in [PinRule.Enforcement.reportOnly, .enforce] {
            let pins = try Self.pins(Self.stranger, enforcement)
            let (httpdns, server, _) = try resolving(lab) { configuration in
                configuration.resolverTrust.pins = pins
                configuration.pinReports.onReport = { report in
                    reports.withLock { $0.append(report) }
                    told.withLockSignalling { $0.append(true) }
                }
            }
            defer { server.stop() }
            let outcome = await ask(httpdns)
            #expect((outcome == nil) == (enforcement == .reportOnly))
            _ = try await offPool {
                told.waitAndTake({ told, _ in told }, until: { _ in nil })
            }
            told.withLockSignalling { $0 = [] }
            let report = try #require(reports.withLock { $0.last })
            #expect(report.host.description == "dns.example.test")
            #expect(report.port == server.port)
            #expect(report.isRefused == (enforcement == .enforce))
            #expect(httpdns.pinReportCounts.sighted >= 1)
        }
    }

    private struct Weak {
        weak var resolver: Resolver?
    }

    private func used(_ lab: ClientLab) async throws -> Weak {
        let (httpdns, server, _) = try resolving(lab)
        defer { server.stop() }
        #expect(await ask(httpdns) == nil)
        return Weak(resolver: httpdns.resolver)
    }

    @Test func `a client with a resolver over TLS ends when it is let go of`() async throws {
        let last = try await used(ClientLab())
        #expect(await eventually { last.resolver == nil })
    }

    @Test func `a policy that is put in place of another tells its dangerous options`() throws {
        let lab = try ClientLab()
        let told = Locked<[String]>([])
        let httpdns = try lab.httpdns { configuration in
            configuration.report = { line in told.withLock { $0.append(line) } }
        }
        var trust = httpdns.trust
        try trust.dangerous.accept(
            .acceptsExpired, for: HostPattern("a.example.test"), because: "a test")
        #expect(told.withLock { $0 } == [])
        try httpdns.update(trust: trust)
        #expect(told.withLock { $0 } == trust.dangerous.lines)
        try httpdns.update(resolverTrust: trust)
        #expect(
            told.withLock { $0 }
                == trust.dangerous.lines + trust.dangerous.lines.map { "of resolvers, " + $0 })
    }
}
