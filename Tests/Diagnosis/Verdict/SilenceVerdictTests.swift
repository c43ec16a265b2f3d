import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// Right addresses that say nothing: blocked or down, and how much is known of it.
@Suite struct SilenceVerdictTests {
    private func scene(_ addresses: String...) -> Scene {
        var scene = Scene()
        for source in [scene.udp, scene.doh] {
            for address in addresses { scene.says(source, address) }
        }
        return scene
    }

    private func text(_ scene: Scene) -> String {
        scene.judgement.evidenceFor.map(\.text).joined(separator: "\n")
    }

    @Test func `an address that answers nothing may as well be down`() {
        var scene = scene("8.8.9.1")
        scene.unreachable("8.8.9.1", .timedOut, other: .timedOut)
        #expect(scene.verdict == .addressBlocked)
        #expect(scene.judgement.confidence == .possible)
        #expect(scene.judgement.evidenceAgainst.contains { $0.code == "may_be_down" })
    }

    @Test func `a refusal is a sign of a server whose program does not run`() {
        var scene = scene("8.8.9.1")
        scene.unreachable(
            "8.8.9.1", .failed(.refused, "Connection refused"),
            other: .failed(.refused, "Connection refused"))
        #expect(scene.verdict == .addressBlocked)
        #expect(scene.judgement.confidence == .possible)
        #expect(text(scene).contains("refused"))
        #expect(scene.judgement.evidenceAgainst.contains { $0.text.contains("does not run") })
    }

    @Test func `another port that takes connections makes a silent one a filter, likely`() {
        var scene = scene("8.8.9.1")
        scene.unreachable("8.8.9.1", .timedOut, other: .connected)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.evidenceFor.contains { $0.code == "port_is_silent" })
        #expect(scene.judgement.evidenceAgainst.contains { $0.code == "may_be_down" })
    }

    @Test func `another port that takes connections makes a refusal no filter`() {
        var scene = scene("8.8.9.1")
        scene.unreachable(
            "8.8.9.1", .failed(.refused, "Connection refused"), other: .connected)
        #expect(scene.verdict == .inconclusive(missing: [.handshake]))
        #expect(scene.judgement.evidenceFor.contains { $0.code == "port_refuses" })
        #expect(!scene.judgement.evidenceFor.contains { $0.code == "port_is_silent" })
        // Where another right address refuses on both ports nothing more is known; a silent one may be
        // blocked.
        scene.says(scene.doh, "8.8.9.2")
        scene.unreachable("8.8.9.2", .timedOut, other: .timedOut)
        #expect(scene.verdict == .addressBlocked)
    }

    @Test func `addresses of several networks that all fall silent are blocked, likely`() {
        var scene = scene("8.8.9.1", "9.9.10.1")
        scene.unreachable("8.8.9.1")
        scene.unreachable("9.9.10.1")
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.evidenceFor.contains { $0.code == "networks_are_silent" })
    }

    @Test func `addresses of one network that all fall silent may be down`() {
        var scene = scene("8.8.9.1", "8.8.9.2")
        scene.unreachable("8.8.9.1")
        scene.unreachable("8.8.9.2")
        #expect(scene.judgement.confidence == .possible)
    }

    @Test func `several silent networks prove nothing where nobody else is reached`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.1", "9.9.10.1")
        scene.fails(scene.doh)
        scene.unreachable("8.8.9.1")
        scene.unreachable("9.9.10.1")
        #expect(scene.verdict == .inconclusive(missing: [.trustedAnswer, .handshake]))
    }

    @Test(arguments: [
        (PeerEvidence.Obstacle.hostUnreachable, "no such host"),
        (.networkUnreachable, "no way there"), (.forbidden, "does not allow"),
    ])
    func `what a router says is told as that, and decides no more`(
        obstacle: PeerEvidence.Obstacle, words: String
    ) {
        var scene = scene("8.8.9.1")
        scene.unreachable("8.8.9.1", .failed(obstacle, "so says the system"))
        #expect(scene.verdict == .addressBlocked)
        #expect(scene.judgement.confidence == .possible)
        #expect(text(scene).contains(words))
    }

    @Test func `a family without a route is told as that`() {
        var scene = Scene()
        for source in [scene.udp, scene.doh] { scene.says(source, "2600::1", type: .aaaa) }
        scene.unreachable("2600::1", .failed(.networkUnreachable, "Network is unreachable"))
        #expect(text(scene).contains("no route for IPv6"))
    }

    @Test func `connections that are cut whatever the name are blocked, likely`() {
        var scene = scene("8.8.9.1")
        scene.cuts("8.8.9.1", .cut(.reset), without: .cut(.reset), other: .cut(.reset))
        #expect(scene.verdict == .addressBlocked)
        #expect(scene.judgement.confidence == .likely)
    }
}
