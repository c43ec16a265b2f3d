import HTTPDNSNames
import Testing

@Suite struct HostPatternTests {
    @Test(arguments: [
        ("*.corp.example", "a.corp.example", true), ("*.corp.example", "a.b.corp.example", true),
        ("*.corp.example", "corp.example", false), ("*.corp.example", "acorp.example", false),
        ("*.corp.example", "corp.example.net", false), ("**.corp.example", "corp.example", true),
        ("corp.example", "a.corp.example", false),
    ]) func `of any depth, a wildcard covers what is under a name and not the name`(
        pattern: String, host: String, covers: Bool
    ) throws {
        let pattern = try HostPattern(pattern, wildcard: .anyDepth)
        #expect(pattern.matches(.name(try HostName(host))) == covers)
    }

    @Test func `the narrower of two patterns is the more specific`() throws {
        let rising = [
            try HostPattern("**.example"), try HostPattern("*.example", wildcard: .anyDepth),
            try HostPattern("*.example"), try HostPattern("**.corp.example"),
            try HostPattern("*.corp.example", wildcard: .anyDepth),
            try HostPattern("*.corp.example"), try HostPattern("a.corp.example"),
        ]
        for (wide, narrow) in zip(rising, rising.dropFirst()) {
            #expect(wide.specificity < narrow.specificity)
        }
    }

    @Test func `an error shows no control characters`() {
        let error = #expect(throws: HostPatternError.self) { try HostPattern("a\u{1B}[2Jb") }
        #expect(error?.description.contains("\u{1B}") == false)
    }
}
