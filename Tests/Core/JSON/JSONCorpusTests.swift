import Foundation
import HTTPDNSJSON
import Testing

@Suite struct JSONCorpusTests {
    /// `Tests/Fuzz/JSON/corpus`: the fuzzer's seeds, and whatever it has found.
    private static func corpus() throws -> [URL] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try FileManager.default.contentsOfDirectory(
            at: tests.appending(path: "Fuzz/JSON/corpus"), includingPropertiesForKeys: nil)
    }

    @Test func `every input of the corpus comes back the same when it is written and read`() throws
    {
        let files = try Self.corpus()
        #expect(files.count >= 5)
        for file in files {
            let octets = [UInt8](try Data(contentsOf: file))
            guard let value = try? JSONValue.parse(octets) else { continue }
            let written = JSONWriter.octets(value)
            let again = try JSONValue.parse(written)
            #expect(JSONWriter.octets(again) == written, "\(file.lastPathComponent)")
        }
    }
}
