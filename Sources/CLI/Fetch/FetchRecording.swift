internal import HTTPDNS
internal import HTTPDNSRules

// What rules record
extension FetchTrouble {
    /// Returns when what the rules recorded is where it goes; nil when nothing of it was lost.
    init?(closing rules: LiveRules?) async {
        do throws(RuleFault) { try await rules?.closeRecordings() } catch {
            self.init(label: "record_failed", message: "--rules: \(error)", code: .usage)
            return
        }
        return nil
    }
}

extension FetchRun {
    /// The outcome, once what was recorded of it is kept.
    func recorded(_ outcome: Outcome) async -> Outcome {
        guard let trouble = await FetchTrouble(closing: plan.rules) else { return outcome }
        guard let before = outcome.trouble else {
            return Outcome(report: outcome.report, trouble: trouble)
        }
        // There is room for one error, and that of the request is the nearer one.
        console.note(trouble.message)
        let code = max(before.code, trouble.code)
        return Outcome(
            report: outcome.report,
            trouble: FetchTrouble(label: before.label, message: before.message, code: code))
    }
}

extension FetchRounds {
    /// Returns when what was recorded is kept.
    func finishRecording(_ tally: inout FetchTally) async {
        guard let trouble = await FetchTrouble(closing: run.plan.rules) else { return }
        tally.add(trouble)
        tell(trouble)
    }
}
