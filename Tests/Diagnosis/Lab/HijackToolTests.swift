import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// `httpdns lab hijack`, as it is typed.
@Suite(.timeLimit(.minutes(4))) struct HijackToolTests {
    /// The tool as it was built: it lies beside the test bundle.
    private static let tool: String = {
        var octets = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &octets, octets.count)
        let own = String(decoding: octets.prefix(max(count, 0)).map(UInt8.init), as: UTF8.self)
        return "/" + own.split(separator: "/").dropLast().joined(separator: "/") + "/httpdns"
    }()

    private static let environment = ["NO_COLOR": "", "XDG_CONFIG_HOME": "/nowhere"]

    private func hijack(_ arguments: [String]) async throws -> CommandResult {
        try await run(
            Self.tool, ["lab", "hijack"] + arguments, environment: Self.environment)
    }

    private func objects(_ result: CommandResult) throws -> [JSONValue] {
        try result.outputText.split(separator: "\n").map { try JSONValue.parse(String($0)) }
    }

    @Test func `List names every hijack, where it is met and its verdict`() async throws {
        let result = try await hijack(["list"])
        #expect(result.status == 0)
        let names = result.outputText.split(separator: "\n").dropFirst()
            .map { String($0.prefix { $0 != " " }) }
        #expect(names == HijackScenario.all.map(\.name))
        let path = try objects(try await hijack(["list", "--json", "--only", "path"]))
        #expect(path.allSatisfy { $0["layer"]?.string == "path" })
        #expect(path.contains { $0["expected"]?["verdict"]?.string == "sni_filtered" })
        #expect(path.allSatisfy { $0["seen"]?.string?.isEmpty == false })
    }

    @Test(arguments: [
        ([], "a verb is missing"), (["lst"], "did you mean \"list\"?"),
        (["list", "--only", "nothing-*"], "fits no hijack"),
        (["list", "--junit", "x"], "--junit means nothing for lab hijack list"),
        (["serve", "plain-poisonin"], "did you mean \"plain-poisoning\"?"),
        (["serve", "--only", "path", "no-hijack"], "choose in one way"),
        (["run", "--port", "9000"], "--port means nothing for lab hijack run"),
        (["run", "--self", "--", "curl", "{url}"], "grade one at a time"),
        (["run", "--", "curl", "https://example.test/"], "names no target"),
        (["run", "--", "curl", "{url}"], "none of {resolver}, {trusted}, {config} and {ip}"),
        (["run", "--", "curl", "{url}", "{resolvr}", "{ip}"], "did you mean {resolver}?"),
        (["run", "--", "no-such-program-here", "{url}", "{ip}"], "no such program on PATH"),
    ])
    func `A mistake is named in one line`(arguments: [String], words: String) async throws {
        let result = try await hijack(arguments)
        #expect(result.status == 2)
        #expect(result.errorText.split(separator: "\n").count == 1)
        #expect(result.errorText.contains(words), "\(result.errorText)")
        #expect(result.output.isEmpty)
    }

    @Test func `Run grades this library, for people, programs and build servers`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/hijack.xml"
        let only = ["--only", "plain-poisoning", "--only", "no-hijack", "--timeout", "60s"]
        let result = try await hijack(["run", "--junit", file] + only)
        #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
        #expect(
            result.outputText.hasSuffix(
                "2 passed, 0 missed; wrong content 0; 2 of 2 verdicts right\n"))
        let junit = try await run("cat", [file]).outputText
        #expect(junit.contains("tests=\"4\" failures=\"0\""))
        #expect(junit.contains("classname=\"hijack.dns\" name=\"plain-poisoning\""))
        #expect(junit.contains("classname=\"hijack.verdict\" name=\"no-hijack\""))
        let lines = try objects(try await hijack(["run", "--json", "--self"] + only))
        let lie = try #require(lines.first { $0["scenario"]?.string == "plain-poisoning" })
        #expect(lie["grade"]?.string == "passed")
        #expect(lie["outcomes"]?.array?.last?.string == "content")
        #expect(lie["verdict"]?["verdict"]?.string == "dns_hijacked")
        let mistake = try objects(try await hijack(["run", "--json", "--only", "no-such"]))
        #expect(mistake.first?.object.map { Set($0.names) } == lie.object.map { Set($0.names) })
    }

    @Test func `Run says so when a command takes wrong content`() async throws {
        let naive = ["curl", "-sk", "--resolve", "{host}:{port}:{ip}", "{url}"]
        let result = try await hijack(["run", "--only", "plain-poisoning", "--"] + naive)
        #expect(result.status == 1)
        #expect(result.outputText.contains("WRONG CONTENT"))
        #expect(result.outputText.hasSuffix("0 passed, 1 missed; wrong content 1\n"))
    }

    @Test func `The tool itself, as a command with a configuration, reaches every origin`()
        async throws
    {
        let words = [Self.tool, "fetch", "{url}", "--config", "{config}", "--cacert", "{cacert}"]
        let result = try await hijack(
            ["run", "--timeout", "60s", "--only", "dns", "--only", "service", "--"] + words)
        #expect(result.status == 0, "\(result.outputText)")
        #expect(result.outputText.contains(" 0 missed, 1 not covered; wrong content 0"))
        let alone = [
            Self.tool, "fetch", "{url}", "--resolver", "{resolver}", "--cacert", "{cacert}",
        ]
        let lied = try await hijack(["run", "--timeout", "60s", "--only", "dns", "--"] + alone)
        #expect(lied.status == 0, "\(lied.outputText)")
    }

    /// The first hijack of a run is played to its end, the second one hangs; then comes the signal.
    private func interrupted(
        _ words: [String], report file: String
    ) async throws -> (lines: [String], errors: String, status: Int32) {
        let directory = try TemporaryDirectory()
        let marker = directory.path + "/hangs"
        // The first one makes the pipe; the second one reads it, and nobody writes.
        let pipe = directory.path + "/pipe"
        let script =
            "mkfifo '\(pipe)' 2>/dev/null && exit 1; : >'\(marker)'; read nothing <'\(pipe)'"
        let child = try ChildProcess(
            Self.tool,
            ["lab"] + words + [
                "--parallel", "1", "--timeout", "10m", "--junit", file, "--", "sh", "-c",
                script + " # {url} {ip}",
            ], environment: Self.environment)
        let hangs = await eventually(withinMilliseconds: 120_000) {
            (try? contents(of: marker)) != nil
        }
        #expect(hangs)
        kill(child.identifier, SIGINT)
        return try await offPool {
            var lines: [String] = []
            while let line = child.readLine() { lines.append(line) }
            return (lines, child.readErrors(), child.awaitEnd())
        }
    }

    @Test(arguments: [
        ["hijack", "run", "--only", "no-hijack", "--only", "plain-poisoning"],
        ["run", "--only", "expired", "--only", "self-signed"],
    ])
    func `An interrupted run shows what was played, and grades nothing else`(
        words: [String]
    ) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/report.xml"
        let ended = try await interrupted(words, report: file)
        #expect(ended.status == 130)
        #expect(ended.lines.count == 3, "\(ended.lines)")
        #expect(ended.lines.first?.hasPrefix("GRADE") == true)
        #expect(ended.errors.contains("interrupted: 1 of 2 were played to their end"))
        let junit = try contents(of: file)
        #expect(junit.contains("tests=\"2\""))
        #expect(junit.contains("skipped=\"1\""))
        #expect(junit.contains("interrupted before it had been played"))
        #expect(!(junit + ended.lines.joined()).contains("crash"))
    }

    @Test func `An interrupted run prints an object for what was played, and for nothing else`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let ended = try await interrupted(
            ["hijack", "run", "--json", "--only", "no-hijack", "--only", "plain-poisoning"],
            report: directory.path + "/report.xml")
        #expect(ended.status == 130)
        let objects = try ended.lines.map { try JSONValue.parse($0) }
        #expect(objects.map { $0["scenario"]?.string } == ["no-hijack"])
    }

    @Test func `What serve prints can be typed`() async throws {
        let child = try ChildProcess(
            Self.tool, ["lab", "hijack", "serve", "--json", "plain-poisoning", "replayed-answer"],
            environment: Self.environment)
        for _ in 0..<2 {
            let line = try await offPool { child.readLine() }
            let sheet = try JSONValue.parse(try #require(line))
            let genuine = try #require(sheet["genuine"]?.string)
            let commands = try #require(sheet["commands"]?.array).compactMap(\.string)
            let isDiagnosis = { (command: String) in command.contains(" diagnose ") }
            #expect(commands.count >= 3 && commands.count(where: isDiagnosis) == 1)
            for command in commands {
                let path = Self.tool.split(separator: "/").dropLast().joined(separator: "/")
                let result = try await run(
                    "sh", ["-c", "PATH=/\(path):$PATH; \(command)"],
                    environment: Self.environment)
                guard !isDiagnosis(command) else {
                    #expect(result.status == 1, "\(command): \(result.errorText)")
                    #expect(result.outputText.contains("hijacked"), "\(result.outputText)")
                    continue
                }
                let isTrusting = command.contains("--config")
                #expect(result.outputText.contains(genuine) == isTrusting, "\(command)")
                #expect((result.status == 0) == isTrusting)
            }
        }
        kill(child.identifier, SIGINT)
        let status = try await offPool { child.awaitEnd() }
        #expect(status == 130)
    }

    @Test(arguments: [["lab", "serve", "expired"], ["lab", "hijack", "serve", "plain-poisoning"]])
    func `SIGTERM ends what a shell has started in the background, whatever it ignores`(
        words: [String]
    ) async throws {
        let line = (words + ["--json"]).joined(separator: " ")
        let child = try ChildProcess(
            "/bin/sh", ["-c", "trap '' INT TERM; exec '\(Self.tool)' \(line)"],
            environment: Self.environment)
        // It serves from then on.
        #expect(try await offPool { child.readLine() } != nil)
        kill(child.identifier, SIGTERM)
        let status = try await offPool { child.awaitEnd() }
        #expect(status == 130)
    }

    @Test func `each verb has help of its own, and all of them together have`() async throws {
        let places: [[String]] = [
            ["lab"], ["lab", "list"], ["lab", "serve"], ["lab", "run"], ["lab", "hijack"],
            ["lab", "hijack", "list"], ["lab", "hijack", "serve"], ["lab", "hijack", "run"],
        ]
        var texts: Set<String> = []
        for words in places {
            let help = try await run(
                Self.tool, words + ["--help"], environment: Self.environment)
            #expect(help.status == 0)
            let name = "httpdns " + words.joined(separator: " ")
            #expect(help.outputText.hasPrefix(name + ": "), "\(help.outputText)")
            #expect(help.outputText.contains("Usage: \(name) "))
            texts.insert(help.outputText)
            if words.last == "serve" {
                #expect(help.outputText.contains("SIGTERM"))
                #expect(!help.outputText.contains("--junit"))
            }
        }
        #expect(texts.count == places.count)
    }

    @Test func `a command that is missing behind its mark is a mistake`() async throws {
        for words in [["run", "--"], ["run", "--only", "dns", "--"]] {
            let result = try await hijack(words)
            #expect(result.status == 2)
            #expect(result.errorText.contains("a command is missing behind --"))
            #expect(result.outputText.isEmpty)
        }
    }
}
