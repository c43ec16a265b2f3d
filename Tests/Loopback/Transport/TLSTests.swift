import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSTrust
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct TLSTests {
    let lab: TrustedLab

    init() throws { lab = try TrustedLab() }

    @Test(arguments: [LabTLSVersions.tls12Only, .tls13Only])
    func `the proven origin gets the request under its own name`(versions: LabTLSVersions)
        async throws
    {
        let server = try lab.server(for: ["shop.example.test"], versions: versions)
        defer { server.stop() }
        let story = await run(
            try secureRequest(
                to: "shop.example.test", at: server.endpoint, verifier: lab.verifier))
        #expect(story.text == "hello shop.example.test", "\(story.results)")
        #expect(server.record.serverNames == ["shop.example.test"])
        let peer = try #require(story.peers.first ?? nil)
        #expect(peer.host.description == "shop.example.test")
        #expect(peer.chain.count == 2)
        #expect(
            story.connections.map(\.tlsVersion) == [versions == .tls12Only ? "TLSv1.2" : "TLSv1.3"])
        #expect(story.facts?.securedMilliseconds != nil)
    }

    @Test func `the peer is proven before the first octet of the request`() async throws {
        let server = try lab.server(for: ["shop.example.test"])
        defer { server.stop() }
        let source = ScriptedSource([.give([1])])
        let story = await run(
            try secureRequest(to: "evil.example.test", at: server.endpoint, verifier: lab.verifier)
            {
                $0.method = .post
                $0.body = .stream(source)
            })
        let refusal = try #require(story.refusal, "\(story.results)")
        #expect(refusal.code == .wrongName)
        #expect(refusal.facts.host.description == "evil.example.test")
        #expect(refusal.facts.chain.first?.dnsNames == [Array("shop.example.test".utf8)])
        #expect(story.failedAt == [server.endpoint])
        #expect(story.connections.isEmpty)
        #expect(story.heads.isEmpty)
        #expect(server.awaitConnectionsEnded())
        #expect(server.record.receivedOctets == 0)
        #expect(server.record.serverNames == ["evil.example.test"])
    }

    @Test func `an address as origin is proven by an address in the certificate`() async throws {
        let server = try lab.server(for: [.address(LabAddress.ipv4)])
        defer { server.stop() }
        let story = await run(
            try secureRequest(to: "127.0.0.1", at: server.endpoint, verifier: lab.verifier))
        #expect(story.text == "hello 127.0.0.1", "\(story.results)")
        #expect(server.record.serverNames == [""])
        let other = try lab.server(for: [.address(try IPAddress("192.0.2.7"))])
        defer { other.stop() }
        let away = await run(
            try secureRequest(to: "192.0.2.7", at: other.endpoint, verifier: lab.verifier))
        #expect(away.text == "hello 192.0.2.7", "\(away.results)")
        let refused = await run(
            try secureRequest(to: "127.0.0.1", at: other.endpoint, verifier: lab.verifier))
        #expect(refused.refusal?.code == .wrongName)
    }

    @Test func `IPv6 as origin and as route is proven likewise`() async throws {
        let server = try lab.server(for: [.address(LabAddress.ipv6)], address: LabAddress.ipv6)
        defer { server.stop() }
        let story = await run(
            try secureRequest(to: "::1", at: server.endpoint, verifier: lab.verifier))
        #expect(story.text == "hello [::1]", "\(story.results)")
        #expect(story.facts?.remote == server.endpoint)
    }

    @Test func `a connection is used again under the same policy and no other`() async throws {
        let leaf = try lab.root.leaf(["shop.example.test"], commonName: "Lab origin")
        let server = try LabServer(security: .tls(leaf)) { _ in .text("hello") }
        try server.start()
        defer { server.stop() }
        let transport = Transport()
        func story(_ verifier: any PeerVerifier) async throws -> Recorder.Story {
            await run(
                try secureRequest(
                    to: "shop.example.test", at: server.endpoint, verifier: verifier),
                transport)
        }
        let right = try lab.pinned(to: leaf.pin)
        let wrong = try lab.pinned(to: try lab.root.leaf(["x.example.test"]).pin)
        let first = try await story(lab.verifier)
        #expect(first.text == "hello")
        #expect(try await story(lab.verifier).connections.map(\.isReused) == [true])
        #expect(server.record.connections == 1)
        let pinned = try await story(right)
        #expect(pinned.connections.map(\.isReused) == [false])
        #expect(pinned.peers.first??.matchedPin == leaf.pin)
        let refused = try await story(wrong)
        #expect(refused.refusal?.code == .noPinMatched, "\(refused.results)")
        #expect(server.record.connections == 3)
        #expect(server.record.requests.count == 3)
        #expect(try await story(right).connections.map(\.isReused) == [true])
    }

    @Test func `a kept connection is asked for its proof before each request`() async throws {
        let server = try lab.server(for: ["shop.example.test"])
        defer { server.stop() }
        let transport = Transport()
        let verifier = MoodyVerifier(lab.verifier)
        let request = try secureRequest(
            to: "shop.example.test", at: server.endpoint, verifier: verifier)
        #expect(await run(request, transport).text == "hello shop.example.test")
        verifier.refuse()
        let refused = await run(request, transport)
        #expect(refused.refusal?.code == .policyChanged)
        #expect(refused.connections.isEmpty)
        #expect(server.record.requests.count == 1)
    }

    @Test func `a refusal after the request went out on a kept connection is not called unsent`()
        async throws
    {
        let leaf = try lab.root.leaf(["shop.example.test"], commonName: "Lab origin")
        let isFirst = Locked(true)
        let server = try LabServer(security: .tls(leaf)) { _ in
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .text("hello") : LabResponse().conducting(.closesUnanswered)
            }
        }
        try server.start()
        defer { server.stop() }
        let transport = Transport()
        let verifier = MoodyVerifier(lab.verifier, later: .name(try HostName("other.test")))
        let request = try secureRequest(
            to: "shop.example.test", at: server.endpoint, verifier: verifier)
        #expect(await run(request, transport).text == "hello")
        let story = await run(request, transport)
        #expect(server.record.requests.count == 2)
        guard case .requestLost(.stale, let text)? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(text.contains("The certificate is not for other.test."))
    }

    @Test(arguments: [LabTLSVersions.tls12Only, .tls13Only])
    func `a body without a length is not whole without the goodbye of TLS`(
        versions: LabTLSVersions
    ) async throws {
        let leaf = try lab.root.leaf(["shop.example.test"], commonName: "Lab origin")
        for (conduct, isWhole) in [
            (LabResponse.Conduct.answers, true), (.closes(afterBodyOctets: 3), false),
        ] {
            let server = try LabServer(security: .tls(leaf, versions: versions)) { _ in
                var response = LabResponse.text("hello").conducting(conduct)
                response.framing = .untilClose
                return response
            }
            try server.start()
            defer { server.stop() }
            let story = await run(
                try secureRequest(
                    to: "shop.example.test", at: server.endpoint, verifier: lab.verifier))
            #expect((story.failure == nil) == isWhole, "\(story.results)")
            #expect(story.text == (isWhole ? "hello" : "hel"))
        }
    }

    @Test func `a verifier that cannot arm ends the exchange unsent`() async throws {
        let server = try lab.server(for: ["shop.example.test"])
        defer { server.stop() }
        let verifier = MoodyVerifier(lab.verifier, arms: false)
        let story = await run(
            try secureRequest(to: "shop.example.test", at: server.endpoint, verifier: verifier))
        guard case .unavailable? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(server.record.requests.isEmpty)
    }

    @Test(arguments: [
        LabConnectionFault.resetsInHandshake, .closesInHandshake, .alertsInHandshake,
        .speaksPlainHTTP,
    ])
    func `a handshake that fails before a certificate is no verdict about it`(
        fault: LabConnectionFault
    ) async throws {
        let server = try lab.server(for: ["shop.example.test"], fault: fault)
        defer { server.stop() }
        let story = await run(
            try secureRequest(
                to: "shop.example.test", at: server.endpoint, verifier: lab.verifier))
        guard case .handshakeFailed(let text)? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(!text.contains(".invalid"))
        #expect(story.failedAt == [server.endpoint])
    }

    @Test func `TLS 1 1 is not spoken`() async throws {
        let server = try lab.server(for: ["shop.example.test"], versions: .tls11Only)
        defer { server.stop() }
        let story = await run(
            try secureRequest(
                to: "shop.example.test", at: server.endpoint, verifier: lab.verifier))
        guard case .handshakeFailed? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
    }

    @Test func `a handshake that stalls is a time-out of connecting`() async throws {
        let server = try lab.server(for: ["shop.example.test"], fault: .stallsHandshake)
        defer { server.stop() }
        let story = await run(
            try secureRequest(to: "shop.example.test", at: server.endpoint, verifier: lab.verifier)
            {
                $0.limits.connectMilliseconds = 1_000
            })
        #expect(story.failure == .timedOut(phase: .connect))
        #expect(story.failedAt == [server.endpoint])
    }

    @Test func `a dead address is passed over, a lying one ends the exchange`() async throws {
        let server = try lab.server(for: ["shop.example.test"])
        defer { server.stop() }
        let request = try secureRequest(
            to: "shop.example.test", at: server.endpoint, verifier: lab.verifier
        ) {
            $0.route = try #require(
                Route(
                    addresses: [LabAddress.ipv4(host: 9), LabAddress.ipv6, server.address],
                    port: server.port))
        }
        #expect(await run(request).text == "hello shop.example.test")
    }

    @Test func `many secure exchanges at once are each proven`() async throws {
        let server = try lab.server(for: ["shop.example.test"])
        defer { server.stop() }
        let transport = Transport()
        let request = try secureRequest(
            to: "shop.example.test", at: server.endpoint, verifier: lab.verifier)
        let recorders = (0..<100).map { _ in Recorder() }
        for recorder in recorders { _ = transport.start(request, observer: recorder) }
        for recorder in recorders {
            let story = await recorder.end()
            #expect(story.text == "hello shop.example.test", "\(story.results)")
            #expect(story.peers.allSatisfy { $0 != nil } && !story.peers.isEmpty)
        }
    }
}

