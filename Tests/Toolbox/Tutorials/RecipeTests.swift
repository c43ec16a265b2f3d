import Foundation
import HTTPDNSURLSession
import Recipes
import Testing

/// The blocks of docs/recipes.md are those that are compiled.
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
                let end = try #require(
                    lines.firstIndex { $0.trimmingCharacters(in: .whitespaces) == "// end" })
                #expect(regions[name] == nil, "two regions \(name)")
                regions[name] = lines[..<end].map { line in
                    #expect(line.isEmpty || line.hasPrefix("    "), "\(name): \(line)")
                    return String(line.dropFirst(4))
                }.joined(separator: "\n")
            }
        }
        return regions
    }

    /// The blocks of the document, by the name that stands in the comment before each.
    private static func shown() throws -> [String: String] {
        var blocks: [String: String] = [:]
        let document = try text("docs/recipes.md")
        for piece in document.components(separatedBy: "<!-- recipe: ").dropFirst() {
            let name = piece.components(separatedBy: " -->").first ?? ""
            let block = piece.components(separatedBy: "```swift\n").dropFirst().first ?? ""
            blocks[name] = block.components(separatedBy: "\n```").first
        }
        let count = document.components(separatedBy: "```swift\n").count - 1
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
