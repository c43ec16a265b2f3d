import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// What stands between this machine and the right addresses.
@Suite struct PathVerdictTests {
    /// Everybody gives 8.8.9.1.
    private func agreed() -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        return scene
    }

    // MARK: TLS intercepted

    @Test func `a certificate of a known product is an interception for certain`() {
        var scene = agreed()
        scene.refuses("8.8.9.1", .unknownIssuer, issuer: "CN=FG100E,O=Fortinet")
        #expect(scene.verdict == .tlsIntercepted)
        #expect(scene.judgement.confidence == .certain)
        #expect(scene.judgement.advice.allSatisfy { $0.remedy == .doesNotHelp })
    }

    @Test func `certificates made for every name are an interception for certain`() {
        var scene = agreed()
        scene.cuts(
            "8.8.9.1", Scene.untrusted(.unknownIssuer, ["www.shop.com"], "CN=Quiet Root"),
            other: Scene.untrusted(
                .unknownIssuer, ["www.example.com"], "CN=Quiet Root", host: "www.example.com",
                print: 2))
        #expect(scene.verdict == .tlsIntercepted)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test func `the site's own certificate as soon as the name is not said is an interception`() {
        var scene = agreed()
        scene.cuts(
            "8.8.9.1", Scene.untrusted(.wrongName, ["other.example"]),
            without: .proven(chain: [Scene.certificate()], version: "TLSv1.3"))
        #expect(scene.verdict == .tlsIntercepted)
    }

    @Test func `an unknown authority for the right name is an interception, likely`() {
        var scene = agreed()
        scene.refuses("8.8.9.1", .unknownIssuer, issuer: "CN=Quiet Root")
        #expect(scene.verdict == .tlsIntercepted)
        #expect(scene.judgement.confidence == .likely)
        #expect(!scene.judgement.evidenceAgainst.isEmpty)
    }

    @Test func `somebody else at one right address, the proof at another, is an interception`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1", "8.8.9.2")
        scene.says(scene.doh, "8.8.9.1", "8.8.9.2")
        scene.proves("8.8.9.1")
        scene.refuses("8.8.9.2", .wrongName, names: ["other.example"])
        #expect(scene.verdict == .tlsIntercepted)
    }

    // MARK: The origin's own fault

    @Test func `a certificate that has ended everywhere is the origin's fault`() {
        var scene = agreed()
        scene.refuses("8.8.9.1", .expired)
        #expect(scene.verdict == .originBroken)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test(arguments: [
        (TrustFailure.Code.wrongName, "CN=Public Root", ["shop.com"]),
        (.unknownIssuer, "CN=R11,O=Let's Encrypt,C=US", ["www.shop.com"]),
    ])
    func `a fault that sites make themselves is the origin's`(
        code: TrustFailure.Code, issuer: String, names: [String]
    ) {
        var scene = agreed()
        scene.refuses("8.8.9.1", code, names: names, issuer: issuer)
        #expect(scene.verdict == .originBroken)
    }

    @Test func `a certificate that signs itself is the origin's fault, most often`() {
        var scene = agreed()
        scene.refuses("8.8.9.1", .selfSigned, issuer: "CN=leaf", subject: "CN=leaf")
        #expect(scene.verdict == .originBroken)
        #expect(scene.judgement.evidenceAgainst.contains { $0.code == "may_be_intercepted" })
    }

    @Test func `a bad certificate that only the network's address shows is not the origin's`() {
        var scene = Scene()
        scene.networkSays("8.8.9.66")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.refuses("8.8.9.66", .expired)
        #expect(scene.verdict == .inconclusive(missing: [.networkProof]))
        #expect(scene.judgement.evidenceFor.contains { $0.code == "address_of_old_server" })
    }

    @Test func `a certificate gone bad behind an answer that calls itself old is stale`() {
        for (ttl, ede) in [(UInt32(60), [UInt16(3)]), (2_000_000, [])] {
            var scene = Scene()
            scene.says(scene.udp, "8.8.9.66", ttl: ttl, ede: ede)
            scene.says(scene.doh, "8.8.9.1")
            scene.proves("8.8.9.1")
            scene.refuses("8.8.9.66", .expired)
            #expect(scene.hijack?.how == .stale)
            #expect(scene.judgement.confidence == .likely)
        }
    }

    // MARK: SNI

    @Test(arguments: [Handshake.cut(.reset), .cut(.closed)])
    func `a handshake cut with the name alone is a filter`(real: Handshake) {
        var scene = agreed()
        scene.cuts("8.8.9.1", real, other: Scene.untrusted(.wrongName, ["default.example"]))
        #expect(scene.verdict == .sniFiltered)
        #expect(scene.judgement.confidence == .certain)
        #expect(scene.judgement.advice.allSatisfy { $0.remedy == .doesNotHelp })
    }

    @Test func `silence with the name alone is a filter, likely`() {
        var scene = agreed()
        scene.cuts("8.8.9.1", .timedOut, without: Scene.untrusted(.wrongName, ["x.example"]))
        #expect(scene.verdict == .sniFiltered)
        #expect(scene.judgement.confidence == .likely)
    }

    @Test func `a handshake cut whatever the name is no filter of names`() {
        var scene = agreed()
        scene.cuts("8.8.9.1", .cut(.reset), without: .cut(.reset), other: .cut(.reset))
        #expect(scene.verdict == .addressBlocked)
    }

    // MARK: Addresses

    @Test func `a dead address beside one that proves the name blocks nothing`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1", "8.8.9.2")
        scene.says(scene.doh, "8.8.9.1", "8.8.9.2")
        scene.unreachable("8.8.9.1")
        scene.proves("8.8.9.2")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "dead_address" })
    }

    @Test func `IPv6 that is broken is remarked on`() {
        var scene = agreed()
        scene.says(scene.doh, "2600::1", type: .aaaa)
        scene.says(scene.udp, "2600::1", type: .aaaa)
        scene.proves("8.8.9.1")
        scene.unreachable("2600::1")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "ipv6_broken" })
    }

    // MARK: Portals

    private func portal(_ page: FetchEvidence.Page) -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.66")
        scene.fails(scene.doh)
        scene.refuses("8.8.9.66", .selfSigned, names: ["portal.lan"])
        scene.evidence.expectedProbe = ProbeExpectation()
        scene.fetches(.portalProbe, page)
        return scene
    }

    @Test(arguments: [302, 511])
    func `a probe that is led elsewhere means a portal`(status: Int) {
        let scene = portal(.init(status: status, location: "http://portal.lan/"))
        #expect(scene.verdict == .captivePortal)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test func `a probe that is answered as it should be means none`() {
        #expect(portal(.init(status: 204)).verdict != .captivePortal)
    }

    @Test func `a probe that is answered otherwise is no portal where the name is proven`() {
        var scene = agreed()
        scene.proves("8.8.9.1")
        scene.evidence.expectedProbe = ProbeExpectation()
        scene.fetches(.portalProbe, .init(status: 200))
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "probe_answered_otherwise" })
    }

    // MARK: Pages

    @Test func `a page in clear that leads to another host, or differs, is remarked on`() {
        var scene = agreed()
        scene.proves("8.8.9.1")
        scene.fetches(
            .plain, .init(status: 302, location: "http://ads.example/x"),
            url: "http://www.shop.com/")
        #expect(scene.judgement.notes.contains { $0.code == "redirect_elsewhere" })
        var other = agreed()
        other.proves("8.8.9.1")
        other.fetches(.plain, .init(status: 200, fieldNames: ["via"], bodyDigest: [1]))
        other.fetches(.verified, .init(status: 200, bodyDigest: [2]))
        let note = other.judgement.notes.first { $0.code == "content_differs" }
        #expect(note?.text.contains("via") == true)
        #expect(other.verdict == .clean)
    }

    @Test(arguments: [FetchEvidence.Purpose.plain, .reference])
    func `a page in clear is held against the proven one, whoever gave its address`(
        purpose: FetchEvidence.Purpose
    ) {
        var scene = agreed()
        scene.proves("8.8.9.1")
        // In the order of a report: the page in clear stands before the proven one.
        scene.fetches(purpose, .init(status: 200, bodyDigest: [1]))
        scene.fetches(.verified, .init(status: 200, bodyDigest: [2]))
        let note = scene.judgement.notes.first { $0.code == "content_differs" }
        #expect(note?.text.contains("of a proven peer") == true)
    }

    @Test func `without a proven page the trusted address's is the measure`() {
        var scene = agreed()
        scene.proves("8.8.9.1")
        scene.fetches(.plain, .init(status: 200, bodyDigest: [1]))
        scene.fetches(.reference, .init(status: 200, bodyDigest: [2]))
        let note = scene.judgement.notes.first { $0.code == "content_differs" }
        #expect(note?.text.contains("of a trusted address") == true)
        var same = agreed()
        same.fetches(.plain, .init(status: 200, bodyDigest: [1]))
        same.fetches(.reference, .init(status: 200, bodyDigest: [1]))
        #expect(!same.judgement.notes.contains { $0.code == "content_differs" })
    }

    @Test func `a redirect to https on the same host is no remark`() {
        var scene = agreed()
        scene.proves("8.8.9.1")
        scene.fetches(.plain, .init(status: 301, location: "https://shop.com/"))
        #expect(scene.judgement.notes.isEmpty)
    }
}
