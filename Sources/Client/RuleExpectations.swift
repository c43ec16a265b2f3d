internal import HTTPDNSExchange
internal import HTTPDNSRules

/// A request that rules were asked about, and what they said.
public struct SeenRequest: Sendable, Hashable, CustomStringConvertible {
    public let method: String
    /// As the application wrote it, without user and password.
    public let url: String
    /// `resolve`, `pass`, `stub`, `replay`, `offline`, `blocked`, `no_rule_matched` or
    /// `not_recorded`.
    public let verdict: String
    /// The rules that acted, in order.
    public let rules: [String]
    /// Why it passed, or was refused.
    public let reason: String?
    /// It was judged anew, once more was known of it.
    package internal(set) var isWithdrawn = false

    init(_ request: RuledRequest, _ decision: RuleDecision) {
        method = request.method.text
        url = request.url.description
        verdict = decision.label
        rules = decision.names
        reason =
            switch decision.verdict {
            case .pass(let why): why
            case .refuse(let refusal): refusal.message
            case .resolve, .stub, .replay, .offline: nil
            }
    }

    /// `GET https://shop.example/a.png → stub (images)`
    public var description: String {
        "\(method) \(url) → \(verdict)"
            + (rules.isEmpty ? "" : " (\(rules.joined(separator: ", ")))")
    }
}

/// How often a rule is expected to have acted.
public enum ExpectedCalls: Sendable, Hashable, CustomStringConvertible {
    case exactly(Int)
    case atLeast(Int)
    case atMost(Int)

    func allows(_ count: Int) -> Bool {
        switch self {
        case .exactly(let expected): count == expected
        case .atLeast(let least): count >= least
        case .atMost(let most): count <= most
        }
    }

    public var description: String {
        switch self {
        case .exactly(let count): ExpectedCalls.text(count)
        case .atLeast(let count): "at least " + ExpectedCalls.text(count)
        case .atMost(let count): "at most " + ExpectedCalls.text(count)
        }
    }

    static func text(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }
}

/// A rule acted more or less often than was expected; the text lists what was seen.
public struct UnmetExpectation: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String
}

extension LiveRules {
    /// Checks how often a rule acted, for the end of a test.
    ///
    /// - Throws: ``UnmetExpectation``, which lists what was seen.
    public func expect(_ rule: String, called expected: ExpectedCalls) throws(UnmetExpectation) {
        let count = calls(of: rule)
        guard !expected.allows(count) else { return }
        throw UnmetExpectation(description: message(rule, expected, count))
    }

    /// Checks that a rule acted exactly so often.
    ///
    /// - Throws: ``UnmetExpectation``, which lists what was seen.
    public func expect(_ rule: String, called times: Int) throws(UnmetExpectation) {
        try expect(rule, called: .exactly(times))
    }

    private func message(_ rule: String, _ expected: ExpectedCalls, _ count: Int) -> String {
        let names = rules.rules.map(\.name)
        var lines = [
            "rule \"\(rule)\" was expected to be called \(expected), and was called "
                + (count == 0 ? "never" : ExpectedCalls.text(count)) + "."
        ]
        if !names.contains(rule) {
            lines.append(
                "There is no rule of that name; there are: "
                    + (names.isEmpty ? "none" : names.joined(separator: ", ")) + ".")
        }
        let seen = seen
        lines.append(seen.isEmpty ? "No request was seen." : "Seen were \(seen.count):")
        lines += seen.suffix(LiveRules.mostListed).map { "  \($0)" }
        return lines.joined(separator: "\n")
    }

    /// Because: a message is read by a person.
    private static let mostListed = 20
}
