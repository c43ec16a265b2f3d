package import HTTPDNSJSON
import HTTPDNSNames

/// What a run came to: a line for each phase, and what the engines spent.
package struct FleetReport: Sendable {
    /// What happened to lookups that began between two events.
    package struct Phase: Sendable {
        package let title: String
        package let lookups: Int
        package let lost: Int
        /// Questions beyond one a lookup: to the other front, because the first was late or failed.
        package let again: Int
        package let p50Microseconds: Int64
        package let p99Microseconds: Int64
        package let maximumMicroseconds: Int64
        /// From the event to the end of the last lookup that took longer than
        /// ``FleetReport/slowMilliseconds``; 0 when none did.
        package let failoverMilliseconds: Int64

        init(
            _ title: String, at event: Monotonic, _ samples: [FleetLoad.Sample], questions: Int
        ) {
            self.title = title
            again = questions - samples.count
            lookups = samples.count
            lost = samples.count { $0.fault != nil }
            let times = samples.map { $0.nanoseconds / 1_000 }.sorted()
            func microseconds(_ perMille: Int) -> Int64 {
                times.isEmpty ? 0 : times[min(times.count - 1, times.count * perMille / 1_000)]
            }
            p50Microseconds = microseconds(500)
            p99Microseconds = microseconds(990)
            maximumMicroseconds = times.last ?? 0
            failoverMilliseconds =
                samples.filter { $0.nanoseconds / 1_000_000 > FleetReport.slowMilliseconds }
                .map { ($0.begun.nanoseconds + $0.nanoseconds - event.nanoseconds) / 1_000_000 }
                .max() ?? 0
        }
    }

    /// What an engine spent for one question in the undisturbed phase.
    package struct Spending: Sendable {
        package let engine: String
        package let questions: Int64
        package let microsecondsPerQuestion: Double
    }

    package var rate: Int64
    package var hosts: Int
    package var phases: [Phase] = []
    package var spendings: [Spending] = []
    /// What a front's memory grew by for each connection.
    package var octetsPerConnection: Int64 = 0
    package var cacheHits: Int64 = 0
    package var cacheMisses: Int64 = 0
    /// Begun, and never told.
    package var unanswered = 0
    /// What the command line answered, and whether that was right.
    package var commands: [(when: String, answer: String, isRight: Bool)] = []
    /// Why lookups are lost; some of them.
    package var faults: [String] = []
    package var isRateKept = true

    /// Because: ten times what a busy machine delays a lookup by, and a tenth of what a person notices.
    package static let slowMilliseconds: Int64 = 100

    package var lost: Int { phases.reduce(unanswered) { $0 + $1.lost } }
    package var hasPassed: Bool { lost == 0 && isRateKept && commands.allSatisfy(\.isRight) }
    package var hitPercent: Int64 { cacheHits * 100 / max(1, cacheHits + cacheMisses) }

    package var text: String {
        var rows = [
            [
                "phase", "lookups", "lost", "asked again", "p50 ms", "p99 ms", "max ms",
                "failover ms",
            ]
        ]
        for phase in phases {
            rows.append([
                phase.title, "\(phase.lookups)", "\(phase.lost)", "\(phase.again)",
                FleetReport.milliseconds(phase.p50Microseconds),
                FleetReport.milliseconds(phase.p99Microseconds),
                FleetReport.milliseconds(phase.maximumMicroseconds),
                phase.failoverMilliseconds == 0 ? "-" : "\(phase.failoverMilliseconds)",
            ])
        }
        var lines = [
            "\(hosts) hosts, \(rate) lookups a second; failover: until no lookup takes longer than "
                + "\(FleetReport.slowMilliseconds) ms", "",
        ]
        lines += FleetReport.table(rows)
        lines.append("")
        lines.append(
            "caches of the fronts: \(cacheHits) hits, \(cacheMisses) misses (\(hitPercent) % hits)")
        for one in spendings {
            lines.append(
                "\(one.engine): \(FleetReport.tenths(one.microsecondsPerQuestion)) µs of a "
                    + "processor (\(one.questions) of them)")
        }
        lines.append("dnsdist, a connection: \(octetsPerConnection >> 10) KiB of memory")
        for one in commands {
            lines.append("httpdns, \(one.when): \(one.answer)\(one.isRight ? "" : ": WRONG")")
        }
        if unanswered > 0 { lines.append("never told: \(unanswered)") }
        if !isRateKept { lines.append("the rate was not kept: this machine is too busy") }
        lines += faults.map { "lost: \($0)" }
        lines.append(hasPassed ? "passed: no lookup was lost" : "FAILED: \(lost) lookups were lost")
        return lines.joined(separator: "\n")
    }

    package var json: JSONValue {
        [
            "rate": .integer(rate), "hosts": .integer(Int64(hosts)),
            "phases": .array(
                phases.map { phase in
                    [
                        "title": .string(phase.title), "lookups": .integer(Int64(phase.lookups)),
                        "lost": .integer(Int64(phase.lost)),
                        "askedAgain": .integer(Int64(phase.again)),
                        "p50Microseconds": .integer(phase.p50Microseconds),
                        "p99Microseconds": .integer(phase.p99Microseconds),
                        "maximumMicroseconds": .integer(phase.maximumMicroseconds),
                        "failoverMilliseconds": .integer(phase.failoverMilliseconds),
                    ]
                }),
            "octetsPerConnection": .integer(octetsPerConnection),
            "cacheHits": .integer(cacheHits), "cacheMisses": .integer(cacheMisses),
            "engines": .array(
                spendings.map {
                    [
                        "engine": .string($0.engine), "questions": .integer($0.questions),
                        "nanosecondsPerQuestion": .integer(
                            Int64($0.microsecondsPerQuestion * 1_000)),
                    ]
                }),
            "commands": .array(
                commands.map {
                    [
                        "when": .string($0.when), "answer": .string($0.answer),
                        "right": .bool($0.isRight),
                    ]
                }),
            "lost": .integer(Int64(lost)), "passed": .bool(hasPassed),
        ]
    }

    private static func milliseconds(_ microseconds: Int64) -> String {
        tenths(Double(microseconds) / 1_000)
    }

    private static func tenths(_ number: Double) -> String {
        "\((number * 10).rounded() / 10)"
    }

    private static func table(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in
            rows.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }.joined(separator: "  ")
        }
    }
}
