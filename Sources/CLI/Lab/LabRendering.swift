internal import HTTPDNSJSON
internal import HTTPDNSPinLab

/// How scenarios and results are shown. Pure.
enum LabRendering {
    static func json(_ scenario: LabScenario) -> JSONValue { .object(object(scenario)) }

    private static func object(_ scenario: LabScenario) -> JSONObject {
        let strings = { (texts: [String]) in JSONValue.array(texts.map { .string($0) }) }
        var object = JSONObject()
        object["scenario"] = .string(scenario.name)
        object["group"] = .string(scenario.group.rawValue)
        object["expected"] = .string(scenario.expectation.verdict.rawValue)
        object["server"] = .string(scenario.deed)
        object["why"] = .string(scenario.expectation.why)
        object["rule"] = .string(scenario.expectation.rule)
        object["codes"] = strings(scenario.expectation.codes)
        object["needs"] = strings(scenario.needs.sorted().map(\.rawValue))
        object["badssl"] = strings(scenario.badssl)
        return object
    }

    /// What `--json` prints when nothing could be played: the keys of a result.
    static func json(_ fault: CommandFault) -> JSONValue {
        let keys = [
            "scenario", "group", "expected", "server", "why", "rule", "codes", "needs", "badssl",
            "grade", "detail", "outcomes", "exitCode", "requestSent", "milliseconds",
        ]
        var object = JSONObject()
        for key in keys { object[key] = .null }
        object["error"] = [
            "code": .string("usage"), "message": .string(fault.message.printable),
        ]
        return .object(object)
    }

    static func json(_ result: LabResult, showsOutput: Bool) -> JSONValue {
        var object = object(result.scenario)
        object["grade"] = .string(result.grade.label)
        object["detail"] = result.grade.detail.map { .string($0) } ?? .null
        object["outcomes"] = .array(
            result.play?.outcomes.map { .string(words($0)) } ?? [])
        object["exitCode"] = result.play?.exitCode.map { .integer(Int64($0)) } ?? .null
        object["requestSent"] = result.play == nil ? .null : .bool(result.wasRequestSent)
        object["milliseconds"] = result.play.map { .integer($0.milliseconds) } ?? .null
        object["error"] = .null
        if showsOutput { object["output"] = result.play.map { .string($0.output) } ?? .null }
        return .object(object)
    }

    /// `accepted`, `refused (wrong_name)`, `still waiting`.
    static func words(_ outcome: LabOutcome) -> String {
        switch outcome {
        case .accepted: "accepted"
        case .refused(let reason): "refused" + (reason.map { " (\($0))" } ?? "")
        case .timedOut: "still waiting"
        }
    }

    /// As ``words(_:)``, of a width that a table bears; `--json` has all of it.
    private static func short(_ outcome: LabOutcome) -> String {
        let text = words(outcome).printable
        return text.count > shownCharacters ? text.prefix(shownCharacters) + "…" : text
    }

    /// Because: the longest code with the word before it; a client's own words may be a page.
    private static let shownCharacters = 48

    /// What passed, a line for what was left out in each group, and what was missed at the end, where
    /// it is seen.
    static func table(_ results: [LabResult], _ paint: Paint) -> [String] {
        var table = TextTable(["GRADE", "SCENARIO", "MUST", "DID", "WHY"])
        var grades: [LabGrade?] = [nil]
        let passed = results.filter { $0.grade == .passed }
        let missed = results.filter { $0.grade.label == "missed" }
        for result in passed {
            table.add(cells(result))
            grades.append(result.grade)
        }
        for row in leftOut(results) {
            table.add([grade(row.grade), row.what, "", "", row.why.printable])
            grades.append(row.grade)
        }
        for result in missed {
            table.add(cells(result))
            grades.append(result.grade)
        }
        return zip(table.lines(paint), grades).map { line, grade in
            switch grade {
            case .missed: paint.red(line)
            case .notCovered, .notServed: paint.dim(line)
            case .passed, nil: line
            }
        }
    }

    private static func cells(_ result: LabResult) -> [String] {
        let expectation = result.scenario.expectation
        let did = result.play?.outcomes.map(short).joined(separator: ", ") ?? "-"
        let why =
            result.grade.detail.map { "\($0); \(expectation.why) (\(expectation.rule))" }
            ?? expectation.why
        return [
            grade(result.grade), result.scenario.name, expectation.verdict.rawValue, did,
            why.printable,
        ]
    }

