import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// What a liar, or an interceptor, arranges so that it is taken for something else.
@Suite struct NearMissVerdictTests {
    // MARK: Addresses that nobody tried

    @Test func `nobody is honest while one of his addresses was not tried`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.1", "8.8.9.66")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.verdict == .inconclusive(missing: [.handshake]))
        #expect(scene.judgement.evidenceFor.contains { $0.code == "address_untried" })
        scene.says(scene.tcp, "8.8.9.1")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .likely)
    }

    // MARK: Interception of one family

    /// A trusted IPv4 address and another edge's are both intercepted, IPv6 is not.
    private func inspected(_ edge: String) -> Scene {
        var scene = Scene()
        scene.says(scene.system, edge)
        scene.says(scene.doh, "8.8.9.4")
        scene.says(scene.doh, "2600::6", type: .aaaa)
        scene.proves("2600::6")
        return scene
    }

    @Test func `interception of IPv4 alone is no rewriting where the edges differ`() {
        var scene = inspected("8.8.9.44")
        scene.refuses("8.8.9.4", .unknownIssuer, issuer: "CN=Gateway")
        scene.refuses("8.8.9.44", .unknownIssuer, issuer: "CN=Gateway")
        #expect(scene.verdict == .tlsIntercepted)
    }

    @Test func `an impostor is no liar's work where the right address of its type is dead`() {
        var scene = inspected("8.8.9.44")
        scene.unreachable("8.8.9.4")
        scene.refuses("8.8.9.44", .unknownIssuer, issuer: "CN=Gateway")
        #expect(!scene.isHijack)
    }

    @Test func `the same issuer at a right address and at a stranger's is the path's`() {
        var scene = inspected("8.8.9.44")
        scene.says(scene.doh, "8.8.9.5")
        scene.proves("8.8.9.5")
        scene.refuses("8.8.9.4", .unknownIssuer, issuer: "CN=Gateway")
        scene.refuses("8.8.9.44", .unknownIssuer, issuer: "CN=Gateway")
        #expect(scene.verdict == .tlsIntercepted)
        scene.evidence.peers.removeLast()
        scene.refuses("8.8.9.44", .unknownIssuer, issuer: "CN=Somebody Else")
        #expect(scene.hijack?.how == .rewritten)
    }
}
