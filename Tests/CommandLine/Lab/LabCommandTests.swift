import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct LabCommandTests {
    private static let curl = [
        "curl", "-sS", "--max-time", "20", "--cacert", "{cacert}", "--resolve",
        "{host}:{port}:{ip}", "{url}",
    ]

    private func lab(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> CommandResult {
        try await run(
            Tool.path, ["lab"] + arguments,
            environment: ["NO_COLOR": "", "XDG_CONFIG_HOME": "/nowhere"].merging(environment) { $1 }
        )
    }

    @Test func `List names every scenario`() async throws {
        let result = try await lab(["list"])
        #expect(result.status == 0)
        let names = result.lines.dropFirst().map { String($0.prefix { $0 != " " }) }
        #expect(names == LabScenario.all.map(\.name))
        let objects = try await lab(["list", "--json", "--only", "pins"]).objects
        #expect(objects.allSatisfy { $0["group"]?.string == "pins" })
        #expect(objects.contains { $0["scenario"]?.string == "pin-appended" })
        #expect(objects.allSatisfy { $0["why"]?.string?.isEmpty == false })
    }

    @Test(arguments: [
        (["lst"], "unknown verb of lab \"lst\"; did you mean \"list\"?"),
        ([], "a verb is missing"), (["run"], "a command is missing"),
        (["run", "--self", "--", "curl", "{url}"], "grade one at a time"),
        (["run", "--", "curl", "https://example.test/"], "names no target"),
        (["list", "--only", "nothing-*"], "fits no scenario"),
        (["serve", "wrong-pinn"], "did you mean \"wrong-pin\"?"),
        (["serve", "exact-name"], "\"httpdns lab list\" names them all"),
        (["serve", "--dir", "/nonexistent-folder", "expired"], "\"/nonexistent-folder\""),
        (["serve", "--dir", "/dev/null", "expired"], "is no directory"),
        (
            ["run", "--", "curl", "{url}"],
            "neither {ip} nor {proxy}: it would look the names up in DNS"
        ),
        (["run", "--", "no-such-program-here", "{url}", "{ip}"], "no such program on PATH"),
        (["run", "--", "/no/such/program", "{url}", "{ip}"], "no such program"),
        (["run", "--proxy", "--", "/tmp", "{url}"], "no such program"),
        (["run", "--parallel", "0", "--", "curl", "{url}"], "--parallel \"0\""),
        (
            ["run", "--", "curl", "--pinnedpubkey", "{pinn}", "{url}", "{ip}"],
            "{pinn} is no placeholder; did you mean {pin}?"
        ),
        (["run", "--", "curl", "{prot}", "{url}", "{ip}"], "There are {url} {host}"),
        (["run", "--port", "9000", "--self"], "--port means nothing for lab run"),
        (["run", "--self", "--proxy"], "--proxy means nothing with --self"),
        (["list", "--junit", "x"], "--junit means nothing for lab list; it belongs to lab run"),
        (["serve", "--verbose", "expired"], "--verbose means nothing for lab serve"),
        (["serve", "--only", "expired", "baseline"], "choose in one way"),
    ])
    func `A mistake is named in one line`(arguments: [String], words: String) async throws {
        let result = try await lab(arguments)
        #expect(result.status == 2)
        #expect(result.complaints.count == 1)
        #expect(result.errorText.contains(words), "\(result.errorText)")
        #expect(result.output.isEmpty)
    }

    @Test func `With JSON, a mistake has the keys of a result`() async throws {
        let mistake = try await lab(["run", "--json", "--only", "no-such", "--self"])
        #expect(mistake.status == 2)
        let fault = try #require(mistake.objects.first?.object)
        let result = try #require(
            try await lab(["run", "--json", "--only", "dh480", "--self"]).objects.first?.object)
        #expect(Set(fault.names) == Set(result.names))
        #expect(fault["error"]?["message"]?.string?.contains("fits no scenario") == true)
    }

    @Test func `Without its fault, curl accepts every scenario`() async throws {
        let result = try await lab(["run", "--json", "--no-fault", "--"] + Self.curl)
        let missed = try result.objects.filter { $0["grade"]?.string == "missed" }
        #expect(missed.isEmpty, "\(missed.map { $0["scenario"]?.string ?? "" })")
        #expect(result.status == 0)
        let passed = try result.objects.filter { $0["grade"]?.string == "passed" }
        #expect(passed.count > 50)
    }

    @Test func `Curl refuses what every client must`() async throws {
        let only = ["expired", "self-signed", "wrong-name", "untrusted-root", "*-mid-handshake"]
        let result = try await lab(
            ["run"] + only.flatMap { ["--only", $0] } + ["--"] + Self.curl)
        #expect(result.status == 0, "\(result.outputText)")
        #expect(result.lines.last == "7 passed, 0 missed")
    }

    @Test func `What was left out is a row of its group, what was missed comes last`() async throws
    {
        let only = ["wrong-pin", "right-pin", "cn-only", "expired"]
        let result = try await lab(
            ["run"] + only.flatMap { ["--only", $0] } + ["--"] + Self.curl)
        #expect(result.status == 1)
        let lines = result.lines.dropFirst()
        #expect(
            lines.map { $0.prefix { $0 != " " }.description } == ["ok", "-", "MISS", "1"],
            "\(result.outputText)")
        #expect(lines.contains { $0.contains("2 of pins") })
    }

    @Test func `The paths of targets.json are absolute`() async throws {
        let directory = try TemporaryDirectory()
        let script = """
            cd '\(directory.path)' && '\(Tool.path)' lab serve --dir . expired > served & lab=$!
            for n in $(seq 100); do
              grep -q Ctrl-C '\(directory.path)/served' 2>/dev/null && break; sleep 0.1
            done
            kill -TERM $lab; wait $lab; echo $?; grep -o '"cacert":"/[^"]*/ca.pem"' \
              '\(directory.path)/targets.json'
            """
        let result = try await run("sh", ["-c", script])
        #expect(result.lines.count == 2, "\(result.outputText)\(result.errorText)")
        #expect(result.lines.first == "130")
    }

    @Test func `Pins are filled in as curl writes them`() async throws {
        let only = ["right-pin", "backup-pin", "wrong-pin", "pin-appended", "expired-right-pin"]
        let words = Self.curl.dropLast() + ["--pinnedpubkey", "{curlpins}", "{url}"]
        let result = try await lab(
            ["run", "--json"] + only.flatMap { ["--only", $0] } + ["--"] + words)
        #expect(result.status == 0, "\(result.outputText)")
        #expect(try result.objects.count { $0["grade"]?.string == "passed" } == 5)
        let bare = try await lab(["run", "--only", "right-pin", "--"] + Self.curl)
        #expect(bare.status == 0)
        #expect(bare.lines.last == "0 passed, 0 missed, 1 not covered")
    }

    @Test func `A command that never connects was not run, whatever its exit code`() async throws {
        for program in ["true", "false"] {
            let result = try await lab(["run", "--only", "expired", "--", program, "{url}", "{ip}"])
            #expect(result.status == 1)
            #expect(result.outputText.contains("not run: it never connected"))
        }
    }

    @Test func `A refusal after the request is a miss`() async throws {
        let script =
            "curl -sk --resolve {host}:{port}:{ip} {url} >/dev/null; exit 1"
        let result = try await lab(["run", "--only", "wrong-name", "--", "sh", "-c", script])
        #expect(result.status == 1)
        #expect(result.outputText.contains("refused late: the request was sent"))
    }

    @Test func `A command that fails before its handshake, or crashes, has refused nothing`()
        async throws
    {
        for (script, word) in [
            ("exec 3<>/dev/tcp/{ip}/{port}; exit 1 # {url}", "before it began the handshake"),
            (
                "curl -s --resolve {host}:{port}:{ip} {url}; kill -SEGV $$",
                "crashed: ended by signal 11"
            ),
        ] {
            let result = try await lab(["run", "--only", "wrong-name", "--", "bash", "-c", script])
            #expect(result.status == 1)
            #expect(result.outputText.contains(word), "\(result.outputText)")
        }
    }

    @Test func `Where the results cannot go is told, and a pipe stays a pipe`() async throws {
        for option in ["--junit", "--dir"] {
            let result = try await lab(["run", "--self", "--only", "baseline", option, ""])
            #expect(result.status == 2)
        }
        let directory = try TemporaryDirectory()
        let pipe = directory.path + "/pipe"
        let script =
            "mkfifo '\(pipe)'; cat '\(pipe)' >/dev/null & '\(Tool.path)' lab run --self --only baseline "
            + "--junit '\(pipe)' >/dev/null && wait && test -p '\(pipe)'"
        #expect(try await run("bash", ["-c", script]).status == 0)
    }

    @Test func `Words in braces of other languages stay`() async throws {
        let result = try await lab(
            ["run", "--only", "baseline", "--"] + Self.curl.dropLast()
                + ["-w", "%{http_code}${x}{}", "{url}"])
        #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
    }

    @Test func `A word in braces that is like no placeholder is passed on, with a note`()
        async throws
    {
        let script =
            "curl -sS --cacert {cacert} --resolve {host}:{port}:{ip} {url} | awk '{print}'"
        let result = try await lab(["run", "--only", "baseline", "--", "sh", "-c", script])
        #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
        #expect(result.errorText.contains("{print} is no placeholder"))
    }

    @Test func `Processes that a shell left before it became the tool are spared`() async throws {
        let directory = try TemporaryDirectory()
        let note = directory.path + "/own"
        let script =
            "sleep 600 >/dev/null 2>&1 & echo $! > \(note); exec '\(Tool.path)' lab run --self "
            + "--only baseline"
        let result = try await run("bash", ["-c", script])
        #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
        let process = try #require(Int32(try contents(of: note).filter { $0.isNumber }))
        #expect(kill(process, SIGKILL) == 0, "\(process) is gone")
    }

    @Test func `What a command leaves behind in a session of its own ends with it`() async throws {
        let directory = try TemporaryDirectory()
        let note = directory.path + "/left"
        // One with the command's environment, one without any.
        let script =
            "setsid sh -c 'echo $$ > \(note).1; exec sleep 600' >/dev/null 2>&1 & "
            + "setsid env -i sh -c 'echo $$ > \(note).2; exec sleep 600' >/dev/null 2>&1 & "
            + "while [ ! -s \(note).1 ] || [ ! -s \(note).2 ]; do :; done; "
            + "curl -sS --cacert {cacert} --resolve {host}:{port}:{ip} {url}"
        let result = try await lab(["run", "--only", "baseline", "--", "sh", "-c", script])
        #expect(result.status == 0, "\(result.outputText)")
        for number in [1, 2] {
            let left = try contents(of: "\(note).\(number)")
            let process = try #require(Int32(left.filter { $0.isNumber }))
            #expect(kill(process, 0) == -1, "\(process) is left")
        }
    }

    @Test func `A command is told logs and lists where it takes them`() async throws {
        let words = [
            "curl", "-sS", "--cacert", "{cacert}", "--crlfile", "{crl}", "--resolve",
            "{host}:{port}:{ip}", "{url}",
        ]
        let result = try await lab(["run", "--json", "--only", "crl-*", "--"] + words)
        #expect(result.status == 0, "\(result.outputText)")
        #expect(
            try result.objects.map { $0["grade"]?.string } == Array(repeating: "passed", count: 4))
        let bare = try await lab(["run", "--json", "--only", "sct-*", "--"] + Self.curl)
        #expect(try bare.objects.allSatisfy { $0["grade"]?.string == "not_covered" })
        let own = try await httpdns(
            "lab", "run", "--json", "--only", "sct-*", "--only", "crl-*", "--", Tool.path, "verify",
            "{host}:{port}", "--connect", "{ip}", "--cacert", "{cacert}", "--ct", "require=1",
            "--ct-logs", "{ctlogs}", "--config", "none")
        let missed = try own.objects.filter { $0["grade"]?.string == "missed" }
        #expect(missed.isEmpty, "\(missed)")
        #expect(try own.objects.count { $0["grade"]?.string == "passed" } == 6)
    }

    @Test func `A command that writes without a pause is stopped, too`() async throws {
        let result = try await lab([
            "run", "--only", "expired", "--timeout", "300ms", "--", "sh", "-c",
            "true {url} {ip}; exec yes",
        ])
        #expect(result.status == 1, "\(result.errorText)")
    }

    @Test func `A command that hangs is stopped`() async throws {
        let script = "exec 3<>/dev/tcp/{ip}/{port}; read -u 3 line"
        let result = try await lab([
            "run", "--only", "expired", "--timeout", "300ms", "--", "bash", "-c", script,
        ])
        #expect(result.status == 1)
        #expect(result.outputText.contains("hung: it had to be stopped"))
    }

    @Test func `Proxies of the environment do not reach the command`() async throws {
        let nowhere = "http://127.0.0.1:1"
        let result = try await lab(
            ["run", "--only", "baseline", "--"] + Self.curl,
            environment: [
                "https_proxy": nowhere, "HTTPS_PROXY": nowhere, "ALL_PROXY": nowhere,
            ])
        #expect(result.status == 0, "\(result.outputText)")
    }

    @Test func `A client that cannot be told an address goes through the proxy`() async throws {
        let script =
            "import ssl, urllib.request as u; "
            + "u.urlopen('{url}', context=ssl.create_default_context(cafile='{cacert}')).read()"
        let result = try await lab([
            "run", "--proxy", "--only", "baseline", "--only", "expired", "--only",
            "redirect-to-bad-host", "--", "python3", "-c", script,
        ])
        #expect(result.status == 0, "\(result.outputText)")
        #expect(result.lines.last == "3 passed, 0 missed")
    }

    @Test func `The XML is well formed and counts right`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/lab.xml"
        let result = try await lab([
            "run", "--only", "expired", "--only", "baseline", "--only", "wrong-pin", "--only",
            "dh480", "--junit", file, "--", "sh", "-c",
            "printf '<&\"\\001\\377'; curl -sk --resolve {host}:{port}:{ip} {url}",
        ])
        #expect(result.status == 1)
        let script = """
            import sys, xml.etree.ElementTree as t
            s = t.parse(sys.argv[1]).getroot().find('testsuite')
            print(s.get('tests'), s.get('failures'), s.get('skipped'))
            print([c.get('name') for c in s if c.find('failure') is not None])
            """
        let read = try await run("python3", ["-c", script, file])
        #expect(read.outputText == "4 1 2\n['expired']\n", "\(read.errorText)")
    }

    @Test func `XML on standard output has it for itself`() async throws {
        let words = ["run", "--self", "--only", "baseline", "--junit", "-"]
        let result = try await lab(words)
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.outputText.hasPrefix("<?xml"))
        #expect(result.outputText.hasSuffix("</testsuites>\n"))
        #expect(result.errorText.hasSuffix("1 passed, 0 missed\n"))
        let both = try await lab(words + ["--json"])
        #expect(both.status == 2)
        #expect(both.errorText.contains("--junit - and --json"))
    }
}
