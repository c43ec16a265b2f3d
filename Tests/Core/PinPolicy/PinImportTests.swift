import HTTPDNSNames
import HTTPDNSPinPolicy
import HTTPDNSTrust
import Testing

@Suite struct PinImportTests {
    private static let first = PinPolicyTests.first
    private static let second = PinPolicyTests.second
    private static let third = "sha256/AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM="

    private static func pins(_ policy: PinPolicy, _ host: String) throws -> [String]? {
        try policy.pins.pins(for: PinPolicyTests.host(host))?.pins.map(\.description)
    }

    private static func bare(_ pin: String) -> String { String(pin.dropFirst("sha256/".count)) }

    private static let hashes =
        "\"kTSKPublicKeyHashes\": [\"\(bare(first))\", \"\(bare(second))\"]"

    @Test func `a TrustKit configuration is read with its own meaning`() throws {
        let policy = try PinPolicyTests.read(
            """
            {"kTSKSwizzleNetworkDelegates": false,
             "TSKIgnorePinningForUserDefinedTrustAnchors": true,
             "kTSKPinnedDomains": {
               "example.com": {\(Self.hashes), "kTSKIncludeSubdomains": true,
                 "kTSKExpirationDate": "2027-01-31", "kTSKDisableDefaultReportUri": true,
                 "kTSKReportUris": ["https://reports.example.net/a"]},
               "open.example.com": {"kTSKExcludeSubdomainFromParentPolicy": true},
               "www.example.org": {\(Self.hashes), "kTSKEnforcePinning": 0}}}
            """)
        #expect(policy.style == .trustKit)
        let rule = try #require(
            policy.pins.match(for: PinPolicyTests.host("a.example.com"))?.rule)
        #expect(rule.expiry?.then == .unpinned)
        #expect(rule.userRoots == .pinsWaived)
        #expect(rule.reportURIs == ["https://reports.example.net/a"])
        #expect(rule.enforcement == .enforce)
        #expect(try Self.pins(policy, "open.example.com") == nil)
        #expect(try Self.pins(policy, "sub.open.example.com") == [Self.first, Self.second])
        #expect(try Self.pins(policy, "a.www.example.org") == nil)
        let reporting = try policy.pins.match(for: PinPolicyTests.host("www.example.org"))?.rule
        #expect(reporting?.enforcement == .reportOnly)
        #expect(policy.notes.count == 2)
    }

    private static let badTrustKit: [(String, String)] = [
        ("{\"kTSKPinnedDomains\": {}}", "names no domain"),
        ("{\"kTSKSwizzleNetworkDelegates\": true}", "is missing"),
        (
            "{\"kTSKPinnedDomains\": {\"com\": {\(hashes), \"kTSKIncludeSubdomains\": true}}}",
            "suffix"
        ),
        (
            "{\"kTSKPinnedDomains\": {\"a.example.com\": "
                + "{\"kTSKExcludeSubdomainFromParentPolicy\": true}}}", "no parent"
        ),
        (
            "{\"kTSKPinnedDomains\": {\"a.example.com\": "
                + "{\"kTSKExcludeSubdomainFromParentPolicy\": true, \(hashes)}}}", "stands alone"
        ),
        (
            "{\"kTSKPinnedDomains\": {\"a.example.com\": {\"kTSKPublicKeyHashes\": "
                + "[\"\(bare(first))\", \"\(bare(first))\"]}}}", "one pin"
        ),
        ("{\"kTSKPinnedDomains\": {\"*.example.com\": {\(hashes)}}}", "no wildcards"),
        ("{\"kTSKPinnedDomains\": {\"example.com\": {\"kTSKPublicKeyHash\": []}}}", "did you mean"),
        (
            "{\"kTSKPinnedDomains\": {\"example.com\": {\(hashes), \"kTSKExpirationDate\": "
                + "\"soon\"}}}", "is no date"
        ),
    ]

    @Test(arguments: badTrustKit)
    func `what TrustKit refuses is refused`(text: String, words: String) throws {
        let fault = try #require(PinPolicyTests.fault(text))
        #expect(fault.line == 1)
        #expect(fault.message.contains(words), "\(fault)")
    }

    private static let spellings = [
        """
        # pins of the shop
        *.example.com: \(first) \(second)
        a.example.com: \(third)

        """,
        """
        CertificatePinner pinner = new CertificatePinner.Builder()
        """,
        """
        .add("*.example.com", "\(first)", "\(second)")
            .add("a.example.com", "\(third)");
        """,
        """
        [{"pattern": "*.example.com", "pins": ["\(first)", "\(second)"]},
         {"pattern": "a.example.com", "pin": "\(third)"}]
        """,
    ]

    @Test(arguments: [0, 2, 3])
    func `a narrow pattern has the pins of the wide ones, as OkHttp has it`(
        spelling: Int
    ) throws {
        let policy = try PinPolicyTests.read(Self.spellings[spelling])
        #expect(policy.style == .okHttp)
        #expect(try Self.pins(policy, "b.example.com") == [Self.first, Self.second])
        #expect(
            try Self.pins(policy, "a.example.com") == [Self.first, Self.second, Self.third])
        #expect(try Self.pins(policy, "b.a.example.com") == nil)
    }

    @Test func `a host on which two patterns meet has the pins of both`() throws {
        let policy = try PinPolicyTests.read(
            """
            *.example.com: \(Self.first) \(Self.second)
            **.a.example.com: \(Self.second) \(Self.third)
            """)
        #expect(
            try Self.pins(policy, "a.example.com") == [Self.first, Self.second, Self.third])
        #expect(try Self.pins(policy, "b.a.example.com") == [Self.second, Self.third])
    }

    @Test(arguments: [
        (spellings[1], 1, "expected 'pattern"), ("a.test \(first)", 1, "expected 'pattern"),
        ("a.test: \(first)", 1, "one pin"), ("\n\na.test: sha1/AAAA", 3, "SHA-1 is broken"),
        ("# nothing", nil, "would pin nothing"), ("a.test: AAAA", 1, "begin with 'sha256/'"),
        ("a.test: \(first)\n*.*.test: \(first)", 2, "a pattern is"), ("a.test:", 1, "expected"),
        ("[{\"pattern\": \"a.test\"}]", 1, "no pin is given"), ("[]", nil, "would pin nothing"),
    ])
    func `a line that is no pin is named`(text: String, line: Int?, words: String) throws {
        let fault = try #require(PinPolicyTests.fault(text))
        #expect(fault.line == line, "\(fault)")
        #expect(fault.message.contains(words), "\(fault)")
    }
}
