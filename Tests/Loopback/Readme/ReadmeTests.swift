import Foundation
import HTTPDNS
import Testing

@Suite struct ReadmeTests {
    private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The code of README.md, without comments, imports and white space.
    private static func examples() throws -> [String] {
        let readme = try String(
            contentsOf: here.appendingPathComponent("../../../README.md"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst()
        return blocks.flatMap { block in
            (block.components(separatedBy: "\n```").first ?? "").components(separatedBy: "\n")
                .map { $0.replacing(/\s+\/\/ .*$/, with: "").replacing(/^\/\/ .*$/, with: "") }
                .filter { !$0.isEmpty && !$0.hasPrefix("import ") && !$0.hasPrefix(".package") }
                .map { $0.replacing(/\s/, with: "") }
        }
    }

    @Test func `every example of the README compiles`() throws {
        let compiled = try String(
            contentsOf: Self.here.appendingPathComponent("ReadmeExamples.swift"), encoding: .utf8
        ).replacing(/\s/, with: "")
        let examples = try Self.examples()
        #expect(examples.count >= 12)
        let missing = examples.filter { !compiled.contains($0) }
        #expect(missing.isEmpty)
    }

    @Test func `the rewriting example says what comes out`() throws {
        let url = try HTTPURL("https://api.example.com/v1")
        let text = try withAnHTTPStackOfOnesOwn(url: url, address: try IPAddress("203.0.113.7"))
        #expect(text.hasPrefix("https://203.0.113.7/v1 api.example.com "))
        #expect(text.hasSuffix(" api.example.com"))
    }
}
