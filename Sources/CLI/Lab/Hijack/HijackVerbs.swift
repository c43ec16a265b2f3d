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
        try HijackVerb.list.refuseOthers(arguments)
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
}

/// What each verb of `lab hijack` takes, and how it is explained.
enum HijackVerb: String {
    case list, serve, run

    var options: [OptionRule] {
        switch self {
        case .list: [.only, .json]
        case .serve: [.only, .directory, .json]
        case .run:
            [.only, .own, .junit, .atATime, .eachTimeout, .directory, .json, .verbose]
        }
    }

    /// An option that does nothing is a mistake.
    ///
    /// - Throws: ``CommandFault``.
    func refuseOthers(_ arguments: ParsedArguments) throws(CommandFault) {
        for rule in OptionRule.ofLab where arguments.has(rule) && !options.contains(rule) {
            throw .usage("--\(rule.name) means nothing for lab hijack \(rawValue)")
        }
    }

    /// What `--help` says of each, and of all together.
    static var help: [CommandVerb] {
        let every = [HijackVerb.list, .serve, .run].flatMap(\.options)
        let all = OptionRule.ofLab.filter { every.contains($0) }
        return [
            CommandVerb(
                "hijack", summary: "networks that lie about a name, and how a client does in them",
                usage: "list | serve [SCENARIO…] | run [-- COMMAND…]", options: all,
                details: whole),
            CommandVerb(
                "hijack", "list", summary: "every hijack: what happens, and where it is seen",
                usage: "[--only GLOB]", options: HijackVerb.list.options, details: ofList),
            CommandVerb(
                "hijack", "serve", summary: "starts hijacks for work by hand",
                usage: "[SCENARIO…]", options: HijackVerb.serve.options, details: ofServe),
            CommandVerb(
                "hijack", "run", summary: "goes through hijacks with a client, and grades it",
                usage: "[-- COMMAND…]", options: HijackVerb.run.options, details: ofRun),
        ]
    }

    private static let whole = """
        Each hijack has an honest resolver, a liar and an origin, on loopback alone.

        list    what there is
        serve   starts some, with what to type, until it is ended
        run     goes through each with a command; or with this library, and then has each diagnosed
                as well

        "httpdns lab hijack run --help" and the like say more; docs/hijack-lab.md where each hijack is
        met.
        """

    private static let ofList = """
        The verdict is that of httpdns diagnose. --only takes names and layers: 'dns-*', dns.

        Examples:
          httpdns lab hijack list
          httpdns lab hijack list --only dns --json
        """

    private static let ofServe = """
        Prints for each who is asked, who is trusted, the CA file, a configuration file, and commands
        that can be typed as they stand. Without names all of them.

        \(LabVerb.ending)

        Examples:
          httpdns lab hijack serve forged-race
          httpdns lab hijack serve --json --dir /tmp/hijacks &
        """

    private static var ofRun: String {
        let width = HijackCommand.placeholders.map(\.name.count).max() ?? 0
        let placeholders = HijackCommand.placeholders.map { name, meaning in
            "  " + name + String(repeating: " ", count: width - name.count + 2) + meaning
        }.joined(separator: "\n")
        return """
            Without a command (or with --self) this library is the client, and each hijack is
            diagnosed as well. Behind -- stands a command, which is run once for each hijack without
            a shell. Genuine content, or refused: exit 1 on wrong content, on an origin that could be
            reached and was not, and on a wrong verdict.

            \(LabVerb.interruption)

            In the command:
            \(placeholders)

            Examples:
              httpdns lab hijack run
              httpdns lab hijack run --only tls --junit hijacks.xml
              httpdns lab hijack run -- curl -sS --cacert {cacert} --resolve {host}:{port}:{ip} {url}
            """
    }
}
