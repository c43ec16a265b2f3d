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
            // Those of a list are indented, their ends too.
            (block.firstMatch(of: /\n *```/).map { String(block[..<$0.range.lowerBound]) } ?? "")
                .components(separatedBy: "\n")
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

    @Test func `each system of the tutorials has its code, its recipe and its test`() throws {
        let root = Self.here.appendingPathComponent("../../..")
        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        }
        let readme = try text("README.md")
        let anchors = try text("docs/recipes.md").components(separatedBy: "\n")
            .filter { $0.hasPrefix("## ") }
            .map { title in
                title.dropFirst(3).lowercased().filter { $0.isLetter || $0 == " " || $0 == "-" }
                    .replacing(" ", with: "-")
            }
        let systems = readme.components(separatedBy: "\n")
            .filter { $0.contains("(docs/recipes.md#") }
        #expect(systems.count == 5)
        for link in readme.matches(of: /\(docs\/recipes\.md#([^)]*)\)/) {
            #expect(anchors.contains(String(link.1)), "\(link.1)")
        }
        let tutorials = try FileManager.default.contentsOfDirectory(
            atPath: root.appendingPathComponent("Tests/Toolbox/Tutorials").path)
        for file in tutorials where file != "RecipeTests.swift" {
            #expect(readme.contains("Tests/Toolbox/Tutorials/\(file)"), "\(file)")
        }
    }

    @Test func `the rewriting example says what comes out`() throws {
        let url = try HTTPURL("https://api.example.com/v1")
        let text = try withAnHTTPStackOfOnesOwn(url: url, address: try IPAddress("203.0.113.7"))
        #expect(text.hasPrefix("https://203.0.113.7/v1 api.example.com "))
        #expect(text.hasSuffix(" api.example.com"))
    }
}
