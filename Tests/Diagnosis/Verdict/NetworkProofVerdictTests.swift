import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// What programs here get is what this network gives: its address proves the name, or nothing is clean.
@Suite struct NetworkProofVerdictTests {
    /// The network says 8.8.9.66, a trusted source 8.8.9.1, which proves the name; nobody has IPv6.
    private func apart() -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.66")
        scene.says(scene.doh, "8.8.9.1")
        for source in [scene.system, scene.udp, scene.tcp, scene.doh] {
            scene.denies(source, .noError, type: .aaaa)
        }
        scene.proves("8.8.9.1")
        return scene
    }

    private func isUnproven(_ scene: Scene) -> Bool {
        scene.verdict == .inconclusive(missing: [.networkProof])
            && scene.judgement.evidenceFor.contains { $0.code == "proven_elsewhere" }
            && scene.judgement.advice.first?.remedy == .helps
    }

    // MARK: The network does not prove it

    @Test func `an address where nobody answers is not clean, and no lie`() {
        var scene = apart()
        scene.unreachable("8.8.9.66", .timedOut, other: .connected)
        #expect(isUnproven(scene))
        #expect(scene.judgement.sources.first { $0.source == scene.udp }?.standing == .unproven)
    }

    @Test(arguments: [
        Handshake.timedOut, .cut(.reset), .cut(.closed), .cut(.refused("wrong version number")),
    ])
    func `an address that shows no certificate is not clean, and no lie`(real: Handshake) {
        var scene = apart()
        scene.cuts("8.8.9.66", real)
        #expect(isUnproven(scene))
    }

    @Test func `both families dead are not clean, though others prove the name`() {
        var scene = Scene()
        scene.networkSays("8.8.9.66")
        scene.networkSays("2600::66", type: .aaaa)
        scene.says(scene.doh, "8.8.9.1")
        scene.says(scene.doh, "2600::1", type: .aaaa)
        for address in ["8.8.9.1", "2600::1"] { scene.proves(address) }
        for address in ["8.8.9.66", "2600::66"] { scene.unreachable(address) }
        #expect(isUnproven(scene))
    }

    @Test func `the right address alone is not enough where another one of it proves the name`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1", "8.8.9.2")
        scene.unreachable("8.8.9.1")
        scene.proves("8.8.9.2")
        #expect(isUnproven(scene))
        scene.networkSays("8.8.9.2")
        scene.evidence.answers.removeAll {
            $0.source.isSuspect
                && $0.statement?.addresses.contains(Scene.address("8.8.9.1")) == true
        }
        #expect(scene.verdict == .clean)
    }

    @Test func `no address at all is not clean because all say that there is no IPv6`() {
        var scene = apart()
        scene.evidence.answers.removeAll { $0.source.isSuspect && $0.type == .a }
        for source in [scene.system, scene.udp, scene.tcp] { scene.fails(source) }
        #expect(scene.verdict == .inconclusive(missing: [.networkAnswer]))
        #expect(scene.judgement.evidenceFor.contains { $0.code == "type_unanswered" })
        #expect(scene.judgement.advice.map(\.remedy) == [.helps])
    }

    @Test func `one name server that proves the name is enough, another one's word is remarked on`()
    {
        var scene = apart()
        scene.unreachable("8.8.9.66")
        scene.evidence.answers.removeAll { $0.source == scene.system && $0.type == .a }
        scene.says(scene.system, "8.8.9.1")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.evidenceAgainst.contains { $0.code == "address_dead" })
    }

    @Test func `an IPv4 address that proves the name bears out an IPv6 one that does not, likely`()
    {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.networkSays("2600::66", type: .aaaa)
        scene.says(scene.doh, "2600::1", type: .aaaa)
        for address in ["8.8.9.1", "2600::1"] { scene.proves(address) }
        scene.unreachable("2600::66")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.evidenceAgainst.contains { $0.code == "address_dead" })
    }

    // MARK: SNI filtered where the network leads alone

    @Test func `the name's own server behind a filter is filtered, though another one is free`() {
        var scene = apart()
        scene.cuts(
            "8.8.9.66", .cut(.reset),
            without: .proven(chain: [Scene.certificate()], version: "TLSv1.3"))
        #expect(scene.verdict == .sniFiltered)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.advice.first?.remedy == .helps)
        #expect(scene.judgement.evidenceAgainst.contains { $0.text.contains("8.8.9.1") })
    }

    @Test func `somebody else's server that cuts the name is no filter of names`() {
        var scene = apart()
        scene.cuts("8.8.9.66", .cut(.reset), without: Scene.untrusted(.wrongName, ["x.example"]))
        #expect(isUnproven(scene))
    }

    @Test func `one filtered address among those that prove the name is remarked on`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1", "8.8.9.2")
        scene.says(scene.doh, "8.8.9.1", "8.8.9.2")
        scene.proves("8.8.9.1")
        scene.cuts("8.8.9.2", .cut(.reset), without: Scene.untrusted(.wrongName, ["x.example"]))
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "name_is_cut_here" })
    }

    // MARK: The network proves it, a trusted source's address does not

    /// The network's address proves the name.
    private func better() -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.66")
        scene.proves("8.8.9.1")
        return scene
    }

    @Test(arguments: [TrustFailure.Code.expired, .unknownIssuer, .wrongName])
    func `a bad certificate at a trusted source's address is not the site's fault`(
        code: TrustFailure.Code
    ) {
        var scene = better()
        let names = code == .wrongName ? ["other.example"] : ["www.shop.com"]
        scene.refuses("8.8.9.66", code, names: names)
        #expect(scene.verdict == .clean)
        let note = scene.judgement.notes.first { $0.code == "trusted_address_bad" }
        #expect(note?.text.contains(scene.doh.label) == true)
        #expect(scene.judgement.advice.first?.text.contains("would be worse") == true)
        // The same at what the network gives is somebody's fault.
        scene.evidence.peers.removeFirst()
        #expect(![.clean, .cdnVariation].contains(scene.verdict))
    }

    @Test func `a dead or filtered address of a trusted source blocks nothing`() {
        var scene = better()
        scene.unreachable("8.8.9.66")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "dead_address" })
        scene = better()
        scene.cuts("8.8.9.66", .cut(.reset), without: Scene.untrusted(.wrongName, ["x.example"]))
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "name_is_cut_here" })
    }

    @Test func `what HTTPDNS would change is said of trusted sources that were heard alone`() {
        func advice(_ scene: Scene) -> String { scene.judgement.advice.first?.text ?? "" }
        var scene = better()
        scene.proves("8.8.9.66")
        #expect(!advice(scene).contains("would be worse"))
        scene.evidence.answers.removeAll { $0.source == scene.doh }
        scene.denies(scene.doh)
        #expect(scene.verdict == .clean)
        #expect(advice(scene).contains("would be worse"))
        scene.evidence.answers.removeAll { $0.source == scene.doh }
        scene.fails(scene.doh)
        #expect(scene.verdict == .clean)
        #expect(!advice(scene).contains("HTTPDNS"))
    }

    @Test func `a sure sign of an interceptor counts wherever it is`() {
        var scene = better()
        scene.refuses("8.8.9.66", .unknownIssuer, issuer: "CN=FG100E,O=Fortinet")
        #expect(scene.verdict == .tlsIntercepted)
    }

    @Test func `an address that a translator made is enough where IPv4 leads nowhere`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.networkSays("64:ff9b::808:901", type: .aaaa)
        scene.says(scene.doh, "8.8.9.1")
        scene.denies(scene.doh, .noError, type: .aaaa)
        scene.unreachable("8.8.9.1", .failed(.networkUnreachable, "Network is unreachable"))
        scene.proves("64:ff9b::808:901")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.advice.first?.text.contains("would be worse") == false)
        scene.evidence.peers.removeLast()
        scene.unreachable("64:ff9b::808:901")
        #expect(scene.verdict == .addressBlocked)
    }

    // MARK: A family left out

    /// The network has IPv6 alone, trusted sources both.
    private func withoutIPv4(_ code: ResponseCode = .noError) -> Scene {
        var scene = Scene()
        scene.denies(scene.udp, code)
        scene.says(scene.udp, "2600::1", type: .aaaa)
        scene.says(scene.doh, "8.8.9.1")
        scene.says(scene.doh, "2600::1", type: .aaaa)
        scene.proves("8.8.9.1")
        return scene
    }

    @Test func `IPv4 left out is no block where the IPv6 address proves the name`() {
        var scene = withoutIPv4()
        scene.proves("2600::1")
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "hides_ipv4" })
    }

    @Test func `IPv4 left out is a block where the IPv6 address proves nothing, or by NXDOMAIN`() {
        var scene = withoutIPv4()
        scene.unreachable("2600::1")
        #expect(scene.hijack?.how == .blocked)
        scene = withoutIPv4(.noSuchName)
        scene.proves("2600::1")
        #expect(scene.hijack?.how == .blocked)
    }

    @Test func `IPv6 here and IPv4 there that both prove the name are a content network`() {
        var scene = Scene()
        scene.denies(scene.udp, .noError)
        scene.says(scene.udp, "2600::1", type: .aaaa)
        scene.says(scene.doh, "8.8.9.1")
        scene.denies(scene.doh, .noError, type: .aaaa)
        for address in ["8.8.9.1", "2600::1"] { scene.proves(address) }
        #expect(scene.verdict == .cdnVariation)
    }
}
