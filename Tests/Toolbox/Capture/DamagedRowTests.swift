import HTTPDNS
import HTTPDNSJSON
import TestSupport
import Testing

/// One record that is not as it was written is one record less, whatever is wrong with it.
@Suite(.timeLimit(.minutes(5))) struct DamagedRowTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var path: String { directory.path + "/traffic.sqlite" }

    private func damaged(by sql: String) async throws {
        let capture = Capture(CaptureConfiguration(path: path))
        for number in 1...5 {
            capture.add(.sample("/\(number)", body: Array("body \(number)".utf8)))
        }
        await capture.close()
        let result = try await run("sqlite3", [path, sql])
        #expect(result.status == 0, "\(result.errorText)")
    }

    @Test(arguments: [
        // Longer than SQLite is let to read here, and longer than any of ours.
        "UPDATE exchange SET detail = zeroblob(70000000) WHERE id = 3",
        "UPDATE exchange SET detail = zeroblob(60000000) WHERE id = 3",
        "UPDATE exchange SET method = CAST(zeroblob(70000000) AS TEXT) WHERE id = 3",
        "UPDATE exchange SET host = hex(zeroblob(36000000)) WHERE id = 3",
        "UPDATE exchange SET sent = zeroblob(70000000) WHERE id = 3",
        "UPDATE exchange SET detail = x'7b' WHERE id = 3",
        "UPDATE exchange SET kind = 'another' WHERE id = 3",
        "UPDATE exchange SET method = x'00' WHERE id = 3",
    ])
    func `it is left out and counted, and the others are shown`(sql: String) async throws {
        try await damaged(by: sql)
        let numbers: [Int64] = [1, 2, 4, 5]
        let shown = try await CaptureTool.run("capture", "show", path, "--json")
        #expect(shown.status == 0, "\(shown.errorText)")
        #expect(try shown.documents.compactMap { $0["id"]?.integer } == numbers)
        #expect(shown.errorText.contains("1 records of"), "\(shown.errorText)")
        let exported = try await CaptureTool.run("capture", "export", path)
        #expect(try exported.documents.compactMap { $0["id"]?.integer } == numbers)
        let har = try await CaptureTool.run("capture", "har", path)
        #expect(har.status == 0)
        let entries = try JSONValue.parse(har.outputText)["log"]?["entries"]?.array
        #expect(entries?.count == 4)
        let last = try await CaptureTool.run("capture", "show", path, "--last", "2", "--json")
        #expect(try last.documents.compactMap { $0["id"]?.integer } == [4, 5])
        let three = try await CaptureTool.run("capture", "show", path, "3")
        #expect(three.status == 2 && three.errorText.contains("record 3 is not as it was written"))
        let one = try await CaptureTool.run("capture", "show", path, "1")
        #expect(one.status == 0)
        let stats = try await CaptureTool.run("capture", "stats", path, "--json")
        #expect(stats.status == 0, "\(stats.errorText)")
        let host = try await CaptureTool.run(
            "capture", "show", path, "--host", "shop.example.test", "--json")
        #expect(try host.documents.compactMap { $0["id"]?.integer } == numbers)
    }

    @Test func `a replay of it says what is not in it`() async throws {
        try await damaged(by: "UPDATE exchange SET detail = zeroblob(70000000) WHERE id = 3")
        let rules = try directory.write(
            "rules.json",
            #"{"version": 1, "rules": [{"then": {"replay": "traffic.sqlite"}}]}"#)
        let result = try await CaptureTool.run("rules", "check", rules)
        #expect(result.status == 0, "\(result.errorText)")
        #expect(
            result.outputText.contains(
                "(4 exchanges, others are refused; left out: 1 damaged record)"),
            "\(result.outputText)")
    }

    @Test func `a replay of a HAR file says in how many places it breaks the format`() async throws
    {
        var record = CaptureRecord.sample("/har", body: Array("x".utf8))
        record.hops[0].statusText = "OK"
        let text = String(decoding: HARWriter.file([record]), as: UTF8.self)
            .replacing("\"httpVersion\":\"HTTP/1.1\"", with: "\"httpVersion\":11")
        _ = try directory.write("broken.har", text)
        let rules = try directory.write(
            "rules.json", #"{"version": 1, "rules": [{"then": {"replay": "broken.har"}}]}"#)
        let result = try await CaptureTool.run("rules", "check", rules)
        #expect(result.outputText.contains("(1 exchange, "), "\(result.outputText)")
        #expect(
            result.outputText.contains("left out: what breaks the format in 2 places"),
            "\(result.outputText)\(result.errorText)")
    }
}
