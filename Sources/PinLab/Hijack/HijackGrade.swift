/// How one request of a client ended.
public enum HijackOutcome: Sendable, Hashable {
    /// It was content with what it got: with these words.
    case content(String)
    /// It was not; with the label of its reason where one is known.
    case refused(String?)
    /// It had not ended in time, and was stopped.
    case timedOut
}

/// What a client did in a hijack, as it tells.
public struct HijackPlay: Sendable, Hashable {
    /// How each step ended, in order, from ``firstStep`` on.
    public var outcomes: [HijackOutcome]
    /// Which step the first outcome is of.
    public var firstStep = 0
    /// Whether it is a client that makes one request, whatever the hijack has.
    public var isOnce = false
    /// What its process ended with; nil when it has none of its own.
    public var exitCode: Int32?
    /// The first lines of what it said.
    public var output = ""
    /// How long it took.
    public var milliseconds: Int64 = 0
    /// Why it could not be played at all.
    public var trouble: String?

    /// A client whose requests ended so.
    public init(_ outcomes: [HijackOutcome]) { self.outcomes = outcomes }
}

/// Judges one step: by what the client says and by what the servers saw. Pure.
struct HijackJudge {
    let step: HijackStep
    /// During the step.
    let seen: HijackTally
    let genuine: String
    let forged: String
    var traits: Set<HijackScenario.Trait> = []

    func grade(_ outcome: HijackOutcome) -> LabGrade {
        switch outcome {
        case .content(let text): content(text)
        case .refused(let reason): refused(reason)
        case .timedOut: timedOut
        }
    }

    private func content(_ text: String) -> LabGrade {
        if text.contains(forged) {
            return .missed(HijackJudge.wrongContent + ": it took a liar's answer")
        }
        // What a client prints may be anything; what a liar received is sure.
        if seen.leakedOctets > 0 {
            return .missed(
                text.contains(genuine)
                    ? "the request was sent to a liar, too"
                    : HijackJudge.wrongContent + ": its request went to a liar")
        }
        if text.contains(genuine) || seen.originRequests > 0 {
            return traits.contains(.provesNothing)
                ? .missed("it took content of who proved nothing") : .passed
        }
        return seen.contacts == 0
            ? .missed("not run: it never connected") : .missed("content, but of nobody")
    }

    private func refused(_ reason: String?) -> LabGrade {
        if let reason, reason.hasPrefix(LabGrade.crash) {
            return .missed("it crashed: \(reason)")
        }
        if seen.leakedOctets > 0 { return .missed("refused late: the request was sent to a liar") }
        if isNotRun { return .missed("not run: it asked nobody") }
        if step.expected == .genuine {
            return .missed(
                "refused" + (reason.map { " (\($0))" } ?? "") + ": the origin can be reached")
        }
        return .passed
    }

    private var timedOut: LabGrade {
        if seen.leakedOctets > 0 { return .missed("the request was sent to a liar") }
        if isNotRun { return .missed("not run: it asked nobody") }
        let mayWait = step.expected == .refused && !traits.isDisjoint(with: [.silent, .stall])
        return mayWait ? .passed : .missed("hung: it had to be stopped")
    }

    private var isNotRun: Bool { seen.contacts == 0 && !traits.contains(.silent) }

    /// How the worst begins.
    static let wrongContent = "WRONG CONTENT"
}
