internal import HTTPDNSExchange
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSRules

/// Reads the file as a whole, and each rule.
struct RuleReader {
    let text: RuleText
    let actions: ActionReader

    func read(_ root: Node) throws(RuleFileFault) -> (name: String?, rules: RequestRules) {
        let members = try root.members([
            "$schema", "version", "name", "comment", "otherwise", "rules",
        ])
        guard let version = members["version"] else {
            throw root.fault("\"version\": 1 is missing: it says what the rest means")
        }
        guard case .scalar(let value) = version.json.content, value.number != nil else {
            throw version.expected("the number 1")
        }
        guard version.json.integer == 1 else {
            throw version.fault("this version is not known here; 1 is")
        }
        for name in ["$schema", "comment"] { _ = try members[name]?.string() }
        guard let list = members["rules"] else {
            throw root.fault("\"rules\" is missing: the list of what is to happen")
        }
        let nodes = try list.list()
        guard nodes.count <= RuleFile.maximumRules else {
            throw list.fault("\(nodes.count) rules; at most \(RuleFile.maximumRules) are read")
        }
        var rules = RequestRules()
        var names: Set<String> = []
        for (place, node) in nodes.enumerated() {
            let rule = try rule(node, place)
            guard names.insert(rule.name).inserted else {
                throw node.fault("there is a rule \"\(HostText.plain(rule.name))\" already")
            }
            rules.rules.append(rule)
        }
        if let otherwise = members["otherwise"] { rules.otherwise = try otherwise.choice() }
        var name: String?
        if let node = members["name"] { name = try node.string() }
        return (name, rules)
    }

    private func rule(_ node: Node, _ place: Int) throws(RuleFileFault) -> RequestRule {
        let members = try node.members([
            "name", "comment", "enabled", "when", "first", "after", "probability", "then",
        ])
        _ = try members["comment"]?.string()
        var name = "rule \(place + 1)"
        if let member = members["name"] { name = try member.string() }
        guard let then = members["then"] else {
            throw node.fault("\"then\" is missing: what the rule does")
        }
        var matcher = RequestMatcher.any
        if let when = members["when"] { matcher = try MatcherReader.all(when) }
        var rule = RequestRule(name, when: matcher, then: try actions.actions(then))
        if let enabled = members["enabled"] { rule.isEnabled = try enabled.flag() }
        if let chance = members["probability"] { rule.probability = try chance.number(0...1) }
        if let first = members["first"] {
            rule.occurrence = .first(try first.integer(1...1_000_000_000))
        }
        if let after = members["after"] {
            guard members["first"] == nil else {
                throw after.fault("\"first\" and \"after\" exclude each other: write two rules")
            }
            rule.occurrence = .after(try after.integer(1...1_000_000_000))
        }
        return rule
    }
}

/// Reads `when`: all of its members have to hold.
enum MatcherReader {
    private static let known = [
        "scheme", "host", "port", "path", "extension", "query", "method", "header", "body", "not",
        "any", "all",
    ]

    static func all(_ node: Node) throws(RuleFileFault) -> RequestMatcher {
        let members = try node.members(known)
        var matchers: [RequestMatcher] = []
        for name in known {
            if let member = members[name] { matchers.append(try matcher(name, member)) }
        }
        return matchers.count == 1 ? matchers[0] : .all(matchers)
    }

