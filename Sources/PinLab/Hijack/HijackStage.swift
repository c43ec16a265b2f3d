internal import CHTTPDNSSystem
internal import HTTPDNSPlatform

/// Where hijacks are played: each with servers of its own, started when it is asked for.
///
///     let lab = try HijackLab()
///     let stage = try lab.open(.named("plain-poisoning"))
///     defer { stage.stop() }
///
/// Everything is on loopback, and nothing needs a port below 1024. Any thread may call.
public final class HijackLab: Sendable {
    /// The root that clients are to trust, in PEM.
    public var authorityPEM: String { cast.root.certificatePEM }
    private let cast: HijackCast

    /// A laboratory with certificates of its own.
    ///
    /// - Throws: ``LabError``.
    public init() throws(LabError) { cast = try HijackCast() }

    /// Starts what the hijack needs.
    ///
    /// - Throws: ``LabError``; ``LabError/notServed(_:)`` where this machine cannot play it, for want of
    ///   IPv6 say.
    public func open(_ scenario: HijackScenario) throws(LabError) -> HijackStage {
        var attempt = 0
        while true {
            let world = try HijackWorld(scenario, cast, block: .random(in: .min ... .max))
            do throws(LabError) {
                try scenario.setting(world)
                try world.start()
                return HijackStage(scenario, world)
            } catch {
                world.stop()
                attempt += 1
                guard case .system(_, EADDRINUSE) = error, attempt < HijackLab.attempts else {
                    throw error
                }
            }
        }
    }

    /// Because: that an address of a block drawn at random lacks the port is rare; that this happens
    /// so often in a row is a machine without ports.
    private static let attempts = 50
}

/// A hijack that is being played.
public final class HijackStage: Sendable {
    /// What is played.
    public let scenario: HijackScenario
    /// What one client after another does, or the same one again.
    public let steps: [HijackStep]
    private let world: HijackWorld
    private let progress = Locked(Progress())

    private struct Progress: Sendable {
        /// How many steps were begun.
        var begun = 0
        /// What had been seen when each began.
        var tallies: [Int: HijackTally] = [:]
    }

    init(_ scenario: HijackScenario, _ world: HijackWorld) {
        self.scenario = scenario
        self.world = world
        steps = world.steps.map(\.step)
    }

    /// What a client needs to know: it may change with a step.
    public var target: HijackTarget { world.target }

    /// The same as it is for one step, whose name may be another.
    public func target(of step: HijackStep) -> HijackTarget {
        var target = target
        guard step.host != target.host else { return target }
        target.url = step.url
        target.host = step.host
        target.told = world.told(step.host)
        return target
    }

    /// The step for a client that is run once: the last one whose resolvers it asks.
    ///
    /// - Parameter trusted: Whether it asks who is proved.
    public func lastStep(trusted: Bool) -> Int {
        let network = Set(world.target.resolvers)
        let fitting = steps.indices.filter { index in
            let resolvers = steps[index].resolvers
            return trusted
                ? resolvers.contains(where: \.isProven) : network.isSuperset(of: resolvers)
        }
        return fitting.last ?? max(0, steps.count - 1)
    }

    /// Brings about what is so in this step: call it before the client's request.
    ///
    /// - Throws: ``LabError``.
    public func begin(_ step: Int) throws(LabError) {
        let begun = progress.withLock { progress in
            defer { progress.begun = max(progress.begun, step + 1) }
            return progress.begun
        }
        let planned = world.steps
        for index in begun..<max(begun, min(step + 1, planned.count)) {
            try planned[index].change?(world)
        }
        let tally = world.tally
        progress.withLock { $0.tallies[step] = tally }
    }

    /// Brings about what is so in the end.
    ///
    /// - Throws: ``LabError``.
    public func beginLast() throws(LabError) { try begin(steps.count - 1) }

    /// How a client did. Waits for connections that are still open.
    public func grade(_ play: HijackPlay) -> LabGrade {
        if let trouble = play.trouble { return .missed("not run: " + trouble) }
        world.drain()
        let tallies = progress.withLock { $0.tallies }
        let last = world.tally
        guard !play.outcomes.isEmpty else { return .missed("not run") }
        for (number, outcome) in play.outcomes.enumerated() {
            let index = play.firstStep + number
            guard steps.indices.contains(index), let before = tallies[index] else {
                return .missed("step \(index + 1) was not begun")
            }
            let after =
                number + 1 < play.outcomes.count ? tallies[index + 1] ?? last : last
            let grade = HijackJudge(
                step: steps[index], seen: after - before, genuine: world.genuine,
                forged: world.forged, traits: scenario.traits
            ).grade(outcome)
            guard grade == .passed else { return grade.in(step: index, of: steps) }
        }
        let isWhole = play.firstStep + play.outcomes.count >= steps.count || play.isOnce
        return isWhole
            ? .passed : .missed("\(play.outcomes.count) of \(steps.count) requests were made")
    }

    /// Ends the servers.
    public func stop() { world.stop() }

    deinit { world.stop() }
}

extension LabGrade {
    fileprivate func `in`(step index: Int, of steps: [HijackStep]) -> LabGrade {
        guard case .missed(let text) = self, steps.count > 1 else { return self }
        return .missed("\(text) (\(steps[index].aim))")
    }
}
