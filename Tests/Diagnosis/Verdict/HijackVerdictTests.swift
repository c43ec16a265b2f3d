import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// Lies of sources, each kind, and what looks like one and is none.
@Suite struct HijackVerdictTests {
    /// The network says 8.8.9.66, a trusted source 8.8.9.1, which proves the name.
    private func lied() -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.66")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        return scene
    }

    // MARK: Rewritten

    @Test func `an address of somebody else is a rewritten answer`() {
        var scene = lied()
        scene.refuses("8.8.9.66", .selfSigned, names: ["ads.example"])
        #expect(scene.hijack?.how == .rewritten)
        #expect(scene.hijack?.source == scene.udp)
        #expect(scene.judgement.confidence == .certain)
        #expect(scene.judgement.advice.first?.remedy == .helps)
    }

    @Test func `somebody else at the address is no lie while nothing proves the name`() {
        var scene = Scene()
        scene.networkSays("8.8.9.66")
        scene.says(scene.doh, "8.8.9.1")
        scene.refuses("8.8.9.66", .unknownIssuer)
        scene.refuses("8.8.9.1", .unknownIssuer)
        #expect(!scene.isHijack)
    }

    @Test func `a bad address among good ones is a lie`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1", "8.8.9.66")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.refuses("8.8.9.66", .wrongName, names: ["ads.example"])
        #expect(scene.hijack?.how == .rewritten)
    }

    @Test func `only IPv6 rewritten is a hijack, too`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.says(scene.udp, "2600::66", type: .aaaa)
        scene.denies(scene.doh, .noError, type: .aaaa)
        scene.proves("8.8.9.1")
        scene.refuses("2600::66", .unknownIssuer)
        #expect(scene.hijack?.how == .rewritten)
    }

    @Test func `an IPv6 address that a translator made is none`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.says(scene.udp, "64:ff9b::808:901", type: .aaaa)
        scene.denies(scene.doh, .noError, type: .aaaa)
        scene.proves("8.8.9.1")
        scene.unreachable("64:ff9b::808:901")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "nat64" })
    }

    @Test func `an address that no public host has is a lie where the truth is known`() {
        var scene = lied()
        scene.evidence.answers.removeAll { $0.source.isSuspect }
        scene.networkSays("192.0.2.7")
        #expect(scene.hijack?.how == .rewritten)
    }

    @Test func `this machine's own address for a public name is a rebinding`() {
        var scene = Scene()
        scene.networkSays("127.0.0.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.unreachable("127.0.0.1", .failed(.refused, "Connection refused"))
        #expect(scene.hijack?.how == .rewritten)
    }

    @Test func `a name that is on this machine for trusted sources, too, is no rebinding`() {
        var scene = Scene()
        scene.networkSays("127.0.0.1")
        scene.says(scene.doh, "127.0.0.1")
        scene.proves("127.0.0.1")
        #expect(scene.verdict == .clean)
    }

    // MARK: Names made up

    @Test func `a source that knows names made up rewrites NXDOMAIN`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.random(scene.udp, .publicSuffix, "qwxz", "8.8.9.66")
        scene.random(scene.doh, .publicSuffix, "qwxz")
        #expect(scene.hijack?.how == .rewritten)
        #expect(scene.judgement.evidenceFor.contains { $0.code == "rewrites_nxdomain" })
    }

    @Test func `a wildcard zone rewrites nothing`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.random(scene.udp, .name, "qwxz", "8.8.9.1")
        scene.random(scene.doh, .name, "qwxz", "8.8.9.1")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "wildcard_zone" })
    }

    @Test func `one made-up name without a measure proves nothing, several under a suffix do`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.fails(scene.doh)
        scene.proves("8.8.9.1")
        scene.random(scene.udp, .publicSuffix, "aa", "8.8.9.66")
        #expect(scene.verdict == .clean)
        scene.random(scene.udp, .publicSuffix, "bbbb", "8.8.9.66")
        #expect(scene.hijack?.how == .rewritten)
        #expect(scene.judgement.confidence == .likely)
    }

    // MARK: Forged

    @Test func `of two answers to one query the one that is disproved is forged`() {
        var scene = lied()
        scene.races(scene.udp, "8.8.9.66", "8.8.9.1")
        scene.refuses("8.8.9.66", .unknownIssuer)
        #expect(scene.hijack?.how == .forged)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test func `a dead first answer with a proven second one is forged, likely`() {
        var scene = lied()
        scene.races(scene.udp, "8.8.9.66", "8.8.9.1")
        scene.unreachable("8.8.9.66")
        #expect(scene.hijack?.how == .forged)
        #expect(scene.judgement.confidence == .likely)
    }

    @Test func `two answers that both prove the name are no forgery`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.races(scene.udp, "8.8.9.1", "8.8.9.2")
        scene.proves("8.8.9.1")
        scene.proves("8.8.9.2")
        #expect(!scene.isHijack)
    }

    // MARK: Intercepted

    @Test func `an answer from where no server is means interception, honest or not`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.evidence.dark = DarkEvidence(
            address: Scene.endpoint("192.0.2.53"),
            statement: Statement(addresses: [Scene.address("8.8.9.1")]))
        #expect(scene.hijack?.how == .intercepted)
        #expect(!scene.judgement.evidenceAgainst.isEmpty)
    }

    @Test func `silence from where no server is means nothing`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.evidence.dark = DarkEvidence(
            address: Scene.endpoint("192.0.2.53"), statement: nil)
        #expect(scene.verdict == .clean)
    }

    @Test func `a server that lies by UDP alone is intercepted`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.66")
        scene.says(scene.tcp, "8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.refuses("8.8.9.66", .unknownIssuer)
        #expect(scene.hijack?.how == .intercepted)
    }

    @Test func `a server whose two answers both prove the name is not intercepted`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.2")
        scene.says(scene.tcp, "8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.proves("8.8.9.2")
        #expect(scene.verdict == .cdnVariation)
    }

    // MARK: Stale

    @Test func `an answer that calls itself stale is, where its address proves nothing`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.66", ede: [3])
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.refuses("8.8.9.66", .wrongName, names: ["new-tenant.example"])
        #expect(scene.hijack?.how == .stale)
    }

    @Test func `an old server that still proves the name makes a stale answer harmless`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.66", ede: [3])
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.proves("8.8.9.66")
        #expect(scene.verdict == .cdnVariation)
    }

    @Test func `a dead address behind a TTL beyond measure is stale, likely`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.66", ttl: 2_000_000)
        scene.says(scene.doh, "8.8.9.1", ttl: 60)
        scene.proves("8.8.9.1")
        scene.unreachable("8.8.9.66")
        #expect(scene.hijack?.how == .stale)
        #expect(scene.judgement.confidence == .likely)
    }

    @Test func `a dead address alone is no lie, and no proof of honesty`() {
        var scene = lied()
        scene.unreachable("8.8.9.66")
        #expect(scene.verdict == .inconclusive(missing: [.networkProof]))
        #expect(scene.judgement.evidenceFor.contains { $0.code == "address_dead" })
        scene.evidence.answers.removeAll { $0.source == scene.udp }
        scene.says(scene.udp, "8.8.9.66", ede: [19])
        #expect(scene.hijack?.how == .stale)
    }

    @Test func `a huge TTL on the right address is remarked on, and no hijack`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.1", ttl: 2_000_000)
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "ttl_huge" })
    }

    // MARK: Blocked

    @Test(arguments: [ResponseCode.noSuchName, .noError])
    func `a denial of what trusted sources know is a block`(code: ResponseCode) {
        var scene = Scene()
        scene.denies(scene.udp, code)
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.hijack?.how == .blocked)
    }

    @Test(arguments: ["0.0.0.0", "146.112.61.106"])
    func `an address that stands for nowhere is a block`(address: String) {
        var scene = Scene()
        scene.says(scene.udp, address)
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.hijack?.how == .blocked)
    }

    @Test func `a refusal of this name alone is a block, of every name none`() {
        var scene = Scene()
        scene.denies(scene.udp, .refused)
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(!scene.isHijack)
        scene.random(scene.udp, .publicSuffix, "qwxz")
        #expect(scene.hijack?.how == .blocked)
    }

    @Test func `an extended error that says censored is a block`() {
        var scene = Scene()
        scene.denies(scene.udp, .refused, ede: [16])
        scene.says(scene.doh, "8.8.9.1")
        #expect(scene.hijack?.how == .blocked)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test func `a failing server blocks nothing`() {
        var scene = Scene()
        scene.denies(scene.udp, .serverFailure)
        scene.says(scene.system, "8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        #expect(scene.verdict == .clean)
    }

    @Test func `IPv6 left out is no block`() {
        var scene = Scene()
        scene.says(scene.udp, "8.8.9.1")
        scene.denies(scene.udp, .noError, type: .aaaa)
        scene.says(scene.doh, "8.8.9.1")
        scene.says(scene.doh, "2600::1", type: .aaaa)
        scene.proves("8.8.9.1")
        scene.proves("2600::1")
        #expect(scene.verdict == .clean)
    }

    // MARK: The hosts file

    @Test func `a hosts file that names another address is to blame before all others`() {
        var scene = lied()
        scene.says(scene.hosts, "8.8.9.66")
        scene.refuses("8.8.9.66", .unknownIssuer)
        #expect(scene.hijack?.source == scene.hosts)
        #expect(scene.judgement.advice.map(\.remedy) == [.doesNotHelp])
    }
}
