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
            Array("ok.example.test\r\n# none\na..b\n".utf8) + [0x61, 0xFF, 0x5C, 0x0A]
            + Array("both.example.test".utf8)
        let result = try await run(
            Tool.path, ["lookup", "--file", "-", "A", zone.resolver, "--short"], input: list)
        #expect(result.outputText == "127.0.0.1\n127.0.0.1\n")
        #expect(result.complaints.count == 2)
        #expect(result.complaints.first?.hasPrefix("line 3: \"a..b\" is not a name: ") == true)
        #expect(
            result.complaints.last
                == #"line 4: "a\xff\x5c" is not a name: it is not UTF-8, from octet 1 on"#)
        #expect(result.status == 2)
    }

    @Test func `a line too long is a bad line like others`() async throws {
        let long = String(repeating: "x", count: ListCutter.maximumOctets + 1)
        let result = try await httpdns(
            "lookup", "--file", "-", "A", zone.resolver, "--json",
            input: "ok.example.test\n\(long)\nnope.example.test\n\(long)")
        let objects = try result.objects
        #expect(
            objects.map { $0["status"]?.string } == ["NOERROR", nil, "NXDOMAIN", nil])
        #expect(
            objects.map { $0["error"]?["message"]?.string } == [
                nil, "line 2: the line is longer than 65536 octets", nil,
                "line 4: the line is longer than 65536 octets",
            ])
        #expect(objects[1]["name"]?.string?.count == 65)
        #expect(result.status == 2)
    }

    @Test func `the mark that some editors begin a file with is no part of a name`() async throws {
        let result = try await httpdns(
            "lookup", "--file", "-", "A", zone.resolver, "--short",
            input: "\u{FEFF}ok.example.test\n")
        #expect(result.outputText == "127.0.0.1\n")
        #expect(result.status == 0)
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
    @Test(.enabled(if: !Sanitizer.isOn))
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
        #expect(cutter.append(Array("a\nb".utf8)).map(\.content) == [.text("a")])
        #expect(cutter.append(Array("c\n\nd".utf8)).map(\.content) == [.text("bc"), .text("")])
        #expect(cutter.finish().map(\.number) == [4])
        #expect(cutter.finish().isEmpty)
        #expect(
            cutter.append([0x61, 0xC3, 0xA9, 0xFF, 0x0A]).map(\.content) == [
                .octets([0x61, 0xC3, 0xA9, 0xFF], place: 3)
            ])
    }

    @Test func `a long line is cut however it comes, and the next one is whole`() {
        let limit = ListCutter.maximumOctets
        for pieces in [[limit, 1], [limit / 2, limit], [limit + 1], [limit, 0, 3 * limit]] {
            var cutter = ListCutter()
            for piece in pieces {
                #expect(cutter.append([UInt8](repeating: 0x78, count: piece)).isEmpty)
            }
            let lines = cutter.append(Array("\nb\n".utf8))
            #expect(lines.map(\.number) == [1, 2])
            #expect(lines.first?.content == .tooLong(start: [UInt8](repeating: 0x78, count: 64)))
            #expect(lines.last?.content == .text("b"))
        }
        var endless = ListCutter()
        while !endless.isEndless {
            #expect(endless.append([UInt8](repeating: 0, count: limit)).isEmpty)
        }
        var whole = ListCutter()
        #expect(whole.append([UInt8](repeating: 0x78, count: limit)).isEmpty)
        #expect(whole.finish().map(\.content) == [.text(String(repeating: "x", count: limit))])
    }
}
