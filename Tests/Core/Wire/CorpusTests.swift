import FoundationEssentials
import HTTPDNSWire
import Testing

@Suite struct WireCorpusTests {
    /// `Tests/Fuzz/Wire/corpus`: the fuzzer's seeds, and whatever it has found.
    static func corpus() throws -> [(name: String, octets: [UInt8])] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let folder = tests.appending(path: "Fuzz/Wire/corpus")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            ($0, Array(try Data(contentsOf: folder.appending(path: $0))))
        }
    }

    @Test func `every input of the fuzzer's corpus is read and written without a change`() throws {
        let corpus = try Self.corpus()
        #expect(corpus.count >= 20)
        var accepted = 0
        for input in corpus {
            guard let message = try? Message(decoding: input.octets) else { continue }
            accepted += 1
            guard let encoded = try? message.encode() else { continue }
            #expect(try Message(decoding: encoded) == message, "\(input.name)")
        }
        #expect(accepted >= 10)
    }
}
