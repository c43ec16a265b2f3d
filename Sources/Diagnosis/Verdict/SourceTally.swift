internal import HTTPDNSWire

/// Puts together what the parts of the evidence say of one source.
///
/// The first that holds: a lie, a view of its own, an address that nobody tried, a proof, something
/// unproven, a failure, silence. That it denies what all deny counts where there is nothing else to say,
/// and nothing to be known.
struct SourceTally {
    private var lies: [(Verdict.Hijack, Confidence, Finding)] = []
    private var views: [Finding] = []
    private var untried: [Finding] = []
    private var unproven: [Finding] = []
    private var unanswered: [Finding] = []
    private var failures: [(ResponseCode, Finding)] = []
    private var remarks: [Finding] = []
    private var isHonest = false
    private var hasAgreed = false

    mutating func add(_ part: SourceJudging.Part) {
        switch part {
        case .honest: isHonest = true
        case .agrees: hasAgreed = true
        case .lies(let how, let confidence, let finding):
            lies.append((how, confidence, finding))
        case .privateView(let finding): views.append(finding)
        case .unproven(let finding): unproven.append(finding)
        case .untried(let finding): untried.append(finding)
        case .unanswered(let finding): unanswered.append(finding)
        case .failed(let code, let finding): failures.append((code, finding))
        case .remark(let finding): remarks.append(finding)
        }
    }

    func judgement(of source: EvidenceSource, isTrustedPositive: Bool) -> SourceJudgement {
        if let worst = lies.max(by: { $0.1.rank < $1.1.rank }) {
            return SourceJudgement(
                source: source, standing: .lies(worst.0), confidence: worst.1,
                reasons: lies.map(\.2))
        }
        let standing = standing(isTrustedPositive: isTrustedPositive)
        return SourceJudgement(
            source: source, standing: standing, confidence: confidence(of: standing),
            reasons: views + untried + unproven + failures.map(\.1)
                + (isHonest || hasAgreed ? unanswered : []) + remarks)
    }

    private func standing(isTrustedPositive: Bool) -> SourceJudgement.Standing {
        if !views.isEmpty { return .privateView }
        if !untried.isEmpty { return .unproven }
        if isHonest { return .honest }
        if !unproven.isEmpty { return .unproven }
        if hasAgreed, !isTrustedPositive { return .honest }
        if let failure = failures.first { return .failing(failure.0) }
        guard hasAgreed else { return .silent }
        return unanswered.isEmpty ? .honest : .unproven
    }

    /// An honest source may give, of the other type, what proves nothing.
    private func confidence(of standing: SourceJudgement.Standing) -> Confidence {
        guard standing == .honest else { return .possible }
        return unproven.isEmpty ? .certain : .likely
    }
}
