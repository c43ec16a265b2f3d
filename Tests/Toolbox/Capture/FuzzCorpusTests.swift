import Foundation
import FuzzedRecords
import HTTPDNSRuleFile
import HTTPDNSRules
import HTTPDNSStore
import Testing

@testable import HTTPDNSCapture

/// The seeds of the fuzzers, and whatever they have found, as ordinary tests.
@Suite struct FuzzCorpusTests {
    static func corpus(_ target: String) throws -> [(name: String, octets: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fuzz/\(target)/corpus")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 3, "\(target)")
        return try files.map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
    }

    @Test func `every HAR file is read or refused, and writes one that is read again`() throws {
        var read = 0
        for (name, octets) in try Self.corpus("HAR") {
            guard let reader = try? HARReader(octets) else { continue }
            read += 1
            let again = try HARReader(HARWriter.file(reader.records))
            #expect(again.records.count <= reader.records.count, "\(name)")
            #expect(
                again.records.flatMap(\.hops).count == reader.records.flatMap(\.hops).count,
                "\(name)")
            _ = CapturePage.page(reader.records, title: "x")
        }
        #expect(read >= 3)
    }

    @Test func `every row is damaged, or a record that stays the same`() throws {
        var read = 0
        for (name, octets) in try Self.corpus("CaptureRows") {
            var row = CaptureRow()
            row.detail = octets
            row.kind = CaptureRecord.Kind.exchange.rawValue
            guard let record = RecordForm.record(row) else { continue }
            read += 1
            let kept = try #require(RecordForm.record(RecordForm.row(record)), "\(name)")
            #expect(RecordForm.record(RecordForm.row(kept)) == kept, "\(name)")
        }
        #expect(read >= 2)
    }

    @Test func `every text is a list of rules, or refused with a place in it`() throws {
        var read = 0
        for (name, octets) in try Self.corpus("Rules") {
            do throws(RuleFileFault) {
                let file = try RuleFile(text: String(decoding: octets, as: UTF8.self))
                for rule in file.rules.rules { #expect(!rule.description.isEmpty) }
                read += 1
            } catch {
                let lines = octets.count { $0 == 0x0A } + 1
                #expect((1...lines).contains(error.line ?? 1), "\(name): \(error)")
            }
        }
        #expect(read >= 1)
    }

    @Test func `whatever stands beside a secret, it does not come out`() throws {
        for (name, octets) in try Self.corpus("Redaction") {
            #expect(RedactionTrial.finding(octets) == nil, "\(name)")
            let nothing = CaptureRedaction.dangerouslyNothing(because: "the trial has to see it")
            #expect(RedactionTrial.finding(octets, under: nothing) != nil, "\(name)")
        }
    }

    @Test func `what a client sends is the same in one piece and in many`() throws {
        for (name, octets) in try Self.corpus("Requests") {
            let sent = Array(octets.dropFirst())
            let whole = RequestReaderTests.read(sent, piece: max(1, sent.count))
            for piece in [1, 2, 7, Int(octets.first ?? 0) % 32 + 1] {
                let pieces = RequestReaderTests.read(sent, piece: piece)
                #expect(pieces.heads == whole.heads && pieces.ends == whole.ends, "\(name)")
                // Which of two breaches in one line is seen first may depend on the pieces.
                #expect((pieces.breach == nil) == (whole.breach == nil), "\(name) by \(piece)")
                if whole.breach == nil { #expect(pieces.body == whole.body, "\(name)") }
            }
        }
    }
}