/// A verifier that can change its mind, or cannot begin.
private final class MoodyVerifier: PeerVerifier {
    private let inner: any PeerVerifier
    private let arms: Bool
    /// Whom the second connection and those after it are judged for; nil for the same host.
    private let later: Host?
    private let connections = Locked(0)
    private let refuses = Locked(false)

    init(_ inner: any PeerVerifier, arms: Bool = true, later: Host? = nil) {
        self.inner = inner
        self.arms = arms
        self.later = later
    }

    func refuse() { refuses.withLock { $0 = true } }

    var fingerprint: PolicyFingerprint { inner.fingerprint }

    func arm(
        sslContext: UnsafeMutableRawPointer, for host: Host,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) -> Bool {
        let isFirst = connections.withLock { count in
            count += 1
            return count == 1
        }
        let meant = isFirst ? host : later ?? host
        return arms && inner.arm(sslContext: sslContext, for: meant, onVerdict: onVerdict)
    }

    func proof(
        ssl: UnsafeMutableRawPointer, for host: Host
    ) throws(TrustFailure) -> VerifiedPeer {
        guard !refuses.withLock({ $0 }) else {
            throw TrustFailure(code: .policyChanged, facts: TrustFailure.Facts(host: host))
        }
        return try inner.proof(ssl: ssl, for: host)
    }

    func farewell(ssl: UnsafeMutableRawPointer) -> (any PeerFarewell)? { inner.farewell(ssl: ssl) }
}
