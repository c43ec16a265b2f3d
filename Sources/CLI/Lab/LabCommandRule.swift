internal import HTTPDNSPinLab

extension OptionRule {
    static let only = OptionRule(
        "only", value: "GLOB", isRepeatable: true,
        "scenarios whose name or group fits: 'wildcard-*', pins")
    static let junit = OptionRule(
        "junit", value: "FILE", "the results for a build server, as XML; - is standard output")
    static let own = OptionRule("self", "grade this library instead of a command")
    static let proxy = OptionRule(
        "proxy", "tell the command of a proxy (https_proxy) that leads every name to the laboratory"
    )
    static let noFault = OptionRule(
        "no-fault", "each scenario without what is wrong with it: a command must accept them all")
    static let atATime = OptionRule("parallel", value: "N", "how many are played at a time (4)")
    static let seed = OptionRule(
        "seed", value: "TEXT", "the same keys and certificates for the same text; never trust them")
    static let firstPort = OptionRule("port", value: "N", "the first port; the others follow it")
    static let directory = OptionRule(
        "dir", value: "D", "where ca.pem and targets.json are put; it must be there")
    static let eachTimeout = OptionRule(
        "timeout", value: "DURATION", "how long one run may take (10s)")
}

extension OptionRule {
    /// Of all verbs together.
    static let ofLab: [OptionRule] = [
        .only, .own, .proxy, .noFault, .junit, .atATime, .eachTimeout, .seed, .firstPort,
        .directory, .json, .verbose,
    ]
}

extension Command {
    /// `httpdns lab`.
    package static let lab = Command(
        "lab", summary: "servers that misbehave in one way each, and how a client does with them",
        usage: "[hijack] list | serve [SCENARIO…] | run -- COMMAND… | run --self",
        options: OptionRule.ofLab, details: details
    ) { (arguments, console) throws(CommandFault) in
        switch arguments.words.first {
        case "list": return try LabListing(arguments, console).run()
        case "serve": return try await LabServing(arguments, console).run()
        case "run": return try await LabRunning(arguments, console).run()
        case "hijack": return try await HijackVerbs(arguments: arguments, console: console).run()
        case let verb?:
            throw .unknown("verb of lab", verb, known: ["list", "serve", "run", "hijack"])
        case nil: throw .usage("a verb is missing: lab list, lab serve or lab run")
        }
    }.failing { words, fault in
        words.first == "hijack" ? HijackRendering.json(fault) : LabRendering.json(fault)
    }.explaining(LabVerb.help + HijackVerb.help)
        .tellingWhenInterrupted(in: [["run"], ["hijack", "run"]])

    private static let details = """
        list    every scenario: what a client must do, what the server does, why
        serve   starts servers for work by hand; without names all of them
        run     runs a command once for each scenario, without a shell, and grades it; --self grades this
                library
        hijack  the same of networks that lie about a name: lab hijack list, serve and run

        "httpdns lab run --help" and the like say more.

        Examples:
          httpdns lab list --only pins
          httpdns lab run -- curl -sS --cacert {cacert} --resolve {host}:{port}:{ip} {url}
          httpdns lab serve wrong-pin expired
          httpdns lab hijack run

        docs/lab.md shows more clients, and which name of badssl.com is which scenario;
        docs/hijack-lab.md where each hijack is met.
        """
}

/// What each verb of `lab` takes.
enum LabVerb: String {
    case list, run, serve

    var options: [OptionRule] {
        switch self {
        case .list: [.only, .noFault, .json]
        case .run:
            [
                .only, .noFault, .own, .proxy, .junit, .atATime, .eachTimeout, .seed, .directory,
                .json, .verbose,
            ]
        case .serve: [.only, .noFault, .seed, .firstPort, .directory, .json]
        }
    }

    /// An option that does nothing is a mistake.
    ///
    /// - Throws: ``CommandFault``.
    func refuseOthers(_ arguments: ParsedArguments) throws(CommandFault) {
        let all: [LabVerb] = [.list, .run, .serve]
        for rule in all.flatMap(\.options) where arguments.has(rule) && !options.contains(rule) {
            let verbs = all.filter { $0.options.contains(rule) }.map { "lab \($0.rawValue)" }
            throw .usage(
                "--\(rule.name) means nothing for lab \(rawValue); it belongs to "
                    + verbs.joined(separator: " and "))
        }
    }
}

// How each is explained
extension LabVerb {
    /// How what is served ends.
    static let ending =
        "Ctrl-C or SIGTERM (kill) ends them; what a shell starts with & ignores Ctrl-C."

