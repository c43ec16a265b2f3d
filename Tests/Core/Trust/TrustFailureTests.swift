import HTTPDNSNames
import HTTPDNSTrust
import Testing

@Suite struct TrustFailureTests {
    private static func facts() throws -> TrustFailure.Facts {
        var facts = TrustFailure.Facts(host: try TrustFixtures.host("api.example.com"))
        facts.now = TrustFixtures.now
        facts.chain = [
            TrustFixtures.certificate(
                "CN=api.example.com", names: [Array("www.example.com".utf8), Array("a\0b".utf8)],
                addresses: [[192, 0, 2, 1], [1]], pin: 0),
            TrustFixtures.certificate("", pin: 4, validity: -100...(-10)),
        ]
        return facts
    }

    @Test func `a pin failure shows both sides and what to do`() throws {
        var facts = try Self.facts()
        facts.configuredPins = [TrustFixtures.pin(4), TrustFixtures.pin(8)]
        facts.pinPattern = "**.example.com"
        let message = TrustFailure(code: .noPinMatched, facts: facts).description
        let pins = ([0, 4, 8] as [UInt8]).map { "\"\(TrustFixtures.pin($0))\"" }
            .joined(separator: ", ")
        #expect(
            message == """
                No pin matched for api.example.com.
                  Verified chain:   sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=  \
                CN=api.example.com
                                    sha256/BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ=  (no \
                subject)
                  Configured pins:  sha256/BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ=
                                    sha256/CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=   \
                (**.example.com)
                  Rule:             RFC 7469 §2.6
                If nobody changed the key on purpose, treat this as interception. If somebody did, \
                replace the entry of **.example.com by:
                  Policy file:      {"pattern": "**.example.com", "pins": [\(pins)]}
                  Swift:            try settings.trust.pins.add([\(pins)], for: "**.example.com")
                """)
    }

    @Test func `a name failure shows the names presented, safely`() throws {
        let message = TrustFailure(code: .wrongName, facts: try Self.facts()).description
        #expect(message.hasPrefix("The certificate is not for api.example.com.\n"))
        for name in ["www.example.com", #"a\x00b"#, "192.0.2.1", "an address of 1 octets"] {
            #expect(message.contains(name))
        }
        #expect(message.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    }

    @Test func `what a peer writes into its certificate cannot make the message long`() throws {
        var facts = try Self.facts()
        let name = [UInt8](repeating: 1, count: 90_000)
        facts.chain[0].dnsNames = [name]
        facts.chain[0].subject = "CN=" + String(repeating: "x", count: 90_000)
        facts.detail = NameMatcher.fault(in: facts.chain[0])
        let message = TrustFailure(code: .malformedName, facts: facts).description
        #expect(message.utf8.count < 6_000)
        #expect(message.contains("… (90000 octets)"))
        let longest = [UInt8](repeating: 0x61, count: 253)
        #expect(NameMatcher.escaped(longest) == String(repeating: "a", count: 253))
    }

    @Test func `an expiry shows the date that passed and the clock`() throws {
        let message = TrustFailure(code: .expired, facts: try Self.facts()).description
        #expect(message.contains(" to 2027-01-15T07:59:50Z; now 2027-01-15T08:00:00Z)"))
        #expect(message.hasPrefix("The authority (no subject) in the chain of api.example.com has"))
        #expect(message.contains("clock"))
        var facts = try Self.facts()
        facts.chain[0].notAfter = WallTime(secondsSince1970: 0)
        let failure = TrustFailure(code: .expired, facts: facts)
        let planned = failure.message(route: nil, isAsOf: true)
        #expect(
            planned.hasPrefix(
                "The certificate of api.example.com has expired (valid from ")
        )
        #expect(planned.contains(" to 1970-01-01T00:00:00Z; as of 2027-"))
        #expect(!planned.contains("clock"))
    }

    @Test func `what to replace keeps all that the rule says`() throws {
        var rule = PinRule([TrustFixtures.pin(4), TrustFixtures.pin(8)])
        rule.expiry = PinRule.Expiry(at: TrustFixtures.now, then: .failClosed)
        rule.userRoots = .pinsWaived
        rule.reportURIs = ["https://reports.example.net/\"pins"]
        var facts = try Self.facts()
        facts.pinPattern = "**.example.com"
        facts.mismatch = PinMismatch(
            pattern: try HostPattern("**.example.com"), rule: rule)
        let message = TrustFailure(code: .noPinMatched, facts: facts).description
        for part in [
            #""expires": "2027-01-15T08:00:00Z", "whenExpired": "fail-closed""#,
            #""userRoots": "pins-waived", "reportTo": ["https://reports.example.net/\"pins"]}"#,
            "rule.expiry = PinRule.Expiry(at: WallTime(secondsSince1970: 1800000000), then: "
                + ".failClosed)", "rule.userRoots = .pinsWaived",
            #"try settings.trust.pins.add(rule, for: HostPattern("**.example.com"))"#,
        ] {
            #expect(message.contains(part), "\(message)")
        }
    }

    @Test func `a certificate without names is to be reissued`() throws {
        var facts = try Self.facts()
        facts.chain[0].dnsNames = []
        facts.chain[0].ipAddresses = []
        let message = TrustFailure(code: .wrongName, facts: facts).description
        #expect(message.contains("subjectAltName; reissue it with one"))
        #expect(!message.contains("hijack"))
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
        (951_827_696, "2000-02-29T12:34:56Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
    ])
    func `a date is written as RFC 3339 has it`(seconds: Int64, text: String) {
        #expect(WallTime(secondsSince1970: seconds).iso8601 == text)
    }
}
