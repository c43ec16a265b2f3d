import Foundation
import HTTPDNSURLSession
import Recipes
import Testing

/// The blocks of docs/recipes.md, and of docs/proxy.md, are those that are compiled.
@Suite struct RecipeTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The regions of the compiled files, by name, without their indentation.
    private static func compiled() throws -> [String: String] {
        var regions: [String: String] = [:]
        let folder = root.appendingPathComponent("Examples/Recipes").path
        for file in try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        where file.hasSuffix(".swift") {
            let pieces = try text("Examples/Recipes/" + file).components(separatedBy: "// recipe: ")
            for piece in pieces.dropFirst() {
                var lines = piece.components(separatedBy: "\n")
                let name = lines.removeFirst()
                #expect(regions[name] == nil, "two regions \(name)")
                regions[name] = try block(lines, upTo: "// end")
            }
        }
        return regions
    }

    /// The lines before the mark, without the indentation of the first.
    private static func block(_ lines: [String], upTo mark: String) throws -> String {
        let end = try #require(
            lines.firstIndex { $0.trimmingCharacters(in: .whitespaces) == mark })
        let indentation = (lines.first ?? "").prefix { $0 == " " }
        return lines[..<end].map { line in
            #expect(line.isEmpty || line.hasPrefix(indentation), "\(line)")
            return String(line.dropFirst(indentation.count))
        }.joined(separator: "\n")
    }

    /// The blocks of the documents, by the name that stands in the comment before each.
    private static func shown() throws -> [String: String] {
        var blocks: [String: String] = [:]
        var count = 0
        for path in ["docs/recipes.md", "docs/proxy.md"] {
            let document = try text(path)
            for piece in document.components(separatedBy: "<!-- recipe: ").dropFirst() {
                let name = piece.components(separatedBy: " -->").first ?? ""
                let code = piece.components(separatedBy: "```swift\n").dropFirst().first ?? ""
                blocks[name] = try block(code.components(separatedBy: "\n"), upTo: "```")
            }
            count += document.components(separatedBy: "```swift\n").count - 1
        }
        #expect(blocks.count == count, "a block without a name, or two of one name")
        return blocks
    }

    @Test func `what the recipes show is what is compiled`() throws {
        let (compiled, shown) = (try RecipeTests.compiled(), try RecipeTests.shown())
        #expect(compiled.count >= 12)
        #expect(Set(compiled.keys) == Set(shown.keys))
        for (name, block) in shown { #expect(compiled[name] == block, "\(name)") }
    }
}
