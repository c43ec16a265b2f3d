import HTTPDNSCLI
import HTTPDNSJSON
import Testing

@Suite struct SuiteTests {
    @Test(
        .enabled(if: Vectors.arePresent, "there is no ../shared/conformance"),
        arguments: [
            "dns-packets", "doh-vectors", "url-target", "redirect-method", "ip-literal", "psl",
            "cookie-http-state", "cookie-via-ip", "pin-check", "happy-eyeballs",
            "pin-policy",
        ])
    func `Every case passes, but those with a reason, and none of those does`(
        suite: String
    ) async throws {
        var failures: [String: String] = [:]
        let lines = try await Vectors.lines(suite)
        try #require(!lines.isEmpty)
        for line in lines {
            let request = try JSONValue.parse(line)
            let id = try #require(request["id"]?.string)
            let answer = try JSONValue.parse(
                try #require(ConformanceAdapter.answer(to: .whole(line))))
            #expect(answer["id"]?.string == id)
            switch Verdict(answer, expected: try #require(request["expect"])) {
            case .passed: break
            case .skipped(let reason): failures[id] = "skipped: " + reason
            case .failed(let reason): failures[id] = reason
            }
        }
        let expected = try Vectors.expectedFailures(suite)
        #expect(failures.filter { !expected.contains($0.key) } == [:])
        #expect(expected.subtracting(failures.keys) == [], "delete these lines: they pass")
    }
}
