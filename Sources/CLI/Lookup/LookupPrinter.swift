internal import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// What happened, with times from the start of the command.
final class LookupJournal: Sendable {
    private let start: Monotonic
    private let echo: Console?
    private let keepsSteps: Bool
    private let steps = Locked<[LookupStep]>([])

    /// `echo` is told at once; what is kept waits for ``take()``.
    init(start: Monotonic, echo: Console?, keepsSteps: Bool) {
        self.start = start
        self.echo = echo
        self.keepsSteps = keepsSteps
    }

    func add(_ text: String) {
        let nanoseconds = SystemMonotonicClock().now().nanoseconds - start.nanoseconds
        let step = LookupStep(milliseconds: Double(nanoseconds) / 1e6, text: text)
        if let echo {
            echo.note(DurationText.elapsed(milliseconds: step.milliseconds) + "  " + text)
        }
        if keepsSteps { steps.withLock { $0.append(step) } }
    }

    /// The steps since the last call.
    func take() -> [LookupStep] {
        steps.withLock { steps in
            defer { steps = [] }
            return steps
        }
    }
}

/// Prints reports as the request asks.
struct LookupPrinter: Sendable {
    let request: LookupRequest
    let console: Console
    let hosts: [HostName: [IPAddress]]
    let journal: LookupJournal
    private let state = Locked(State())

    private struct State: Sendable {
        /// Whether a table stands on standard output already.
        var hasPrinted = false
        /// Whether a progress line stands on the terminal, and when the next one may.
        var hasProgress = false
        var nextProgress = Monotonic.zero
    }

    init(
        request: LookupRequest, console: Console, hosts: [HostName: [IPAddress]],
        journal: LookupJournal
    ) {
        self.request = request
        self.console = console
        self.hosts = hosts
        self.journal = journal
    }

    var rendering: LookupRendering {
        LookupRendering(
            usesSeconds: request.usesSeconds, wantsDNSSEC: request.wantsDNSSEC,
            paint: console.outputPaint)
    }

    /// The reports on one subject as they are to be printed. Needs no turn: every task may render what
    /// it has found.
    ///
    /// - Parameter isQuiet: nothing for standard error.
    func rendered(_ reports: [LookupReport], isQuiet: Bool = false) -> RenderedReports {
        var verdict: [UInt8] = []
        if request.form == .table, request.list == nil, let text = rendering.agreement(reports) {
            append(text, &verdict)
        }
        return RenderedReports(
            results: reports.map(result), verdict: verdict,
            notes: isQuiet ? [] : notes(reports),
            remarks: request.explains ? reports.flatMap(LookupExplanation.lines) : [],
            code: reports.map(\.exitCode).max() ?? .succeeded)
    }

    /// Prints what was rendered, in order.
    func print(_ subjects: [RenderedReports]) {
        var output: [UInt8] = []
        for subject in subjects {
            // Only what says nothing on standard error may wait for the next subject.
            if !subject.notes.isEmpty || request.explains {
                flush(&output)
                clearProgress()
            }
            for line in explanation(subject.remarks) {
                if request.form == .table { append(line, &output) } else { console.note(line) }
            }
            for result in subject.results where !result.isEmpty {
                if request.form == .table, request.list == nil, isAfterTable() {
                    append("", &output)
                }
                output += result
            }
            output += subject.verdict
            if !subject.notes.isEmpty { flush(&output) }
            subject.notes.forEach(console.note)
        }
        flush(&output)
    }

    private func flush(_ output: inout [UInt8]) {
        guard !output.isEmpty else { return }
        clearProgress()
        console.output.write(octets: output)
        output = []
    }

    private func append(_ line: String, _ output: inout [UInt8]) {
        output += line.utf8
        output.append(0x0A)
    }

