import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// Sources that answer with a failure, and moments too short for an answer.
@Suite struct FailureVerdictTests {
    /// The network fails, a trusted source knows the name, and its address proves it.
    private func failing(_ code: ResponseCode, ede: [UInt16] = []) -> Scene {
        var scene = Scene()
        scene.evidence.sources = [scene.udp, scene.doh]
        for type in [RecordType.a, .aaaa] { scene.denies(scene.udp, code, type: type, ede: ede) }
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        return scene
    }

    private func standing(_ scene: Scene, of source: EvidenceSource) -> SourceJudgement.Standing? {
        scene.judgement.sources.first { $0.source == source }?.standing
    }

    @Test(arguments: [ResponseCode.serverFailure, .refused])
    func `a server that fails has answered, and its code is told`(code: ResponseCode) {
        var scene = failing(code)
        #expect(scene.verdict == .inconclusive(missing: [.networkAnswer]))
        #expect(standing(scene, of: scene.udp) == .failing(code))
        let reason = scene.judgement.evidenceFor.first { $0.code == "server_fails" }
        #expect(reason?.text.contains(code.name) == true)
        #expect(scene.judgement.layers.contains { $0.text.contains(code.name) })
        scene.evidence.answers.removeAll { $0.source == scene.udp }
        scene.fails(scene.udp)
        #expect(standing(scene, of: scene.udp) == .silent)
    }

    @Test func `whether a server fails for this name alone is told, and why, by its own words`() {
        var scene = failing(.serverFailure, ede: [6])
        scene.random(scene.udp, .publicSuffix, "qwxz")
        let text = scene.judgement.evidenceFor.first { $0.code == "server_fails" }?.text ?? ""
        #expect(text.contains("for this name, and answers for others"))
        #expect(text.contains("DNSSEC Bogus"))
        #expect(!scene.isHijack)
    }

    @Test func `a failure for IPv4 is not made good by the IPv6 that nobody has`() {
        var scene = failing(.serverFailure)
        scene.evidence.answers.removeAll { $0.source == scene.udp && $0.type == .aaaa }
        scene.denies(scene.udp, .noError, type: .aaaa)
        scene.denies(scene.doh, .noError, type: .aaaa)
        #expect(scene.verdict == .inconclusive(missing: [.networkAnswer]))
        #expect(standing(scene, of: scene.udp) == .failing(.serverFailure))
    }

    @Test func `a failure for IPv6 spoils no IPv4 address that proves the name`() {
        var scene = failing(.serverFailure)
        scene.evidence.answers.removeAll { $0.source == scene.udp && $0.type == .a }
        scene.says(scene.udp, "8.8.9.1")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .certain)
        #expect(scene.judgement.notes.contains { $0.code == "server_fails" })
    }

    @Test func `a trusted source that fails is not silent, either`() {
        var scene = Scene()
        scene.networkSays("8.8.9.66")
        scene.denies(scene.doh, .serverFailure)
        scene.refuses("8.8.9.66", .unknownIssuer)
        #expect(standing(scene, of: scene.doh) == .failing(.serverFailure))
        #expect(scene.verdict == .inconclusive(missing: [.trustedAnswer, .handshake]))
    }

    @Test func `a server elsewhere that fails is reached, one on this machine may reach nobody`() {
        var scene = Scene()
        scene.evidence.sources = [scene.udp, scene.doh]
        scene.denies(scene.udp, .serverFailure)
        scene.fails(scene.doh)
        #expect(scene.verdict == .inconclusive(missing: [.trustedAnswer, .networkAnswer]))
        let local = EvidenceSource(
            label: "udp://127.0.0.53:53", standing: .nameserver, transport: .udp,
            server: Scene.endpoint("127.0.0.53"))
        scene.evidence.sources = [local, scene.doh]
        scene.evidence.answers.removeFirst()
        scene.denies(local, .serverFailure)
        scene.hasRoute(false)
        #expect(scene.verdict == .offline)
    }

    // MARK: Too little time

    @Test func `silence in a moment is not offline, silence for long is`() {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] { scene.fails(source) }
        scene.evidence.patienceMilliseconds = 20
        #expect(scene.verdict == .inconclusive(missing: [.time]))
        #expect(scene.judgement.evidenceFor.contains { $0.code == "too_little_time" })
        #expect(scene.judgement.advice.contains { $0.text.contains("--timeout") })
        scene.evidence.patienceMilliseconds = 4_500
        #expect(scene.verdict == .offline)
    }

    @Test func `a run that was over before anybody answered has asked somebody`() {
        var scene = Scene()
        scene.evidence.patienceMilliseconds = 1
        #expect(scene.verdict == .inconclusive(missing: [.time]))
    }

    @Test func `who is refused at once needs no time to be offline`() {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] {
            scene.fails(source, .unreachable("Network is unreachable"))
        }
        scene.hasRoute(false)
        scene.evidence.sources.removeAll { $0.standing == .hosts }
        scene.evidence.patienceMilliseconds = 20
        #expect(scene.verdict == .offline)
    }

    @Test func `an address that is silent in a moment is not blocked`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1", "9.9.10.1")
        scene.says(scene.doh, "8.8.9.1", "9.9.10.1")
        for address in ["8.8.9.1", "9.9.10.1"] { scene.unreachable(address) }
        scene.evidence.patienceMilliseconds = 150
        #expect(scene.verdict == .inconclusive(missing: [.handshake, .time]))
        scene.evidence.patienceMilliseconds = 4_500
        #expect(scene.verdict == .addressBlocked)
    }

    @Test func `a proof that came in a moment is one`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.evidence.patienceMilliseconds = 20
        #expect(scene.verdict == .clean)
    }
}
