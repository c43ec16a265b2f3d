import Glibc
import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// A server whose answer changes with every second question.
private final class ChangingServer: Sendable {
    let server: LabDNSServer
    var resolver: String { "@" + server.endpoint }
    var from: String { "udp://" + server.endpoint }

    init() throws {
        let asked = Locked(0)
        server = try LabDNSServer { question in
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            return question.answer([LabAddress.ipv4(host: UInt8((number + 1) / 2))], ttlSeconds: 0)
        }
        try server.start()
    }

    deinit { server.stop() }
}

extension String {
    /// With a time stamp at its start as `TIME`.
    fileprivate var dateless: String {
        let stamp = prefix { $0.isNumber || "-:TZ".contains($0) }
        return stamp.count == 20 ? "TIME" + dropFirst(20) : self
    }
}

@Suite(.timeLimit(.minutes(1))) struct LookupRoundsTests {
    @Test func `a repetition shows the answer, what changed, and the times`() async throws {
        let server = try ChangingServer()
        let result = try await httpdns(
            "lookup", "flip.test", "A", server.resolver, "--repeat", "3")
        let lines = result.lines
        #expect(lines.count == 7)
        #expect(lines[1].squeezed == "flip.test A 0s 127.0.0.1 \(server.from)")
        #expect(lines[3].dateless == "TIME  flip.test  127.0.0.1 → 127.0.0.2  (\(server.from))")
        #expect(lines[5].squeezed == "NAME ANSWERED MIN MEDIAN P95 MAX FROM")
        #expect(lines[6].squeezed.hasPrefix("flip.test 3 of 3 "))
        #expect(lines[6].hasSuffix(server.from))
        #expect(result.errorText == "")
        #expect(result.status == 0)
    }

    @Test func `in JSON a round is an object, and the times are on standard error`()
        async throws
    {
        let zone = try ZoneServer()
        let result = try await httpdns(
            "lookup", "ok.example.test", "A", zone.resolver, "--repeat=4", "--json")
        let objects = try result.objects
        #expect(objects.map { $0["round"]?.integer } == [1, 2, 3, 4])
        #expect(objects.allSatisfy { $0["time"]?.string?.hasSuffix("Z") == true })
        #expect(result.complaints.last?.hasPrefix("ok.example.test  4 of 4") == true)
        #expect(zone.server.queries.count == 4)
    }

    @Test func `what has no answer counts as asked, and the exit code tells`() async throws {
        let zone = try ZoneServer()
        let result = try await httpdns(
            "lookup", "drop.example.test", "ok.example.test", "A", zone.resolver, "--repeat", "2",
            "--timeout", "100ms", "--short")
        #expect(
            result.complaints.contains { $0.squeezed.hasPrefix("drop.example.test 0 of 2 - - - -") }
        )
        #expect(result.outputText == "127.0.0.1\n")
        #expect(result.status == 9)
    }

    @Test func `a watch that is piped prints changes alone, each with its time`() async throws {
        let server = try ChangingServer()
        let result = try await httpdns(
            "lookup", "flip.test", "A", server.resolver, "--watch", "--interval", "5ms",
            "--repeat", "5")
        let from = "(\(server.from))"
        #expect(
            result.lines.prefix(3).map(\.dateless) == [
                "TIME  flip.test  127.0.0.1  \(from)",
                "TIME  flip.test  127.0.0.1 → 127.0.0.2  \(from)",
                "TIME  flip.test  127.0.0.2 → 127.0.0.3  \(from)",
            ])
        #expect(server.server.queries.count == 5)
        #expect(result.status == 0)
    }

    @Test func `a watch in JSON prints the objects that differ`() async throws {
        let server = try ChangingServer()
        let result = try await httpdns(
            "lookup", "flip.test", "A", server.resolver, "--watch", "--interval", "5ms",
            "--repeat", "5", "--json")
        #expect(try result.objects.map { $0["round"]?.integer } == [1, 3, 5])
    }

    @Test func `a watch ends with 130 when it is interrupted`() async throws {
        let server = try ChangingServer()
        let child = try ChildProcess(
            Tool.path,
            ["lookup", "flip.test", "A", server.resolver, "--watch", "--interval", "10ms"])
        let (first, rest, status) = try await offPool {
            let first = child.readLine()
            var rest: [String] = []
            kill(child.identifier, SIGINT)
            while let line = child.readLine() { rest.append(line) }
            return (first, rest, child.awaitEnd())
        }
        #expect(rest.dropLast().last?.squeezed == "NAME ANSWERED MIN MEDIAN P95 MAX FROM")
        #expect(rest.last?.hasPrefix("flip.test") == true)
        #expect(first?.dateless == "TIME  flip.test  127.0.0.1  (\(server.from))")
        #expect(status == 130)
    }

    @Test func `on a terminal a watch redraws in its place`() async throws {
        let server = try ChangingServer()
        let command =
            "'\(Tool.path)' lookup flip.test A \(server.resolver) --watch --interval 5ms "
            + "--repeat 3 --color never"
        let result = try await run(
            "script", ["-qec", command, "/dev/null"], environment: ["TERM": "xterm"])
        let text = result.outputText
        #expect(text.contains("\u{1B}[2J\u{1B}[Hround 1, "))
        #expect(text.contains("\u{1B}[Hround 3, "))
        #expect(text.contains("changes:"))
        #expect(text.contains("127.0.0.1 → 127.0.0.2"))
        #expect(result.status == 0)
    }

    @Test(
        arguments: [
            ([100], [100, 100, 100, 100]), ([3, 1, 2], [1, 2, 3, 3]),
            (Array(stride(from: 1.0, through: 100, by: 1)), [1, 50, 95, 100]),
        ] as [([Double], [Double])])
    func `each of the times is one that was measured`(times: [Double], expected: [Double]) throws {
        var timings = LookupTimings()
        for time in times { timings.add(try report(milliseconds: time)) }
        #expect([0, 0.5, 0.95, 1].map { timings.milliseconds(share: $0) } == expected)
        #expect(LookupTimings().milliseconds(share: 0.5) == nil)
        #expect(LookupTimings().cells == ["-", "-", "-", "-"])
    }

    private func report(milliseconds: Double) throws -> LookupReport {
        try LookupReport.answered(milliseconds: milliseconds)
    }
}
