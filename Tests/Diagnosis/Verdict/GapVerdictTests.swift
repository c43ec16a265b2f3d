import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSTrust
import Testing

/// Runs that did not hear everybody: what was not asked, or not waited for, is not bad.
@Suite struct GapVerdictTests {
    private func silent() -> Scene {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] {
            scene.fails(source, .unreachable("Too many open files"))
        }
        return scene
    }

    private func network(_ scene: Scene) -> LayerLine? {
        scene.judgement.layers.first { $0.layer == .network }
    }

    @Test(arguments: [true, false])
    func `a machine that has nothing left to ask with is not offline`(hasRoute: Bool) {
        var scene = silent()
        scene.hasRoute(hasRoute)
        scene.evidence.shortages = ["Too many open files"]
        #expect(scene.verdict == .inconclusive(missing: [.localResources]))
        #expect(scene.judgement.evidenceFor.first?.code == "out_of_resources")
        #expect(scene.judgement.evidenceFor.first?.text.contains("Too many open files") == true)
        #expect(scene.judgement.advice.contains { $0.text.contains("ulimit") })
        if hasRoute { #expect(network(scene)?.state == .unclear) }
    }

    @Test func `the same silence without a shortage is offline`() {
        var scene = silent()
        scene.hasRoute(false)
        #expect(scene.verdict == .offline)
        #expect(network(scene)?.state == .bad)
    }

    @Test func `what was proven in spite of a shortage stays, with less confidence`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.judgement.confidence == .certain)
        scene.evidence.shortages = ["Too many open files"]
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.evidenceAgainst.contains { $0.code == "out_of_resources" })
    }

    @Test func `a lie that was found in spite of a shortage is one`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.66")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.refuses("8.8.9.66", .wrongName, names: ["other.example"])
        scene.evidence.shortages = ["Too many open files"]
        #expect(scene.isHijack)
    }

    @Test func `the network of a run that was ended early is not called bad`() {
        var scene = Scene()
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] {
            scene.fails(source, .cancelled)
        }
        scene.hasRoute(true)
        #expect(network(scene)?.state == .unclear)
        scene.evidence.isInterrupted = true
        #expect(network(scene)?.state == .unclear)
        #expect(!scene.judgement.layers.contains { $0.state == .bad })
    }

    @Test func `a network whose routes nobody knows is neither good nor bad before a reply`() {
        var scene = silent()
        #expect(network(scene)?.state == .unclear)
        scene.says(scene.doh, "8.8.9.1")
        #expect(network(scene)?.state == .good)
    }
}
