internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Looks up the same names again and again: `--repeat` and `--watch`.
///
/// A repetition prints the first answer whole, every other one that differs as a line, and the times
/// at the end; in JSON an object for every round. A watch waits between rounds; piped, and in JSON,
/// it prints changes alone; on a terminal it redraws. What is told to end shows the times so far, and
/// counts what it cut off as not asked.
struct LookupRounds {
    let asking: LookupAsking
    let printer: LookupPrinter
    let console: Console

    private var request: LookupRequest { asking.request }

    /// What is kept of the rounds before.
    private struct Memory {
        var code = ExitCode.succeeded
        /// What was said last, by subject and source.
        var said: [[String]] = []
        var timings: [[LookupTimings]] = []
        var changes: [String] = []
    }

    func run() async -> ExitCode {
        var memory = Memory()
        let last = request.rounds ?? (request.watches ? Int.max : 1)
        for round in 1...max(last, 1) {
            let reports = await self.round()
            let time = SystemWallClock().now()
            note(reports, in: &memory)
            let changes = self.changes(reports, in: &memory)
            show(reports, Round(number: round, time: time, changes: changes), &memory)
            if request.watches, round < last { await wait(after: reports) }
            if Interruption.hasCome { break }
        }
        if request.rounds != nil || Interruption.hasCome { showTimings(memory) }
        return memory.code
    }

    /// All subjects at once, as many as may be in flight.
    private func round() async -> [[LookupReport]] {
        await withTaskGroup(of: (Int, [LookupReport]).self) { group in
            let subjects = request.subjects
            var reports = [[LookupReport]](repeating: [], count: subjects.count)
            var next = 0
            while next < subjects.count || !group.isEmpty {
                while next < subjects.count, next < request.parallel {
                    group.addTask { [next] in (next, await asking.reports(on: subjects[next])) }
                    next += 1
                }
                guard let (place, said) = await group.next() else { break }
                reports[place] = said
                guard next < subjects.count else { continue }
                group.addTask { [next] in (next, await asking.reports(on: subjects[next])) }
                next += 1
            }
            return reports
        }
    }

    private func note(_ reports: [[LookupReport]], in memory: inout Memory) {
        if memory.timings.isEmpty {
            memory.timings = reports.map { $0.map { _ in LookupTimings() } }
        }
        for (place, said) in reports.enumerated() {
            for (source, report) in said.enumerated() {
                if !report.isCutOff { memory.timings[place][source].add(report) }
                memory.code = max(memory.code, report.exitCode)
            }
        }
    }

    private func wait(after reports: [[LookupReport]]) async {
        let milliseconds =
            request.interval?.wholeMilliseconds
            ?? LookupRounds.pauseMilliseconds(after: reports.flatMap(\.self))
        let clock = SystemMonotonicClock()
        let end = clock.now().adding(milliseconds: milliseconds)
        // A watch that says nothing would never learn that nobody listens, and ask for ever.
        while true {
            console.output.endWithoutReader()
            let look = clock.now().adding(milliseconds: LookupRounds.shortestPauseMilliseconds)
            let moment = min(look, end)
            await Interruption.awaiting(interrupted: ()) { wake in
                _ = AlarmThread.shared.schedule(at: moment) { wake(()) }
            }
            guard moment < end, !Interruption.hasCome else { break }
        }
        console.output.endWithoutReader()
    }

    /// Until the first of the answers ends, within bounds; after failures the shortest.
    static func pauseMilliseconds(after reports: [LookupReport]) -> Int64 {
        let lives = reports.map { report -> UInt32 in
            report.ttlSeconds ?? report.negativeTTLSeconds ?? LookupRounds.failurePauseSeconds
        }
        return max(Int64(lives.min() ?? 0) * 1_000, LookupRounds.shortestPauseMilliseconds)
    }

    /// Because: an answer with TTL 0 may change at any moment, and a question a second harms nobody.
    private static let shortestPauseMilliseconds: Int64 = 1_000
    /// Because: the system's resolver itself asks again after 5 s. Source: resolv.conf(5).
    private static let failurePauseSeconds: UInt32 = 5
}

// Showing
extension LookupRounds {
    private struct Round {
        let number: Int
        let time: WallTime
        /// Those reports that say something new, with the line that tells it.
        let changes: [(report: LookupReport, line: String)]
    }

