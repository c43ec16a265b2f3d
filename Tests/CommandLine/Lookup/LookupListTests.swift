import Glibc
import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// Lists of names: `--file`.
@Suite(.timeLimit(.minutes(2))) struct LookupListTests {
    let zone: ZoneServer

    init() throws { zone = try ZoneServer() }

    @Test func `a line that is no name is told with its number, and the rest goes on`()
        async throws
    {
        let list =
            Array("ok.example.test\r\n# none\na..b\n".utf8) + [0xFF, 0xFE, 0x0A]
            + Array("both.example.test".utf8)
        let result = try await run(
            Tool.path, ["lookup", "--file", "-", "A", zone.resolver, "--short"], input: list)
        #expect(result.outputText == "127.0.0.1\n127.0.0.1\n")
        #expect(result.complaints.count == 2)
        #expect(result.complaints.first?.hasPrefix("line 3: \"a..b\" is not a name: ") == true)
        #expect(result.complaints.last?.hasPrefix("line 4: ") == true)
        #expect(result.status == 2)
    }

    @Test func `in JSON a bad line is an object that names the line`() async throws {
        let result = try await httpdns(
            "lookup", "--file", "-", "A", zone.resolver, "--json", input: "a..b\nok.example.test\n")
        let objects = try result.objects
        #expect(objects.map { $0["name"]?.string } == ["a..b", "ok.example.test"])
        #expect(objects[0]["error"]?["code"]?.string == "invalid_name")
        #expect(objects[0]["error"]?["message"]?.string?.hasPrefix("line 1: ") == true)
        #expect(result.status == 2)
    }

    @Test func `what is worse than a bad line goes before it`() async throws {
        let result = try await httpdns(
            "lookup", "--file", "-", "A", zone.resolver, "--timeout", "100ms",
            input: "a..b\ndrop.example.test\n")
        #expect(result.status == 9)
    }

    @Test func `thousands of names come back in their order`() async throws {
        let names = (0..<3_000).map { "n\($0).example.test" }
        let result = try await httpdns(
            "lookup", "--file", "-", "A", zone.resolver, "--json", "--parallel", "64",
            input: names.joined(separator: "\n"))
        #expect(try result.objects.map { $0["name"]?.string } == names)
        #expect(zone.server.queries.count >= 3_000)
    }

    @Test func `one that takes long holds nobody up but in print`() async throws {
        let names = ["drop.example.test"] + (0..<200).map { "n\($0).example.test" }
        let result = try await httpdns(
            "lookup", "--file", "-", "A", zone.resolver, "--json", "--parallel", "4", "--timeout",
            "500ms", input: names.joined(separator: "\n"))
        let objects = try result.objects
        #expect(objects.map { $0["name"]?.string } == names)
        // All others were asked while the first one waited.
        #expect((objects[0]["milliseconds"]?.number ?? 0) >= 500)
        #expect(objects.dropFirst().allSatisfy { $0["status"]?.string == "NXDOMAIN" })
    }

    /// A list of 48 MB, nearly all of it comments.
    /// AddressSanitizer keeps what was freed for a while: there the memory says nothing.
    @Test(.enabled(if: getenv("ASAN_OPTIONS") == nil))
    func `memory does not grow with the list`() async throws {
        let script = """
            import resource, subprocess, sys
            line = b"#" + b"x" * 998 + b"\\n"
            child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for number in range(480):
                child.stdin.write(line * 100 + b"ok.example.test\\n")
            out, _ = child.communicate()
            print(child.returncode, out.count(b"\\n"),
                  resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
            """
        let result = try await run(
            "python3",
            ["-c", script, Tool.path, "lookup", "--file", "-", "A", zone.resolver, "--short"])
        let numbers = result.outputText.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 3, "\(result.errorText)")
        #expect(numbers[0] == 0)
        #expect(numbers[1] == 480)
        #expect(numbers[2] < 48, "\(numbers[2]) MB")
    }

    @Test func `lines are cut where they end, and numbered`() {
        var cutter = ListCutter()
        #expect(cutter.append(Array("a\nb".utf8)).map(\.text) == ["a"])
        #expect(cutter.append(Array("c\n\nd".utf8)).map(\.text) == ["bc", ""])
        #expect(cutter.finish().map(\.number) == [4])
        #expect(cutter.finish().isEmpty)
        #expect(cutter.append([0xFF, 0x0A]).map(\.text) == [nil])
        #expect(!cutter.isEndless)
        _ = cutter.append([UInt8](repeating: 0, count: ListCutter.maximumOctets + 1))
        #expect(cutter.isEndless)
    }
}
