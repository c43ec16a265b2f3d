import HTTPDNSPinLab
import TestSupport
import Testing

/// Clients that behave well and badly, and what the laboratory says of them.
@Suite(.timeLimit(.minutes(4))) struct HijackGradeTests {
    private static let careful = [
        "curl", "-sS", "--max-time", "20", "--cacert", "{cacert}", "--resolve",
        "{host}:{port}:{ip}", "{url}",
    ]
    private static let naive = [
        "curl", "-sSk", "--max-time", "20", "--resolve", "{host}:{port}:{ip}", "{url}",
    ]

    private func results(
        _ words: [String], _ names: [String]? = nil
    ) async throws -> [String: HijackResult] {
        let lab = try HijackLab()
        let directory = try TemporaryDirectory()
        let root = try directory.write("ca.pem", lab.authorityPEM)
        var command = try HijackCommand(words, authorityFile: root)
        command.timeoutMilliseconds = 60_000
        let scenarios = HijackScenario.all.filter { names?.contains($0.name) ?? true }
        let results = try await HijackRun(lab).results(of: scenarios, with: command)
        return Dictionary(uniqueKeysWithValues: results.map { ($0.id, $0) })
    }

    @Test func `A client that checks certificates misses nothing`() async throws {
        let results = try await results(Self.careful)
        let missed = results.values.filter(\.isMiss)
        #expect(missed.isEmpty, "\(missed.map { "\($0.id): \($0.grade)" })")
        #expect(results.values.count { $0.grade == .passed } > 15)
        #expect(results.values.count { $0.tookWrongContent } == 0)
    }

    @Test func `A client that believes everybody takes wrong content, and is told so`()
        async throws
    {
        let results = try await results(Self.naive)
        let wrong = Set(results.values.filter(\.tookWrongContent).map(\.id))
        #expect(
            wrong == [
                "plain-poisoning", "forged-race", "nxdomain-rewriting", "port-53-interception",
                "port-53-redirect", "dns-inspection",
                "stale-answer", "dns-rebinding", "http-dns-tampered", "replayed-answer",
                "captive-portal", "tls-interception", "tls-interception-product",
                "tls-interception-other-name", "origin-wrong-name",
            ])
        for name in ["origin-broken", "clock-behind", "clock-ahead"] {
            #expect(
                results[name]?.grade
                    == .missed(
                        "it took content of who proved nothing (the network's resolver alone)"))
        }
        for name in ["no-hijack", "cdn-variation", "dead-first-address", "poisoned-aaaa"] {
            #expect(results[name]?.grade == .passed)
        }
    }

    @Test func `A wrong clock, or no reason, is no right verdict where nobody answers`() throws {
        let finding = try #require(HijackScenario.all.first { $0.name == "offline" }).finding
        #expect(finding.isMet(by: HijackFinding(.offline)))
        #expect(finding.isMet(by: HijackFinding(.inconclusive, ["trusted_answer"])))
        #expect(!finding.isMet(by: HijackFinding(.inconclusive, ["right_clock"])))
        #expect(!finding.isMet(by: HijackFinding(.inconclusive)))
    }

    @Test func `Content that is thrown away is wrong all the same`() async throws {
        let words = ["sh", "-c", Self.naive.joined(separator: " ") + " >/dev/null"]
        let grade = try await results(words, ["plain-poisoning"])["plain-poisoning"]?.grade
        #expect(grade?.detail?.hasPrefix("WRONG CONTENT: its request went to a liar") == true)
    }

    @Test func `A refusal after the request went to the liar is late`() async throws {
        let words = ["sh", "-c", Self.naive.joined(separator: " ") + " >/dev/null; exit 1"]
        let grade = try await results(words, ["plain-poisoning"])["plain-poisoning"]?.grade
        #expect(grade?.detail?.hasPrefix("refused late") == true)
    }

    @Test(arguments: ["true", "false"])
    func `A program that asks nobody was not run, whatever its exit code`(
        program: String
    ) async throws {
        let grade = try await results(
            [program, "{url}", "{ip}"], ["plain-poisoning"])["plain-poisoning"]?.grade
        #expect(grade?.detail?.hasPrefix("not run") == true)
    }

    @Test func `Who refuses an origin that can be reached has missed it`() async throws {
        let words = Self.careful.map { $0 == "{cacert}" ? "/dev/null" : $0 }
        let grade = try await results(words, ["no-hijack"])["no-hijack"]?.grade
        #expect(grade?.label == "missed")
        #expect(grade?.detail?.contains("the origin can be reached") == true)
    }

    @Test func `A client that is told addresses is not asked where none is told`() async throws {
        let results = try await results(Self.careful, ["blocked-nxdomain", "offline"])
        #expect(results.values.allSatisfy { $0.grade.label == "not_covered" })
    }

    @Test func `A wrong verdict, another way and no verdict are misses`() throws {
        let scenario = try HijackScenario.named("stale-answer")
        let grade = { (finding: HijackFinding?) in scenario.grade(HijackDiagnosis(finding)).label }
        #expect(grade(HijackFinding(.dnsHijacked, ["stale"])) == "passed")
        #expect(grade(HijackFinding(.dnsHijacked, ["forged"])) == "missed")
        #expect(grade(HijackFinding(.clean)) == "missed")
        #expect(grade(nil) == "missed")
    }

    @Test func `A client that stops half way has not gone through`() throws {
        let stage = try HijackLab().open(.named("dns-rebinding"))
        defer { stage.stop() }
        try stage.begin(0)
        let play = HijackPlay([.content(stage.target.genuine)])
        #expect(stage.grade(play) == .missed("1 of 3 requests were made"))
        #expect(stage.grade(HijackPlay([])) == .missed("not run"))
    }
}
