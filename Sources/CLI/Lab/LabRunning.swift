internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPinLab
internal import HTTPDNSPlatform

/// `lab run`: plays scenarios with a command or with this library, and shows how it did.
struct LabRunning {
    private let scenarios: [LabScenario]
    private let words: [String]
    private let isSelf: Bool
    private let parallel: Int
    private let timeoutMilliseconds: Int64
    private let arguments: ParsedArguments
    private let console: Console
    private let junit: SideDocument?

    init(_ arguments: ParsedArguments, _ console: Console) throws(CommandFault) {
        self.arguments = arguments
        try LabVerb.run.refuseOthers(arguments)
        scenarios = try LabChoice.scenarios(arguments)
        words = Array(arguments.words.dropFirst())
        isSelf = arguments.has(.own)
        var console = console
        junit = try SideDocument(.junit, arguments, &console)
        self.console = console
        parallel = try arguments.number(.atATime, in: 1...32) ?? 4
        let timeout = try arguments.duration(.eachTimeout) ?? .seconds(10)
        timeoutMilliseconds = max(1, Int64(timeout / .milliseconds(1)))
        guard isSelf != !words.isEmpty else {
            throw .usage(
                isSelf
                    ? "--self and a command: grade one at a time"
                    : "a command is missing: lab run -- COMMAND… (or --self)")
        }
        guard !isSelf || !arguments.has(.proxy) else {
            throw .usage("--proxy means nothing with --self: the library is told the addresses")
        }
    }

    func run() async throws(CommandFault) -> ExitCode {
        httpdns_signals_of_parent()
        httpdns_children_adopt()
        defer { httpdns_children_end_orphans() }
        let bench: LabBench
        var proxy: LabProxy?
        do throws(LabError) {
            bench = try LabBench(seed: arguments.value(.seed))
            if arguments.has(.proxy) || words.contains(where: { $0.contains("{proxy}") }) {
                let made = try LabProxy()
                try made.start()
                proxy = made
            }
        } catch { throw .usage("\(error)") }
        let files = try LabFiles(arguments.value(.directory), bench, console: console)
        var run = LabRun(bench)
        run.parallel = parallel
        run.proxy = proxy
        let results = try await played(run, try client(files, proxy))
        // Ends what is being played, its files with it.
        if Interruption.hasCome { httpdns_interrupt_clean_up() }
        withExtendedLifetime(files) {}
        try show(results)
        return results.contains { $0.grade.label == "missed" } ? .negative : .succeeded
    }

    private func client(
        _ files: LabFiles, _ proxy: LabProxy?
    ) throws(CommandFault) -> any LabClient {
        if isSelf { return LibraryClient(timeoutMilliseconds: timeoutMilliseconds) }
        var command: LabCommand
        do throws(LabError) {
            command = try LabCommand(words, authorityFile: files.authority)
        } catch { throw .usage("\(error)") }
        guard command.namesTarget else {
            throw .usage("the command names no target; put {url} (or {host} and {port}) into it")
        }
        let programWords = ProgramWords(console: console)
        try programWords.refuseSlips(
            command.unknownPlaceholders, known: LabCommand.placeholders.map(\.name))
        command.timeoutMilliseconds = timeoutMilliseconds
        command.logListFile = files.logs
        command.revocationListFolder = files.path
        command.proxy = proxy?.url
        guard command.namesRoute else {
            throw .usage(
                "the command has neither {ip} nor {proxy}: it would look the names up in DNS; tell "
                    + "it the address, or give --proxy")
        }
        try programWords.requireProgram(words.first ?? "")
        return command
    }

    private func played(
        _ run: LabRun, _ client: any LabClient
    ) async throws(CommandFault) -> [LabResult] {
        let progress = LabProgress<LabResult>(
            total: scenarios.count, arguments, console,
            json: { LabRendering.json($0, showsOutput: $1) },
            words: { ($0.scenario.name, [$0.play?.output].compactMap(\.self)) })
        defer { progress.end() }
        do throws(LabError) {
            return try await run.results(of: scenarios, with: client) { progress.tell($0) }
        } catch { throw .usage("\(error)") }
    }

    private func show(_ results: [LabResult]) throws(CommandFault) {
        if let junit {
            let suite = isSelf ? "httpdns lab run --self" : words.joined(separator: " ")
            let left = scenarios.filter { scenario in
                !results.contains { $0.scenario.name == scenario.name }
            }
            try junit.write(JUnitText.text(results, unplayed: left, suite: suite))
        }
        console.tellOfCut(results.count, of: scenarios.count)
        guard !arguments.has(.json) else { return }
        LabRendering.table(results, console.outputPaint).forEach(console.print)
        console.print(LabRendering.summary(results))
    }
}
