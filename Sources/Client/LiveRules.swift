internal import HTTPDNSExchange
internal import HTTPDNSPlatform
public import HTTPDNSRules

/// The rules of one installation, as they are now: they can be replaced while sessions run, and say
/// what they were asked.
///
/// Nothing of it is shared with other installations, so that tests may run in parallel. Requests in
/// flight end under the rules they began with, but for redirects, which are judged anew.
public final class LiveRules: Sendable, ExpressibleByArrayLiteral {
    /// What is on at this moment.
    public let switches: ToolboxSwitches

    fileprivate struct State {
        var rules: RequestRules {
            didSet { (dependsOnCounts, mayPass) = (rules.dependsOnCounts, rules.passes) }
        }
        var dependsOnCounts: Bool
        var mayPass: Bool
        var tallies = RuleTallies()
        /// Tells the tallies of one list from those of the next.
        var version = 0
        var seen: [SeenRequest] = []
        var forgotten = 0
        var called: [String: Int] = [:]
        var reserved: [Reservation] = []
        var onDecision: (@Sendable (SeenRequest) -> Void)?

        init(_ rules: RequestRules) {
            self.rules = rules
            (dependsOnCounts, mayPass) = (rules.dependsOnCounts, rules.passes)
        }
    }

    /// A decision that fell before the task was begun.
    fileprivate struct Reservation {
        let ticket: RuleTicket
        let leave: RuleLeave
        let judged: Judgement
    }

    /// What was decided, under which list and by which counts and chance, and where it stands among what
    /// was seen.
    fileprivate struct Judgement {
        let decision: RuleDecision
        let tallies: RuleTallies
        let seed: UInt64
        let version: Int
        let place: Int
    }

    private let state: Locked<State>
    private let seeds: @Sendable () -> UInt64

    /// Takes rules to begin with.
    public convenience init(
        _ rules: RequestRules, switches: ToolboxSwitches = ToolboxSwitches()
    ) {
        self.init(rules, switches: switches, seeds: { UInt64.random(in: .min ... .max) })
    }

    /// Takes rules to begin with.
    public convenience init(arrayLiteral rules: RequestRule...) { self.init(RequestRules(rules)) }

    /// - Parameter seeds: chance, a number for each request.
    package init(
        _ rules: RequestRules, switches: ToolboxSwitches = ToolboxSwitches(),
        seeds: @escaping @Sendable () -> UInt64
    ) {
        state = Locked(State(rules))
        self.switches = switches
        self.seeds = seeds
    }

    /// The list; setting it replaces all rules at once, and counting begins anew.
    public var rules: RequestRules {
        get { state.withLock { $0.rules } }
        set {
            state.withLock { state in
                state.rules = newValue
                state.tallies = RuleTallies()
                state.version += 1
            }
        }
    }

    /// Is told of every decision, on the task's work queue or a thread of the library; must return
    /// at once.
    public var onDecision: (@Sendable (SeenRequest) -> Void)? {
        get { state.withLock { $0.onDecision } }
        set { state.withLock { $0.onDecision = newValue } }
    }

    /// What was asked, in order: the last ``mostSeen`` of it.
    public var seen: [SeenRequest] { state.withLock { $0.seen } }

    /// How often the rule of that name acted since the rules were made, also under lists that were
    /// replaced since.
    public func calls(of rule: String) -> Int { state.withLock { $0.called[rule] ?? 0 } }

    /// Forgets what was seen and counted.
    public func forget() {
        state.withLock { state in
            state.seen = []
            state.forgotten = 0
            state.called = [:]
            state.tallies = RuleTallies()
            state.version += 1
        }
    }

    /// Because: what a test or a person looks at; older requests are counted and no longer shown.
    public static let mostSeen = 1_000

    /// How many tasks may stand between the question whether they are ours and their beginning.
    ///
    /// Because: they follow each other within microseconds on one queue; more are tasks that were
    /// cancelled in between.
    fileprivate static let mostReserved = 256
}

/// Why a request is left to the system's loader.
package struct ReasonToPass: Sendable, Hashable {
    package let text: String
    /// The rules that acted, in order; none where it was not theirs to say.
    package let rules: [String]

    package init(_ text: String, rules: [String] = []) {
        self.text = text
        self.rules = rules
    }
}

/// What tells a request between the question whether it is taken and its beginning; requests of
/// equal tickets may take each other's decision.
package struct RuleTicket: Sendable, Hashable {
    let url: String
    let method: String
    let fields: [String: String]
    let bodyOctets: Int?

    package init(url: String, method: String, fields: [String: String], bodyOctets: Int?) {
        self.url = url
        self.method = method
        self.fields = fields
        self.bodyOctets = bodyOctets
    }
}

extension LiveRules {
    private var leave: RuleLeave {
        var leave = RuleLeave()
        leave.stubs = switches.isStubbingEnabled
        leave.isOffline = switches.isOffline
        return leave
    }

    /// Decides a request, and counts it.
    package func decide(_ request: RuledRequest) -> RuleDecision {
        let (seed, leave) = (seeds(), leave)
        return judge(request, seed, leave).decision
    }

