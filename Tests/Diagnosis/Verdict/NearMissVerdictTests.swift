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
        #expect(scene.verdict == .inconclusive(missing: [.networkProof]))
        #expect(scene.judgement.evidenceFor.contains { $0.code == "address_untried" })
        // That there is no IPv6 address, as all say, tries nothing.
        scene.denies(scene.udp, .noError, type: .aaaa)
        scene.denies(scene.doh, .noError, type: .aaaa)
        #expect(scene.verdict == .inconclusive(missing: [.networkProof]))
        scene.says(scene.system, "8.8.9.1")
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

    // MARK: Names made up

    /// The network knows a name of its own and all beside it; a trusted source denies them.
    private func ownZone(_ parent: RandomNameEvidence.Parent) -> Scene {
        var scene = Scene()
        scene.networkSays("10.0.0.7")
        scene.denies(scene.doh)
        scene.random(scene.udp, parent, "qwxz", "10.0.0.9")
        scene.random(scene.doh, parent, "qwxz")
        return scene
    }

    @Test func `a wildcard in a zone that is the network's own rewrites nothing`() {
        #expect(!ownZone(.name).isHijack)
        #expect(ownZone(.publicSuffix).hijack?.how == .rewritten)
        var scene = ownZone(.publicSuffix)
        scene.evidence.isUnderRegistry = false
        #expect(!scene.isHijack)
    }

    // MARK: Races

    @Test func `a server that fails once and answers then forges nothing`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        for code in [ResponseCode.serverFailure, .refused] {
            scene.evidence.races = [
                RaceEvidence(
                    source: scene.udp, type: .a, first: Statement(code: code),
                    second: Statement(addresses: [Scene.address("8.8.9.1")]), millisecondsApart: 5)
            ]
            #expect(scene.verdict == .clean)
        }
    }

    // MARK: The clock

    /// Everybody gives an address, and a page in clear has a date of years ago.
    private func dated() -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.fetches(
            .plain,
            FetchEvidence.Page(
                status: 200,
                date: WallTime(secondsSince1970: Scene.now.secondsSince1970 - 90_000_000)))
        return scene
    }

    @Test func `a forged date hides no interceptor`() {
        var scene = dated()
        scene.refuses("8.8.9.1", .unknownIssuer, issuer: "CN=FG100E,O=Fortinet")
        #expect(scene.verdict == .tlsIntercepted)
        scene.evidence.answers.removeAll { $0.source == scene.doh }
        scene.fails(scene.doh, .untrusted(TrustFailure.Code.expired.label))
        #expect(scene.verdict == .tlsIntercepted)
    }

    @Test func `a forged date takes no fault from the site`() {
        var scene = dated()
        scene.refuses("8.8.9.1", .expired)
        #expect(scene.verdict == .originBroken)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.evidenceAgainst.contains { $0.code == "clock_may_be_wrong" })
    }

    // MARK: Denials

    @Test func `a network that says nothing does not agree with a denial`() {
        var scene = Scene()
        scene.denies(scene.doh)
        for source in [scene.system, scene.udp, scene.tcp] { scene.fails(source) }
        #expect(scene.verdict == .inconclusive(missing: [.networkAnswer]))
        scene.evidence.answers.removeAll { $0.source == scene.udp }
        scene.denies(scene.udp, .serverFailure)
        #expect(scene.verdict == .inconclusive(missing: [.networkAnswer]))
        scene.evidence.answers.removeAll { $0.source == scene.tcp }
        scene.denies(scene.tcp)
        #expect(scene.verdict == .clean)
    }
}
