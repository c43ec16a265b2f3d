internal import HTTPDNSPlatform

/// A client that scenarios are played with: a program, a library.
public protocol LabClient: Sendable {
    /// Why the scenario would say nothing about this client; nil: it is to be played.
    func excuse(for scenario: LabScenario) -> String?
    /// Goes through the stage's steps. Called on a thread of its own; may block.
    func play(_ stage: LabStage) -> LabPlay
}

/// How one scenario went.
public struct LabResult: Sendable, Identifiable {
    /// Which one.
    public let scenario: LabScenario
    /// How the client did.
    public let grade: LabGrade
    /// What it did; nil where it was not played.
    public let play: LabPlay?
    /// Whether a request arrived at the server that decides.
    public let wasRequestSent: Bool

    /// The scenario's name.
    public var id: String { scenario.name }

    init(
        _ scenario: LabScenario, _ grade: LabGrade, play: LabPlay? = nil,
        wasRequestSent: Bool = false
    ) {
        self.scenario = scenario
        self.grade = grade
        self.play = play
        self.wasRequestSent = wasRequestSent
    }
}

/// Plays scenarios with a client, several at a time.
///
///     let results = try await LabRun(bench).results(of: LabScenario.all, with: MyClient())
///     #expect(results.allSatisfy { $0.grade == .passed })
public struct LabRun: Sendable {
    /// Whom clients trust, and who plays the servers.
    public let bench: LabBench
    /// How many are played at a time.
    public var parallel = 4
    /// Where clients can be led to servers; see ``LabProxy``.
    public var proxy: LabProxy?

    /// On this bench.
    public init(_ bench: LabBench) { self.bench = bench }

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
        of scenarios: [LabScenario], with client: any LabClient,
        report: @escaping @Sendable (LabResult) -> Void = { _ in }
    ) async throws(LabError) -> [LabResult] {
        try await Desk.results(
            of: scenarios, parallel: parallel, report: report
        ) { played($0, client) }
    }

    private func played(_ scenario: LabScenario, _ client: any LabClient) -> LabResult {
        if let excuse = client.excuse(for: scenario) {
            return LabResult(scenario, .notCovered(excuse))
        }
        let stage: LabStage
        do { stage = try bench.open(scenario) } catch {
            guard case .notServed = error else {
                return LabResult(scenario, .missed("not run: \(error)"))
            }
            return LabResult(scenario, .notServed("\(error)"))
        }
        defer { stage.stop() }
        proxy?.admit(stage)
        let play = client.play(stage)
        return LabResult(
            scenario, stage.grade(play), play: play, wasRequestSent: stage.wasRequestSent)
    }
}

/// What the threads of one run share.
final class Desk<Result: Sendable>: Sendable {
    private struct State {
        var next = 0
        var results: [Result?]
        /// What is played from here on counts no more.
        var isCut = false
        /// Results that count and are being told.
        var tellings = 0
        var waiter: CheckedContinuation<[Result], Never>?
    }

    private let state: Locked<State>
    private let reporting = Locked(())

    /// Plays them on threads of their own, several at a time, and returns the results in their order.
    static func results<Scenario: Sendable>(
        of scenarios: [Scenario], parallel: Int,
        report: @escaping @Sendable (Result) -> Void,
        play: @escaping @Sendable (Scenario) -> Result
    ) async throws(LabError) -> [Result] {
        let desk = Desk(scenarios.count)
        let threads = ThreadGroup()
        let workers = min(max(1, parallel), max(1, scenarios.count))
        for _ in 0..<workers {
            try threads.start {
                while let index = desk.next() {
                    desk.settle(index, play(scenarios[index]), report)
                }
            }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { desk.wait($0) }
        } onCancel: {
            desk.cut()
        }
    }

    /// Ends it with what is there.
    private func cut() {
        state.withLock { state in
            state.isCut = true
            Desk.resume(&state)
        }
    }

    private init(_ count: Int) {
        state = Locked(State(results: Array(repeating: nil, count: count)))
    }

    /// The next scenario that nobody has taken.
    private func next() -> Int? {
        state.withLock { state in
            guard !state.isCut, state.next < state.results.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func settle(_ index: Int, _ result: Result, _ report: (Result) -> Void) {
        // Who was ended by what ended the run, a child say, did nothing wrong.
        let counts = state.withLock { state in
            guard !state.isCut else { return false }
            state.results[index] = result
            state.tellings += 1
            return true
        }
        guard counts else { return }
        reporting.withLock { _ in report(result) }
        state.withLock { state in
            state.tellings -= 1
            Desk.resume(&state)
        }
    }

    private func wait(_ waiter: CheckedContinuation<[Result], Never>) {
        state.withLock { state in
            state.waiter = waiter
            Desk.resume(&state)
        }
    }

    private static func resume(_ state: inout State) {
        let results = state.results.compactMap { $0 }
        guard state.isCut || results.count == state.results.count, state.tellings == 0,
            let waiter = state.waiter
        else { return }
        state.waiter = nil
        waiter.resume(returning: results)
    }
}
