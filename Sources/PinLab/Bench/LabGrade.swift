/// What a client said at its end.
public enum LabOutcome: Sendable, Hashable {
    /// It was content.
    case accepted
    /// It was not; with the label of its reason where one is known.
    case refused(String?)
    /// It had not ended in time, and was stopped.
    case timedOut
}

/// What a client did in a scenario, as it tells.
public struct LabPlay: Sendable, Hashable {
    /// How each of the stage's steps ended, in order; a client that makes one request tells one.
    public var outcomes: [LabOutcome]
    /// What its process ended with; nil when it has none of its own.
    public var exitCode: Int32?
    /// The first lines of what it said.
    public var output = ""
    /// How long it took.
    public var milliseconds: Int64 = 0
    /// Whether the labels of refusals are this library's, and must be those that the scenario names.
    public var checksCodes = false
    /// Why it could not be played at all.
    public var trouble: String?

    /// A client that ended so.
    public init(_ outcomes: [LabOutcome]) { self.outcomes = outcomes }
}

/// How a client did in a scenario.
public enum LabGrade: Sendable, Hashable {
    /// It did what it must.
    case passed
    /// It did not; the text says what it did.
    case missed(String)
    /// The scenario says nothing about the client; the text says why.
    case notCovered(String)
    /// This machine cannot play the scenario; the text says why.
    case notServed(String)

    /// `passed`, `missed`, `not_covered`, `not_served`.
    public var label: String {
        switch self {
        case .passed: "passed"
        case .missed: "missed"
        case .notCovered: "not_covered"
        case .notServed: "not_served"
        }
    }

    /// What there is to say beyond the label.
    public var detail: String? {
        switch self {
        case .passed: nil
        case .missed(let text), .notCovered(let text), .notServed(let text): text
        }
    }

    /// From what the client said and what the servers saw.
    ///
    /// A client that never connected was not run, whatever it says. One that refuses after its request
    /// was sent has refused too late: the request, with its cookies, is with the wrong server.
    init(
        _ scenario: LabScenario, _ outcome: LabOutcome, server: LabRecord, second: LabRecord?
    ) {
        let judged = second ?? server
        if server.connections == 0 {
            self = .missed("not run: it never connected")
        } else if case .refused(let reason?) = outcome, reason.hasPrefix(LabGrade.crash) {
            self = .missed("it crashed: \(reason)")
        } else if case .refused = outcome, scenario.mayRefuse, server.handshakes.isEmpty,
            !scenario.answersWithoutHello
        {
            self = .missed("it failed before it began the handshake: nothing was refused")
        } else if scenario.needs.contains(.stapling),
            !server.handshakes.contains(where: \.asksForStatus)
        {
            self = .notCovered("it does not ask for an OCSP response")
        } else if let second, second.connections == 0, outcome == .accepted {
            self = .notCovered("it does not follow redirects")
        } else if let second, second.connections == 0 {
            self = .missed("it refused the first server, which is sound")
        } else if case .refused = outcome, judged.receivedOctets > 0, scenario.mayRefuse {
            self = .missed("refused late: the request was sent")
        } else {
            self = LabGrade.verdict(scenario, outcome, judged)
        }
    }

    /// From a sequence of requests: each must end as its step says, and no refused one may have arrived.
    init(_ steps: [LabStep], _ outcomes: [LabOutcome], _ record: LabRecord) {
        let accepted = outcomes.count { $0 == .accepted }
        for (number, (step, outcome)) in zip(steps, outcomes).enumerated() {
            guard let isAccepted = step.isAccepted else { continue }
            switch outcome {
            case .accepted where !isAccepted:
                self = .missed("accepted request \(number + 1)")
                return
            case .refused(let reason) where isAccepted:
                self = .missed(
                    "refused request \(number + 1)" + (reason.map { ": \($0)" } ?? ""))
                return
            case .timedOut:
                self = .missed("request \(number + 1) hung")
                return
            default: continue
            }
        }
        let isWhole = outcomes.count == steps.count
        let hasLeaked = accepted < steps.count && record.requests.count > accepted
        self =
            !isWhole
            ? .missed("\(outcomes.count) of \(steps.count) requests were made")
            : hasLeaked ? .missed("refused late: the request was sent") : .passed
    }

    /// The same, unless the client has refused for a reason that the scenario does not name.
    func checked(_ scenario: LabScenario, _ outcomes: [LabOutcome]) -> LabGrade {
        let codes = scenario.expectation.codes
        guard self == .passed, scenario.fault != nil || scenario.mayRefuse,
            case .refused(let label?) = outcomes.last, !codes.contains(label)
        else { return self }
        let isTrusted = codes.isEmpty && scenario.expectation.verdict == .refuse
        guard !isTrusted || LabGrade.isAboutConnection(label) else { return self }
        let wanted = codes.isEmpty ? "a verdict" : codes.joined(separator: " or ")
        return .missed("refused for \(label), not for \(wanted)")
    }

    private static func isAboutConnection(_ label: String) -> Bool {
        ["timed_out", "cannot_connect", "connection_lost", "handshake_failed"].contains(label)
    }

    private static func verdict(
        _ scenario: LabScenario, _ outcome: LabOutcome, _ judged: LabRecord
    ) -> LabGrade {
        switch (scenario.expectation.verdict, outcome) {
        case (.refuse, .accepted): return .missed("accepted")
        case (.refuse, .timedOut) where scenario.isStall:
            return judged.receivedOctets == 0 ? .passed : .missed("the request was sent")
        case (_, .timedOut): return .missed("hung: it had to be stopped")
        case (.refuse, .refused), (.either, _): return .passed
        case (.accept, .accepted):
            let isProved = judged.handshakes.contains(where: \.isComplete)
            return isProved ? .passed : .missed("content without a finished handshake")
        case (.accept, .refused(let reason)):
            return .missed("refused" + (reason.map { ": \($0)" } ?? ""))
        }
    }
}

extension LabGrade {
    /// How the reason of a client begins that a signal has ended.
    static let crash = "ended by signal "
}

extension LabScenario {
    fileprivate var mayRefuse: Bool { expectation.verdict != .accept }
}
