package import HTTPDNSExchange
package import HTTPDNSNames

/// What becomes of one request, and which rules said so.
package struct RuleDecision: Sendable {
    package enum Verdict: Sendable {
        /// Through HTTPDNS.
        case resolve
        /// To the system's loader.
        case pass(because: String)
        case refuse(RuleRefusal)
        case stub(Stub.Form, rule: String)
        case replay(Fixture, rule: String)
        /// By what is kept, or not at all.
        case offline(rule: String?)
    }

    /// What is meant after all changes.
    package var request: RuledRequest
    /// Where to connect; nil: the resolver says.
    package var addresses: [IPAddress]?
    /// Sent beside those that are kept.
    package var cookies: [RuleCookie] = []
    package var recorders: [FixtureRecorder] = []
    package var verdict = Verdict.resolve
    /// Places of the rules that acted, in order.
    package var acted: [Int] = []
    /// The same by name, with what they did.
    package var applied: [AppliedRule] = []
    package var names: [String] { applied.map(\.name) }
    /// Places of the rules whose conditions hold, whether they acted or not.
    fileprivate(set) var fitted: [Int] = []
    fileprivate(set) var replayed: RuleTallies.Replay?
    fileprivate var isDecided = false
    /// A rule said so, and not the end of the list.
    var hasDecided: Bool { isDecided }

    init(_ request: RuledRequest) { self.request = request }

    /// A bounded word for what becomes of it.
    package var label: String {
        switch verdict {
        case .resolve: "resolve"
        case .pass: "pass"
        case .refuse(let refusal): refusal.kind.rawValue
        case .stub: "stub"
        case .replay: "replay"
        case .offline: "offline"
        }
    }

    /// Nothing about the request is different, and it goes out as ever.
    package var isPlain: Bool {
        guard case .resolve = verdict else { return false }
        return acted.isEmpty
    }
}

/// How often rules were met, which decides for which requests they act.
package struct RuleTallies: Sendable {
    struct Replay: Sendable, Hashable {
        let rule: Int
        let key: FixtureLibrary.Key
    }

    fileprivate var fitted: [Int: Int] = [:]
    fileprivate var acted: [Int: Int] = [:]
    fileprivate var replays: [Replay: Int] = [:]

    package init() {}

    /// Counts a decision.
    package mutating func count(_ decision: RuleDecision) { add(decision, 1) }

    /// Takes a decision back that was made anew.
    package mutating func takeBack(_ decision: RuleDecision) { add(decision, -1) }

    private mutating func add(_ decision: RuleDecision, _ step: Int) {
        for place in decision.fitted { fitted[place, default: 0] += step }
        for place in decision.acted { acted[place, default: 0] += step }
        if let replay = decision.replayed { replays[replay, default: 0] += step }
    }
}

/// What may be done at this moment.
package struct RuleLeave: Sendable, Hashable {
    /// Stubs, recordings and blocks count; false passes over them.
    package var stubs = true
    /// Nothing goes to the network.
    package var isOffline = false
    /// The request can still be given to the system's loader.
    package var mayPass = false

    package init() {}
}

extension RequestRules {
    /// What becomes of a request. Pure: counts and chance are handed in.
    ///
    /// - Parameters:
    ///   - request: as the application made it, or as a redirect leads on.
    ///   - tallies: what happened before; the caller counts what is decided.
    ///   - seed: chance: each rule draws its own number from it.
    package func decide(
        _ request: RuledRequest, _ tallies: RuleTallies, seed: UInt64,
        leave: RuleLeave = RuleLeave()
    ) -> RuleDecision {
        var decision = RuleDecision(request)
        for (place, rule) in rules.enumerated() where rule.isEnabled {
            guard rule.matcher.matches(decision.request) else { continue }
            decision.fitted.append(place)
            guard rule.occurrence.covers(tallies.fitted[place] ?? 0),
                rule.probability >= 1 || RuleDraw.share(seed, place) < rule.probability
            else { continue }
            act(rule, place, tallies, leave, &decision)
            if decision.isDecided { break }
        }
        if !decision.isDecided, otherwise == .refuse, leave.stubs {
            decision.verdict = .refuse(unmatched(request))
        }
        if leave.isOffline {
            switch decision.verdict {
            case .resolve, .pass: decision.verdict = .offline(rule: nil)
            case .refuse, .stub, .replay, .offline: break
            }
        }
        return decision
    }

    private func act(
        _ rule: RequestRule, _ place: Int, _ tallies: RuleTallies, _ leave: RuleLeave,
        _ decision: inout RuleDecision
    ) {
        var done: [String] = []
        for action in rule.actions where leave.stubs || !action.isStubbing {
            let before = (tallies: tallies, place: place)
            if decision.take(action, of: rule, before, leave) { done.append(action.word) }
            if decision.isDecided { break }
        }
        guard !done.isEmpty else { return }
        decision.acted.append(place)
        decision.applied.append(AppliedRule(rule.name, actions: done))
    }

