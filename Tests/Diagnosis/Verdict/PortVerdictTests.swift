import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// What a name server says on one port and not on another, and what comes from ports without DNS.
@Suite struct PortVerdictTests {
    /// A scene whose name server has a second port.
    private func twoPorts() -> Scene {
        var scene = Scene()
        scene.evidence.sources.append(scene.other)
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        return scene
    }

    private func codes(_ findings: [Finding]) -> [String] { findings.map(\.code) }

    // MARK: A second port

    @Test func `who lies on port 53 alone, by UDP and by TCP, is intercepted there`() {
        var scene = twoPorts()
        scene.says(scene.udp, "8.8.9.66")
        scene.says(scene.tcp, "8.8.9.66")
        scene.says(scene.other, "8.8.9.1")
        scene.refuses("8.8.9.66", .unknownIssuer)
        #expect(scene.hijack?.how == .intercepted)
        #expect(scene.hijack?.source == scene.udp)
        #expect(codes(scene.judgement.evidenceFor).contains("ports_differ"))
        #expect(codes(scene.judgement.evidenceAgainst).contains("may_be_two_servers"))
        #expect(scene.judgement.advice.contains { $0.text.contains(scene.other.label) })
    }

    @Test func `who lies on the other port alone is intercepted there`() {
        var scene = twoPorts()
        scene.says(scene.udp, "8.8.9.1")
        scene.says(scene.tcp, "8.8.9.1")
        scene.says(scene.other, "8.8.9.66")
        scene.refuses("8.8.9.66", .unknownIssuer)
        #expect(scene.hijack?.how == .intercepted)
        #expect(scene.hijack?.source == scene.other)
    }

    @Test func `who lies on both ports lies itself`() {
        var scene = twoPorts()
        for source in [scene.udp, scene.tcp, scene.other] { scene.says(source, "8.8.9.66") }
        scene.refuses("8.8.9.66", .unknownIssuer)
        #expect(scene.hijack?.how == .rewritten)
        #expect(!codes(scene.judgement.evidenceFor).contains("ports_differ"))
    }

    @Test func `two ports that give different addresses, each of them proven, are no hijack`() {
        var scene = twoPorts()
        scene.says(scene.udp, "8.8.9.2")
        scene.says(scene.other, "8.8.9.1")
        scene.proves("8.8.9.2")
        #expect(scene.verdict == .cdnVariation)
    }

    @Test func `two ports that give different addresses, one of them dead, are no hijack`() {
        var scene = twoPorts()
        scene.says(scene.udp, "8.8.9.66")
        scene.says(scene.other, "8.8.9.1")
        scene.unreachable("8.8.9.66")
        #expect(!scene.isHijack)
        // And nothing is clean: no program here asks the port that gives the right address.
        #expect(scene.verdict == .inconclusive(missing: [.networkProof]))
        #expect(codes(scene.judgement.evidenceFor).contains("proven_beside"))
    }

    // MARK: The truth where no program here asks

    /// What programs here get is a dead address; nobody but `source` gives the right one.
    private func beside(_ source: EvidenceSource, isTrustedHeard: Bool) -> Scene {
        var scene = Scene()
        if !scene.evidence.sources.contains(source) { scene.evidence.sources.append(source) }
        scene.says(scene.system, "8.8.9.66")
        scene.says(scene.udp, "8.8.9.66")
        scene.says(source, "8.8.9.1")
        if isTrustedHeard { scene.says(scene.doh, "8.8.9.1") } else { scene.fails(scene.doh) }
        scene.unreachable("8.8.9.66")
        scene.proves("8.8.9.1")
        return scene
    }

    @Test(arguments: [true, false])
    func `the truth by TCP, on another port or of another resolver is not what programs get`(
        isTrustedHeard: Bool
    ) {
        let sources = Scene()
        for source in [sources.tcp, sources.other, sources.resolver] {
            let scene = beside(source, isTrustedHeard: isTrustedHeard)
            let missing: [Verdict.Missing] =
                isTrustedHeard ? [.networkProof] : [.trustedAnswer, .networkProof]
            #expect(scene.verdict == .inconclusive(missing: missing), "\(source.label)")
            let proof = scene.judgement.evidenceFor.first { $0.code == "proven_beside" }
            #expect(proof?.text.contains(source.label) == true)
            #expect(scene.judgement.advice.contains { $0.remedy == .helps })
        }
    }

