import FleetLab
import HTTPDNS
import TestSupport
import Testing

@Suite struct FleetTests {
    /// The tool lies beside the program that tests start as a child.
    static var tool: String {
        "/" + TestChild.path.split(separator: "/").dropLast().joined(separator: "/") + "/httpdns"
    }

    @Test func `a tier that loses a dnsdist loses no lookup, nor one that a front can answer`()
        async throws
    {
        var run = FleetRun(tool: FleetTests.tool)
        run.rate = 100
        run.hosts = 4
        run.unbounds = 2
        // Longer than a lookup that one front gave to the dead unbound, and the other too, is under
        // way (2.8 s seen: a front gives up after 2): else it may meet the next fault as well.
        run.seconds = 4
        let report = try await run.run()
        // Lateness is the machine's; what must hold on a busy one too is that nothing is lost. An
        // unbound stands behind both fronts: what both gave to it in the second before their checks
        // see that it is dead, both say they cannot answer (502).
        let excused = report.phases.first { $0.title == "one unbound killed" }?.lost ?? 0
        #expect(report.lost == excused && excused <= 4, "\(report.text)")
        #expect(
            report.faults.allSatisfy { $0.ranges(of: "HTTP status 502").count == 2 },
            "\(report.text)")
        #expect(report.commands.map(\.isRight) == [true, true, true], "\(report.text)")
        #expect(report.phases.allSatisfy { $0.lookups > 0 }, "\(report.text)")
        // Each name is asked for by two hosts of each front.
        #expect(report.cacheHits > 0, "\(report.text)")
    }
}
