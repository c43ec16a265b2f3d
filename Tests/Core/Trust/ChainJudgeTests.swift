import HTTPDNSNames
import HTTPDNSTrust
import Testing

@Suite struct ChainJudgeTests {
    private static let now = TrustFixtures.now
    private static let name = Array("api.example.com".utf8)

    private static func chain(
        names: [[UInt8]] = [name], leafValidity: ClosedRange<Int64> = -100...100
    ) -> [CertificateFacts] {
        [
            TrustFixtures.certificate(
                "CN=api.example.com", names: names, pin: 1, validity: leafValidity),
            TrustFixtures.certificate("CN=Example Intermediate", pin: 2, validity: -200...50),
            TrustFixtures.certificate("CN=Example Root", pin: 3, validity: -300...300),
        ]
    }

    private static func judge(pins: UInt8...) throws -> ChainJudge {
        var policy = TrustPolicy()
        if !pins.isEmpty {
            try policy.pins.add(
                pins.map { TrustFixtures.pin($0) }, for: HostPattern("**.example.com"),
                backup: .waived)
        }
        return ChainJudge(policy: policy)
    }

    private static func failure(
        _ evidence: ChainEvidence, by judge: ChainJudge, now: WallTime = now,
        host: String = "api.example.com"
    ) throws -> TrustFailure? {
        let host = try TrustFixtures.host(host)
        do throws(TrustFailure) {
            _ = try judge.judge(host: host, evidence: evidence, now: now)
            return nil
        } catch { return error }
    }

    @Test func `a proof says what proved it and until when`() throws {
        let judge = try Self.judge(pins: 2, 9)
        let host = try TrustFixtures.host("api.example.com")
        let peer = try judge.judge(
            host: host, evidence: ChainEvidence(chain: Self.chain()), now: Self.now)
        #expect(peer.host == host)
        #expect(peer.matchedName == "api.example.com")
        #expect(peer.matchedPin == TrustFixtures.pin(2))
        #expect(peer.policy == judge.fingerprint)
        #expect(peer.validUntil.secondsSince1970 == Self.now.secondsSince1970 + 50)
    }

    @Test func `a host without pins needs none`() throws {
        let host = try TrustFixtures.host("api.example.com")
        let peer = try Self.judge().judge(
            host: host, evidence: ChainEvidence(chain: Self.chain()), now: Self.now)
        #expect(peer.matchedPin == nil)
    }

    @Test func `neither a pin nor a name outweighs a bad chain`() throws {
        let refused = ChainEvidence(
            chain: Self.chain(), refusal: .init(.unknownIssuer, detail: "no issuer"))
        let failure = try Self.failure(refused, by: Self.judge(pins: 1))
        #expect(failure?.code == .unknownIssuer)
        #expect(failure?.facts.detail == "no issuer")
    }

    @Test func `an expired chain with the right pin is expired`() throws {
        let evidence = ChainEvidence(chain: Self.chain(leafValidity: -100...(-1)))
        #expect(try Self.failure(evidence, by: Self.judge(pins: 1))?.code == .expired)
    }

    @Test func `both ends of a validity period belong to it`() throws {
        let judge = try Self.judge()
        for (validity, code) in [
            (0...100, nil), (-100...0, nil), (1...100, TrustFailure.Code.notYetValid),
            (-100...(-1), .expired),
        ] as [(ClosedRange<Int64>, TrustFailure.Code?)] {
            let evidence = ChainEvidence(chain: Self.chain(leafValidity: validity))
            #expect(try Self.failure(evidence, by: judge)?.code == code)
        }
    }

    @Test func `the wrong name with the right pin is the wrong name`() throws {
        let evidence = ChainEvidence(chain: Self.chain(names: [Array("other.test".utf8)]))
        #expect(try Self.failure(evidence, by: Self.judge(pins: 1))?.code == .wrongName)
    }

    @Test func `a name that the TLS library refuses is the wrong name`() throws {
        let evidence = ChainEvidence(chain: Self.chain(), libraryAcceptsName: false)
        #expect(try Self.failure(evidence, by: Self.judge())?.code == .wrongName)
    }

    @Test func `a chain without a pinned key fails with both sides`() throws {
        let evidence = ChainEvidence(chain: Self.chain())
        let failure = try #require(try Self.failure(evidence, by: Self.judge(pins: 8, 9)))
        #expect(failure.code == .noPinMatched)
        #expect(failure.facts.configuredPins == [TrustFixtures.pin(8), TrustFixtures.pin(9)])
        #expect(failure.facts.pinPattern == "**.example.com")
        #expect(failure.facts.chain.map(\.pin) == [1, 2, 3].map { TrustFixtures.pin($0) })
    }

    @Test func `no chain is no proof`() throws {
        let evidence = ChainEvidence(chain: [])
        #expect(try Self.failure(evidence, by: Self.judge())?.code == .noCertificate)
    }

    @Test func `a proof holds only for its host, its policy and its time`() throws {
        let judge = try Self.judge()
        let host = try TrustFixtures.host("api.example.com")
        let peer = try judge.judge(
            host: host, evidence: ChainEvidence(chain: Self.chain()), now: Self.now)
        #expect(try judge.confirm(peer, host: host, now: Self.now) == peer)
        let refusal = { (judge: ChainJudge, host: Host, seconds: Int64) in
            do throws(TrustFailure) {
                _ = try judge.confirm(
                    peer, host: host,
                    now: WallTime(secondsSince1970: Self.now.secondsSince1970 + seconds))
                return TrustFailure.Code?.none
            } catch { return error.code }
        }
        #expect(refusal(judge, host, 50) == nil)
        #expect(refusal(judge, host, 51) == .expired)
        #expect(refusal(judge, try TrustFixtures.host("www.example.com"), 0) == .policyChanged)
        #expect(refusal(try Self.judge(pins: 1), host, 0) == .policyChanged)
    }

    @Test func `policies that could judge differently have different fingerprints`() throws {
        var policies = [
            TrustPolicy(), TrustPolicy(roots: .file("/a")), TrustPolicy(roots: .directory("/a")),
            TrustPolicy(roots: .pem("/a")), TrustPolicy(roots: .pem("/a pins:0: roots:system")),
        ]
        var changed = TrustPolicy()
        changed.minimumTLS = .tls13
        policies.append(changed)
        changed = TrustPolicy()
        changed.profile = .privateAuthority
        policies.append(changed)
        for (pattern, pin) in [("a.test", 1), ("a.test", 2), ("*.a.test", 1), ("**.a.test", 1)] {
            changed = TrustPolicy()
            try changed.pins.add(
                [TrustFixtures.pin(UInt8(pin))], for: HostPattern(pattern), backup: .waived)
            policies.append(changed)
        }
        #expect(Set(policies.map(\.fingerprint)).count == policies.count)
    }

    @Test func `the order in which pins were added does not change the fingerprint`() throws {
        var first = TrustPolicy()
        var second = TrustPolicy()
        let patterns = try ["a.test", "*.b.test", "**.c.test"].map { try HostPattern($0) }
        for pattern in patterns {
            try first.pins.add([1, 2].map(TrustFixtures.pin), for: pattern)
        }
        for pattern in patterns.reversed() {
            try second.pins.add([2, 1].map(TrustFixtures.pin), for: pattern)
        }
        #expect(first.fingerprint == second.fingerprint)
    }
}
