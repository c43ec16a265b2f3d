import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// What `diagnose` says when it is told to end, or when there is nobody to ask.
@Suite(.timeLimit(.minutes(3))) struct DiagnoseInterruptTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func words(_ lab: DiagnosisLab) throws -> [String] {
        let root = try directory.write("root.pem", lab.authority.certificatePEM)
        return [
            "diagnose", DiagnosisLab.host, "--no-system", "--hosts", "none", "--cacert", root,
            "--tls-port", "\(lab.origin.port)", "--connect-only", "--stay-on-loopback",
        ]
    }

    /// Runs the tool with silent servers until both were asked, and then sends the signal.
    private func interrupted(
        by number: Int32, _ more: String...
    ) async throws -> (text: String, errors: String, status: Int32) {
        let lab = try DiagnosisLab()
        for server in [lab.network, lab.trusted] { try server.behave(.dead) }
        let places = [
            "--nameserver", lab.network.endpoint, "--trusted", lab.trusted.endpoint, "--timeout",
            "100s",
        ]
        let child = try ChildProcess(
            DiagnoseToolTests.tool, try words(lab) + places + more,
            environment: DiagnoseToolTests.environment)
        let isAsked = await eventually {
            [lab.network, lab.trusted].allSatisfy { server in
                server.queries.contains { $0.question.text == DiagnosisLab.host }
            }
        }
        #expect(isAsked)
        kill(child.identifier, number)
        return try await offPool {
            var lines: [String] = []
            while let line = child.readLine() { lines.append(line) }
            return (lines.joined(separator: "\n"), child.readErrors(), child.awaitEnd())
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a run that is told to end says that it was, and not that nobody answers`(
        signal: Int32
    ) async throws {
        let ended = try await interrupted(by: signal, "--json")
        #expect(ended.status == 130)
        let object = try JSONValue.parse(ended.text)
        #expect(object["verdict"]?.string == "inconclusive")
        #expect(object["missing"]?.array?.compactMap(\.string) == ["interrupted"])
        #expect(object["unfinished"]?.array?.count == 1)
    }

    @Test func `people read that it was interrupted`() async throws {
        let ended = try await interrupted(by: SIGINT)
        #expect(ended.status == 130)
        #expect(ended.text.hasPrefix("www.shop.test: undecided: the run was interrupted\n"))
        #expect(!ended.text.contains("offline"))
        #expect(ended.text.contains("let it run to its end"))
        // What was not waited for is not bad.
        #expect(!ended.text.contains("BAD  "))
    }

    @Test func `with nobody to ask it says so, without a network, too`() async throws {
        let words = [
            "diagnose", DiagnosisLab.host, "--no-system", "--hosts", "none", "--nameserver",
            "none", "--trusted", "none", "--stay-on-loopback", "--json",
        ]
        var results = [
            try await run(
                DiagnoseToolTests.tool, words, environment: DiagnoseToolTests.environment)
        ]
        // Where this user may have a network of its own, and so none.
        if try await run("unshare", ["-n", "true"]).status == 0 {
            results.append(
                try await run(
                    "unshare", ["-n", DiagnoseToolTests.tool] + words,
                    environment: DiagnoseToolTests.environment))
        }
        for result in results {
            #expect(result.status == 9)
            let object = try JSONValue.parse(result.outputText)
            #expect(object["verdict"]?.string == "inconclusive")
            #expect(object["missing"]?.array?.compactMap(\.string) == ["nobody_asked"])
        }
    }

    @Test func `messages are shown in text, JSON and page, where that is asked for`()
        async throws
    {
        let lab = try DiagnosisLab()
        let file = directory.path + "/page.html"
        let all =
            try words(lab) + [
                "--nameserver", lab.network.endpoint, "--trusted", lab.trusted.endpoint,
                "--timeout", "120s",
            ]
        let environment = DiagnoseToolTests.environment
        let text = try await run(
            DiagnoseToolTests.tool, all + ["--raw", "--html", file], environment: environment)
        let raws = text.outputText.split(separator: "\n").filter { $0.hasPrefix("raw udp://") }
        // Of both: A and AAAA, and the names made up.
        #expect(raws.count == 16)
        let page = try contents(of: file)
        #expect(page.contains("messages as they came"))
        let hex = try #require(raws.first?.split(separator: " ").last)
        #expect(page.contains(hex))
        let json = try await run(
            DiagnoseToolTests.tool, all + ["--raw", "--json"], environment: environment)
        let answers = try JSONValue.parse(json.outputText)["evidence"]?["answers"]?.array ?? []
        let own = answers.filter { $0["source"]?.string?.hasPrefix("udp://") == true }
        #expect(own.count >= 2)
        for answer in own {
            #expect(answer["rawForm"]?.string == "dns_message")
            #expect((answer["raw"]?.string?.count ?? 0) > 24)
            #expect(
                answer["rawOctets"]?.integer == (answer["raw"]?.string?.count).map { Int64($0 / 2) }
            )
        }
        let quiet = try await run(
            DiagnoseToolTests.tool, all + ["--json"], environment: environment)
        #expect(!quiet.outputText.contains("\"raw"))
    }
}
