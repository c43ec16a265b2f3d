internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSStatic

/// What happened, with times from the start of the command.
final class LookupJournal: Sendable {
    private let start: Monotonic
    private let echo: Console?
    private let steps = Locked<[LookupStep]>([])

    /// `echo` is told at once.
    init(start: Monotonic, echo: Console?) {
        self.start = start
        self.echo = echo
    }

    func add(_ text: String) {
        let nanoseconds = SystemMonotonicClock().now().nanoseconds - start.nanoseconds
        let step = LookupStep(milliseconds: Double(nanoseconds) / 1e6, text: text)
        steps.withLock { $0.append(step) }
        echo?.note(DurationText.elapsed(milliseconds: step.milliseconds) + "  " + text)
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
    let hosts: HostsFile?
    let journal: LookupJournal
    /// Whether a table stands on standard output already.
    private let hasPrinted = Locked(false)

    init(request: LookupRequest, console: Console, hosts: HostsFile?, journal: LookupJournal) {
        self.request = request
        self.console = console
        self.hosts = hosts
        self.journal = journal
    }

    /// All reports on one subject.
    func print(_ reports: [LookupReport]) {
        let rendering = LookupRendering(
            usesSeconds: request.usesSeconds, wantsDNSSEC: request.wantsDNSSEC,
            paint: console.outputPaint)
        if request.explains { explain() }
        clearProgress()
        for report in reports {
            switch request.form {
            case .json: console.print(json: report.json)
            case .short: report.endData.forEach(console.print)
            case .table where request.list != nil: rendering.rows(report).forEach(console.print)
            case .table:
                let lines = rendering.table(report)
                if !lines.isEmpty, isAfterTable() { console.print("") }
                lines.forEach(console.print)
            }
            rendering.complaints(report).forEach(console.note)
            notes(report).forEach(console.note)
        }
        guard let verdict = rendering.agreement(reports) else { return }
        switch request.form {
        case .json: break
        case .short: console.note(verdict)
        case .table where request.list != nil: console.note(verdict)
        case .table: console.print(verdict)
        }
    }

    /// Whether this is not the first table.
    private func isAfterTable() -> Bool {
        hasPrinted.withLock { hasPrinted in
            defer { hasPrinted = true }
            return hasPrinted
        }
    }

    private func notes(_ report: LookupReport) -> [String] {
        guard let name = try? report.subject.name.get() else { return [] }
        var notes = AddressNotes.impossible(report.addresses, for: name)
        let asked = report.answerSource?.resolver ?? report.source.label
        let transport = report.answerSource?.transport.rawValue ?? report.source.transport
        let isSystems = transport == "system" || transport == "hosts" || transport == "literal"
        if !isSystems, let hosts,
            let note = AddressNotes.hosts(hosts, has: name, asked: asked)
        {
            notes.append(note)
        }
        return notes
    }

    /// In JSON the steps go to standard error, so that a line stays an object.
    private func explain() {
        for step in journal.take() {
            let line =
                DurationText.elapsed(milliseconds: step.milliseconds) + "  " + step.text.printable
            if request.form == .table { console.print(line) } else { console.note(line) }
        }
    }

    /// A line on the terminal that the next one replaces; nothing where output goes there too.
    func progress(_ done: Int, of all: Int) {
        guard showsProgress, done < all else { return }
        console.errors.write("\r\(done) of \(all) names\u{1B}[K")
    }

    private func clearProgress() {
        if showsProgress { console.errors.write("\r\u{1B}[K") }
    }

    private var showsProgress: Bool {
        request.list != nil && console.errors.isTerminal && !console.output.isTerminal
    }
}
