/// One rule: for which requests it is, how often, and what it does.
public struct RequestRule: Sendable, CustomStringConvertible {
    /// How it is called in results and errors; unique in a list.
    public var name: String
    public var matcher: RequestMatcher
    /// Done in order.
    public var actions: [RuleAction]
    public var isEnabled = true
    /// For which of the requests that fit it acts, counted from the moment its list was set.
    public var occurrence = Occurrence.always
    /// In how many of those cases it acts, by chance: 0...1.
    public var probability = 1.0

    /// Which of the requests that fit.
    public enum Occurrence: Sendable, Hashable {
        case always
        /// The first so many.
        case first(Int)
        /// All but the first so many.
        case after(Int)

        /// - Parameter ordinal: counted from 0.
        func covers(_ ordinal: Int) -> Bool {
            switch self {
            case .always: true
            case .first(let count): ordinal < count
            case .after(let count): ordinal >= count
            }
        }
    }

    /// A rule.
    public init(
        _ name: String, _ matcher: RequestMatcher = .any, _ actions: RuleAction...
    ) {
        self.init(name, when: matcher, then: actions)
    }

    /// A rule of a list of actions.
    public init(_ name: String, when matcher: RequestMatcher, then actions: [RuleAction]) {
        self.name = name
        self.matcher = matcher
        self.actions = actions
    }

    /// The same for the first so many requests that fit.
    public func first(_ count: Int) -> RequestRule {
        var rule = self
        rule.occurrence = .first(count)
        return rule
    }

    /// The same for all but the first so many requests that fit.
    public func after(_ count: Int) -> RequestRule {
        var rule = self
        rule.occurrence = .after(count)
        return rule
    }

    /// The same by chance.
    ///
    /// - Parameter probability: 0...1.
    public func withProbability(_ probability: Double) -> RequestRule {
        var rule = self
        rule.probability = probability
        return rule
    }

    public var description: String {
        var text = "\(RuleText.plain(name)): when \(matcher)"
        switch occurrence {
        case .always: break
        case .first(let count): text += ", the first \(count)"
        case .after(let count): text += ", after the first \(count)"
        }
        if probability < 1 { text += ", with probability \(probability)" }
        if !isEnabled { text += " (disabled)" }
        return text + ": " + actions.map(\.description).joined(separator: "; ")
    }
}

extension RequestRule {
    /// Images, by their extension, in whose place a local file is delivered, with the type that it
    /// has.
    ///
    /// - Parameter matcher: which of them; all where it is not given.
    public static func replacingImages(
        with path: String, _ matcher: RequestMatcher = .any
    ) -> RequestRule {
        RequestRule(
            "images", .pathExtension(MediaType.imageExtensions) && matcher, .stub(.file(path)))
    }
}

/// The rules of an installation, in order.
///
/// The first that fits and decides ends the list; one that only changes the request (adds a header,
/// say) does so and goes on. The list is gone through once for each request that would go out,
/// redirects included, so that no rules lead in a circle.
public struct RequestRules: Sendable, ExpressibleByArrayLiteral {
    public var rules: [RequestRule]
    /// What becomes of a request that no rule decides.
    public var otherwise = Otherwise.resolve

    /// For what no rule decides.
    public enum Otherwise: String, Sendable, Hashable, CaseIterable {
        /// Through HTTPDNS.
        case resolve
        /// It fails, with the nearest rules in the error.
        case refuse
    }

    /// Rules in order.
    public init(_ rules: [RequestRule] = []) { self.rules = rules }

    /// Rules in order.
    public init(arrayLiteral rules: RequestRule...) { self.init(rules) }

    /// Those that its rules record with, in order.
    package var recorders: [FixtureRecorder] {
        rules.flatMap(\.actions).compactMap { action in
            if case .record(let recorder) = action { recorder } else { nil }
        }
    }

    /// The same where nothing else is let out.
    public var strict: RequestRules {
        var rules = self
        rules.otherwise = .refuse
        return rules
    }

    /// True where a decision depends on those before it.
    package var dependsOnCounts: Bool {
        rules.contains { rule in
            rule.occurrence != .always || rule.actions.contains(where: \.isCounting)
        }
    }

    /// True where a rule may give a request to the system's loader.
    package var passes: Bool {
        rules.contains { rule in
            rule.isEnabled
                && rule.actions.contains { if case .pass = $0 { true } else { false } }
        }
    }
}
