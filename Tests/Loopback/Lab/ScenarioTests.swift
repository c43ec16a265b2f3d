import HTTPDNSPinLab
import HTTPDNSTrust
import TestSupport
import Testing

@Suite struct ScenarioTests {
    @Test func `every scenario has a name of its own, of lower-case words`() {
        let names = LabScenario.all.map(\.name)
        #expect(Set(names).count == names.count)
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-")
        #expect(names.allSatisfy { name in name.allSatisfy { letters.contains($0) } })
        #expect(Set(LabScenario.all.map(\.group)) == Set(LabGroup.allCases))
    }

    @Test func `every expectation says why and where that is written`() {
        for scenario in LabScenario.all {
            #expect(!scenario.expectation.why.isEmpty, "\(scenario.name)")
            #expect(!scenario.expectation.rule.isEmpty, "\(scenario.name)")
            #expect(!scenario.deed.isEmpty, "\(scenario.name)")
            #expect(scenario.repaired.expectation.verdict != .refuse)
        }
    }

    /// Source: badssl.com, domains/misc/badssl.com/badssl-sets.js (read 2026-11).
    @Test(arguments: [
        "expired", "wrong.host", "self-signed", "untrusted-root", "superfish", "edellroot",
        "dsdtestprovider", "preact-cli", "webpack-dev-server", "rc4", "rc4-md5", "dh480", "dh512",
        "dh1024", "null", "tls-v1-0", "tls-v1-1", "cbc", "3des", "dh2048", "revoked",
        "pinning-test", "no-sct", "1000-sans", "10000-sans", "sha384", "sha512", "rsa8192",
        "no-subject", "no-common-name", "incomplete-chain", "tls-v1-2", "sha256", "rsa2048",
        "ecc256", "ecc384", "extended-validation", "mozilla-modern",
    ])
    func `every name of badssl is one scenario's`(name: String) throws {
        #expect(LabScenario.all.count { $0.badssl.contains(name) } == 1)
        #expect(try LabScenario.named("badssl-" + name).badssl.contains(name))
    }

    @Test func `an unknown name is no scenario`() {
        #expect(throws: LabError.unknownScenario("exired")) { try LabScenario.named("exired") }
    }

    @Test func `the pinned certificate is sent, but is not part of the verified chain`()
        async throws
    {
        let stage = try LabBench(seed: "appended").open(.named("pin-appended"))
        defer { stage.stop() }
        let shown = try await sent(by: stage)
        #expect(shown.contains { "\($0)" == stage.target.pins.first?.description })
        #expect(shown.first != stage.target.pins.first?.description)
    }

    @Test func `a client that never connects was not run`() throws {
        let stage = try LabBench().open(.named("expired"))
        defer { stage.stop() }
        #expect(stage.grade(.refused(nil)).label == "missed")
        #expect(!stage.expects(accepted: false))
    }

    @Test func `a request that was sent before the refusal is a miss`() async throws {
        let stage = try LabBench().open(.named("wrong-name"))
        defer { stage.stop() }
        let target = stage.target
        let careless = try await run(
            "curl",
            ["-sk", "--resolve", "\(target.host):\(target.port):\(target.address)", target.url])
        #expect(careless.status == 0)
        #expect(stage.grade(.refused(nil)) == .missed("refused late: the request was sent"))
        #expect(stage.grade(.accepted) == .missed("accepted"))
    }

    @Test func `a library has to refuse for the reason that the scenario names`() async throws {
        let stage = try LabBench().open(.named("expired"))
        defer { stage.stop() }
        let target = stage.target
        let refused = try await run(
            "curl",
            ["-s", "--resolve", "\(target.host):\(target.port):\(target.address)", target.url])
        #expect(refused.status != 0)
        var play = LabPlay([.refused("wrong_name")])
        play.checksCodes = true
        #expect(stage.grade(play) == .missed("refused for wrong_name, not for expired"))
        play.outcomes = [.refused("expired")]
        #expect(stage.grade(play) == .passed)
    }

    @Test func `a client that does not follow says nothing about redirects`() async throws {
        let stage = try LabBench().open(.named("redirect-to-bad-host"))
        defer { stage.stop() }
        let target = stage.target
        let directory = try TemporaryDirectory()
        let authority = try directory.write("ca.pem", target.authorityPEM)
        let still = try await run(
            "curl",
            [
                "-s", "--cacert", authority, "--resolve",
                "\(target.host):\(target.port):\(target.address)", target.url,
            ])
        #expect(still.status == 0)
        #expect(stage.grade(.accepted) == .notCovered("it does not follow redirects"))
        let following = try await run(
            "curl",
            [
                "-sL", "--cacert", authority, "--resolve",
                "\(target.host):\(target.port):\(target.address)", target.url,
            ])
        #expect(stage.grade(following.status == 0 ? .accepted : .refused(nil)) == .passed)
        #expect(stage.secondRecord?.receivedOctets == 0)
    }

    @Test func `what this OpenSSL cannot serve is said`() throws {
        #expect(throws: LabError.notServed("a Diffie-Hellman group of 480 bits")) {
            try LabBench().open(.named("dh480"))
        }
    }

    /// The pins of what the server sends, in order.
    private func sent(by stage: LabStage) async throws -> [String] {
        let shown = try await run(
            "openssl",
            [
                "s_client", "-showcerts", "-connect", "127.0.0.1:\(stage.target.port)",
                "-servername", stage.target.host,
            ])
        let begin = "-----BEGIN CERTIFICATE-----"
        let pieces = shown.outputText.split(separator: begin).dropFirst()
        var pins: [String] = []
        for piece in pieces {
            let end = piece.firstRange(of: "-----END CERTIFICATE-----")?.upperBound
            let pem = begin + piece[..<(end ?? piece.endIndex)] + "\n"
            let directory = try TemporaryDirectory()
            let file = try directory.write("sent.pem", pem)
            let pipeline =
                "openssl x509 -in \(file) -noout -pubkey | openssl pkey -pubin -outform DER "
                + "| openssl dgst -sha256 -binary | openssl base64"
            let digest = try await run("bash", ["-c", pipeline])
            pins.append("sha256/" + digest.outputText.prefix { $0 != "\n" })
        }
        return pins
    }
}