    /// What is new since the last round; all of it in the first.
    private func changes(
        _ reports: [[LookupReport]], in memory: inout Memory
    ) -> [(report: LookupReport, line: String)] {
        if memory.said.isEmpty { memory.said = reports.map { $0.map { _ in "" } } }
        var changes: [(report: LookupReport, line: String)] = []
        for (place, said) in reports.enumerated() {
            for (source, report) in said.enumerated() where !report.isCutOff {
                let before = memory.said[place][source]
                let now = printer.rendering.statement(report)
                guard before != now else { continue }
                memory.said[place][source] = now
                let what = before.isEmpty ? now : "\(before) → \(now)"
                let from = report.source.shown(report.source.label)
                changes.append(
                    (report, "\(report.subject.shownText)  \(what)  (\(from))".printable))
            }
        }
        return changes
    }

    private func show(_ reports: [[LookupReport]], _ round: Round, _ memory: inout Memory) {
        let isFirstOfRepetition = !request.watches && round.number == 1
        let redraws =
            request.form == .table && request.watches && console.output.isTerminal
            && !reports.contains { $0.contains(where: \.isCutOff) }
        if !redraws, request.form == .json || !isFirstOfRepetition {
            explanation(reports).forEach(console.note)
        }
        switch request.form {
        case .json:
            let cutOff = reports.flatMap(\.self).filter(\.isCutOff)
            let shown =
                request.watches
                ? round.changes.map(\.report) + cutOff : reports.flatMap(\.self)
            for report in shown { console.print(json: json(report, round)) }
        case .table where redraws:
            memory.changes += round.changes.map { "\(round.time.iso8601)  \($0.line)" }
            memory.changes = memory.changes.suffix(LookupRounds.shownChanges)
            redraw(reports, round, memory)
        case .table where isFirstOfRepetition: printer.print(reports.map { printer.rendered($0) })
        case .short where !request.watches:
            if !round.changes.isEmpty { printer.print(reports.map { printer.rendered($0) }) }
        case .table, .short:
            for change in round.changes {
                console.print("\(round.time.iso8601)  \(change.line)")
            }
            for said in reports {
                for report in said where report.isCutOff {
                    printer.rendering.complaints(report).forEach(console.note)
                }
            }
        }
    }

    private func explanation(_ reports: [[LookupReport]]) -> [String] {
        guard request.explains else { return [] }
        return printer.explanation(reports.flatMap { $0.flatMap(LookupExplanation.lines) })
    }

    /// Because: what fits below the tables on a small terminal.
    private static let shownChanges = 8

    private func json(_ report: LookupReport, _ round: Round) -> JSONValue {
        guard var object = report.json.object else { return report.json }
        object["round"] = .integer(Int64(round.number))
        object["time"] = .string(round.time.iso8601)
        return .object(object)
    }

    /// Writes over what stands on the terminal; each line clears what was behind it.
    ///
    /// Source: ECMA-48 §8.3.21 (CUP), §8.3.39 (ED), §8.3.41 (EL).
    private func redraw(_ reports: [[LookupReport]], _ round: Round, _ memory: Memory) {
        var lines = ["round \(round.number), \(round.time.iso8601); Ctrl-C ends", ""]
        for said in reports {
            for report in said { lines += printer.rendering.table(report) }
            lines += printer.notes(said).map(\.printable)
        }
        lines += explanation(reports)
        if memory.changes.count > 1 { lines += ["", "changes:"] + memory.changes }
        let start = round.number == 1 ? "\u{1B}[2J\u{1B}[H" : "\u{1B}[H"
        console.output.write(
            start + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
    }

    /// The times, where a number of rounds was asked for.
    private func showTimings(_ memory: Memory) {
        var table = TextTable(["NAME", "ANSWERED", "MIN", "MEDIAN", "P95", "MAX", "FROM"])
        for (place, subject) in request.subjects.enumerated() where place < memory.timings.count {
            for (source, timings) in memory.timings[place].enumerated() {
                let from = asking.sources[source].label
                table.add(
                    [subject.asciiText.printable, "\(timings.answered) of \(timings.rounds)"]
                        + timings.cells + [from.printable])
            }
        }
        let isOutput = request.form == .table
        let lines = table.lines(isOutput ? console.outputPaint : console.errorPaint)
        // The titles may be painted: they are ours, and so is every cell by now.
        let text = (isOutput ? [""] : []) + lines
        (isOutput ? console.output : console.errors).write(text.map { $0 + "\n" }.joined())
    }
}
