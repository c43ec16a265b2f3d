import HTTPDNSNames
import HTTPDNSTrust
import Testing

/// Dangerous options, transparency and fingerprints, without a certificate behind them.
@Suite struct PolicyOptionsTests {
    private static let now = TrustFixtures.now

    private static func evidence(
        names: [[UInt8]] = [], commonNames: [String] = []
    ) -> ChainEvidence {
        var evidence = ChainEvidence(
            chain: [TrustFixtures.certificate(names: names)], libraryAcceptsName: false)
        evidence.commonNames = commonNames.map { Array($0.utf8) }
        return evidence
    }

    private static func judge(_ pattern: String) throws -> ChainJudge {
        var policy = TrustPolicy()
        try policy.dangerous.accept(
            .matchesCommonName, for: try HostPattern(pattern), because: "a test")
        return ChainJudge(policy: policy)
    }

    private static func code(
        _ judge: ChainJudge, _ evidence: ChainEvidence, host: String = "db.corp.test"
    ) throws -> TrustFailure.Code? {
        let host = try TrustFixtures.host(host)
        do throws(TrustFailure) {
            _ = try judge.judge(host: host, evidence: evidence, now: now)
            return nil
        } catch { return error.code }
    }

    @Test func `a common name counts where the option is set, whole and alone`() throws {
        let judge = try Self.judge("db.corp.test")
        for (names, commonNames, isAccepted) in [
            ([], ["db.corp.test"], true), ([], ["DB.Corp.Test"], true),
            ([], ["*.corp.test"], false), ([], ["www.corp.test"], false), ([], [], false),
            ([], ["db.corp.test", "db.corp.test"], false), ([], ["db.corp.test\u{0}"], false),
            (["x.test"], ["db.corp.test"], false),
        ] as [([String], [String], Bool)] {
            let evidence = Self.evidence(
                names: names.map { Array($0.utf8) }, commonNames: commonNames)
            #expect(try Self.code(judge, evidence) == (isAccepted ? nil : .wrongName))
        }
    }

    @Test func `a common name never stands for an address`() throws {
        let judge = try Self.judge("127.0.0.1")
        let evidence = Self.evidence(commonNames: ["127.0.0.1"])
        #expect(try Self.code(judge, evidence, host: "127.0.0.1") == .wrongName)
    }

    @Test func `a common name counts nowhere else`() throws {
        let evidence = Self.evidence(commonNames: ["db.corp.test"])
        #expect(try Self.code(Self.judge("www.corp.test"), evidence) == .wrongName)
        #expect(try Self.code(ChainJudge(policy: TrustPolicy()), evidence) == .wrongName)
    }

