internal import HTTPDNS
internal import HTTPDNSCapture
internal import HTTPDNSExchange
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSRuleFile
internal import HTTPDNSRules

extension OptionRule {
    static let ruledURL = OptionRule(
        "url", value: "URL", "says what the rules do with a request to it")
    static let rules = OptionRule(
        "rules", value: "FILE", "the request goes out under the rules of this file")
}

extension Command {
    /// `httpdns rules`.
    package static let rules = Command(
        "rules", summary: "checks files of rules, and says which rule acts", usage: "check FILE",
        options: [.ruledURL, .ruledMethod, .header, .data, .json, .timeout, .verbose, .config],
        details: details
    ) { (arguments, console) throws(CommandFault) in
        guard let verb = arguments.words.first else {
            throw .usage("check is missing: httpdns rules check FILE")
        }
        guard verb == "check" else { throw .unknown("verb", verb, known: ["check"]) }
        guard arguments.words.count == 2 else {
            throw .usage("one file of rules: httpdns rules check FILE")
        }
        _ = try arguments.duration(.timeout)
        return try RulesCheck(arguments.words[1], arguments).run(arguments, console)
    }.failing { words, fault in
        RulesCheck.json(fault, file: words.dropFirst().first)
    }.readingFilesOnly()

    private static let details = """
        rules check FILE
               reads the file, names what is wrong by line and member, and prints the rules as they
               are understood. With --url it says which rule decides a request, which change it, and
               why the others do not fit. Nothing is sent. FILE may be -, for standard input: then
               paths in it are relative to the working directory. What is allowed and hardly meant,
               such as a query behind a path, is remarked on.

        A recording ({"record": "a.sqlite"}) keeps bodies of 16 MiB at most, and
        {"record": {"file": "a.sqlite", "maximumBodyOctets": N}} of N octets, 67108864 at most: an
        exchange with a longer one is not replayed, and the error of "replay" says so.

        Exit codes: 0 the file is sound; 2 it is not, or cannot be read.

        Examples:
          httpdns rules check rules.json
          httpdns rules check rules.json --url https://api.example.com/v1?id=7
          httpdns rules check rules.json --url https://api.example.com/v1 --method POST -d '{}' --json
          httpdns fetch https://api.example.com/v1 --rules rules.json --verbose
        """
}

extension OptionRule {
    fileprivate static let ruledMethod = OptionRule(
        "method", letter: "X", value: "METHOD", "with --url: the method; GET, or POST with --data")
}

/// Reads files of rules for the tool.
enum RulesInput {
    /// - Throws: ``CommandFault``: the place, what is wrong, and what was expected.
    static func read(_ path: String) throws(CommandFault) -> RuleFile {
        let recordings = RuleFile.Recordings(
            read: { (path) throws(RuleFault) in try FixtureLibrary(file: path) },
            record: { (recording) throws(RuleFault) in
                FixtureRecorder(
                    capture: recording.path, maximumBodyOctets: recording.maximumBodyOctets)
            })
        let text = path == "-" ? try standardInput() : nil
        do throws(RuleFileFault) {
            guard let text else { return try RuleFile(path: path, recordings: recordings) }
            return try RuleFile(
                stream: text, name: "standard input", recordings: recordings)
        } catch { throw .usage(error.description) }
    }

    private static func standardInput() throws(CommandFault) -> String {
        let octets = try FileOctets.read("-", atMost: RuleFile.maximumOctets)
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw .usage("standard input is not UTF-8: no rules are in it")
        }
        return text
    }
}

/// `httpdns rules check`.
struct RulesCheck {
    private let path: String
    private let file: RuleFile
    private let request: RuledRequest?

