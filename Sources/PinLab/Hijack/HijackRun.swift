internal import HTTPDNSPlatform

/// A client that hijacks are played with: a program, a library.
public protocol HijackClient: Sendable {
    /// Why the hijack would say nothing about this client; nil: it is to be played.
    func excuse(for scenario: HijackScenario) -> String?
    /// Goes through the stage's steps, each begun by ``HijackStage/begin(_:)``. Called on a thread of
    /// its own; may block.
    func play(_ stage: HijackStage) -> HijackPlay
}

/// Who is to find out what a network does to a name.
public protocol HijackDiagnoser: Sendable {
    /// Looks at a stage that is in its last step. Called on a thread of its own; may block.
    func diagnose(_ stage: HijackStage) -> HijackDiagnosis
}

/// What a diagnosis came to.
public struct HijackDiagnosis: Sendable, Hashable {
    /// What it found; nil where it came to nothing.
    public var finding: HijackFinding?
    /// What it said, in a few lines.
    public var output: String
    /// How long it took.
    public var milliseconds: Int64

    /// A diagnosis.
    public init(_ finding: HijackFinding?, output: String = "", milliseconds: Int64 = 0) {
        self.finding = finding
        self.output = output
        self.milliseconds = milliseconds
    }
}

/// How one hijack went.
public struct HijackResult: Sendable, Identifiable {
    /// Which one.
    public let scenario: HijackScenario
    /// How the client did.
    public let grade: LabGrade
    /// What the client did; nil where it was not played.
    public let play: HijackPlay?
    /// How the diagnosis did; nil without one.
    public let verdictGrade: LabGrade?
    /// What it came to; nil without one.
    public let diagnosis: HijackDiagnosis?

    /// The scenario's name.
    public var id: String { scenario.name }

    /// Whether the client took a liar's answer.
    public var tookWrongContent: Bool {
        grade.detail?.hasPrefix(HijackJudge.wrongContent) ?? false
    }

    /// Whether either missed something.
    public var isMiss: Bool { [grade, verdictGrade].contains { $0?.label == "missed" } }
}

/// Plays hijacks with a client, several at a time, and has them diagnosed.
///
///     let results = try await HijackRun(HijackLab()).results(of: HijackScenario.all, with: MyClient())
///     #expect(!results.contains(where: \.isMiss))
public struct HijackRun: Sendable {
    /// Who plays the liars.
    public let lab: HijackLab
    /// How many are played at a time.
    public var parallel = 4
    /// Who diagnoses each; nil: nobody.
    public var diagnoser: (any HijackDiagnoser)?

    /// In this laboratory.
    public init(_ lab: HijackLab) { self.lab = lab }

    /// Plays them all, and returns the results in the order of the scenarios.
    ///
    /// A cancelled task gets those that are there by then; what is being played is not waited for, and
    /// nobody is told of it.
    ///
    /// - Parameters:
    ///   - scenarios: Which ones.
    ///   - client: Whom to grade.
    ///   - report: Is told each result as it comes, on any thread, one at a time.
    /// - Throws: ``LabError`` when no thread can be started.
    public func results(
        of scenarios: [HijackScenario], with client: any HijackClient,
        report: @escaping @Sendable (HijackResult) -> Void = { _ in }
    ) async throws(LabError) -> [HijackResult] {
        try await Desk.results(
            of: scenarios, parallel: parallel, report: report
        ) { played($0, client) }
    }

    private func played(_ scenario: HijackScenario, _ client: any HijackClient) -> HijackResult {
        let (grade, play) = graded(scenario, client)
        let (verdictGrade, diagnosis) = diagnosed(scenario)
        return HijackResult(
            scenario: scenario, grade: grade, play: play, verdictGrade: verdictGrade,
            diagnosis: diagnosis)
    }

    private func graded(
        _ scenario: HijackScenario, _ client: any HijackClient
    ) -> (LabGrade, HijackPlay?) {
        if let excuse = client.excuse(for: scenario) { return (.notCovered(excuse), nil) }
        do throws(LabError) {
            let stage = try lab.open(scenario)
            defer { stage.stop() }
            let play = client.play(stage)
            return (stage.grade(play), play)
        } catch { return (HijackRun.grade(error), nil) }
    }

    /// On a stage of its own: what the client did there is nobody's evidence.
    private func diagnosed(_ scenario: HijackScenario) -> (LabGrade?, HijackDiagnosis?) {
        guard let diagnoser else { return (nil, nil) }
        do throws(LabError) {
            let stage = try lab.open(scenario)
            defer { stage.stop() }
            try stage.beginLast()
            let diagnosis = diagnoser.diagnose(stage)
            return (scenario.grade(diagnosis), diagnosis)
        } catch { return (HijackRun.grade(error), nil) }
    }

    private static func grade(_ error: LabError) -> LabGrade {
        guard case .notServed = error else { return .missed("not run: \(error)") }
        return .notServed("\(error)")
    }
}

extension HijackScenario {
    /// Whether a diagnosis is right.
    public func grade(_ diagnosis: HijackDiagnosis) -> LabGrade {
        guard let found = diagnosis.finding else { return .missed("no verdict, not \(finding)") }
        return finding.isMet(by: found) ? .passed : .missed("\(found), not \(finding)")
    }
}
