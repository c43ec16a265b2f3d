internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// What an answer says of how it came about, for people. Pure; the lines are not made printable.
package enum LookupExplanation {
    /// A line for each thing that the steps in time do not show: the cache, sources that were passed
    /// over, and the way through the aliases.
    package static func lines(_ report: LookupReport) -> [String] {
        let name = report.effectiveName?.text ?? report.subject.asciiText
        return report.parts.flatMap { part in
            let what = "\(name) \(part.type)"
            switch part.result {
            case .failure: return [String]()
            case .success(let answer): return lines(answer, what)
            }
        }
    }

    private static func lines(_ answer: LookupAnswer, _ what: String) -> [String] {
        var lines = answer.attempts.map { attempt in
            let time =
                attempt.milliseconds > 0
                ? " (after \(DurationText.elapsed(milliseconds: Double(attempt.milliseconds))))"
                : ""
            return "  \(what): \(attempt.resolver) was no use: \(attempt.reason)\(time)"
        }
        let source = answer.testimony.source
        if answer.isCached {
            lines.append(
                "  \(what): from the cache, good for "
                    + DurationText.short(seconds: answer.ttlSeconds)
                    + "; it came from \(source.resolver)")
            lines += answer.testimony.extendedErrors.map { "  \(what): it said \($0.shown)" }
        }
        let aliases = answer.aliases
        if !aliases.isEmpty {
            let chain = [answer.testimony.question.name.text] + aliases.map(\.description)
            lines.append("  \(what): alias " + chain.joined(separator: " → "))
        }
        if let client = source.clientAddress {
            lines.append("  \(what): \(source.resolver) sees this client as \(client)")
        }
        return lines
    }
}
