import Glibc
import HTTPDNSCLI
import HTTPDNSExchange
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct FetchRoundsTests {
    let origin: FetchOrigin

    init() throws { origin = try FetchOrigin() }

    @Test func `A repetition shares connections, and says what became of all`() async throws {
        let result = try await origin.fetch("/missing", ["--repeat", "20"])
        #expect(result.status == 0)
        #expect(origin.server.record.requests.count == 20)
        #expect(origin.server.record.connections == 1)
        #expect(result.outputText.hasPrefix("20 requests in "))
        #expect(result.outputText.contains("160 octets of body; 19 on a connection open already"))
        #expect(result.outputText.contains("\n  404: 20\n"))
        #expect(result.outputText.contains("median "))
        #expect(!result.outputText.contains("not here"))
    }

    @Test func `Many at once are all answered, an object each`() async throws {
        let result = try await origin.fetch(
            "/missing", ["--repeat=30", "--parallel=10", "--json"])
        #expect(result.status == 0)
        let objects = try result.outputText.split(separator: "\n").map {
            try JSONValue.parse(Array($0.utf8))
        }
        #expect(objects.allSatisfy { $0["status"] == 404 && $0["bytes"] == 8 })
        let rounds = objects.compactMap { $0["round"]?.integer }
        #expect(rounds.sorted() == (1...30).map { Int64($0) })
        #expect(origin.server.record.connections <= 10)
    }

    @Test func `Failures are counted by kind, and the worst is the exit status`() async throws {
        let result = try await origin.fetch("/short", ["--repeat", "3"])
        #expect(result.status == 3)
        #expect(result.outputText.contains("\n  connection_lost: 3, the first: "))
    }

    @Test(arguments: [
        (["--parallel", "2"], "--parallel is for many requests"),
        (["--repeat", "0"], "--repeat"), (["--repeat", "x"], "--repeat"),
        (["--repeat", "2", "-o", "file"], "--output and --repeat"),
        (["--repeat", "2", "--include"], "--include and --repeat"),
    ])
    func `What makes no sense is refused by name`(words: [String], text: String) async throws {
        let result = try await origin.fetch("/", words)
        #expect(result.status == 2)
        #expect(result.errorText.contains(text))
        #expect(origin.server.record.connections == 0)
    }

    @Test func `Times are those of whole answers, by nearest rank`() {
        var tally = FetchTally()
        for time in 1...100 {
            tally.add(
                ExchangeReport(totalMilliseconds: Double(time)), octets: 1, trouble: nil)
        }
        tally.add(
            ExchangeReport(), octets: 0,
            trouble: FetchTrouble(label: "timed_out", message: "late\nmore", code: .noReply))
        let lines = tally.lines(milliseconds: 2_000, of: 101)
        #expect(lines.first?.hasPrefix("101 requests in 2.0s, 50.5 a second; 100 octets") == true)
        #expect(lines.contains("  timed_out: 1, the first: late"))
        #expect(lines.last?.contains("median 50") == true)
        #expect(lines.last?.contains("p99 99") == true)
        #expect(tally.code == .noReply)
    }
}

@Suite(.timeLimit(.minutes(2))) struct FetchCookieTests {
    let origin: FetchOrigin
    let jar: String

    init() throws {
        origin = try FetchOrigin()
        jar = origin.directory.path + "/cookies.txt"
    }

    private func fetch(_ path: String, _ words: [String] = []) async throws -> CommandResult {
        try await origin.fetch(path, ["--cookie-jar", jar] + words)
    }

    @Test func `Cookies live in a file from run to run, under the name and never the address`()
        async throws
    {
        #expect(try await fetch("/login").status == 0)
        let text = try contents(of: jar)
        #expect(text.contains("#HttpOnly_shop.example.test\tFALSE\t/\tTRUE\t0\tsid\tabc\n"))
        #expect(!text.contains("127.0.0.1"))
        #expect(try await fetch("/cookies").outputText == "sid=abc")
        #expect(try await fetch("/logout").status == 0)
        #expect(try await fetch("/cookies").outputText == "")
        #expect(try await run("/usr/bin/stat", ["-c", "%a", jar]).outputText == "600\n")
    }

    @Test func `A cookie of a redirecting hop is sent on the next`() async throws {
        #expect(try await fetch("/enter").outputText == "sid=abc")
    }

    @Test func `curl reads what was written`() async throws {
        _ = try await fetch("/login")
        let result = try await run(
            "/usr/bin/curl",
            [
                "-sS", "--cacert", origin.rootFile, "--resolve",
                "shop.example.test:\(origin.port):\(origin.address)", "-b", jar,
                origin.url("/cookies"),
            ])
        #expect(result.outputText == "sid=abc")
    }

    @Test func `A line that is no cookie is told with its place, and outlives the run`()
        async throws
    {
        let kept = "#HttpOnly_shop.example.test\tFALSE\t/\tTRUE\t0\told\t1\n"
        try origin.directory.write("cookies.txt", "a\tb\n" + kept)
        let result = try await fetch("/login")
        #expect(result.status == 0)
        #expect(result.errorText.contains("\(jar):1: 2 fields with tabs between, 7 expected"))
        #expect(origin.server.record.requests.first?.value(of: "Cookie") == "old=1")
        let text = try contents(of: jar)
        #expect(text.hasSuffix("\na\tb\n"))
        #expect(text.contains(kept))
        #expect(text.contains("\tsid\tabc\n"))
    }

    @Test func `What another run has put into the file meanwhile is still there`() async throws {
        _ = try await fetch("/login")
        let other = "shop.example.test\tFALSE\t/\tTRUE\t0\tother\t1"
        // The origin plays the other run, while the request that it answers is under way.
        let path = jar
        let meanwhile = try LabServer(security: .tls(origin.identity)) { request in
            let sent = request.value(of: "Cookie") ?? ""
            if let file = fopen(path, "a") {
                fputs(other + "\n", file)
                fclose(file)
            }
            return LabResponse(
                fields: [
                    LabField("Set-Cookie", "mine=\(sent.utf8.count); Secure; Path=/"),
                    LabField("Set-Cookie", "sid=; Secure; Path=/; Max-Age=0"),
                ])
        }
        try meanwhile.start()
        defer { meanwhile.stop() }
        let result = try await run(
            Tool.path,
            [
                "fetch", meanwhile.url(host: "shop.example.test"), "--resolve",
                "shop.example.test:127.0.0.1", "--cacert", origin.rootFile, "--cookie-jar", jar,
            ])
        #expect(result.status == 0, "\(result.errorText)")
        let text = try contents(of: jar)
        #expect(text.contains(other))
        #expect(text.contains("\tmine\t7\n"))
        #expect(!text.contains("\tsid\t"))
    }

    @Test func `A file that cannot be written is refused before anything is sent`() async throws {
        let result = try await origin.fetch(
            "/login",
            ["--json", "--cookie-jar", origin.directory.path + "/missing/cookies.txt"])
        #expect(result.status == 2)
        #expect(result.errorText.contains("cookies.txt"), "\(result.errorText)")
        #expect(result.outputText.split(separator: "\n").count == 1, "\(result.outputText)")
        #expect(origin.server.record.connections == 0)
    }
}
