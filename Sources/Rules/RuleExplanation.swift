/// What a list does with a request, rule by rule.
package struct RuleExplanation: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// It fits, changes the request or only counts, and the list goes on.
        case goesOn
        /// It fits, and ends the list.
        case decides
        /// It does not fit: why.
        case passedOver([String])
        /// A rule before it decided.
        case notReached
        case disabled
    }

    package let rule: String
    package let outcome: Outcome
    /// Whether it acts depends on chance, or on how many fitted before.
    package let depends: Bool
}

extension RequestRules {
    /// What each rule has to say to a request, the first of its kind; chance falls in favour of
    /// every rule.
    package func explanation(
        of request: RuledRequest, leave: RuleLeave = RuleLeave()
    ) -> (rules: [RuleExplanation], decision: RuleDecision) {
        var certain = self
        for place in certain.rules.indices {
            certain.rules[place].occurrence = .always
            certain.rules[place].probability = 1
        }
        let whole = certain.decide(request, RuleTallies(), seed: 0, leave: leave)
        let end = whole.hasDecided ? whole.acted.last ?? rules.count : rules.count
        let explained = rules.enumerated().map { place, rule in
            var before = certain
            before.rules = Array(certain.rules.prefix(place))
            before.otherwise = .resolve
            let seen = before.decide(request, RuleTallies(), seed: 0, leave: leave).request
            let isCertain = rule.occurrence == .always && rule.probability >= 1
            let outcome: RuleExplanation.Outcome =
                if !rule.isEnabled {
                    .disabled
                } else if place > end {
                    .notReached
                } else if rule.matcher.matches(seen) {
                    place == end ? .decides : .goesOn
                } else {
                    .passedOver(rule.matcher.nearness(to: seen).reasons)
                }
            return RuleExplanation(rule: rule.name, outcome: outcome, depends: !isCertain)
        }
        return (explained, whole)
    }
}
