import Glibc
import HTTPDNS
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct CaptureCommandTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    private var tool: String {
        var octets = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &octets, octets.count)
        let own = String(decoding: octets.prefix(max(count, 0)).map(UInt8.init), as: UTF8.self)
        return "/" + own.split(separator: "/").dropLast().joined(separator: "/") + "/httpdns"
    }

    private func httpdns(_ arguments: String...) async throws -> CommandResult {
        try await run(
            tool, arguments, environment: ["NO_COLOR": "1", "XDG_CONFIG_HOME": "/nowhere"])
    }

    private func fetch(_ origin: LabServer, _ path: String, _ more: [String] = []) async throws {
        let root = try lab.directory.write("root.pem", lab.root.certificatePEM)
        let result = try await run(
            tool,
            [
                "fetch", origin.url(host: CaptureLab.host, path: path), "--cacert", root,
                "--resolve", "\(CaptureLab.host):127.0.0.1", "--capture", lab.path,
            ] + more, environment: ["XDG_CONFIG_HOME": "/nowhere"])
        #expect(result.status == 0, "\(result.errorText)")
    }

    private func origin() throws -> LabServer {
        try lab.origin { request in
            switch request.path {
            case "/login": .json(#"{"token":"hidden-away","page":1}"#)
            case "/missing": .text("no", status: 404)
            default: .text("hello")
            }
        }
    }

    @Test func `fetch records, and show, stats and har read it`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        try await fetch(origin, "/login?token=hidden-away", ["-d", "password=hidden-away"])
        try await fetch(origin, "/missing")
        try await fetch(origin, "/x", ["--repeat", "3"])
        // One file in one piece.
        #expect(access(lab.path + "-wal", F_OK) != 0)
        let list = try await httpdns("capture", "show", lab.path)
        #expect(list.status == 0 && list.outputText.split(separator: "\n").count == 6)
        #expect(list.outputText.contains("/login?token=REDACTED"))
        let one = try await httpdns("capture", "show", lab.path, "1")
        for word in [
            "password=REDACTED", #"{"token":"REDACTED","page":1}"#, "proved", "override",
            "127.0.0.1:\(origin.port)",
        ] {
            #expect(one.outputText.contains(word), "\(word)")
        }
        let body = try await httpdns("capture", "show", lab.path, "2", "--body", "response")
        #expect(body.outputText == "no")
        let objects = try await httpdns("capture", "show", lab.path, "--status", "4xx", "--json")
        let object = try JSONValue.parse(objects.outputText)
        #expect(object["status"]?.integer == 404 && object["hops"]?.array?.count == 1)
        let stats = try JSONValue.parse(
            try await httpdns("capture", "stats", lab.path, "--json").outputText)
        #expect(stats["total"]?["requests"]?.integer == 5)
        #expect(stats["total"]?["failures"]?.integer == 1)
        #expect(stats["hosts"]?.array?.first?["host"]?.string == CaptureLab.host)
        #expect(stats["resolvers"]?.array?.first?["resolver"]?.string == "override")
        let har = lab.directory.path + "/x.har"
        #expect(try await httpdns("capture", "har", lab.path, "-o", har).status == 0)
        let checked = try await httpdns("capture", "har", har, "--check")
        #expect(checked.status == 0 && checked.outputText.contains("5 records"))
        let fromHAR = try await httpdns("capture", "show", har, "--host", CaptureLab.host)
        #expect(fromHAR.outputText.split(separator: "\n").count == 6)
        for file in [lab.path, har] {
            let text = String(decoding: try contents(of: file).utf8, as: UTF8.self)
            #expect(!text.contains("hidden"), "\(file)")
        }
    }

    @Test func `export gives every form`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        try await fetch(origin, "/x")
        let lines = try await httpdns("capture", "export", lab.path)
        let object = try JSONValue.parse(lines.outputText)
        #expect(object["responseText"]?.string == "hello")
        let page = try await httpdns("capture", "export", lab.path, "--html")
        #expect(page.outputText.hasPrefix("<!DOCTYPE html>"))
        let har = try await httpdns("capture", "export", lab.path, "--format", "har")
        #expect(try JSONValue.parse(har.outputText)["log"]?["version"]?.string == "1.2")
    }

    @Test(arguments: [
        (["capture"], "show, har, stats or export"),
        (["capture", "shw", "x"], "did you mean \"show\""),
        (["capture", "show"], "the file is missing"),
        (["capture", "show", "/nowhere/x"], "no such file"),
        (["capture", "show", "FILE", "--status", "abc"], "4xx"),
        (["capture", "show", "FILE", "--since", "soon"], "10m"),
        (["capture", "show", "FILE", "x"], "no number"),
        (["capture", "show", "FILE", "--body", "request"], "number"),
        (["capture", "stats", "FILE", "--body", "request"], "belongs to capture show"),
        (["capture", "har", "FILE", "--check"], "is a capture"),
        (["capture", "export", "FILE", "-o", "FILE"], "is the file that is read"),
        (["capture", "show", "TEXT"], "neither a capture nor a HAR file"),
        (["capture", "show", "BROKEN"], "line 1"),
        (["fetch", "http://localhost:1/", "--capture", "TEXT"], "is no capture"),
    ])
    func `what cannot be done is told in a line`(arguments: [String], word: String) async throws {
        let capture = Capture(CaptureConfiguration(path: lab.path))
        capture.add(.sample())
        await capture.close()
        let text = try lab.directory.write("text", "hello")
        let broken = try lab.directory.write("broken.har", "{\"log\":")
        let names = ["FILE": lab.path, "TEXT": text, "BROKEN": broken]
        let result = try await run(
            tool, arguments.map { names[$0] ?? $0 }, environment: ["XDG_CONFIG_HOME": "/nowhere"])
        #expect(result.status == 2)
        #expect(result.errorText.contains(word), "\(result.errorText)")
        #expect(result.output.isEmpty)
    }

    @Test func `a record that is not there is a negative answer`() async throws {
        let capture = Capture(CaptureConfiguration(path: lab.path))
        capture.add(.sample())
        await capture.close()
        let result = try await httpdns("capture", "show", lab.path, "7", "--json")
        #expect(result.status == 1 && result.errorText.contains("no record 7"))
        #expect(try JSONValue.parse(result.outputText)["error"]?["code"] != nil)
    }

    @Test func `no control character of a record reaches the terminal`() async throws {
        let capture = Capture(CaptureConfiguration(path: lab.path))
        var record = CaptureRecord.sample("/\u{1B}[2J", body: Array("\u{1B}[31mred\u{7}".utf8))
        record.hops[0].responseFields.append(.init("X", "\u{1B}]0;title\u{7}"))
        record.failure = .init(label: "\u{1B}c", message: "\u{1B}[H")
        capture.add(record)
        await capture.close()
        for arguments in [["capture", "show", lab.path], ["capture", "show", lab.path, "1"]] {
            let result = try await run(tool, arguments, environment: ["NO_COLOR": "1"])
            #expect(
                result.status == 0 && !result.output.contains(0x1B) && !result.output.contains(7))
        }
    }

    @Test func `numbers at the ends of their scale are shown, not stumbled over`() async throws {
        var first = CaptureRecord.sample("/huge")
        first.totalMilliseconds = 1e300
        first.hops[0].sentOctets = .max
        first.hops[0].receivedOctets = 1
        first.hops.append(first.hops[0])
        first.hops[0].receivedOctets = .max
        first.responseBody.totalOctets = .max
        first.startedAt = CaptureTime(microsecondsSince1970: .max)
        var second = CaptureRecord.sample("/small")
        second.hops[0].sentOctets = .min
        second.startedAt = CaptureTime(microsecondsSince1970: .min)
        second.totalMilliseconds = -1
        var configuration = CaptureConfiguration(path: lab.path)
        // What began before all time would be too old to be kept.
        configuration.limits.maximumAge = nil
        let capture = Capture(configuration)
        capture.add(first)
        capture.add(second)
        await capture.close()
        let har = try lab.directory.write(
            "huge.har", String(decoding: HARWriter.file([first, second]), as: UTF8.self))
        for file in [lab.path, har] {
            for number in ["1", "2"] {
                let one = try await httpdns("capture", "show", file, number)
                #expect(one.status == 0 && one.outputText.contains("octets up"), "\(one)")
            }
            for words in [["show"], ["show", "--json"], ["stats"], ["har"]] {
                let result = try await run(
                    tool, ["capture", words[0], file] + words.dropFirst(),
                    environment: ["NO_COLOR": "1"])
                #expect(result.status == 0, "\(words): \(result)")
            }
            let export = try await httpdns("capture", "export", file, "--html")
            #expect(export.status == 0, "\(export)")
        }
    }
}