    init(_ path: String, _ arguments: ParsedArguments) throws(CommandFault) {
        self.path = path
        file = try RulesInput.read(path)
        guard let text = arguments.value(.ruledURL) else {
            for option in [OptionRule.ruledMethod, .header, .data] where arguments.has(option) {
                throw .usage("--\(option.name) describes a request: name its URL with --url")
            }
            request = nil
            return
        }
        let url: HTTPURL
        do throws(URLFault) { url = try HTTPURL(text) } catch {
            throw .usage("\(quoted(url: text)) is not a URL of a request: \(error)")
        }
        let sent = try FetchPlan.request(to: url, arguments, method: .ruledMethod)
        guard case .bytes(let octets) = sent.body else {
            request = RuledRequest(sent.head)
            return
        }
        request = RuledRequest(sent.head) { octets }
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws(CommandFault) -> ExitCode {
        let explained = request.map { ($0, file.rules.explanation(of: $0)) }
        if arguments.has(.json) {
            console.print(json: json(explained?.1))
            return .succeeded
        }
        console.print(
            "\(path.printable): \(count(file.rules.rules.count, "rule"))"
                + (file.name.map { " (\($0.printable))" } ?? "")
                + (file.rules.otherwise == .refuse ? ", strict" : ""))
        for (place, rule) in file.rules.rules.enumerated() {
            console.print("\(place + 1)  \(RulesCheck.text(rule).printable)")
        }
        for (place, rule) in file.rules.rules.enumerated() {
            for remark in rule.remarks {
                console.note(
                    "rule \(place + 1), \(shown(message: rule.name)): \(shown(message: remark))")
            }
        }
        guard let (request, explanation) = explained else { return .succeeded }
        console.print("")
        console.print(shown(message: request.line).printable)
        for (place, rule) in explanation.rules.enumerated() {
            let name = shown(message: rule.rule).printable
            console.print("\(place + 1)  \(name): \(RulesCheck.text(rule))")
        }
        console.print("→ " + shown(message: RulesCheck.text(explanation.decision)).printable)
        return .succeeded
    }

    private func count(_ number: Int, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }

    /// The name by itself: behind one that is `token` all else would be taken for its value.
    private static func text(_ rule: RequestRule) -> String {
        let text = rule.description
        guard let mark = text.firstRange(of: ": when ") else { return shown(message: text) }
        return shown(message: String(text[..<mark.lowerBound])) + text[mark]
            + shown(message: String(text[mark.upperBound...]))
    }

    private static func text(_ rule: RuleExplanation) -> String {
        let text =
            switch rule.outcome {
            case .decides: "decides"
            case .goesOn: "fits, and the list goes on"
            case .passedOver(let reasons):
                reasons.map { shown(message: $0) }.joined(separator: ", ").printable
            case .notReached: "not reached: a rule before it decided"
            case .disabled: "disabled"
            }
        return rule.depends ? text + " (where count and chance allow)" : text
    }

    private static func text(_ decision: RuleDecision) -> String {
        let target = decision.request.line
        switch decision.verdict {
        case .resolve:
            let route = decision.addresses.map {
                ", connecting to " + $0.map(\.description).joined(separator: ", ")
            }
            return "resolve \(target)" + (route ?? "")
        case .pass(let why): return "pass (\(why))"
        case .refuse(let refusal): return "\(refusal.kind.rawValue): \(refusal.message)"
        case .stub(_, let rule): return "stub, by \(rule)"
        case .replay(let fixture, let rule): return "replay \(fixture.status), by \(rule)"
        case .offline: return "offline: \(target)"
        }
    }

    // MARK: JSON

    private func json(
        _ explanation: (rules: [RuleExplanation], decision: RuleDecision)?
    ) -> JSONValue {
        var rules: [JSONValue] = []
        for (place, rule) in file.rules.rules.enumerated() {
            var object: JSONObject = [
                "name": .string(shown(message: rule.name)),
                "text": .string(RulesCheck.text(rule)),
                "remarks": .array(rule.remarks.map { .string(shown(message: $0)) }),
            ]
            if let explained = explanation?.rules[place] {
                object["outcome"] = .string(explained.outcome.word)
                object["reasons"] = .array(
                    explained.outcome.reasons.map { .string(shown(message: $0)) })
                object["depends"] = .bool(explained.depends)
            }
            rules.append(.object(object))
        }
        let decision: JSONValue =
            explanation.map { explanation in
                [
                    "verdict": .string(explanation.decision.label),
                    "rules": .array(
                        explanation.decision.names.map { .string(shown(message: $0)) }),
                    "url": .string(explanation.decision.request.url.description),
                ]
            } ?? .null
        return [
            "file": .string(path), "name": file.name.map { .string($0) } ?? .null,
            "otherwise": .string(file.rules.otherwise.rawValue), "rules": .array(rules),
            "request": request.map { .string($0.line) } ?? .null, "decision": decision,
            "error": .null,
        ]
    }

    static func json(_ fault: CommandFault, file: String?) -> JSONValue {
        [
            "file": file.map { .string($0) } ?? .null, "name": .null, "otherwise": .null,
            "rules": .array([]), "request": .null, "decision": .null,
            "error": ["code": "usage", "message": .string(fault.message)],
        ]
    }
}

extension RuleExplanation.Outcome {
    fileprivate var word: String {
        switch self {
        case .decides: "decides"
        case .goesOn: "goes_on"
        case .passedOver: "passed_over"
        case .notReached: "not_reached"
        case .disabled: "disabled"
        }
    }

    fileprivate var reasons: [String] {
        if case .passedOver(let reasons) = self { reasons } else { [] }
    }
}