    private static func matcher(
        _ name: String, _ node: Node
    ) throws(RuleFileFault) -> RequestMatcher {
        switch name {
        case "scheme":
            return try either(node) { (node) throws(RuleFileFault) in
                let word = try node.string()
                guard let scheme = Scheme(rawValue: word) else {
                    throw node.unknown(word, ["http", "https"])
                }
                return .scheme(scheme)
            }
        case "host":
            return try either(node) { (node) throws(RuleFileFault) in
                let text = try node.string()
                return try node.making { () throws(RuleFault) in try .host(text) }
            }
        case "port":
            return try either(node) { (node) throws(RuleFileFault) in
                guard let port = Port(UInt16(try node.integer(1...65_535))) else {
                    throw node.fault("0 is no port")
                }
                return .port(port)
            }
        case "path":
            return try either(node) { (node) throws(RuleFileFault) in
                let text = try node.string()
                return try node.making { () throws(RuleFault) in try .path(text) }
            }
        case "extension": return .pathExtension(try extensions(node))
        case "method": return .method(try methods(node))
        case "query": return try named(node) { .query($0, $1) }
        case "header": return try named(node) { .header($0, $1) }
        case "body":
            let members = try node.members(["contains"])
            guard let part = members["contains"] else {
                throw node.fault("\"contains\" is missing: the text to look for")
            }
            return .body(containing: try part.string())
        case "not": return .not(try all(node))
        case "any": return .either(try nested(node))
        default: return .all(try nested(node))
        }
    }

    private static func either(
        _ node: Node, _ read: (Node) throws(RuleFileFault) -> RequestMatcher
    ) throws(RuleFileFault) -> RequestMatcher {
        var matchers: [RequestMatcher] = []
        for one in try node.oneOrMore() { matchers.append(try read(one)) }
        return matchers.count == 1 ? matchers[0] : .either(matchers)
    }

    private static func nested(_ node: Node) throws(RuleFileFault) -> [RequestMatcher] {
        var matchers: [RequestMatcher] = []
        for one in try node.list() { matchers.append(try all(one)) }
        return matchers
    }

    private static func extensions(_ node: Node) throws(RuleFileFault) -> [String] {
        var extensions: [String] = []
        for one in try node.oneOrMore() {
            let text = try one.string()
            let name = text.drop { $0 == "." || $0 == "*" }
            guard name.utf8.count == text.utf8.count else {
                throw one.fault(
                    "an extension is written without its dot: \"\(HostText.plain(String(name)))\"")
            }
            guard !text.isEmpty, !text.contains(where: { "/*?".contains($0) }) else {
                throw one.fault(
                    "\"\(HostText.plain(text))\" is no extension, such as \"png\" or \"tar.gz\"")
            }
            extensions.append(text)
        }
        return extensions
    }

    private static func methods(_ node: Node) throws(RuleFileFault) -> [HTTPMethod] {
        var methods: [HTTPMethod] = []
        for one in try node.oneOrMore() {
            let text = try one.string()
            guard let method = HTTPMethod(text) else {
                throw one.fault("\"\(HostText.plain(text))\" is no method")
            }
            // Methods are case-sensitive, and this is never what was meant. Source: RFC 9110 §9.1.
            guard text != text.lowercased() else {
                throw one.fault("methods are written in capitals: \"\(text.uppercased())\"")
            }
            methods.append(method)
        }
        return methods
    }

    /// `{"id": "7", "tag": {"contains": "x"}, "flag": true, "other": false}`: all of them.
    private static func named(
        _ node: Node, _ make: (String, TextPattern) -> RequestMatcher
    ) throws(RuleFileFault) -> RequestMatcher {
        var matchers: [RequestMatcher] = []
        for (name, value, _) in try node.pairs() {
            if let isThere = value.json.bool {
                matchers.append(isThere ? make(name, .any) : .not(make(name, .any)))
            } else {
                matchers.append(make(name, try pattern(value)))
            }
        }
        guard !matchers.isEmpty else { throw node.fault("it names nothing; leave it out") }
        return matchers.count == 1 ? matchers[0] : .all(matchers)
    }

    private static func pattern(_ node: Node) throws(RuleFileFault) -> TextPattern {
        if let text = node.json.string { return .exactly(text) }
        guard node.json.members != nil else {
            throw node.expected("a string, true, false, or {\"contains\": …} or {\"glob\": …}")
        }
        let members = try node.members(["contains", "glob", "is"])
        guard members.count == 1, let (name, value) = members.first else {
            throw node.fault("one of \"is\", \"contains\" and \"glob\" is expected")
        }
        let text = try value.string()
        switch name {
        case "contains": return .containing(text)
        case "is": return .exactly(text)
        default: return try value.making { () throws(RuleFault) in try .glob(text) }
        }
    }
}
