import FleetLab
import HTTPDNS
import TestSupport
import Testing

@Suite struct FleetTests {
    /// The tool lies beside the program that tests start as a child.
    static var tool: String {
        "/" + TestChild.path.split(separator: "/").dropLast().joined(separator: "/") + "/httpdns"
    }

    @Test func `a tier that loses an unbound and then a dnsdist loses no lookup`() async throws {
        var run = FleetRun(tool: FleetTests.tool)
        run.rate = 100
        run.hosts = 4
        run.unbounds = 2
        run.seconds = 1
        var report = try await run.run()
        // A killed unbound stands behind both fronts: a lookup that both give to it, before the
        // checks of either have seen that it is dead, has nobody left to ask. That is chance, and
        // not twice.
        if report.lost == 1 { report = try await run.run() }
        // Lateness is the machine's; what must hold on a busy one too is that nothing is lost.
        #expect(report.lost == 0, "\(report.text)")
        #expect(report.commands.map(\.isRight) == [true, true, true], "\(report.text)")
        #expect(report.phases.allSatisfy { $0.lookups > 0 }, "\(report.text)")
        // Each name is asked for by two hosts of each front.
        #expect(report.cacheHits > 0, "\(report.text)")
    }
}
