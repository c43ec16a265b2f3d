import Foundation
import Testing

/// Every file in `Files` is one claim about the resolver, replayed against the real one.
@Suite(.timeLimit(.minutes(1))) struct ScenarioTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Files")

    static let files: [String] =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []

    @Test func `there are scenarios`() {
        #expect(ScenarioTests.files.count >= 50)
    }

    @Test(arguments: ScenarioTests.files) func `a scenario holds`(file: String) async throws {
        let text = try String(
            contentsOf: ScenarioTests.folder.appendingPathComponent(file), encoding: .utf8)
        let scenario = try Scenario(text)
        #expect(!scenario.moments.isEmpty)
        let world = try ScenarioWorld(scenario)
        for moment in scenario.moments {
            if let difference = try await world.play(moment) {
                Issue.record("\(file): \(difference)")
                return
            }
        }
    }

    @Test(arguments: [
        "0 ask www.example.com", "x ask www.example.com A", "-> told 1", "5 ask a.test A\n3 forget",
        "0 ask www.example.com A\nsource late", "source one wrong\n0 forget", "option nonsense 1",
    ]) func `a scenario that means nothing is refused`(text: String) async throws {
        await #expect(throws: (any Error).self) {
            let scenario = try Scenario(text)
            let world = try ScenarioWorld(scenario)
            for moment in scenario.moments { _ = try await world.play(moment) }
        }
    }
}
