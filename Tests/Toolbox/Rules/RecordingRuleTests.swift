import Glibc
import HTTPDNS
import HTTPDNSCapture
import HTTPDNSExchange
import HTTPDNSJSON
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSRules
import HTTPDNSURLSession
import TestSupport
import Testing

/// What a rule records is kept before anybody looks for it, and what is not is told.
@Suite(.timeLimit(.minutes(3))) struct RecordingRuleTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var recording: String { directory.path + "/rl.sqlite" }

    private func rules(_ then: String) throws -> String {
        try directory.write("rules.json", "{\"version\":1,\"rules\":[{\"then\":\(then)}]}")
    }

    private func fetch(_ rules: String, _ more: String...) async throws -> CommandResult {
        let dead = try closedPort(address: LabAddress.ipv4)
        return try await CaptureTool.run(
            [
                "fetch", "http://shop.example.test/user?token=hidden", "--rules", rules,
                "--resolver", "127.0.0.1:\(dead)",
            ] + more)
    }

    private func shown() async throws -> [JSONValue] {
        try await CaptureTool.run("capture", "show", recording, "--json").documents
    }

    private static func recorded(into path: String) -> Int? {
        var count = 0
        let damaged = try? CaptureFile(path).read { _ in
            count += 1
            return true
        }
        return damaged == 0 ? count : nil
    }

    @Test func `fetch ends when what a rule records is in the file`() async throws {
        let rules = try rules(#"[{"record":"rl.sqlite"},{"stub":{"text":"Ada"}}]"#)
        let once = try await fetch(rules)
        #expect(once.status == 0 && once.outputText == "Ada", "\(once.errorText)")
        // In one piece.
        #expect(access(recording + "-wal", F_OK) != 0)
        let records = try await shown()
        #expect(records.map { $0["status"]?.integer } == [200])
        #expect(records.first?["url"]?.string?.hasSuffix("/user?token=REDACTED") == true)
        let many = try await fetch(rules, "--repeat", "20", "--parallel", "4")
        #expect(many.status == 0, "\(many.errorText)")
        #expect(try await shown().count == 21)
    }

    @Test func `fetch says what could not be recorded, and fails for it`() async throws {
        let made = try await run("sqlite3", [recording, "CREATE TABLE mine(a)"])
        #expect(made.status == 0)
        let rules = try rules(#"[{"record":"rl.sqlite"},{"stub":{"text":"Ada"}}]"#)
        let told = try await fetch(rules)
        #expect(told.status == 2 && told.outputText == "Ada")
        #expect(told.errorText.contains("1 exchange could not be recorded into \(recording)"))
        let object = try #require(try await fetch(rules, "--json").documents.last)
        #expect(object["error"]?["code"]?.string == "record_failed")
        #expect(object["status"]?.integer == 200)
        let many = try await fetch(rules, "--json", "--repeat", "3")
        let last = try #require(try many.documents.last)
        #expect(many.status == 2 && last["round"] == .null)
        #expect(last["error"]?["code"]?.string == "record_failed")
        #expect(last["error"]?["message"]?.string?.contains("3 exchanges") == true)
        let blocked = try self.rules(#"[{"record":"rl.sqlite"},"block"]"#)
        #expect(try await fetch(blocked).status == 1)
    }

    @Test func `a recorder that is flushed has written all, and says once what it lost`()
        async throws
    {
        let fixture = Fixture(.get, try HTTPURL("https://a.test/"))
        let recorder = FixtureRecorder(capture: recording)
        recorder.keep(fixture)
        try await recorder.flush()
        #expect(Self.recorded(into: recording) == 1)
        try await recorder.close()
        recorder.keep(fixture)
        try await recorder.flush()
        let file = try directory.write("file", "x")
        let told = Locked<[String]>([])
        let lost = FixtureRecorder(capture: file + "/rl.sqlite") { trouble in
            told.withLock { $0.append(trouble.label) }
        }
        lost.keep(fixture)
        await #expect(throws: RuleFault.self) { try await lost.flush() }
        #expect(told.withLock { $0 } == ["quiet"])
        try await lost.flush()
        let rules: LiveRules = [
            RequestRule("memory", .any, .record(FixtureRecorder("memory") { _ in })),
            RequestRule("file", .any, .record(lost)),
        ]
        lost.keep(fixture)
        await #expect(throws: RuleFault.self) { try await rules.flushRecordings() }
        lost.keep(fixture)
        await #expect(throws: RuleFault.self) { try await rules.closeRecordings() }
    }

    @Test func `what replaced rules recorded is written, too`() async throws {
        let rules: LiveRules = [
            RequestRule(
                "tape", .any, .record(FixtureRecorder(capture: recording)), .stub(.text("a")))
        ]
        let session = try RuleLab().session(rules)
        #expect(try await session.answer("https://shop.example.test/").text == "a")
        rules.rules = []
        let path = recording
        #expect(
            await eventually(withinMilliseconds: 60_000) { Self.recorded(into: path) == 1 })
    }

    @Test(arguments: [
        (#"{"record":"none/rl.sqlite"}"#, "rules[0].then.record: it cannot be recorded into"),
        (#"{"record":"text"}"#, "text is no capture"), (#"{"record":"."}"#, "rules[0].then.record"),
        (#"{"stub":{"file":"none.png"}}"#, "rules[0].then.stub.file"),
        (#"{"stub":{"file":"."}}"#, "rules[0].then.stub.file"),
        (#"{"stub":{"file":"pipe"}}"#, "it is no regular file"),
        (#"{"removeHeaders":"Host"}"#, "Host follows from the URL, and is always sent"),
        (#"{"removeHeaders":["A","content-length"]}"#, "removeHeaders[1]: content-length is the"),
        (#"{"removeHeaders":"a b"}"#, "\"a b\" is no name of a field"),
        (#"{"removeHeaders":"accept-encoding"}"#, "set it to \"identity\""),
        (#"{"record":{"file":"a.sqlite","maximumBodyOctets":0}}"#, "0 is not in 1...67108864"),
        (#"{"record":{"file":"a.sqlite","maximumBodyOctets":67108865}}"#, "is not in 1...67108864"),
        (#"{"record":{"maximumBodyOctets":9}}"#, "\"file\" is missing: where the exchanges"),
        (#"{"record":{"file":"a.har"}}"#, "then.record.file: what is recorded is a capture"),
        (#"{"setHeaders":{}}"#, "it sets nothing"), (#"{"addCookies":{}}"#, "it adds nothing"),
        (#"{"pass":" "}"#, "why it passes is expected"),
        (
            #"{"stub":{"headers":{"Content-Length":"999"},"text":"abc"}}"#,
            "Content-Length says 999, and the body has 3 octets"
        ),
        (#"{"stub":{"headers":{"content-length":"-1"}}}"#, "-1 is no number of octets"),
        (#"{"stub":{"status":200.5}}"#, "a whole number is expected, not 200.5"),
    ])
    func `a rule that could not do what it says is refused before anything is sent`(
        then: String, told: String
    ) async throws {
        try directory.write("text", "hello, this is no capture")
        #expect(mkfifo(directory.path + "/pipe", 0o600) == 0)
        let path = try rules(then)
        let result = try await CaptureTool.run("rules", "check", path)
        #expect(result.status == 2 && result.errorText.contains(told), "\(result.errorText)")
        #expect(result.errorText.contains("rules.json:1:"))
        #expect(access(directory.path + "/none", F_OK) != 0)
    }

    @Test func `a rule that can do what it says is not refused`() async throws {
        try directory.write("a.txt", "abc")
        let path = try rules(
            #"[{"record":{"file":"new.sqlite","maximumBodyOctets":9}},"#
                + #"{"removeHeaders":"Referer"},{"stub":[{"file":"a.txt","#
                + #""headers":{"Content-Length":"3"}},{"headers":{"Content-Length":"9"}}]}]"#)
        let result = try await CaptureTool.run("rules", "check", path)
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.outputText.contains("new.sqlite (bodies of 9 octets at most)"))
        #expect(access(directory.path + "/new.sqlite", F_OK) != 0)
    }
}
