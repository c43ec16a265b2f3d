internal import CHTTPDNSSystem
internal import HTTPDNSPinLab
internal import HTTPDNSPlatform

/// `lab hijack run`: plays hijacks with this library or a command, and shows how it did.
struct HijackRunning {
    private let scenarios: [HijackScenario]
    private let words: [String]
    private let parallel: Int
    private let timeoutMilliseconds: Int64
    private let arguments: ParsedArguments
    private let console: Console
    private let junit: SideDocument?

    init(_ arguments: ParsedArguments, _ console: Console) throws(CommandFault) {
        self.arguments = arguments
        try HijackVerb.run.refuseOthers(arguments)
        scenarios = try HijackVerbs.scenarios(arguments)
        words = Array(arguments.words.dropFirst(2))
        guard !words.isEmpty || arguments.wordsBehindEnd == nil else {
            throw .usage(
                "a command is missing behind --: lab hijack run -- COMMAND…, or without -- for this "
                    + "library")
        }
        var console = console
        junit = try SideDocument(.junit, arguments, &console)
        self.console = console
        guard !arguments.has(.own) || words.isEmpty else {
            throw .usage("--self and a command: grade one at a time")
        }
        parallel = try arguments.number(.atATime, in: 1...32) ?? 4
        let timeout = try arguments.duration(.eachTimeout) ?? .seconds(10)
        timeoutMilliseconds = max(1, Int64(timeout / .milliseconds(1)))
    }

    func run() async throws(CommandFault) -> ExitCode {
        httpdns_signals_of_parent()
        httpdns_children_adopt()
        defer { httpdns_children_end_orphans() }
        let lab: HijackLab
        do throws(LabError) { lab = try HijackLab() } catch { throw .usage("\(error)") }
        let files = try LabFiles(
            arguments.value(.directory), authorityPEM: lab.authorityPEM, console: console)
        var run = HijackRun(lab)
        run.parallel = parallel
        if words.isEmpty {
            run.diagnoser = LibraryDiagnoser(
                patienceMilliseconds: min(timeoutMilliseconds, HijackRunning.patience))
        }
        let results = try await played(run, try client(files))
        // Ends what is being played, its files with it.
        if Interruption.hasCome { httpdns_interrupt_clean_up() }
        withExtendedLifetime(files) {}
        try show(results)
        return results.contains(where: \.isMiss) ? .negative : .succeeded
    }

    /// Because: as long as `diagnose` takes by itself.
    private static let patience: Int64 = 4_500

    private func client(_ files: LabFiles) throws(CommandFault) -> any HijackClient {
        guard let program = words.first else {
            return LibraryHijackClient(timeoutMilliseconds: timeoutMilliseconds)
        }
        var command: HijackCommand
        do throws(LabError) {
            command = try HijackCommand(words, authorityFile: files.authority)
        } catch { throw .usage("\(error)") }
        command.timeoutMilliseconds = timeoutMilliseconds
        command.folder = files.path
        guard command.namesTarget else {
            throw .usage("the command names no target; put {url} (or {host} and {port}) into it")
        }
        try ProgramWords(console: console).refuseSlips(
            command.unknownPlaceholders, known: HijackCommand.placeholders.map(\.name))
        guard command.namesRoute else {
            throw .usage(
                "the command has none of {resolver}, {trusted}, {config} and {ip}: it would look the "
                    + "names up in DNS")
        }
        try ProgramWords(console: console).requireProgram(program)
        return command
    }

    private func played(
        _ run: HijackRun, _ client: any HijackClient
    ) async throws(CommandFault) -> [HijackResult] {
        // What client and diagnosis said.
        let progress = LabProgress<HijackResult>(
            total: scenarios.count, arguments, console,
            json: { HijackRendering.json($0, showsOutput: $1) },
            words: {
                ($0.scenario.name, [$0.play?.output, $0.diagnosis?.output].compactMap(\.self))
            })
        defer { progress.end() }
        do throws(LabError) {
            return try await run.results(of: scenarios, with: client) { progress.tell($0) }
        } catch { throw .usage("\(error)") }
    }

    private func show(_ results: [HijackResult]) throws(CommandFault) {
        if let junit {
            let suite =
                words.isEmpty ? "httpdns lab hijack run" : words.joined(separator: " ")
            let left = scenarios.filter { scenario in
                !results.contains { $0.scenario.name == scenario.name }
            }
            try junit.write(HijackRendering.junit(results, unplayed: left, suite: suite))
        }
        console.tellOfCut(results.count, of: scenarios.count)
        guard !arguments.has(.json) else { return }
        HijackRendering.table(results, console.outputPaint).forEach(console.print)
        console.print(HijackRendering.summary(results))
    }
}
