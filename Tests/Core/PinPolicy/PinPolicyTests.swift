import HTTPDNSNames
import HTTPDNSPinPolicy
import HTTPDNSTrust
import Testing

@Suite struct PinPolicyTests {
    static let first = "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
    static let second = "sha256/AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="

    static func read(_ text: String) throws -> PinPolicy {
        try PinPolicy(Array(text.utf8), named: "pins.json")
    }

    static func fault(_ text: String) -> PinPolicyError? {
        do throws(PinPolicyError) {
            _ = try PinPolicy(Array(text.utf8), named: "pins.json")
            return nil
        } catch { return error }
    }

    static func host(_ text: String) throws -> Host { .name(try HostName(text)) }

    private static let whole = """
        {
          "version": 1,
          "name": "shop",
          "reportTo": ["https://reports.example.com/pins"],
          "hosts": [
            {
              "pattern": "example.com", "includeSubdomains": true,
              "pins": ["\(first)", "\(second)"],
              "expires": "2027-01-31", "whenExpired": "report-only",
              "userRoots": "refused", "comment": "the shop"
            },
            {"pattern": "open.example.com", "exempt": true},
            {
              "pattern": "*.bücher.example", "pins": ["\(first)"], "allowSolePin": true,
              "mode": "report-only", "reportTo": []
            }
          ]
        }
        """

    @Test func `a policy is read with all that it says`() throws {
        let policy = try Self.read(Self.whole)
        #expect(policy.style == .native)
        #expect(policy.name == "shop")
        #expect(policy.notes.isEmpty)
        let match = try #require(policy.pins.match(for: Self.host("a.b.example.com")))
        #expect(match.pattern.description == "**.example.com")
        let rule = try #require(match.rule)
        #expect(rule.sortedPins.map(\.description) == [Self.first, Self.second])
        #expect(rule.expiry?.at.iso8601 == "2027-01-31T00:00:00Z")
        #expect(rule.expiry?.then == .reportOnly)
        #expect(rule.userRoots == .refused)
        #expect(rule.enforcement == .enforce)
        #expect(rule.reportURIs == ["https://reports.example.com/pins"])
        #expect(try policy.pins.match(for: Self.host("open.example.com"))?.rule == nil)
        let other = try policy.pins.match(for: Self.host("a.xn--bcher-kva.example"))?.rule
        #expect(other?.enforcement == .reportOnly)
        #expect(other?.backup == .waived)
        #expect(other?.reportURIs == [])
    }

    private static func hosts(_ text: String) -> String {
        "{\"version\": 1, \"hosts\": [\n\(text)\n]}"
    }

    private static let two = "\"pins\": [\"\(first)\", \"\(second)\"]"

