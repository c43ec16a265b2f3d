import HTTPDNS
import HTTPDNSLookup
import HTTPDNSPinLab
import Testing

@Suite(.timeLimit(.minutes(5))) struct FaultTableTests {
    /// Because: what ends by patience alone needs no more of it.
    private static let slowMilliseconds: Int64 = 300

    @Test(arguments: FixtureCase.all)
    func `every fault of a service ends as the table says`(item: FixtureCase) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        let description = try item.description(at: lab.server)
        for fault in LabServiceFault.catalogue {
            lab.server.misbehave(fault.fault)
            let isSlow = FaultTable.slow.contains(fault.name)
            let outcome = try await lab.outcome(
                [description], milliseconds: isSlow ? Self.slowMilliseconds : 20_000)
            #expect(
                outcome.text == FaultTable.outcome(fault.name, item),
                "\(fault.name): \(outcome.messages)")
            let shown = FixtureCase.secrets.filter { outcome.messages.contains($0) }
            #expect(shown.isEmpty, "\(fault.name): \(outcome.messages)")
        }
    }

    @Test(arguments: FixtureCase.all)
    func `behind every failure the next source answers, and the failure is named`(
        item: FixtureCase
    ) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        let healthy = try FixtureLab(sharing: lab)
        defer { healthy.server.stop() }
        let first = try item.description(at: lab.server)
        let second = try FixtureCase("second", "dnspod-free", "/d").description(at: healthy.server)
        for fault in LabServiceFault.catalogue {
            let expected = FaultTable.outcome(fault.name, item)
            let isAnswer =
                ["ok", "none", "no name"].contains(expected) || expected.hasPrefix("ttl ")
                || expected.hasPrefix("told ")
            // One of those that only patience ends stands for all.
            guard !isAnswer, !FaultTable.slow.contains(fault.name) || fault.name == "silent" else {
                continue
            }
            lab.server.misbehave(fault.fault)
            let outcome = try await lab.outcome([first, second])
            #expect(outcome.text == "ok", "\(fault.name): \(outcome.messages)")
            let attempt = try #require(outcome.attempts.first, "\(fault.name)")
            #expect(attempt.resolver.contains(":\(lab.server.port)"))
            #expect(Outcome.text(attempt.reason) == expected, "\(fault.name)")
            #expect(attempt.milliseconds < 2_000, "\(fault.name)")
        }
        #expect(!healthy.server.events.isEmpty)
    }
}
