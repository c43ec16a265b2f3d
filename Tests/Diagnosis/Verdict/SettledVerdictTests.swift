import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// The verdicts that find no fault, and what is nearly one.
@Suite struct SettledVerdictTests {
    @Test func `the same address everywhere that proves the name is clean`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .certain)
        #expect(scene.judgement.advice.map(\.remedy) == [.notNeeded])
    }

    @Test func `different addresses that all prove the name are a content network`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.2")
        scene.proves("8.8.9.1")
        scene.proves("8.8.9.2")
        #expect(scene.verdict == .cdnVariation)
    }

    @Test func `a difference of addresses alone is never a hijack`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.2")
        #expect(!scene.isHijack)
        #expect(scene.verdict == .inconclusive(missing: [.handshake]))
    }

    @Test func `answers that share an address are no variation`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1", "8.8.9.3")
        scene.says(scene.doh, "8.8.9.1", "8.8.9.2")
        for last in 1...3 { scene.proves("8.8.9.\(last)") }
        #expect(scene.verdict == .clean)
    }

    @Test func `without a trusted source the proof is enough`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.fails(scene.doh)
        scene.proves("8.8.9.1")
        #expect(scene.verdict == .clean)
    }

    @Test func `without a trusted source and without a proof nothing is decided`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.fails(scene.doh)
        scene.refuses("8.8.9.1", .unknownIssuer)
        #expect(scene.verdict == .inconclusive(missing: [.trustedAnswer, .handshake]))
        #expect(scene.judgement.advice.contains { $0.text.contains("--trusted") })
    }

    @Test func `a name that nobody knows is clean`() {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] { scene.denies(source) }
        #expect(scene.verdict == .clean)
    }

    @Test func `a name that the network alone denies, without a measure, is undecided`() {
        var scene = Scene()
        for source in [scene.system, scene.udp] { scene.denies(source) }
        scene.fails(scene.doh)
        #expect(scene.verdict == .inconclusive(missing: [.trustedAnswer]))
    }

    @Test func `a private zone that the public tree denies is no hijack`() {
        var scene = Scene("intra.shop.com")
        scene.networkSays("10.1.2.3")
        scene.denies(scene.doh)
        #expect(!scene.isHijack)
        #expect(scene.judgement.sources.first { $0.source == scene.udp }?.standing == .privateView)
    }

    @Test func `a private address that proves the name is clean`() {
        var scene = Scene()
        scene.networkSays("10.1.2.3")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("10.1.2.3")
        scene.proves("8.8.9.1")
        #expect(scene.verdict == .cdnVariation)
    }

    @Test func `no name server that answers is no hijack, and HTTPDNS would help`() {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp] { scene.fails(source) }
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.verdict == .inconclusive(missing: [.networkAnswer]))
        #expect(scene.judgement.advice.map(\.remedy) == [.helps])
    }

    @Test func `no route and no answer is offline`() {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] { scene.fails(source) }
        scene.hasRoute(false)
        #expect(scene.verdict == .offline)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test func `where nobody was asked nobody is offline, route or not`() {
        for hasRoute in [true, false] {
            var scene = Scene()
            scene.evidence.sources = [scene.hosts]
            scene.fails(scene.hosts, .notCovered)
            scene.hasRoute(hasRoute)
            #expect(scene.verdict == .inconclusive(missing: [.nobodyAsked]))
            #expect(scene.judgement.evidenceFor.contains { $0.code == "no_route" } != hasRoute)
            #expect(scene.judgement.advice.contains { $0.text.contains("--trusted") })
        }
    }

    @Test(arguments: [
        QueryFailure.misconfigured("no key"), .cancelled, .overQuota(retryAfterMilliseconds: 1),
        .resting(milliseconds: 1), .unsupportedType(.a),
    ])
    func `who was never asked is not silent`(failure: QueryFailure) {
        var scene = Scene()
        scene.evidence.sources = [scene.doh]
        scene.fails(scene.doh, failure)
        scene.hasRoute(false)
        #expect(scene.verdict == .inconclusive(missing: [.nobodyAsked]))
    }

    @Test(arguments: [QueryFailure.timedOut(tries: 2), .unreachable("Network is unreachable")])
    func `one source that was asked and is not reached, without a route, is offline`(
        failure: QueryFailure
    ) {
        var scene = Scene()
        scene.evidence.sources = [scene.hosts, scene.doh]
        scene.fails(scene.doh, failure)
        scene.hasRoute(false)
        #expect(scene.verdict == .offline)
        #expect(scene.judgement.evidenceFor.contains { $0.text.contains(scene.doh.label) })
    }

    @Test(arguments: [true, false])
    func `a run that was ended says so, and not that nobody answers`(hasRoute: Bool) {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] {
            scene.fails(source, .cancelled)
        }
        scene.evidence.isInterrupted = true
        scene.hasRoute(hasRoute)
        #expect(scene.verdict == .inconclusive(missing: [.interrupted]))
        #expect(scene.judgement.advice.count == 1)
    }

    @Test func `what was proven before a run was ended stays, with less confidence`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.evidence.isInterrupted = true
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.evidenceAgainst.contains { $0.code == "interrupted" })
    }

    @Test func `a lie that was found before a run was ended is one`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.66")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.refuses("8.8.9.66", .wrongName, names: ["other.example"])
        scene.evidence.isInterrupted = true
        #expect(scene.isHijack)
    }

    @Test func `a route that leads nowhere is offline, likely`() {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] { scene.fails(source) }
        #expect(scene.verdict == .offline)
        #expect(scene.judgement.confidence == .likely)
    }

    @Test func `one answer is enough not to be offline`() {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp] { scene.fails(source) }
        scene.hasRoute(false)
        scene.denies(scene.doh)
        #expect(scene.verdict != .offline)
    }

    @Test func `silent servers on this machine say nothing of the network`() {
        var scene = Scene()
        let local = EvidenceSource(
            label: "udp://127.0.0.1:53", standing: .nameserver, transport: .udp,
            server: Scene.endpoint("127.0.0.1"))
        scene.evidence.sources = [local]
        scene.fails(local)
        #expect(scene.verdict == .inconclusive(missing: [.trustedAnswer, .networkAnswer]))
    }
}

extension Scene {
    var isHijack: Bool { if case .dnsHijacked = verdict { true } else { false } }

    /// The source that a hijack is put down to, and how.
    var hijack: (source: EvidenceSource, how: Verdict.Hijack)? {
        guard case .dnsHijacked(let source, let how) = verdict else { return nil }
        return (source, how)
    }
}
