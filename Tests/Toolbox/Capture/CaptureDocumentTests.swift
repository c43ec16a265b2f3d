import HTTPDNS
import HTTPDNSJSON
import HTTPDNSPlatform
import TestSupport
import Testing

/// With `--json` a failure has the keys of a result, and a code out of a closed list.
@Suite(.timeLimit(.minutes(3))) struct CaptureDocumentTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var path: String { directory.path + "/traffic.sqlite" }

    private func filled() async throws {
        let capture = Capture(CaptureConfiguration(path: path))
        var full = CaptureRecord.sample("/full", body: Array("hello".utf8))
        full.rule = "a"
        full.reason = "b"
        full.initiator.task = 3
        full.requestBody = .init([0xFF])
        full.failure = .init(label: "l", message: "m")
        full.hops[0].resolution = .init(
            resolver: "r", transport: "udp", addresses: ["192.0.2.1"], ttlSeconds: 1)
        capture.add(full)
        var bare = CaptureRecord.sample("/bare", status: nil)
        bare.totalMilliseconds = nil
        capture.add(bare)
        await capture.close()
    }

    private func keys(_ arguments: String...) async throws -> [Set<String>] {
        try await CaptureTool.run(["capture"] + arguments + ["--json"]).documents
            .map { Set($0.object?.names ?? []) }
    }

    @Test func `each verb has the same keys, whatever comes of it`() async throws {
        try await filled()
        let (har, out) = (directory.path + "/x.har", directory.path + "/out")
        let none = directory.path + "/none"
        let lists = try await keys("show", path)
        #expect(lists.count == 2 && Set(lists).count == 1)
        #expect(try await keys("show", none) == [lists[0]])
        let ones = try await keys("show", path, "1") + keys("show", path, "2")
        #expect(ones.count == 2 && Set(ones).count == 1)
        #expect(try await keys("show", path, "9") == [ones[0]])
        #expect(try await keys("show", none, "9") == [ones[0]])
        #expect(ones[0].subtracting(lists[0]).count == 4)
        let stats = try await keys("stats", path) + keys("stats", path, "--by", "host")
        #expect(stats.count == 2 && Set(stats).count == 1)
        #expect(try await keys("stats", none) == [stats[0]])
        let hars = try await keys("har", path, "-o", har) + keys("har", har, "--check")
        #expect(hars.count == 2 && Set(hars).count == 1)
        #expect(try await keys("har", none) == [hars[0]])
        #expect(try await keys("har", path, "-o", none + "/x") == [hars[0]])
        let exports = try await keys("export", path, "-o", out)
        #expect(exports == hars.prefix(1).map { $0 })
        #expect(try await keys("export", path) == exports)
        for keys in lists + ones + stats + hars { #expect(keys.isSuperset(of: ["file", "error"])) }
    }

    @Test func `what was written is said`() async throws {
        try await filled()
        let out = directory.path + "/out"
        for form in ["ndjson", "har", "html"] {
            let result = try await CaptureTool.run(
                "capture", "export", path, "--format", form, "-o", out, "--json")
            let object = try #require(try result.documents.first)
            #expect(object["format"]?.string == form && object["records"]?.integer == 2)
            #expect(object["output"]?.string == out && object["error"]?.isNull == true)
            let octets = try SmallFile.whole(out, most: 1 << 20)
            #expect(object["octets"]?.integer == Int64(octets.count))
        }
    }

    @Test(arguments: [
        (["show", "FILE", "9"], "no_record", 1 as Int32), (["show", "NONE"], "missing", 2),
        (["show", "TEXT"], "foreign", 2), (["stats", "OTHER"], "foreign", 2),
        (["show", "FOLDER"], "unreadable", 2), (["har", "BROKEN"], "malformed", 2),
        (["stats", "NOHAR"], "foreign", 2), (["export", "FILE"], "usage", 2),
        (["show", "FILE", "--status", "9xx"], "usage", 2), (["shw", "FILE"], "usage", 2),
        (["export", "FILE", "-o", "NONE/x"], "output_failed", 2),
        (["stats", "NEWER"], "newer", 2), (["show", "DAMAGED"], "damaged", 2), ([], "usage", 2),
        (["show", "HUGE"], "too_large", 2),
    ])
    func `a failure has a code`(arguments: [String], code: String, status: Int32) async throws {
        try await filled()
        let names = try await places()
        let result = try await CaptureTool.run(
            ["capture"]
                + arguments.map { word in
                    names.first { word == $0.key || word.hasPrefix($0.key + "/") }.map {
                        $0.value + word.dropFirst($0.key.count)
                    } ?? word
                } + ["--json"])
        let object = try #require(try result.documents.first)
        #expect(object["error"]?["code"]?.string == code, "\(object)")
        #expect(result.status == status)
        let line = "httpdns capture: " + (object["error"]?["message"]?.string ?? "") + "\n"
        #expect(result.errorText == line)
        let help = try await CaptureTool.run("capture", "show", "--help").outputText
        #expect(help.contains("\n  \(code) "))
    }

    private func places() async throws -> [String: String] {
        let (newer, damaged) = (directory.path + "/newer", directory.path + "/damaged")
        for copy in [newer, damaged] { _ = try await run("cp", [path, copy]) }
        _ = try await run("sqlite3", [newer, "PRAGMA user_version = 9"])
        _ = try await run("sqlite3", [damaged, "DROP TABLE piece; DROP TABLE exchange"])
        let other = directory.path + "/other"
        _ = try await run("sqlite3", [other, "CREATE TABLE mine(a)"])
        let huge = try directory.write("huge.har", "{\"log\":")
        _ = try await run("truncate", ["-s", "300M", huge])
        try directory.makeDirectory("folder")
        return [
            "FILE": path, "NONE": directory.path + "/none", "FOLDER": directory.path + "/folder",
            "TEXT": try directory.write("text", "hello"), "OTHER": other, "NEWER": newer,
            "BROKEN": try directory.write("broken.har", "{\"log\":"), "HUGE": huge,
            "NOHAR": try directory.write("no.har", "{\"a\":1}"), "DAMAGED": damaged,
        ]
    }

    @Test(arguments: ["show", "har", "stats", "export"])
    func `each verb has help of its own`(verb: String) async throws {
        let own = try await CaptureTool.run("capture", verb, "--help")
        #expect(own.status == 0 && own.outputText.hasPrefix("httpdns capture \(verb): "))
        #expect(own.outputText.contains("Usage: httpdns capture \(verb) FILE"))
        #expect(own.outputText.contains("--by") == (verb == "stats"))
        #expect(own.outputText.contains("--body") == (verb == "show"))
        #expect(try await CaptureTool.run("help", "capture", verb).output == own.output)
        let whole = try await CaptureTool.run("capture", "--help")
        #expect(whole.outputText.hasPrefix("httpdns capture: ") && whole.output != own.output)
        #expect(try await CaptureTool.run("capture", "nothing", "--help").output == whole.output)
    }

    @Test(arguments: ["9xx", "0xx", "6xx", "999", "99", "600", "300-200", "200-999", "2xx-4xx", ""])
    func `a status that HTTP has not is refused`(status: String) async throws {
        try await filled()
        let result = try await CaptureTool.run("capture", "show", path, "--status", status)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errorText.contains("HTTP has 100 to 599"), "\(result.errorText)")
    }
}