    @Test func `TCP counts where UDP brings nothing, and a resolver where nobody else is judged`() {
        var scene = Scene()
        scene.fails(scene.udp)
        scene.says(scene.tcp, "8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.verdict == .clean)
        scene = Scene()
        scene.evidence.sources = [scene.resolver, scene.doh]
        scene.says(scene.resolver, "8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.verdict == .clean)
    }

    @Test func `another port is no answer of this network where its own is silent`() {
        var scene = twoPorts()
        scene.fails(scene.udp)
        scene.says(scene.other, "8.8.9.1")
        #expect(scene.verdict == .inconclusive(missing: [.networkAnswer]))
    }

    @Test func `a second port that says nothing says nothing`() {
        var scene = twoPorts()
        scene.says(scene.udp, "8.8.9.1")
        scene.fails(scene.other)
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test func `another server at the same address is no second port of it`() {
        var scene = Scene()
        let stranger = EvidenceSource(
            label: "udp://9.9.8.1:5354", standing: .nameserver, transport: .udp,
            server: Endpoint(address: Scene.address("9.9.8.1"), port: Port(5_354) ?? .dns))
        scene.evidence.sources.append(stranger)
        scene.says(scene.udp, "8.8.9.66")
        scene.says(stranger, "8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.refuses("8.8.9.66", .unknownIssuer)
        #expect(scene.hijack?.how == .rewritten)
    }

    @Test(arguments: [true, false])
    func `names made up that one port knows are put into its mouth, that both know are its own`(
        isDenied: Bool
    ) {
        var scene = twoPorts()
        for source in [scene.udp, scene.other] { scene.says(source, "8.8.9.1") }
        scene.random(scene.udp, .publicSuffix, "qwxz", "8.8.9.66")
        scene.random(scene.doh, .publicSuffix, "qwxz")
        if isDenied {
            scene.random(scene.other, .publicSuffix, "qwxz")
        } else {
            scene.random(scene.other, .publicSuffix, "qwxz", "8.8.9.66")
        }
        #expect(scene.hijack?.how == (isDenied ? .intercepted : .rewritten))
    }

    @Test(arguments: [true, false])
    func `the same holds of UDP and TCP`(isDenied: Bool) {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.random(scene.udp, .publicSuffix, "qwxz", "8.8.9.66")
        scene.random(scene.doh, .publicSuffix, "qwxz")
        if isDenied {
            scene.random(scene.tcp, .publicSuffix, "qwxz")
        } else {
            scene.random(scene.tcp, .publicSuffix, "qwxz", "8.8.9.66")
        }
        #expect(scene.hijack?.how == (isDenied ? .intercepted : .rewritten))
    }

    // MARK: Ports without DNS

    private func answered(_ scene: inout Scene, by server: String = "9.9.8.1") {
        scene.evidence.vacantPorts = [
            VacantPortEvidence(
                server: Scene.endpoint(server),
                place: Endpoint(address: Scene.address(server), port: Port(61_234) ?? .dns),
                statement: Statement(addresses: [Scene.address("8.8.9.66")]))
        ]
    }

    private func honest() -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        return scene
    }

    @Test func `an answer from a port without DNS is a note where the network proves the name`() {
        var scene = honest()
        answered(&scene)
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .certain)
        #expect(codes(scene.judgement.notes).contains("vacant_port_answers"))
        #expect(codes(scene.judgement.notes).contains("may_answer_on_all_ports"))
        #expect(scene.judgement.layers.contains { $0.layer == .dns && $0.state == .good })
    }

    @Test func `who is met there, or a dark address, makes it an interception all the same`() {
        var scene = honest()
        answered(&scene)
        scene.refuses("8.8.9.66", .unknownIssuer)
        #expect(scene.hijack?.how == .intercepted)
        #expect(!codes(scene.judgement.notes).contains("vacant_port_answers"))
        scene = honest()
        answered(&scene)
        scene.evidence.dark = DarkEvidence(
            address: Scene.endpoint("192.0.2.53"),
            statement: Statement(addresses: [Scene.address("8.8.9.66")]))
        #expect(scene.hijack?.how == .intercepted)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test func `an answer from a port without DNS is an interception, likely, without a proof`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.unreachable("8.8.9.1")
        answered(&scene)
        #expect(scene.hijack?.how == .intercepted)
        #expect(scene.hijack?.source == scene.udp)
        #expect(scene.judgement.confidence == .likely)
        let against = codes(scene.judgement.evidenceAgainst)
        #expect(against.contains("honest_so_far"))
        #expect(against.contains("may_answer_on_all_ports"))
        #expect(scene.judgement.layers.contains { $0.layer == .dns && $0.state == .bad })
    }

    @Test func `silence of a port without DNS means nothing`() {
        var scene = honest()
        scene.evidence.vacantPorts = [
            VacantPortEvidence(
                server: Scene.endpoint("9.9.8.1"), place: Scene.endpoint("9.9.8.1"), statement: nil)
        ]
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test func `an answer from there explains the lies of that server, and of no other`() {
        for (server, how) in [
            ("9.9.8.1", Verdict.Hijack.intercepted), ("9.9.8.7", .rewritten),
        ] {
            var scene = Scene()
            scene.says(scene.udp, "8.8.9.66")
            scene.says(scene.tcp, "8.8.9.66")
            scene.says(scene.doh, "8.8.9.1")
            scene.proves("8.8.9.1")
            scene.refuses("8.8.9.66", .unknownIssuer)
            answered(&scene, by: server)
            #expect(scene.hijack?.how == how)
            #expect(
                codes(scene.judgement.evidenceAgainst).contains("may_answer_on_all_ports")
                    == (how == .intercepted))
        }
    }

    // MARK: Known ports

    @Test func `a second port is known of few resolvers, and of port 53 alone`() throws {
        let other = KnownPorts.besides(Scene.endpoint("9.9.9.9"))
        #expect(other.map(\.description) == ["9.9.9.9:9953"])
        #expect(KnownPorts.besides(try #require(other.first)).isEmpty)
        #expect(KnownPorts.besides(Scene.endpoint("127.0.0.53")).isEmpty)
        #expect(KnownPorts.besides(Scene.endpoint("8.8.8.8")).isEmpty)
    }
}