    /// How a run ends early.
    static let interruption =
        "Ctrl-C shows what was played by then; --junit has the rest as skipped (exit 130)."

    static var help: [CommandVerb] {
        [
            CommandVerb(
                "list", summary: "every scenario: what a client must do, what the server does, why",
                usage: "[--only GLOB]", options: LabVerb.list.options,
                details: """
                    Examples:
                      httpdns lab list --only pins
                      httpdns lab list --json
                    """),
            CommandVerb(
                "serve", summary: "starts servers for work by hand", usage: "[SCENARIO…]",
                options: LabVerb.serve.options,
                details: """
                    Prints name, URL and pins of each, the CA file and a proxy. Without names all
                    of them.

                    \(ending)

                    Examples:
                      httpdns lab serve wrong-pin expired
                      httpdns lab serve --seed anything --port 8443 --dir /tmp/lab
                    """),
            CommandVerb(
                "run", summary: "runs a client once for each scenario, and grades it",
                usage: "-- COMMAND… | --self", options: LabVerb.run.options, details: ofRun),
        ]
    }

    private static var ofRun: String {
        let width = LabCommand.placeholders.map(\.name.count).max() ?? 0
        let placeholders = LabCommand.placeholders.map { name, meaning in
            "  " + name + String(repeating: " ", count: width - name.count + 2) + meaning
        }.joined(separator: "\n")
        return """
            The command is run without a shell: it has accepted when its exit code is 0. Exit 1 when it
            missed any. --self grades this library, with its reasons for refusing.

            A refusal counts only when no request was sent, and only after a connection: a command that
            never connects has not been run. What a command cannot be asked (a pin without {pin}, an
            OCSP response it does not ask for) is shown as not covered. The command must be told whom to
            trust ({cacert}) and where the name leads ({ip}, or --proxy).

            \(interruption)

            In the command:
            \(placeholders)

            Examples:
              httpdns lab run -- curl -sS --cacert {cacert} --resolve {host}:{port}:{ip} {url}
              httpdns lab run -- curl -sS --cacert {cacert} --resolve {host}:{port}:{ip} \\
                  --pinnedpubkey {curlpins} {url}
              httpdns lab run --proxy -- wget -q -O- --ca-certificate={cacert} {url}
              httpdns lab run --self --junit lab.xml
            """
    }
}

/// Which scenarios were asked for.
enum LabChoice {
    /// - Throws: ``CommandFault``: a pattern that fits nothing.
    static func scenarios(_ arguments: ParsedArguments) throws(CommandFault) -> [LabScenario] {
        let patterns = arguments.values(.only)
        for pattern in patterns where !LabScenario.all.contains(where: { fits($0, pattern) }) {
            throw .usage(
                "--only \(quoted(pattern)) fits no scenario; \"httpdns lab list\" names them all")
        }
        let chosen =
            patterns.isEmpty
            ? LabScenario.all
            : LabScenario.all.filter { scenario in patterns.contains { fits(scenario, $0) } }
        return arguments.has(.noFault) ? chosen.map(\.repaired) : chosen
    }

    private static func fits(_ scenario: LabScenario, _ pattern: String) -> Bool {
        let names =
            [scenario.name, scenario.group.rawValue] + scenario.badssl.map { "badssl-" + $0 }
        return names.contains { Glob.matches(pattern, $0) }
    }
}

/// Patterns with `*` for any text and `?` for one character. Pure.
enum Glob {
    static func matches(_ pattern: String, _ text: String) -> Bool {
        matches(Array(pattern)[...], Array(text)[...])
    }

    private static func matches(
        _ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>
    ) -> Bool {
        var pattern = pattern
        var text = text
        // Where to go on after the last star: one character further each time. Linear but for that.
        var afterStar: (pattern: ArraySlice<Character>, text: ArraySlice<Character>)?
        while true {
            if pattern.first == "*" {
                pattern = pattern.dropFirst()
                afterStar = (pattern, text)
            } else if let first = pattern.first, let next = text.first,
                first == "?" || first == next
            {
                pattern = pattern.dropFirst()
                text = text.dropFirst()
            } else if pattern.isEmpty, text.isEmpty {
                return true
            } else {
                guard let star = afterStar, !star.text.isEmpty else { return false }
                (pattern, text) = (star.pattern, star.text.dropFirst())
                afterStar = (pattern, text)
            }
        }
    }
}