    @Test func `a dangerous option needs a reason and names hosts`() throws {
        var options = DangerousOptions()
        let error = #expect(throws: DangerousOptionsError.self) {
            try options.accept(.matchesCommonName, for: HostPattern("a.test"), because: " ")
        }
        #expect(error == .noReason(.matchesCommonName))
        for pattern in ["*.test", "**.test"] {
            #expect(throws: DangerousOptionsError.self) {
                try options.accept(.matchesCommonName, for: HostPattern(pattern), because: "x")
            }
        }
        #expect(options.isEmpty)
        try options.accept(.matchesCommonName, for: HostPattern("**.a.test"), because: "old")
        #expect(options.lines == ["dangerous: matches_common_name for **.a.test, because old"])
        #expect(options.options(for: try TrustFixtures.host("b.a.test")) == [.matchesCommonName])
        #expect(options.options(for: try TrustFixtures.host("b.test")) == [])
    }

    @Test func `a failure of a host with a dangerous option says so`() throws {
        let judge = try Self.judge("db.corp.test")
        let failure = #expect(throws: TrustFailure.self) {
            _ = try judge.judge(
                host: TrustFixtures.host("db.corp.test"), evidence: Self.evidence(), now: Self.now)
        }
        #expect(failure?.facts.dangerous == [.matchesCommonName])
        #expect(failure?.description.contains("Dangerous:        matches_common_name") == true)
    }

    @Test func `so many logs as are required, and one at least`() throws {
        let logs = [TransparencyReport.Log(name: "one"), .init(name: "two")]
        for (mode, seen, code) in [
            (.require(minimumLogs: 2), 2, nil), (.require(minimumLogs: 2), 1, .notLogged),
            (.require(minimumLogs: 0), 0, .notLogged), (.require(minimumLogs: -1), 1, nil),
            (.report, 0, nil), (.off, 0, nil),
        ] as [(TransparencyPolicy.Mode, Int, TrustFailure.Code?)] {
            var policy = TrustPolicy()
            policy.transparency.mode = mode
            var evidence = ChainEvidence(
                chain: [TrustFixtures.certificate(names: [Array("a.test".utf8)])])
            evidence.transparency = TransparencyReport(
                status: .checked, logs: Array(logs.prefix(seen)))
            let judge = ChainJudge(policy: policy)
            #expect(try Self.code(judge, evidence, host: "a.test") == code)
            policy.transparency.exempt = [try HostPattern("a.test")]
            #expect(
                try Self.code(ChainJudge(policy: policy), evidence, host: "a.test") == nil)
        }
    }

    @Test func `each new part of a policy is in its fingerprint`() throws {
        let pattern = try HostPattern("a.test")
        var policies = [TrustPolicy()]
        func add(_ change: (inout TrustPolicy) throws -> Void) rethrows {
            var policy = TrustPolicy()
            try change(&policy)
            policies.append(policy)
        }
        for mode in [RevocationPolicy.Mode.off, .required] { add { $0.revocation.mode = mode } }
        add { $0.revocation.lists = [.file("a")] }
        add { $0.revocation.lists = [.pem("a")] }
        add { $0.revocation.lists = [.file("a"), .file("b")] }
        add { $0.transparency.mode = .report }
        add { $0.transparency.mode = .require(minimumLogs: 2) }
        add { $0.transparency.mode = .require(minimumLogs: 3) }
        add { $0.transparency.logs = [.file("a")] }
        add { $0.transparency.exempt = [pattern] }
        add { $0.rootsByHost = [pattern: .system] }
        add { $0.rootsByHost = [pattern: .file("a")] }
        try add { $0.rootsByHost = [try HostPattern("b.test"): .file("a")] }
        add { $0.clientIdentities = [pattern: .init(.files(certificates: "a", key: "b"))] }
        add { $0.clientIdentities = [pattern: .init(.files(certificates: "a", key: "c"))] }
        add { $0.clientIdentities = [pattern: .init(.pem(certificates: "a", key: Secret("b")))] }
        try add { try $0.dangerous.accept(.matchesCommonName, for: pattern, because: "x") }
        #expect(Set(policies.map(\.fingerprint)).count == policies.count)
        #expect(policies.allSatisfy { !$0.fingerprint.text.contains("(secret)") })
    }

    @Test func `no key and no passphrase is in a fingerprint or a description`() throws {
        var policy = TrustPolicy()
        policy.clientIdentities = [
            try HostPattern("a.test"): ClientIdentity(
                .pem(certificates: "cert", key: Secret("hidden key")),
                passphrase: Secret("hidden phrase"))
        ]
        #expect(!policy.fingerprint.text.contains("hidden"))
        #expect(!"\(policy)".contains("hidden"))
    }

    @Test func `examined under one policy is not concluded under another`() throws {
        let host = try TrustFixtures.host("a.test")
        let evidence = ChainEvidence(
            chain: [TrustFixtures.certificate(names: [Array("a.test".utf8)])])
        var other = TrustPolicy()
        other.revocation.mode = .required
        let peer = try ChainJudge(policy: TrustPolicy()).examine(
            host: host, evidence: evidence, now: Self.now)
        let failure = #expect(throws: TrustFailure.self) {
            _ = try ChainJudge(policy: other).conclude(peer, staple: .absent, now: Self.now)
        }
        #expect(failure?.code == .policyChanged)
    }
}
