internal import HTTPDNSPlatform

/// Looks up any number of names, many at a time, and prints them in the order they were given.
///
/// Memory is bounded: at most so many names are in flight as the request says, at most
/// ``window`` wait to be printed behind one that takes long, and of a list one piece is held.
struct LookupStream {
    let asking: LookupAsking
    let printer: LookupPrinter
    let console: Console
    let list: ListReader?

    /// Because: names that need all of their 4 s hold up printing only; a thousand behind them keep
    /// the others going, and their reports take about a megabyte.
    private static let window = 1_024

    private enum Event: Sendable {
        case answered(place: Int, RenderedReports)
        case read(ListReader.Piece)
    }

    /// What waits to be asked and to be printed.
    private struct Progress {
        var subjects: ArraySlice<LookupSubject>
        var lines: ArraySlice<ListReader.Line> = []
        var mayRead: Bool
        /// The number of the last line that was read; nil once the list is at its end.
        var lastLine: Int?
        var started = 0
        var inFlight = 0
        var printed = 0
        var waiting: [Int: RenderedReports] = [:]
        var code = ExitCode.succeeded
    }

    func run() async -> ExitCode {
        await withTaskGroup(of: Event.self) { group in
            var progress = Progress(
                subjects: asking.request.subjects[...], mayRead: list != nil,
                lastLine: list == nil ? nil : 0)
            start(&progress, in: &group)
            while let event = await group.next() {
                switch event {
                case .answered(let place, let reports):
                    progress.inFlight -= 1
                    progress.waiting[place] = reports
                case .read(let piece): take(piece, &progress)
                }
                // In this order: what is printed makes room for more.
                print(&progress)
                start(&progress, in: &group)
            }
            printer.endProgress()
            if Interruption.hasCome { tellUnfinished(&progress) }
            return progress.code
        }
    }

    private func take(_ piece: ListReader.Piece, _ progress: inout Progress) {
        switch piece {
        case .lines(let lines):
            progress.lines = lines[...]
            progress.lastLine = lines.last?.number
            progress.mayRead = true
        case .end: progress.lastLine = nil
        case .interrupted: break
        case .failed(let fault):
            progress.lastLine = nil
            console.complain(fault, of: "lookup")
            progress.code = max(progress.code, fault.code)
        }
    }

    private func start(_ progress: inout Progress, in group: inout TaskGroup<Event>) {
        guard !Interruption.hasCome else { return }
        let window = max(LookupStream.window, asking.request.parallel)
        while progress.inFlight < asking.request.parallel,
            progress.started - progress.printed < window, let subject = next(&progress)
        {
            let place = progress.started
            progress.started += 1
            progress.inFlight += 1
            group.addTask {
                .answered(place: place, printer.rendered(await asking.reports(on: subject)))
            }
        }
        guard progress.mayRead, progress.subjects.isEmpty, progress.lines.isEmpty, let list else {
            return
        }
        progress.mayRead = false
        group.addTask { .read(await list.next()) }
    }

    private func next(_ progress: inout Progress) -> LookupSubject? {
        if let subject = progress.subjects.popFirst() { return subject }
        while let line = progress.lines.popFirst() {
            if let subject = asking.request.subject(of: line) { return subject }
        }
        return nil
    }

    /// What was read and never asked: an object each in JSON, else one line for all.
    private func tellUnfinished(_ progress: inout Progress) {
        progress.code = .interrupted
        var first: LookupSubject?
        var count = 0
        while let subject = next(&progress) {
            first = first ?? subject
            count += 1
            guard asking.request.form == .json else { continue }
            printer.print([printer.rendered(asking.unasked(subject), isQuiet: true)])
        }
        if let first, asking.request.form != .json {
            let place = first.line.map { " (line \($0))" } ?? ""
            console.note(
                count == 1
                    ? "interrupted: \(first.shownText)\(place) was not asked for"
                    : "interrupted: \(count) names were not asked for, "
                        + "from \(first.shownText)\(place) on")
        }
        if let line = progress.lastLine {
            console.note(
                line == 0
                    ? "interrupted: nothing of the list was read"
                    : "interrupted: the list was read to line \(line)")
        }
    }

    private func print(_ progress: inout Progress) {
        var ready: [RenderedReports] = []
        while let reports = progress.waiting.removeValue(forKey: progress.printed) {
            progress.printed += 1
            progress.code = max(progress.code, reports.code)
            ready.append(reports)
        }
        if !ready.isEmpty { printer.print(ready) }
        printer.progress(printed: progress.printed, inFlight: progress.inFlight)
    }
}
