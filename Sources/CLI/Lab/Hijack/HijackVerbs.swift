internal import HTTPDNSPinLab

/// `lab hijack list|serve|run`.
struct HijackVerbs {
    let arguments: ParsedArguments
    let console: Console

    func run() async throws(CommandFault) -> ExitCode {
        let words = Array(arguments.words.dropFirst())
        switch words.first {
        case "list": return try list(words)
        case "serve": return try await HijackServing(arguments, console).run()
        case "run": return try await HijackRunning(arguments, console).run()
        case let verb?:
            throw .unknown("verb of lab hijack", verb, known: ["list", "serve", "run"])
        case nil:
            throw .usage("a verb is missing: lab hijack list, lab hijack serve or lab hijack run")
        }
    }

    private func list(_ words: [String]) throws(CommandFault) -> ExitCode {
        try HijackVerbs.refuse(all: arguments, but: [.only, .json], verb: "list")
        guard words.count == 1 else {
            throw .usage("unexpected \(quoted(words[1])): use --only to choose")
        }
        let scenarios = try HijackVerbs.scenarios(arguments)
        if arguments.has(.json) {
            for scenario in scenarios { console.print(json: HijackRendering.json(scenario)) }
            return .succeeded
        }
        var table = TextTable(["SCENARIO", "LAYER", "VERDICT", "WHAT HAPPENS", "WHERE IT IS SEEN"])
        for scenario in scenarios {
            table.add([
                scenario.name, scenario.layer.rawValue, scenario.finding.description,
                scenario.deed, scenario.seen,
            ])
        }
        table.lines(console.outputPaint).forEach(console.print)
        return .succeeded
    }

    /// - Throws: ``CommandFault``: a pattern that fits nothing.
    static func scenarios(_ arguments: ParsedArguments) throws(CommandFault) -> [HijackScenario] {
        let patterns = arguments.values(.only)
        let fits = { (scenario: HijackScenario, pattern: String) in
            [scenario.name, scenario.layer.rawValue].contains { Glob.matches(pattern, $0) }
        }
        for pattern in patterns
        where !HijackScenario.all.contains(where: { fits($0, pattern) }) {
            throw .usage(
                "--only \(quoted(pattern)) fits no hijack; \"httpdns lab hijack list\" names them "
                    + "all")
        }
        guard !patterns.isEmpty else { return HijackScenario.all }
        return HijackScenario.all.filter { scenario in patterns.contains { fits(scenario, $0) } }
    }

    /// An option that does nothing is a mistake.
    ///
    /// - Throws: ``CommandFault``.
    static func refuse(
        all arguments: ParsedArguments, but known: [OptionRule], verb: String
    ) throws(CommandFault) {
        for rule in OptionRule.ofLab where arguments.has(rule) && !known.contains(rule) {
            throw .usage("--\(rule.name) means nothing for lab hijack \(verb)")
        }
    }

    /// What help says.
    static var help: String {
        let width = HijackCommand.placeholders.map(\.name.count).max() ?? 0
        let placeholders = HijackCommand.placeholders.map { name, meaning in
            "  " + name + String(repeating: " ", count: width - name.count + 2) + meaning
        }.joined(separator: "\n")
        return """
            hijack  networks that lie about a name, each with an honest resolver, a liar and an origin:
                    lab hijack list, lab hijack serve SCENARIO…, lab hijack run [-- COMMAND…].
                    run goes through each with the command; or with this library, and then has each
                    diagnosed as well. Genuine content, or refused: exit 1 on wrong content, on an
                    origin that could be reached and was not, and on a wrong verdict.

            In the command of lab hijack run:
            \(placeholders)
            """
    }
}
