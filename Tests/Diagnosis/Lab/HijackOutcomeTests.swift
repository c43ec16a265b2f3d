import HTTPDNSCLI
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// Every hijack with this library: what the client ends in, and what its diagnosis is.
@Suite(.timeLimit(.minutes(4))) struct HijackOutcomeTests {
    @Test(arguments: HijackScenario.all.map(\.name))
    func `This library reaches the origin where it can be, and believes no liar`(
        name: String
    ) async throws {
        let scenario = try HijackScenario.named(name)
        let stage = try HijackLab().open(scenario)
        defer { stage.stop() }
        let client = LibraryHijackClient(timeoutMilliseconds: 30_000)
        let play = try await offPool { client.play(stage) }
        #expect(stage.grade(play) == .passed, "\(play.output)")
        #expect(play.trouble == nil)
        #expect(play.outcomes.count == stage.steps.count)
        // Stricter than the grade, which forgives a client that does better than could be asked.
        let genuine = stage.target.genuine
        for (step, outcome) in zip(stage.steps, play.outcomes) {
            switch outcome {
            case .content(let text):
                #expect(step.expected == .genuine && text == genuine + "\n", "\(step.aim)")
            case .refused(let label):
                #expect(step.expected == .refused && label != "unexpected", "\(step.aim)")
            case .timedOut: Issue.record("hung: \(step.aim)")
            }
        }
    }

    @Test(arguments: HijackScenario.all.map(\.name))
    func `The diagnosis of each hijack is right`(name: String) async throws {
        let scenario = try HijackScenario.named(name)
        let stage = try HijackLab().open(scenario)
        defer { stage.stop() }
        try stage.beginLast()
        let diagnoser = LibraryDiagnoser(patienceMilliseconds: 12_000)
        let diagnosis = try await offPool { diagnoser.diagnose(stage) }
        #expect(scenario.grade(diagnosis) == .passed, "\(diagnosis.output)")
    }

    @Test func `Each hijack of the list is there, and says what it is`() {
        let names = Set(HijackScenario.all.map(\.name))
        let wanted: Set = [
            "forged-race", "plain-poisoning", "poisoned-aaaa", "nxdomain-rewriting",
            "port-53-interception", "port-53-redirect", "dns-inspection",
            "ttl-inflation", "stale-answer", "http-dns-tampered",
            "replayed-answer", "provider-down", "captive-portal", "tls-interception",
            "tls-interception-product", "tls-interception-other-name",
            "dns-rebinding-private",
            "sni-filter-reset", "sni-filter-timeout",
            "dead-first-address", "dns-rebinding", "clock-behind", "clock-ahead",
        ]
        #expect(wanted.isSubset(of: names))
        #expect(names.count == HijackScenario.all.count)
        for scenario in HijackScenario.all {
            #expect(!scenario.deed.isEmpty && !scenario.seen.isEmpty && !scenario.duty.isEmpty)
        }
        let verdicts = Set(HijackScenario.all.map(\.finding.verdict))
        // That there is no network can be seen on a machine without one only.
        #expect(verdicts == Set(HijackVerdict.allCases).subtracting([.offline]))
    }

    @Test func `Two laboratories play everything at once and do not meet`() async throws {
        let labs = [try HijackLab(), try HijackLab()]
        var stages: [HijackStage] = []
        defer { for stage in stages { stage.stop() } }
        for scenario in HijackScenario.all {
            for lab in labs {
                do throws(LabError) {
                    let stage = try lab.open(scenario)
                    try stage.beginLast()
                    stages.append(stage)
                } catch {
                    guard case .notServed = error else { throw error }
                }
            }
        }
        var taken: Set<String> = []
        for stage in stages {
            let sources = stage.target.resolvers + stage.target.trusted
            #expect(sources.allSatisfy { $0.address.isLoopback })
            let places = Set(sources.map { "\($0.address) \($0.port)" })
            #expect(taken.isDisjoint(with: places))
            taken.formUnion(places)
        }
    }
}
