public import HTTPDNSNames
internal import HTTPDNSRedaction

/// Which names go where, instead of through the usual sources.
///
///     # the company's own names never leave the company's network
///     **.corp.example     = system
///     *.shop.example.com  = aliyun, dnspod
///     canary.example.com  = 192.0.2.7, 2001:db8::7
///
/// Rules:
/// 1. Of several patterns that match a name, the most specific one decides alone; the order of the
///    rules means nothing.
/// 2. `*.` goes to any depth: with one label alone, `db.eu.corp.example` would leak to the usual
///    sources past `*.corp.example = system`.
/// 3. Two rules for one pattern that say different things are an error when the rules are made, not
///    a surprise when a name is looked up.
public struct RoutingRules: Sendable, Hashable {
    /// One pattern and where its names go.
    public struct Rule: Sendable, Hashable {
        public let pattern: HostPattern
        public let target: RouteTarget

        public init(pattern: HostPattern, target: RouteTarget) {
            self.pattern = pattern
            self.target = target
        }
    }

    /// Every name goes the usual way.
    public static let none = RoutingRules(rules: [], index: [:])

    /// As given, those that only repeat another left out.
    public let rules: [Rule]
    private let index: [HostPattern.Form: RouteTarget]

    public var isEmpty: Bool { rules.isEmpty }

    /// Takes rules in any order.
    ///
    /// - Throws: ``RoutingRuleError``; its place counts the rules from 1.
    public init(_ rules: [Rule]) throws(RoutingRuleError) {
        try self.init(placed: rules.enumerated().map { ($0.offset + 1, $0.element) })
    }

    /// Reads one rule a line; empty lines and what follows `#` are passed over.
    ///
    /// - Throws: ``RoutingRuleError``; its place is the line, counted from 1.
    public init(_ text: String) throws(RoutingRuleError) {
        var placed: [(place: Int, rule: Rule)] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (offset, line) in lines.enumerated() {
            let said = line.prefix { $0 != "#" }
            guard !said.allSatisfy(\.isWhitespace) else { continue }
            placed.append((offset + 1, try Rule(line: said, at: offset + 1)))
        }
        try self.init(placed: placed)
    }

    private init(placed: [(place: Int, rule: Rule)]) throws(RoutingRuleError) {
        var index: [HostPattern.Form: RouteTarget] = [:]
        var places: [HostPattern.Form: Int] = [:]
        var kept: [Rule] = []
        for (place, rule) in placed {
            try rule.target.check(at: place)
            let form = rule.pattern.form
            guard let other = index[form] else {
                index[form] = rule.target
                places[form] = place
                kept.append(rule)
                continue
            }
            guard other == rule.target else {
                throw RoutingRuleError(
                    place: place,
                    fault: .conflict(rule.pattern, other, atPlace: places[form] ?? place))
            }
        }
        self.init(rules: kept, index: index)
    }

    private init(rules: [Rule], index: [HostPattern.Form: RouteTarget]) {
        self.rules = rules
        self.index = index
    }

    /// Where a name goes; nil for the usual way. Costs time in the name's labels, not in the rules.
    public func target(for name: HostName) -> RouteTarget? {
        guard !index.isEmpty else { return nil }
        if let exact = index[.exact(.name(name))] ?? index[.under(name)] { return exact }
        var rest = name.text[...]
        var isParent = true
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            // Labels of a host name; only a suffix that ends in a number could be refused, and that
            // is the end of the name itself.
            guard let suffix = try? HostName(String(rest)) else { return nil }
            let oneLabel = isParent ? index[.oneLabelUnder(suffix)] : nil
            if let found = oneLabel ?? index[.anyDepthUnder(suffix)] ?? index[.under(suffix)] {
                return found
            }
            isParent = false
        }
        return nil
    }
}

/// Where the names of a rule go.
public enum RouteTarget: Sendable, Hashable {
    /// To the system's own resolver alone.
    case bypass
    /// To these sources alone, in this order, named by label or id; at least one.
    case sources([String])
    /// Nowhere: these are the addresses; at least one.
    case fixed([IPAddress])
}

extension RouteTarget: CustomStringConvertible {
    /// As it is written in a rule, but for the secrets of URLs.
    public var description: String {
        switch self {
        case .bypass: RouteTarget.systemWord
        case .sources(let names):
            names.map { TextRedactor().url($0) }.joined(separator: ", ")
        case .fixed(let addresses): addresses.map(\.description).joined(separator: ", ")
        }
    }

