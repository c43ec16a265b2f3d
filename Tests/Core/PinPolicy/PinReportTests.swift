import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinPolicy
import HTTPDNSTrust
import Testing

@Suite struct PinReportTests {
    private static func report(_ pattern: String, _ host: String) throws -> PinReport {
        var rule = PinRule([1, 2].map(TrustFixtures.pin))
        rule.expiry = PinRule.Expiry(at: WallTime(secondsSince1970: 0), then: .reportOnly)
        var leaf = TrustFixtures.certificate(pin: 7)
        leaf.der = [UInt8](repeating: 0, count: 60)
        let mismatch = PinMismatch(
            pattern: try HostPattern(pattern), rule: rule, served: [leaf], isExpired: true)
        var report = PinReport(
            moment: TrustFixtures.now, host: try TrustFixtures.host(host), port: .https,
            mismatch: mismatch, validated: [leaf, TrustFixtures.certificate(pin: 8)])
        report.address = try IPAddress("127.0.0.1")
        report.addressGivenBy = "table"
        return report
    }

    @Test func `a report has the members of RFC 7469 and our own`() throws {
        let json = try JSONValue.parse(
            try Self.report("**.example.com", "api.example.com").json)
        #expect(json["date-time"] == "2027-01-15T08:00:00Z")
        #expect(json["hostname"] == "api.example.com")
        #expect(json["port"] == 443)
        #expect(json["effective-expiration-date"] == "1970-01-01T00:00:00Z")
        #expect(json["include-subdomains"] == true)
        #expect(json["noted-hostname"] == "example.com")
        let pem =
            "-----BEGIN CERTIFICATE-----\n\(String(repeating: "A", count: 64))\n"
            + "\(String(repeating: "A", count: 16))\n-----END CERTIFICATE-----\n"
        #expect(json["served-certificate-chain"] == [.string(pem)])
        // One without its octets cannot be shown.
        #expect(json["validated-certificate-chain"] == [.string(pem)])
        #expect(
            json["known-pins"] == [
                "pin-sha256=\"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\"",
                "pin-sha256=\"AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=\"",
            ])
        #expect(json["enforced"] == false)
        #expect(json["expired"] == true)
        #expect(json["address"] == "127.0.0.1")
        #expect(json["address-given-by"] == "table")
    }

    @Test func `a rule for one host includes no subdomains`() throws {
        let json = try JSONValue.parse(
            try Self.report("api.example.com", "api.example.com").json)
        #expect(json["include-subdomains"] == false)
        #expect(json["noted-hostname"] == "api.example.com")
    }

    @Test func `reports come at once up to a number, then one now and then`() throws {
        var limits = ReportLimits()
        limits.burstPerHost = 2
        limits.intervalPerHost = .seconds(10)
        limits.burst = 3
        limits.interval = .seconds(100)
        var budget = ReportBudget(limits)
        let (a, b) = (try TrustFixtures.host("a.test"), try TrustFixtures.host("b.test"))
        let asked: [(Host, Int64)] = [
            (a, 0), (a, 0), (a, 0), (a, 9), (a, 10),
            // The total is used up, whoever asks.
            (b, 10), (b, 99), (b, 100), (b, 100),
        ]
        let allowed = asked.map { host, seconds in
            budget.take(host, now: .zero.adding(seconds: seconds))
        }
        #expect(allowed == [true, true, false, false, true, false, false, true, false])
    }

    @Test func `many hosts do not fill the memory, nor refill a budget`() throws {
        var limits = ReportLimits()
        limits.burstPerHost = 1
        limits.burst = 1_000_000
        var budget = ReportBudget(limits)
        let hosts = try (0..<2_000).map { try TrustFixtures.host("h\($0).test") }
        let allowed = hosts.map { budget.take($0, now: .zero) }
        #expect(!allowed.contains(false))
        let again = budget.take(hosts[1_999], now: .zero)
        #expect(!again)
    }
}
