import HTTPDNSNames
import HTTPDNSTrust
import Testing

@Suite struct PinRuleTests {
    private static let now = TrustFixtures.now
    private static let pins = [2, 9].map(TrustFixtures.pin)

    private static func later(_ seconds: Int64) -> WallTime {
        WallTime(secondsSince1970: now.secondsSince1970 + seconds)
    }

    private static func chain(_ numbers: [UInt8] = [1, 2, 3]) -> [CertificateFacts] {
        numbers.map { number in
            TrustFixtures.certificate(
                names: [Array("api.example.com".utf8)], pin: number, validity: -900...900)
        }
    }

    /// What a rule says to a chain of these pins.
    private static func outcome(
        _ rule: PinRule, chain numbers: [UInt8] = [1, 2, 3], at now: WallTime = now,
        root: RootOrigin = .policy
    ) throws -> Result<PinOutcome, TrustFailure> {
        var policy = TrustPolicy()
        try policy.pins.add(rule, for: HostPattern("**.example.com"))
        var evidence = ChainEvidence(chain: chain(numbers))
        evidence.root = root
        evidence.served = chain([numbers[0]])
        let host = try TrustFixtures.host("api.example.com")
        do throws(TrustFailure) {
            return .success(
                try ChainJudge(policy: policy).judge(host: host, evidence: evidence, now: now)
                    .pinning)
        } catch { return .failure(error) }
    }

    private static func code(
        _ rule: PinRule, chain: [UInt8] = [1, 2, 3], at now: WallTime = now,
        root: RootOrigin = .policy
    ) throws -> TrustFailure.Code? {
        if case .failure(let failure) = try outcome(rule, chain: chain, at: now, root: root) {
            return failure.code
        }
        return nil
    }

    @Test func `one distinct pin is refused unless that is meant`() throws {
        var pins = PinSet()
        let pattern = try HostPattern("a.test")
        let sole = PinSetError.solePin("a.test", TrustFixtures.pin(1))
        #expect(throws: sole) { try pins.add([TrustFixtures.pin(1)], for: pattern) }
        let text = TrustFixtures.pin(1).description
        #expect(throws: sole) { try pins.add([text, text], for: "a.test") }
        #expect(pins.isEmpty)
        try pins.add([text], for: "a.test", backup: .waived)
        try pins.add([text, TrustFixtures.pin(2).description], for: "b.test")
        var reporting = PinRule([TrustFixtures.pin(1)])
        reporting.enforcement = .reportOnly
        try pins.add(reporting, for: HostPattern("c.test"))
        #expect(pins.patterns.count == 3)
    }