    /// The closures of matchers are the application's: they are called without the lock, on a copy
    /// of the rules, and the decision stands unless what it depends on changed meanwhile: then they are
    /// called again. The last try stands whatever changed, for a closure may itself be what changes it.
    private func judge(
        _ request: RuledRequest, _ seed: UInt64, _ leave: RuleLeave
    ) -> Judgement {
        var triesLeft = LiveRules.mostTries
        while true {
            triesLeft -= 1
            let isLast = triesLeft == 0
            let (rules, tallies, version, count) = state.withLock {
                ($0.rules, $0.tallies, $0.version, $0.forgotten + $0.seen.count)
            }
            let decision = rules.decide(request, tallies, seed: seed, leave: leave)
            let seen = SeenRequest(request, decision)
            let (place, tell) = state.withLock {
                state -> (Int?, (@Sendable (SeenRequest) -> Void)?) in
                let isAlone = state.forgotten + state.seen.count == count
                let stands = state.version == version && (isAlone || !state.dependsOnCounts)
                guard stands || isLast else { return (nil, nil) }
                state.count(decision, seen, isOfList: state.version == version)
                return (state.forgotten + state.seen.count - 1, state.onDecision)
            }
            guard let place else { continue }
            tell?(seen)
            return Judgement(
                decision: decision, tallies: tallies, seed: seed, version: version, place: place)
        }
    }

    /// A rule may pass a request to the system's loader.
    package var mayPass: Bool { state.withLock { $0.mayPass } }

    /// Why a rule passes a request to the system's loader, and which acted. Nil where none does: the
    /// decision then waits under the ticket until the task begins.
    package func reasonToPass(_ request: RuledRequest, _ ticket: RuleTicket) -> ReasonToPass? {
        var leave = leave
        leave.mayPass = true
        let judged = judge(request, seeds(), leave)
        if case .pass(let why) = judged.decision.verdict {
            return ReasonToPass(why, rules: judged.decision.names)
        }
        let reservation = Reservation(ticket: ticket, leave: leave, judged: judged)
        state.withLock { state in
            state.reserved.append(reservation)
            // Nobody takes it any more: a task that still comes is decided anew.
            guard state.reserved.count > LiveRules.mostReserved else { return }
            state.takeBack(state.reserved.removeFirst().judged)
        }
        return nil
    }

    /// The decision of a task that begins.
    ///
    /// - Parameter isMore: more is known of the request by now (an upload's body, fields of the
    ///   session): what was decided before is taken back, and decided anew.
    package func begin(
        _ request: RuledRequest, _ ticket: RuleTicket, isMore: Bool
    ) -> RuleDecision {
        var leave = leave
        leave.mayPass = true
        let (reserved, rules) = state.withLock { state -> (Judgement?, RequestRules) in
            // The last, for those before it may be of tasks that were cancelled before they began.
            guard let place = state.reserved.lastIndex(where: { $0.ticket == ticket }) else {
                return (nil, state.rules)
            }
            let reserved = state.reserved.remove(at: place)
            guard reserved.judged.version == state.version, reserved.leave == leave else {
                state.takeBack(reserved.judged)
                return (nil, state.rules)
            }
            return (reserved.judged, state.rules)
        }
        guard let reserved else { return decide(request) }
        guard isMore else { return reserved.decision }
        leave.mayPass = false
        // By the counts that it was decided by before: others have been counted since, behind it.
        let decision = rules.decide(request, reserved.tallies, seed: reserved.seed, leave: leave)
        let seen = SeenRequest(request, decision)
        let tell = state.withLock { state in
            state.takeBack(reserved)
            state.count(decision, seen, isOfList: state.version == reserved.version)
            return state.onDecision
        }
        tell?(seen)
        return decision
    }

    /// How often a request is judged anew because rules or counts changed meanwhile.
    ///
    /// Because: a change in each of so many tries is made by the judging itself.
    private static let mostTries = 8
}

extension LiveRules.State {
    /// - Parameter isOfList: it was decided by the list that is here now.
    fileprivate mutating func count(
        _ decision: RuleDecision, _ request: SeenRequest, isOfList: Bool
    ) {
        if isOfList { tallies.count(decision) }
        for name in decision.names { called[name, default: 0] += 1 }
        seen.append(request)
        if seen.count > LiveRules.mostSeen {
            // Many at once: to move all of them costs as much as a request.
            seen.removeFirst(LiveRules.mostSeen / 4)
            forgotten += LiveRules.mostSeen / 4
        }
    }

    fileprivate mutating func takeBack(_ judged: LiveRules.Judgement) {
        // What was counted under another list, or before all was forgotten, is no longer counted.
        guard judged.version == version else { return }
        tallies.takeBack(judged.decision)
        for name in judged.decision.names { called[name, default: 0] -= 1 }
        let index = judged.place - forgotten
        if seen.indices.contains(index) {
            // Its place stays, so that places of others do: it says what became of it.
            seen[index].isWithdrawn = true
        }
    }
}
