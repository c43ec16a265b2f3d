import HTTPDNSCLI
import HTTPDNSJSON
import TestSupport
import Testing

/// The vectors that other projects publish; they lie outside this repository.
enum Vectors {
    private static let root: [String] =
        #filePath.split(separator: "/").dropLast(3).map(String.init)

    private static func path(_ parts: String...) -> String {
        "/" + (root + parts).joined(separator: "/")
    }

    private static func file(_ suite: String) -> String {
        path("..", "shared", "conformance", "data", suite + ".jsonl.gz")
    }

    static let arePresent = (try? contents(of: file("dns-packets"))) != nil

    /// The lines of a suite: a request with its `expect`.
    static func lines(_ suite: String) async throws -> [[UInt8]] {
        let unpacked = try await run("gzip", ["-dc", file(suite)])
        try #require(unpacked.status == 0, "\(unpacked.errorText)")
        return unpacked.output.split(separator: 0x0A).map(Array.init)
    }

    /// The cases of a suite that are known not to pass.
    static func expectedFailures(_ suite: String) throws -> Set<String> {
        let lines = try contents(of: path("scripts", "conformance.expected"))
            .split(separator: "\n")
        let cases = lines.map { $0.split(separator: " ", maxSplits: 2) }
        return Set(cases.filter { $0.count == 3 && $0[0] == suite }.map { String($0[1]) })
    }
}

/// How an answer stands to what a case expects.
enum Verdict: Hashable {
    case passed
    case skipped(String)
    case failed(String)

    /// The same judgement as that of the suites' driver.
    init(_ answer: JSONValue, expected: JSONValue) {
        if let reason = answer["skip"]?.string {
            self = .skipped(reason)
            return
        }
        // The sources conflict: any answer will do.
        if expected["may"]?.bool == true {
            self = .passed
            return
        }
        let isAccepted = answer["ok"]?.bool ?? false
        if let ok = expected["ok"]?.bool {
            guard isAccepted == ok else {
                self = .failed("ok is \(isAccepted)")
                return
            }
            if !ok {
                self = .passed
                return
            }
        }
        let wrong = (expected.object?.members ?? []).filter { member in
            guard member.name != "ok" else { return false }
            guard member.name == "any_of" else { return answer[member.name] != member.value }
            return !(member.value.array ?? []).contains { alternative in
                (alternative.object?.members ?? []).allSatisfy { answer[$0.name] == $0.value }
            }
        }
        self = wrong.isEmpty ? .passed : .failed("\(wrong.map(\.name)) in \(answer)")
    }
}
