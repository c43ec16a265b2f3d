internal import HTTPDNSJSON
internal import HTTPDNSPinLab

/// How hijacks and their results are shown. Pure.
enum HijackRendering {
    static func json(_ scenario: HijackScenario) -> JSONValue { .object(object(scenario)) }

    private static func object(_ scenario: HijackScenario) -> JSONObject {
        var object = JSONObject()
        object["scenario"] = .string(scenario.name)
        object["layer"] = .string(scenario.layer.rawValue)
        object["deed"] = .string(scenario.deed)
        object["seen"] = .string(scenario.seen)
        object["duty"] = .string(scenario.duty)
        object["expected"] = json(scenario.finding)
        return object
    }

    private static func json(_ finding: HijackFinding) -> JSONValue {
        [
            "verdict": .string(finding.verdict.rawValue),
            "how": .array(finding.ways.sorted().map { .string($0) }),
        ]
    }

    /// What `--json` prints when nothing could be played: the keys of a result.
    static func json(_ fault: CommandFault) -> JSONValue {
        let keys = [
            "scenario", "layer", "deed", "seen", "duty", "expected", "grade", "detail", "outcomes",
            "exitCode", "verdict", "verdictGrade", "verdictDetail", "milliseconds",
            "verdictMilliseconds",
        ]
        var object = JSONObject()
        for key in keys { object[key] = .null }
        object["error"] = [
            "code": .string("usage"), "message": .string(fault.message.printable),
        ]
        return .object(object)
    }

    static func json(_ result: HijackResult, showsOutput: Bool) -> JSONValue {
        let text = { (text: String?) in text.map { JSONValue.string($0) } ?? .null }
        var object = object(result.scenario)
        object["grade"] = .string(result.grade.label)
        object["detail"] = text(result.grade.detail)
        object["outcomes"] = .array(result.play?.outcomes.map { .string(words($0)) } ?? [])
        object["exitCode"] = result.play?.exitCode.map { .integer(Int64($0)) } ?? .null
        object["verdict"] = result.diagnosis?.finding.map(json) ?? .null
        object["verdictGrade"] = text(result.verdictGrade?.label)
        object["verdictDetail"] = text(result.verdictGrade?.detail)
        object["milliseconds"] = result.play.map { .integer($0.milliseconds) } ?? .null
        object["verdictMilliseconds"] =
            result.diagnosis.map { .integer($0.milliseconds) } ?? .null
        object["error"] = .null
        if showsOutput {
            object["output"] = text(result.play?.output)
            object["verdictOutput"] = text(result.diagnosis?.output)
        }
        return .object(object)
    }

    /// `content`, `refused (wrong_name)`, `still waiting`.
    static func words(_ outcome: HijackOutcome) -> String {
        switch outcome {
        case .content: "content"
        case .refused(let reason): "refused" + (reason.map { " (\($0))" } ?? "")
        case .timedOut: "still waiting"
        }
    }

    /// What passed, and what was missed at the end, where it is seen.
    static func table(_ results: [HijackResult], _ paint: Paint) -> [String] {
        let hasVerdicts = results.contains { $0.verdictGrade != nil }
        var table = TextTable(
            ["GRADE", "SCENARIO", "DID"] + (hasVerdicts ? ["VERDICT"] : []) + ["WHY"])
        let ordered = results.filter { !$0.isMiss } + results.filter(\.isMiss)
        for result in ordered { table.add(cells(result, hasVerdicts)) }
        let lines = table.lines(paint)
        return zip(lines, [nil] + ordered.map { $0 }).map { line, result in
            guard let result else { return line }
            if result.isMiss { return paint.red(line) }
            return result.play == nil ? paint.dim(line) : line
        }
    }

    private static func cells(_ result: HijackResult, _ hasVerdicts: Bool) -> [String] {
        var cells = [
            grade(result), result.scenario.name,
            result.play?.outcomes.map { words($0).printable }.joined(separator: ", ") ?? "-",
        ]
        if hasVerdicts { cells.append(result.diagnosis?.finding?.description ?? "-") }
        let missed = [
            result.grade.detail, result.verdictGrade?.detail.map { "verdict: " + $0 },
        ].compactMap { $0 }
        let why = missed.isEmpty ? result.scenario.duty : missed.joined(separator: "; ")
        return cells + [why.printable]
    }

    private static func grade(_ result: HijackResult) -> String {
        if result.isMiss { return "MISS" }
        switch result.grade {
        case .passed: return "ok"
        case .missed: return "MISS"
        case .notCovered: return "-"
        case .notServed: return "n/a"
        }
    }

    /// `24 passed, 0 missed; wrong content 0; 24 of 24 verdicts right`.
    static func summary(_ results: [HijackResult]) -> String {
        let count = { (label: String) in
            results.count { !$0.isMiss && $0.grade.label == label }
        }
        var text = "\(count("passed")) passed, \(results.count(where: \.isMiss)) missed"
        if count("not_covered") > 0 { text += ", \(count("not_covered")) not covered" }
        if count("not_served") > 0 { text += ", \(count("not_served")) not served here" }
        text += "; wrong content \(results.count(where: \.tookWrongContent))"
        let verdicts = results.compactMap(\.verdictGrade).filter { $0.label != "not_served" }
        guard !verdicts.isEmpty else { return text }
        let right = verdicts.count { $0 == .passed }
        return text + "; \(right) of \(verdicts.count) verdicts right"
    }

    /// For a build server: the client and the verdict are a case each.
    ///
    /// - Parameter unplayed: what an interrupted run did not come to.
    static func junit(
        _ results: [HijackResult], unplayed: [HijackScenario] = [], suite: String
    ) -> String {
        var cases: [JUnitCase] = []
        for result in results {
            let scenario = result.scenario
            var one = JUnitCase(
                group: "hijack.\(scenario.layer.rawValue)", name: scenario.name,
                grade: result.grade)
            one.why = scenario.duty
            one.output = result.play?.output ?? ""
            one.milliseconds = result.play?.milliseconds ?? 0
            cases.append(one)
            guard let grade = result.verdictGrade else { continue }
            one = JUnitCase(
                group: "hijack.verdict", name: scenario.name, grade: grade)
            one.why = scenario.deed
            one.output = result.diagnosis?.output ?? ""
            one.milliseconds = result.diagnosis?.milliseconds ?? 0
            cases.append(one)
        }
        cases += unplayed.map {
            JUnitCase(group: "hijack.\($0.layer.rawValue)", name: $0.name, grade: .unplayed)
        }
        return JUnitText.text(cases: cases, suite: suite)
    }
}
