import HTTPDNSLookup
import HTTPDNSNames
import Testing

@Suite struct RoutingRulesTests {
    private static let text = """
        # the company's own
        **.corp.example = system
        *.shop.example.com\t=\taliyun, dnspod   # two
        canary.example.com = 192.0.2.7, 2001:db8::7

        db.corp.example = udp://127.0.0.1:53
        """

    @Test(arguments: [
        ("corp.example", "system"), ("a.b.corp.example", "system"),
        ("db.corp.example", "udp://127.0.0.1:53"), ("x.db.corp.example", "system"),
        ("eu.shop.example.com", "aliyun, dnspod"), ("a.eu.shop.example.com", "aliyun, dnspod"),
        ("canary.example.com", "192.0.2.7, 2001:db8::7"), ("shop.example.com", nil),
        ("badcorp.example", nil), ("acanary.example.com", nil), ("example", nil), ("com", nil),
    ]) func `a name goes where the most specific rule sends it`(
        name: String, target: String?
    ) throws {
        let rules = try RoutingRules(Self.text)
        #expect(rules.target(for: try HostName(name))?.description == target)
    }

    @Test func `system alone is the bypass, among others it is a source`() throws {
        #expect(try RoutingRules.Rule("a.example = System").target == .bypass)
        #expect(
            try RoutingRules.Rule("a.example = aliyun system").target
                == .sources(["aliyun", "system"]))
    }

    @Test(arguments: [
        ("a.example", "rule 1: \"a.example\" has no \"=\""),
        ("\n\n*a.example = system", "rule 3: '*' in \"*a.example\""),
        ("= system", "rule 1: \"\" is not a host name"),
        ("a.example =  # none", "rule 1: nothing stands after"),
        ("a.example = 192.0.2.1, aliyun", "rule 1: \"aliyun\" stands among addresses"),
        ("192.0.2.1 = system", "rule 1: 192.0.2.1 is an address"),
        ("*.b.example = system\r\n*.b.example = aliyun", "rule 2: *.b.example goes to \"system\""),
        ("a\u{1B}[1m", "rule 1: \"a\\u{1B}[1m\""),
    ]) func `what is wrong is said with its place`(text: String, said: String) {
        let error = #expect(throws: RoutingRuleError.self) { try RoutingRules(text) }
        #expect(error?.description.hasPrefix(said) == true, "\(String(describing: error))")
    }

    @Test func `a rule is told without the secrets of its sources`() throws {
        let source = "https://bob:hidden@a.test/dns-query?token=hidden"
        let rules = try RoutingRules("a.test = \(source)")
        #expect(
            rules.rules.map(\.description) == [
                "a.test = https://REDACTED@a.test/dns-query?token=REDACTED"
            ])
        for text in ["a.test = \(source)\na.test = system", "a.test token: hidden"] {
            let error = #expect(throws: RoutingRuleError.self) { try RoutingRules(text) }
            #expect(error?.description.contains("hidden") == false)
        }
    }

    @Test func `a rule said twice is one rule, and forms that differ do not conflict`() throws {
        let rules = try RoutingRules(
            "*.a.example = system\n**.a.example = aliyun\n*.A.example. = system")
        #expect(rules.rules.count == 2)
        #expect(rules.target(for: try HostName("x.a.example")) == .bypass)
        #expect(rules.target(for: try HostName("a.example")) == .sources(["aliyun"]))
    }

    @Test(arguments: [RouteTarget.sources([]), .sources([""]), .fixed([])])
    func `a target without anybody is refused`(target: RouteTarget) throws {
        let rule = RoutingRules.Rule(pattern: try HostPattern("a.example"), target: target)
        #expect(throws: RoutingRuleError.self) { try RoutingRules([rule]) }
    }

    @Test func `a rule reads back what it writes`() throws {
        let rules = try RoutingRules(Self.text)
        let written = rules.rules.map(\.description).joined(separator: "\n")
        #expect(try RoutingRules(written) == rules)
    }

    @Test func `the index decides as a search through all rules would`() throws {
        var generator = SeededGenerator(state: 7)
        let labels = ["a", "b", "c"]
        let name = { (generator: inout SeededGenerator) in
            (0..<Int.random(in: 1...4, using: &generator))
                .map { _ in labels.randomElement(using: &generator) ?? "a" }
                .joined(separator: ".")
        }
        for _ in 0..<200 {
            var list: [RoutingRules.Rule] = []
            for number in 0..<6 {
                let stars = ["", "*.", "**."].randomElement(using: &generator) ?? ""
                let pattern = try HostPattern(
                    stars + name(&generator),
                    wildcard: Bool.random(using: &generator) ? .oneLabel : .anyDepth)
                if list.contains(where: { $0.pattern == pattern }) { continue }
                list.append(.init(pattern: pattern, target: .sources(["\(number)"])))
            }
            let rules = try RoutingRules(list)
            let asked = try HostName(name(&generator))
            let best = list.filter { $0.pattern.matches(.name(asked)) }
                .max { $0.pattern.specificity < $1.pattern.specificity }
            #expect(rules.target(for: asked) == best?.target)
        }
    }
}

/// The same numbers in every run. Source: SplitMix64 (Steele, Lea, Flood 2014).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
