internal import HTTPDNSJSON
internal import HTTPDNSPinLab

/// `lab list`.
struct LabListing {
    private let scenarios: [LabScenario]
    private let isJSON: Bool
    private let console: Console

    init(_ arguments: ParsedArguments, _ console: Console) throws(CommandFault) {
        try LabVerb.list.refuseOthers(arguments)
        guard arguments.words.count == 1 else {
            throw .usage("unexpected \(quoted(arguments.words[1])): use --only to choose")
        }
        scenarios = try LabChoice.scenarios(arguments)
        isJSON = arguments.has(.json)
        self.console = console
    }

    func run() -> ExitCode {
        if isJSON {
            for scenario in scenarios { console.print(json: LabRendering.json(scenario)) }
            return .succeeded
        }
        var table = TextTable(["SCENARIO", "GROUP", "MUST", "THE SERVER SHOWS", "RULE"])
        for scenario in scenarios {
            table.add([
                scenario.name, scenario.group.rawValue, scenario.expectation.verdict.rawValue,
                scenario.deed, scenario.expectation.rule,
            ])
        }
        table.lines(console.outputPaint).forEach(console.print)
        return .succeeded
    }
}
