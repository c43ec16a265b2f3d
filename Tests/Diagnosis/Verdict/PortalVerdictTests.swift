import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// Portals, with a page whose answer is known and without; servers without HTTPS; the hosts file.
@Suite struct PortalVerdictTests {
    // MARK: A page that is known

    private func probed(_ page: FetchEvidence.Page, body: String? = nil) -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.66")
        scene.fails(scene.doh)
        scene.evidence.expectedProbe = ProbeExpectation(status: 200, body: body)
        scene.fetches(.portalProbe, page)
        return scene
    }

    @Test func `a body that differs is named, not the status that does not`() {
        let page = FetchEvidence.Page(
            status: 200, bodyOctets: 23, excerpt: Array("<title>Please log in".utf8))
        let scene = probed(page, body: "Success")
        #expect(scene.verdict == .captivePortal)
        let text = scene.judgement.evidenceFor.first?.text ?? ""
        #expect(text.contains("<title>Please log in"))
        #expect(text.contains("Success"))
        #expect(!text.contains("not 200"))
        let empty = probed(.init(status: 200), body: "Success")
        #expect(empty.judgement.evidenceFor.first?.text.contains("empty body") == true)
    }

    @Test func `a body that holds what it should is no portal, and none is asked for`() {
        let page = FetchEvidence.Page(
            status: 200, bodyOctets: 7, excerpt: Array("Success".utf8))
        #expect(probed(page, body: "Success").verdict != .captivePortal)
        #expect(probed(page).verdict != .captivePortal)
    }

    @Test func `a probe that was not answered is told as a check that did not happen`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.evidence.expectedProbe = ProbeExpectation()
        scene.evidence.fetches = [
            FetchEvidence(
                purpose: .portalProbe, address: nil, url: "http://probe.example/",
                result: .failure(.init(reason: "probe.example has no address here")))
        ]
        #expect(scene.verdict == .clean)
        let note = scene.judgement.notes.first { $0.code == "probe_not_answered" }
        #expect(note?.text.contains("no address here") == true)
        scene.evidence.fetches = []
        scene.fetches(.portalProbe, .init(status: 204))
        #expect(!scene.judgement.notes.contains { $0.code == "probe_not_answered" })
    }

    // MARK: No page that is known

    /// Every name leads to one place, where a page sends on to `location`; nobody is trusted.
    private func leading(to location: String?) -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.66")
        scene.fails(scene.doh)
        scene.refuses("8.8.9.66", .unknownIssuer, names: ["portal.example"])
        for label in ["aa", "bbbb"] {
            scene.random(scene.udp, .publicSuffix, label, "8.8.9.66")
        }
        scene.evidence.fetches = [
            FetchEvidence(
                purpose: .plain, address: Scene.address("8.8.9.66"), url: "http://www.shop.com/",
                result: .success(.init(status: 302, location: location)))
        ]
        return scene
    }

    @Test(arguments: ["http://portal.example/login", "http://192.168.1.1/", "https://[fd00::1]/"])
    func `all names at one place that sends on to another host are a portal, likely`(
        location: String
    ) {
        let scene = leading(to: location)
        #expect(scene.verdict == .captivePortal)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.layers.contains { $0.layer == .http && $0.state == .bad })
    }

    @Test(arguments: [nil, "https://shop.com/", "/login"])
    func `a page that leads nowhere else is no portal, but may be one`(location: String?) {
        var scene = leading(to: location)
        #expect(scene.hijack?.how == .rewritten)
        #expect(scene.judgement.advice.contains { $0.text.contains("captive portal") })
        // Somebody who answers for one name made up, and denies another, is none.
        scene.random(scene.udp, .publicSuffix, "cccccc")
        #expect(!scene.judgement.advice.contains { $0.text.contains("captive portal") })
    }

    @Test func `who reaches a trusted source, or has a probe answered, is behind no portal`() {
        var scene = leading(to: "http://portal.example/login")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.hijack?.how == .rewritten)
        #expect(scene.judgement.advice.contains { $0.text.contains("captive portal") })
        scene = leading(to: "http://portal.example/login")
        scene.evidence.expectedProbe = ProbeExpectation()
        scene.fetches(.portalProbe, .init(status: 204))
        #expect(scene.hijack?.how == .rewritten)
    }

    @Test func `one name that is sent on is told in the advice alone`() {
        var scene = leading(to: "http://portal.example/login")
        scene.evidence.randomNames = []
        #expect(scene.verdict == .inconclusive(missing: [.trustedAnswer, .handshake]))
        #expect(scene.judgement.advice.contains { $0.text.contains("captive portal") })
    }

    // MARK: Servers without HTTPS

    private func refusing(_ other: Handshake?) -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.cuts("8.8.9.1", .cut(.refused("wrong version number")), other: other)
        return scene
    }

    @Test func `where no certificate was seen none is called bad`() {
        let scene = refusing(.cut(.refused("wrong version number")))
        #expect(scene.verdict == .originBroken)
        #expect(scene.judgement.confidence == .possible)
        #expect(scene.judgement.evidenceAgainst.map(\.code) == ["may_be_no_https"])
        #expect(!scene.judgement.advice.contains { $0.text.contains("bad certificate") })
    }

    @Test func `a refusal of the name alone may be a filter's`() {
        let scene = refusing(Scene.untrusted(.wrongName, ["default.example"]))
        #expect(scene.verdict == .originBroken)
        #expect(scene.judgement.evidenceAgainst.map(\.code) == ["may_be_filtered"])
        #expect(scene.judgement.evidenceFor.first?.text.contains("not with another one") == true)
    }

    @Test func `a bad certificate that was seen is still called one`() {
        var scene = refusing(nil)
        scene.evidence.peers = []
        scene.refuses("8.8.9.1", .expired)
        #expect(scene.verdict == .originBroken)
        #expect(scene.judgement.advice.contains { $0.text.contains("bad certificate") })
    }

    // MARK: The hosts file

    /// The hosts file has an entry for a name that has only IPv4, and works without it.
    private func entered(_ address: String, _ type: RecordType = .a) -> Scene {
        var scene = Scene()
        scene.says(scene.hosts, address, type: type)
        scene.fails(scene.hosts, .notCovered, type: type == .a ? .aaaa : .a)
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] {
            scene.denies(source, .noError, type: .aaaa)
        }
        scene.proves("8.8.9.1")
        return scene
    }

    @Test(arguments: [("127.0.0.1", RecordType.a), ("::1", .aaaa)])
    func `an entry that leads to this machine hides the name, whatever its family`(
        address: String, type: RecordType
    ) {
        var scene = entered(address, type)
        scene.unreachable(address, .failed(.refused, "Connection refused"))
        #expect(scene.hijack?.source == scene.hosts)
        #expect(scene.hijack?.how == .blocked)
        #expect(scene.judgement.confidence == .certain)
        #expect(!scene.judgement.notes.contains { $0.code == "ipv6_broken" })
    }

    @Test(arguments: [("127.0.0.1", RecordType.a), ("::1", .aaaa)])
    func `an entry that leads to the name's own server on this machine is harmless`(
        address: String, type: RecordType
    ) {
        var scene = entered(address, type)
        scene.proves(address)
        #expect([.clean, .cdnVariation].contains(scene.verdict))
    }

    @Test func `an entry where nobody answers is not clean, and no lie`() {
        var scene = entered("8.8.9.66")
        scene.unreachable("8.8.9.66")
        #expect(scene.verdict == .inconclusive(missing: [.networkProof]))
        #expect(scene.judgement.advice.first?.text.contains("hosts file") == true)
        scene.evidence.peers.removeLast()
        scene.proves("8.8.9.66")
        #expect([.clean, .cdnVariation].contains(scene.verdict))
    }
}