    @Test func `including subdomains is another spelling of two stars`() throws {
        var spelled = PinSet()
        var starred = PinSet()
        let texts = Self.pins.map(\.description)
        try spelled.add(texts, for: "example.com", includeSubdomains: true)
        try starred.add(texts, for: "**.example.com")
        #expect(spelled == starred)
        #expect(throws: PinSetError.twoSpellings("*.example.com")) {
            try spelled.add(texts, for: "*.example.com", includeSubdomains: true)
        }
    }

    @Test func `a rule that only reports accepts and says what did not match`() throws {
        var rule = PinRule(Self.pins)
        rule.enforcement = .reportOnly
        guard case .success(.mismatched(let mismatch)) = try Self.outcome(rule, chain: [1, 3])
        else {
            Issue.record("a mismatch was silent")
            return
        }
        #expect(mismatch.pattern.description == "**.example.com")
        #expect(mismatch.rule == rule)
        #expect(mismatch.served.map(\.pin) == [TrustFixtures.pin(1)])
        #expect(
            try Self.outcome(rule)
                == .success(.matched(Self.pins[0], pattern: mismatch.pattern)))
    }

    @Test func `what the peer merely sent along matches no pin`() throws {
        #expect(try Self.code(PinRule(Self.pins), chain: [1, 3]) == .noPinMatched)
    }

    @Test func `a rule holds in its last second and ends as it says`() throws {
        var rule = PinRule(Self.pins)
        rule.expiry = PinRule.Expiry(at: Self.later(10), then: .failClosed)
        #expect(try Self.code(rule, at: Self.later(10)) == nil)
        #expect(try Self.code(rule, at: Self.later(11)) == .pinsExpired)
        #expect(try Self.code(rule, chain: [1, 3], at: Self.later(10)) == .noPinMatched)
        rule.expiry?.then = .reportOnly
        #expect(try Self.code(rule, chain: [1, 3], at: Self.later(10)) == .noPinMatched)
        guard
            case .success(.mismatched(let mismatch)) = try Self.outcome(
                rule, chain: [1, 3], at: Self.later(11))
        else {
            Issue.record("an expired rule was silent")
            return
        }
        #expect(mismatch.isExpired)
        rule.expiry?.then = .unpinned
        #expect(
            try Self.outcome(rule, chain: [1, 3], at: Self.later(11))
                == .success(.lapsed(pattern: mismatch.pattern, at: Self.later(10))))
    }

    @Test func `an expiry that fails closed refuses nobody under a rule that only reports`() throws
    {
        var rule = PinRule(Self.pins)
        rule.enforcement = .reportOnly
        rule.expiry = PinRule.Expiry(at: Self.later(-1), then: .failClosed)
        #expect(try Self.code(rule, chain: [1, 3]) == nil)
    }

    @Test func `a root that was added to the machine is judged as the rule says`() throws {
        var rule = PinRule(Self.pins)
        #expect(try Self.code(rule, chain: [1, 3], root: .user) == .noPinMatched)
        #expect(try Self.code(rule, root: .user) == nil)
        rule.userRoots = .pinsWaived
        let waived = PinOutcome.waived(pattern: try HostPattern("**.example.com"))
        #expect(try Self.outcome(rule, chain: [1, 3], root: .user) == .success(waived))
        #expect(try Self.code(rule, chain: [1, 3]) == .noPinMatched)
        rule.userRoots = .refused
        #expect(try Self.code(rule, root: .user) == .userRootRefused)
        #expect(try Self.code(rule) == nil)
    }

    @Test func `a proof is judged anew with the root that it was made with`() throws {
        var policy = TrustPolicy()
        var rule = PinRule(Self.pins)
        rule.userRoots = .pinsWaived
        rule.expiry = PinRule.Expiry(at: Self.later(10), then: .failClosed)
        try policy.pins.add(rule, for: HostPattern("**.example.com"))
        let judge = ChainJudge(policy: policy)
        let host = try TrustFixtures.host("api.example.com")
        var evidence = ChainEvidence(chain: Self.chain([1, 3]))
        evidence.root = .user
        let peer = try judge.judge(host: host, evidence: evidence, now: Self.now)
        #expect(peer.root == .user)
        let again = try judge.confirm(peer, host: host, now: Self.later(5))
        #expect(again.pinning == peer.pinning)
        #expect(throws: TrustFailure.self) {
            try judge.confirm(peer, host: host, now: Self.later(11))
        }
    }

    @Test func `an exempt pattern is told apart from none`() throws {
        var policy = TrustPolicy()
        try policy.pins.add(PinRule(Self.pins), for: HostPattern("**.example.com"))
        try policy.pins.exempt("api.example.com")
        let judge = ChainJudge(policy: policy)
        let peer = try judge.judge(
            host: try TrustFixtures.host("api.example.com"),
            evidence: ChainEvidence(chain: Self.chain([1])), now: Self.now)
        #expect(peer.pinning == .exempt(pattern: try HostPattern("api.example.com")))
    }

    @Test func `every part of a rule is part of the fingerprint`() throws {
        var rules = [PinRule(Self.pins), PinRule(Self.pins, backup: .waived)]
        let changes: [(inout PinRule) -> Void] = [
            { $0.enforcement = .reportOnly }, { $0.userRoots = .pinsWaived },
            { $0.userRoots = .refused }, { $0.reportURIs = ["https://a.test/"] },
            { $0.reportURIs = ["https://a.test/", "https://b.test/"] },
            { $0.expiry = PinRule.Expiry(at: Self.now, then: .failClosed) },
            { $0.expiry = PinRule.Expiry(at: Self.now, then: .unpinned) },
            { $0.expiry = PinRule.Expiry(at: Self.later(1), then: .unpinned) },
        ]
        for change in changes {
            var rule = PinRule(Self.pins)
            change(&rule)
            rules.append(rule)
        }
        var policies = [TrustPolicy()]
        for rule in rules {
            var policy = TrustPolicy()
            try policy.pins.add(rule, for: HostPattern("a.test"))
            policies.append(policy)
        }
        var exempt = TrustPolicy()
        try exempt.pins.exempt("a.test")
        var added = TrustPolicy()
        added.userRoots = .pem("x")
        policies += [exempt, added]
        #expect(Set(policies.map(\.fingerprint)).count == policies.count)
    }

    @Test func `a refusal says when the pins ended, and of the way what its caller knows`() throws {
        var rule = PinRule(Self.pins)
        rule.expiry = PinRule.Expiry(at: Self.later(-1), then: .failClosed)
        guard case .failure(let failure) = try Self.outcome(rule) else {
            Issue.record("an expired rule passed")
            return
        }
        let message = failure.message(route: "connected to 127.0.0.1, an address given by table")
        #expect(
            message.hasPrefix(
                """
                The pins of api.example.com have expired (2027-01-15T07:59:59Z; now \
                2027-01-15T08:00:00Z) (connected to 127.0.0.1, an address given by table).

                """))
        #expect(failure.facts.configuredPins == Self.pins)
    }

    @Test(arguments: [
        ("2027-01-15", 1_799_971_200), ("2027-01-15T08:00:00Z", 1_800_000_000),
        ("2027-01-15t10:00:00.25+02:00", 1_800_000_000), ("1970-01-01", 0),
        ("2000-02-29T12:34:56Z", 951_827_696), ("2100-03-01", 4_107_542_400),
        ("0001-01-01", -62_135_596_800),
    ])
    func `a date is read as RFC 3339 has it`(text: String, seconds: Int64) {
        #expect(WallTime(iso8601: text)?.secondsSince1970 == seconds)
    }

    @Test(arguments: [
        "", "2027", "2027-13-01", "2027-02-29", "2100-02-29", "2027-1-1", "2027-01-01T",
        "2027-01-01T24:00:00Z", "2027-01-01T00:00:00", "2027-01-01T00:00:00+2", "+027-01-01",
        "2027-01-01T00:00:00.Z", "2027-01-01T00:60:00Z", "2027-01-01x", "tomorrow",
        "2027-01-01T00:00:00ZZ", "2027-04-31",
    ])
    func `what is no date is refused`(text: String) {
        #expect(WallTime(iso8601: text) == nil)
    }
}