    /// Rules that come nearest to a request, best first, with what keeps them from it.
    package func nearest(to request: RuledRequest) -> [String] {
        let ranked = rules.enumerated().compactMap { place, rule -> (Double, Int, String)? in
            guard rule.isEnabled else { return nil }
            let nearness = rule.matcher.nearness(to: request)
            let share = Double(nearness.met) / Double(max(nearness.conditions, 1))
            let why =
                nearness.reasons.isEmpty
                ? "it fits, but does not decide" : nearness.reasons.joined(separator: ", ")
            return (-share, place, "\"\(RuleText.plain(rule.name))\": \(why)")
        }
        return ranked.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.prefix(3).map(\.2)
    }

    private func unmatched(_ request: RuledRequest) -> RuleRefusal {
        let near = nearest(to: request)
        let line = RuleText.plain(request.line)
        return RuleRefusal(
            .unmatched,
            "no rule decides \(line), and the list is strict. "
                + (near.isEmpty
                    ? "It has no rules." : "The nearest: " + near.joined(separator: "; ")))
    }
}

extension RuleDecision {
    /// Does one action; false where it did not apply.
    fileprivate mutating func take(
        _ action: RuleAction, of rule: RequestRule,
        _ before: (tallies: RuleTallies, place: Int), _ leave: RuleLeave
    ) -> Bool {
        switch action {
        case .resolve: decide(.resolve)
        case .pass(let why): decide(leave.mayPass ? .pass(because: why) : .resolve)
        case .block(let error): decide(.refuse(RuleDecision.blocked(error, by: rule)))
        case .offline: decide(.offline(rule: rule.name))
        case .stub(let stub):
            let ordinal = before.tallies.acted[before.place] ?? 0
            guard let form = stub.response(ordinal) else { return false }
            decide(.stub(form, rule: rule.name))
        case .replay(let library, let otherwise):
            return replay(library, otherwise, of: rule, before)
        case .map(let mapping): map(mapping)
        case .addresses(let addresses): self.addresses = addresses.isEmpty ? nil : addresses
        case .setFields(let fields):
            change { head in
                for name in Set(fields.fields.map(\.name)) { head.fields.remove(name) }
                for field in fields.fields { try? head.fields.append(field.name, field.value) }
            }
        case .removeFields(let names):
            change { head in for name in names { head.fields.remove(name) } }
        case .addCookies(let cookies):
            self.cookies.removeAll { old in cookies.contains { $0.name == old.name } }
            self.cookies += cookies
        case .record(let recorder): recorders.append(recorder)
        }
        return true
    }

    private mutating func decide(_ verdict: Verdict) {
        self.verdict = verdict
        isDecided = true
    }

    private mutating func change(_ change: (inout RequestHead) -> Void) {
        var head = request.head
        change(&head)
        request = request.changed(to: head)
    }

    /// The addresses and cookies that an earlier rule gave were another origin's.
    private mutating func map(_ mapping: OriginMapping) {
        let before = request.url.origin
        change { head in
            head.url = mapping.mapped(head.url)
            if head.url.origin != before { head.fields.remove("Host") }
        }
        guard request.url.origin.host != before.host else { return }
        addresses = nil
        cookies = []
    }

    private mutating func replay(
        _ library: FixtureLibrary, _ otherwise: RuleAction.Unrecorded, of rule: RequestRule,
        _ before: (tallies: RuleTallies, place: Int)
    ) -> Bool {
        let replay = RuleTallies.Replay(rule: before.place, key: library.key(of: request))
        let count = before.tallies.replays[replay] ?? 0
        if let fixture = library.answer(to: request, of: replay.key, before: count) {
            replayed = replay
            decide(.replay(fixture, rule: rule.name))
            return true
        }
        guard otherwise == .refuse else { return false }
        let why = RuleDecision.unrecorded(request, replay.key, library)
        decide(.refuse(RuleRefusal(.notRecorded, rule: rule.name, why)))
        return true
    }

    private static func unrecorded(
        _ request: RuledRequest, _ key: FixtureLibrary.Key, _ library: FixtureLibrary
    ) -> String {
        let (line, label) = (RuleText.plain(request.line), RuleText.plain(library.label))
        if let obstacle = library.obstacle(to: request, of: key) {
            return "\(line) stands in \(label), and cannot be answered from it: \(obstacle)"
        }
        let near = library.nearest(to: request)
        return "\(line) is not among the \(library.fixtures.count) exchanges of \(label). "
            + (near.isEmpty ? "There are none." : "The nearest: ") + near.joined(separator: "; ")
    }

    private static func blocked(_ error: RuleError, by rule: RequestRule) -> RuleRefusal {
        switch error {
        case .refused: RuleRefusal(.blocked, rule: rule.name, "the request is blocked")
        case .network(let fault):
            RuleRefusal(
                .blocked, rule: rule.name, "the request fails as if it were \(fault.rawValue)",
                fault: fault)
        case .own(let error):
            RuleRefusal(
                .blocked, rule: rule.name, "the request fails with \(type(of: error))",
                error: error)
        }
    }
}

/// Chance, of which each rule takes its own part.
enum RuleDraw {
    /// A number in 0..<1 for the rule in that place. Source: splitmix64, Steele et al. 2014.
    static func share(_ seed: UInt64, _ place: Int) -> Double {
        var mixed = seed &+ UInt64(truncatingIfNeeded: place &+ 1) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) / 9_007_199_254_740_992
    }
}