    private func result(_ report: LookupReport) -> [UInt8] {
        var output: [UInt8] = []
        switch request.form {
        case .json:
            output = JSONWriter.octets(report.json)
            output.append(0x0A)
        case .short: for line in report.endData { append(line, &output) }
        case .table where request.list != nil:
            for line in rendering.rows(report) { append(line, &output) }
        case .table: for line in rendering.table(report) { append(line, &output) }
        }
        return output
    }

    /// Whether this is not the first table.
    private func isAfterTable() -> Bool {
        state.withLock { state in
            defer { state.hasPrinted = true }
            return state.hasPrinted
        }
    }

    /// Everything for standard error about one subject.
    func notes(_ reports: [LookupReport]) -> [String] {
        var notes = reports.flatMap { rendering.complaints($0) + remarks($0) }
        let isAside = request.form == .short || (request.form == .table && request.list != nil)
        if isAside, let verdict = rendering.agreement(reports) { notes.append(verdict) }
        return notes
    }

    private func remarks(_ report: LookupReport) -> [String] {
        guard let name = report.effectiveName, let typed = try? report.subject.name.get() else {
            return []
        }
        var notes: [String] = []
        if let note = AddressNotes.impossible(report.addresses, for: name) { notes.append(note) }
        if name != typed {
            notes.insert("note: \(typed) was looked up as \(name) (search list)", at: 0)
        }
        let who = report.source.shown(report.answerSource?.server ?? report.source.label)
        notes += report.extendedErrors.map { "note: \(who) says \($0.shown)" }
        notes += AddressNotes.excessiveTTLs(report)
        let asked = report.answerSource?.resolver ?? report.source.label
        let transport = report.answerSource?.transport.rawValue ?? report.source.transport
        let isSystems = transport == "system" || transport == "hosts" || transport == "literal"
        if !isSystems, let note = AddressNotes.hosts(hosts, has: name, asked: asked) {
            notes.append(note)
        }
        return notes
    }

    /// The steps since the last call, and remarks behind them; nothing unless it is asked for. In JSON
    /// and in the short form they belong on standard error, so that a line stays a result.
    func explanation(_ remarks: [String]) -> [String] {
        guard request.explains else { return [] }
        let steps = journal.take().map {
            DurationText.precise(milliseconds: $0.milliseconds) + "  " + $0.text
        }
        return (steps + remarks).map(\.printable)
    }
}

/// The reports on one subject, ready to be printed.
struct RenderedReports: Sendable {
    /// For standard output, a piece for each report.
    let results: [[UInt8]]
    /// Behind them: whether several resolvers agree.
    let verdict: [UInt8]
    /// For standard error.
    let notes: [String]
    /// What `--explain` adds to the steps.
    let remarks: [String]
    let code: ExitCode
}

// The line on a terminal that says how far a list is
extension LookupPrinter {
    /// Replaces the line, ten times a second at most; nothing where output goes there too.
    func progress(printed: Int, inFlight: Int) {
        guard showsProgress, inFlight > 0 else { return }
        let now = SystemMonotonicClock().now()
        let isDue = state.withLock { state in
            guard now >= state.nextProgress else { return false }
            state.nextProgress = now.adding(milliseconds: LookupPrinter.progressMilliseconds)
            state.hasProgress = true
            return true
        }
        guard isDue else { return }
        let names = printed == 1 ? "name" : "names"
        console.errors.write("\r\(printed) \(names) looked up, \(inFlight) in flight\u{1B}[K")
    }

    /// Because: as often as an eye can follow.
    private static let progressMilliseconds: Int64 = 100

    /// Takes the line away at the end.
    func endProgress() { clearProgress() }

    private func clearProgress() {
        guard showsProgress else { return }
        let stands = state.withLock { state in
            defer { state.hasProgress = false }
            return state.hasProgress
        }
        if stands { console.errors.write("\r\u{1B}[K") }
    }

    private var showsProgress: Bool {
        request.list != nil && console.errors.isTerminal && !console.output.isTerminal
    }
}