    /// `14 of pins`, and why: the scenarios of a group that were left out for one reason; one alone
    /// has its name.
    private static func leftOut(
        _ results: [LabResult]
    ) -> [(grade: LabGrade, what: String, why: String)] {
        var rows: [(grade: LabGrade, group: String, names: [String], why: String)] = []
        for result in results where result.grade.isSkipped {
            let group = result.scenario.group.rawValue
            let why = result.grade.detail ?? ""
            let same = rows.firstIndex { $0.grade == result.grade && $0.group == group }
            if let same {
                rows[same].names.append(result.scenario.name)
            } else {
                rows.append((result.grade, group, [result.scenario.name], why))
            }
        }
        return rows.map { row in
            let isOne = row.names.count == 1
            return (row.grade, isOne ? row.names[0] : "\(row.names.count) of \(row.group)", row.why)
        }
    }

    /// `71 passed, 3 missed, 12 not covered, 2 not served by this OpenSSL`.
    static func summary(_ results: [LabResult]) -> String {
        let count = { (label: String) in results.count { $0.grade.label == label } }
        var parts = ["\(count("passed")) passed", "\(count("missed")) missed"]
        if count("not_covered") > 0 { parts.append("\(count("not_covered")) not covered") }
        if count("not_served") > 0 {
            parts.append("\(count("not_served")) not served by this OpenSSL")
        }
        return parts.joined(separator: ", ")
    }

    private static func grade(_ grade: LabGrade) -> String {
        switch grade {
        case .passed: "ok"
        case .missed: "MISS"
        case .notCovered: "-"
        case .notServed: "n/a"
        }
    }
}

/// One result for a build server.
struct JUnitCase {
    let group: String
    let name: String
    let grade: LabGrade
    var why = ""
    /// What is shown with a failure.
    var output = ""
    var milliseconds: Int64 = 0
}

/// Results for a build server. Pure.
///
/// Source: the form that Jenkins' JUnit plug-in reads (junit-10.xsd).
enum JUnitText {
    /// - Parameter unplayed: what an interrupted run did not come to.
    static func text(
        _ results: [LabResult], unplayed: [LabScenario] = [], suite: String
    ) -> String {
        let cases = results.map { result in
            let scenario = result.scenario
            var one = JUnitCase(
                group: "lab.\(scenario.group.rawValue)", name: scenario.name, grade: result.grade)
            one.why = "\(scenario.expectation.why) (\(scenario.expectation.rule))"
            one.output = result.play?.output ?? ""
            one.milliseconds = result.play?.milliseconds ?? 0
            return one
        }
        let left = unplayed.map {
            JUnitCase(group: "lab.\($0.group.rawValue)", name: $0.name, grade: .unplayed)
        }
        return text(cases: cases + left, suite: suite)
    }

    static func text(cases: [JUnitCase], suite: String) -> String {
        let failures = cases.count { $0.grade.label == "missed" }
        let skipped = cases.count { $0.grade.isSkipped }
        let milliseconds = cases.reduce(0) { $0 + $1.milliseconds }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<testsuites>\n<testsuite name=\"\(escaped(suite))\" tests=\"\(cases.count)\""
        text += " failures=\"\(failures)\" errors=\"0\" skipped=\"\(skipped)\""
        text += " time=\"\(time(milliseconds))\">\n"
        for one in cases { text += testCase(one) }
        return text + "</testsuite>\n</testsuites>\n"
    }

    private static func testCase(_ one: JUnitCase) -> String {
        var text = "<testcase classname=\"\(one.group)\" name=\"\(escaped(one.name))\""
        text += " time=\"\(time(one.milliseconds))\">"
        switch one.grade {
        case .passed: break
        case .missed(let detail):
            text += "<failure message=\"\(escaped("\(detail); \(one.why)"))\">"
            text += escaped(one.output) + "</failure>"
        case .notCovered(let detail), .notServed(let detail):
            text += "<skipped message=\"\(escaped(detail))\"/>"
        }
        return text + "</testcase>\n"
    }

    private static func time(_ milliseconds: Int64) -> String {
        let rest = String(1_000 + milliseconds % 1_000).dropFirst()
        return "\(milliseconds / 1_000).\(rest)"
    }

    /// Characters that XML cannot have at all become question marks. Source: XML 1.0 §2.2.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\t": escaped += "&#\(scalar.value);"
            default:
                let isAllowed =
                    scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                escaped.unicodeScalars.append(isAllowed ? scalar : "?")
            }
        }
        return escaped
    }
}

extension LabGrade {
    fileprivate var isSkipped: Bool {
        switch self {
        case .notCovered, .notServed: true
        case .passed, .missed: false
        }
    }
}

extension LabGrade {
    /// What an interrupted run did not come to.
    static let unplayed = LabGrade.notCovered("interrupted before it had been played")
}