    private static let faults: [(String, Int, String, String)] = [
        (
            hosts("{\"pattern\": \"a.test\", \"pins\": [\"\(first)\", \"AAAA\"]}"), 2, "\"AAAA\"",
            "3 octets"
        ),
        (hosts("{\"pattern\": \"a.test\", \"pins\": [\"\(first)\"]}"), 2, "[\"sha", "allowSolePin"),
        (
            hosts("{\"pattern\": \"a.test\", \"pins\": [\"\(first)\", \"\(first)\"]}"), 2,
            "\"sha256/AQ",
            "stands twice"
        ),
        (hosts("{\"pattern\": \"a.test\", \"pins\": []}"), 2, "[]", "no pin is given"),
        (hosts("{\"pattern\": \"a.test\", \"pin\": []}"), 2, "\"pin\":", "did you mean \"pins\"?"),
        (hosts("{\"pattern\": \"a.test\"}"), 2, "{\"pattern", "\"pins\" is missing"),
        (hosts("{\(two)}"), 2, "{\"pins", "\"pattern\" is missing"),
        (hosts("{\"pattern\": \"a.*.test\", \(two)}"), 2, "\"a.*.test\"", "a pattern is"),
        (hosts("{\"pattern\": \"**.co.uk\", \(two)}"), 2, "\"**.co.uk\"", "a public suffix"),
        (hosts("{\"pattern\": \"a b\", \(two)}"), 2, "\"a b\"", "not a host name"),
        (
            hosts("{\"pattern\": \"*.a.test\", \"includeSubdomains\": true, \(two)}"), 2,
            "\"*.a.test\"",
            "has a wildcard already"
        ),
        (
            hosts("{\"pattern\": \"a.test\", \(two)},\n {\"pattern\": \"A.test.\", \(two)}"), 3,
            "\"A.test.\"",
            "stands twice"
        ),
        (
            hosts("{\"pattern\": \"a.test\", \"pattern\": \"b.test\", \(two)}"), 2,
            "\"pattern\": \"b",
            "\"pattern\" stands twice"
        ),
        (
            hosts("{\"pattern\": \"a.test\", \(two), \"expires\": \"2027-01-31\"}"), 2, "\"2027",
            "without \"whenExpired\""
        ),
        (
            hosts("{\"pattern\": \"a.test\", \(two), \"whenExpired\": \"unpinned\"}"), 2,
            "\"unpinned\"",
            "without \"expires\""
        ),
        (
            hosts(
                "{\"pattern\": \"a.test\", \(two), \"expires\": \"31.1.2027\", "
                    + "\"whenExpired\": \"unpinned\"}"), 2, "\"31.1", "is no date"
        ),
        (
            hosts("{\"pattern\": \"a.test\", \(two), \"mode\": \"enforced\"}"), 2, "\"enforced\"",
            "did you mean \"enforce\"?"
        ),
        (
            hosts("{\"pattern\": \"a.test\", \(two), \"reportTo\": [\"ftp://a.test\"]}"), 2,
            "\"ftp",
            "is not a URL to report to"
        ),
        (
            hosts("{\"pattern\": \"a.test\", \"exempt\": true, \(two)}"), 2, "[\"sha",
            "means nothing for an exempt pattern"
        ),
        (hosts("{\"pattern\": \"ü\\u001B[2J\", \(two)}"), 2, "\"ü", "\\"),
        ("{\"version\": 2, \"hosts\": []}", 1, "2,", "not known here"),
        ("{\"hosts\": []}", 1, "{\"hosts", "\"version\": 1 is missing"),
        ("{\"version\": 1}", 1, "{\"version", "\"hosts\" is missing"),
        ("{\"version\": 1, \"hosts\": []}", 1, "[]", "would pin nothing"),
        ("{\"version\": 1, \"host\": []}", 1, "\"host\"", "did you mean \"hosts\"?"),
        ("{\n\"version\": 1,,", 2, ",", "not JSON"),
    ]

    @Test(arguments: faults)
    func `a fault is named by line and column, and nothing is read`(
        text: String, line: Int, start: String, words: String
    ) throws {
        let fault = try #require(Self.fault(text))
        #expect(fault.line == line, "\(fault)")
        let column = try #require(fault.column)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[line - 1].dropFirst(column - 1).hasPrefix(start), "\(fault)")
        #expect(fault.message.contains(words), "\(fault)")
        #expect(fault.description.hasPrefix("pins.json:\(line):\(column): "))
        #expect(fault.description.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test func `what cannot be a policy is refused as a whole`() {
        #expect(Self.fault("")?.message.contains("empty") == true)
        #expect(Self.fault(" \n\t")?.message.contains("empty") == true)
        let long = String(repeating: " ", count: PinPolicy.maximumOctets + 1)
        #expect(Self.fault(long)?.message.contains("longer than") == true)
        let hosts = (0...PinPolicy.maximumPatterns).map { "h\($0).test: \(Self.first)" }
        #expect(
            Self.fault(hosts.joined(separator: "\n"))?.message.contains("2049 patterns") == true)
        #expect(throws: PinPolicyError.self) { try PinPolicy([0x7B, 0xFF], named: "x") }
        #expect(throws: PinPolicyError.self) { try PinPolicy(file: "/nonexistent/pins.json") }
    }
}