    /// Alone after the `=`, the system's own resolver; among other sources it is one of them.
    static let systemWord = "system"

    /// Reads what stands after the `=`: `system`, addresses, or sources.
    ///
    /// A bare address is an answer; a server that is asked is written as a source: `udp://…`.
    init(_ text: Substring, at place: Int) throws(RoutingRuleError) {
        let words = text.split { $0 == "," || $0.isWhitespace }.map(String.init)
        guard let first = words.first else {
            throw RoutingRuleError(place: place, fault: .noTarget)
        }
        if words.count == 1, first.lowercased() == RouteTarget.systemWord {
            self = .bypass
            return
        }
        let addresses = words.compactMap { try? IPAddress($0) }
        if addresses.isEmpty {
            self = .sources(words)
        } else if addresses.count == words.count {
            self = .fixed(addresses)
        } else {
            let other = words.first { (try? IPAddress($0)) == nil } ?? first
            throw RoutingRuleError(place: place, fault: .mixed(other))
        }
    }

    fileprivate func check(at place: Int) throws(RoutingRuleError) {
        switch self {
        case .bypass: return
        case .sources(let names):
            guard !names.isEmpty, !names.contains("") else {
                throw RoutingRuleError(place: place, fault: .noTarget)
            }
        case .fixed(let addresses):
            guard !addresses.isEmpty else {
                throw RoutingRuleError(place: place, fault: .noTarget)
            }
        }
    }
}

extension RoutingRules.Rule: CustomStringConvertible {
    /// As it is written: `**.corp.example = system`.
    public var description: String { "\(pattern) = \(target)" }

    /// Reads `pattern = target`.
    ///
    /// - Throws: ``RoutingRuleError`` with place 1.
    public init(_ text: String) throws(RoutingRuleError) { try self.init(line: text[...], at: 1) }

    fileprivate init(line: Substring, at place: Int) throws(RoutingRuleError) {
        guard let equals = line.firstIndex(of: "=") else {
            throw RoutingRuleError(place: place, fault: .noEquals(String(line)))
        }
        let name = line[..<equals].trimmed
        do throws(HostPatternError) {
            pattern = try HostPattern(String(name), wildcard: .anyDepth)
        } catch {
            throw RoutingRuleError(place: place, fault: .pattern(error))
        }
        if case .exact(.address) = pattern.form {
            throw RoutingRuleError(place: place, fault: .address(String(name)))
        }
        target = try RouteTarget(line[line.index(after: equals)...], at: place)
    }
}

/// Which rule is wrong, and how.
public struct RoutingRuleError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line or the position of the rule, counted from 1.
    public let place: Int
    public let fault: Fault

    /// What is wrong.
    public enum Fault: Sendable, Hashable {
        /// No `=` between pattern and target.
        case noEquals(String)
        case pattern(HostPatternError)
        /// The pattern is an address, which is never looked up.
        case address(String)
        /// Nothing stands after the `=`.
        case noTarget
        /// Addresses and something else in one target.
        case mixed(String)
        /// Another rule for the pattern says something else.
        case conflict(HostPattern, RouteTarget, atPlace: Int)
    }

    public var description: String { "rule \(place): \(fault)" }
}

extension RoutingRuleError.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noEquals(let text):
            "\"\(text.told)\" has no \"=\"; a rule is 'pattern = system', 'pattern = source, …' or "
                + "'pattern = address, …'"
        case .pattern(let error): "\(error)"
        case .address(let text):
            "\(text.plain) is an address, which is never looked up; name a host"
        case .noTarget: "nothing stands after \"=\": write system, sources or addresses"
        case .mixed(let word):
            "\"\(word.told)\" stands among addresses: a rule names sources or addresses, not both"
        case .conflict(let pattern, let target, let place):
            "\(pattern) goes to \"\(target)\" by rule \(place) already; leave one of the two out"
        }
    }
}

extension String {
    /// Without the secrets of a URL.
    fileprivate var told: String { TextRedactor().text(plain) }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension String {
    /// Control characters spelled out and nothing endless, for a terminal.
    fileprivate var plain: String {
        unicodeScalars.prefix(80).map { $0.escaped(asASCII: false) }.joined()
    }
}
