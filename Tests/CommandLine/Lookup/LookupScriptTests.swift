import Glibc
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// What scripts rely on.
@Suite struct LookupScriptTests {
    let zone: ZoneServer

    init() throws { zone = try ZoneServer() }

    static let keys = [
        "name", "unicodeName", "effectiveName", "types", "status", "error", "answers", "addresses",
        "aliases",
        "ttl", "ede", "negativeTTL", "stale", "cached", "authenticated", "authenticData",
        "resolver",
        "transport", "server", "clientIP", "milliseconds", "tries",
    ]

    @Test(
        arguments: [
            ("ok.example.test", "NOERROR", nil, 0), ("nope.example.test", "NXDOMAIN", nil, 1),
            ("nodata.example.test", "NODATA", nil, 1),
            ("servfail.example.test", "SERVFAIL", "server_failure", 3),
            ("drop.example.test", nil, "timed_out", 9), ("a..b", nil, "invalid_name", 2),
        ] as [(String, String?, String?, Int32)])
    func `the keys are the same on success and failure`(
        name: String, status: String?, error: String?, code: Int32
    ) async throws {
        let result = try await httpdns(
            "lookup", name, zone.resolver, "--json", "--timeout", "300ms")
        let objects = try result.objects
        #expect(objects.count == 1)
        let object = try #require(objects.first)
        #expect(object.object?.names == LookupScriptTests.keys.sorted())
        #expect(object["status"]?.string == status)
        #expect(object["error"]?["code"]?.string == error)
        #expect(object["name"]?.string == name)
        #expect(result.status == code)
    }

    @Test func `the JSON says what the table says`() async throws {
        let result = try await httpdns("lookup", "chain.example.test", zone.resolver, "--json")
        let object = try #require(try result.objects.first)
        #expect(object["types"]?.array == ["A", "AAAA"])
        #expect(
            object["answers"]?.array == [
                [
                    "data": "cdn.example.test", "name": "chain.example.test", "ttl": 30,
                    "type": "CNAME",
                ],
                ["data": "127.0.0.1", "name": "cdn.example.test", "ttl": 5, "type": "A"],
            ])
        #expect(object["addresses"]?.array == ["127.0.0.1"])
        #expect(object["aliases"]?.array == ["cdn.example.test"])
        #expect(object["ttl"]?.integer == 5)
        #expect(object["negativeTTL"]?.isNull == true)
        #expect(object["resolver"]?.string == "udp://\(zone.place)")
        #expect(object["transport"]?.string == "udp")
        #expect(object["server"]?.string == zone.place)
        #expect(object["tries"]?.integer == 1)
        #expect(object["milliseconds"]?.number ?? -1 > 0)
    }

    @Test func `a negative answer has its TTL`() async throws {
        let result = try await httpdns("lookup", "nope.example.test", zone.resolver, "--json")
        #expect(try result.objects.first?["negativeTTL"]?.integer == 5)
    }

    @Test func `a list of names gives a line each in its order`() async throws {
        let names = (0..<40).map { "n\($0).example.test" } + ["ok.example.test"]
        let list = "# names\n\n" + names.joined(separator: "  # one\n") + "\n"
        let result = try await httpdns(
            "lookup", "--file", "-", "A", zone.resolver, "--json", "--parallel", "7", input: list)
        #expect(try result.objects.map { $0["name"]?.string } == names)
        #expect(result.status == 1)
    }

    @Test func `a list from a file is a table of tabs`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("names", "ok.example.test\nboth.example.test\n")
        let result = try await httpdns("lookup", "--file=\(path)", zone.resolver)
        let from = "udp://\(zone.place)"
        #expect(
            result.lines == [
                "ok.example.test\tA\t30s\t127.0.0.1\t\(from)",
                "both.example.test\tA\t30s\t127.0.0.1\t\(from)",
                "both.example.test\tAAAA\t30s\t::1\t\(from)",
            ])
    }

    @Test func `a list that is not there is named`() async throws {
        let result = try await httpdns("lookup", "--file", "/nowhere/names", zone.resolver)
        #expect(
            result.errorText
                == "httpdns lookup: cannot read \"/nowhere/names\": No such file or directory\n")
        #expect(result.status == 2)
    }

    @Test func `a pipe has no colour unless it is asked for`() async throws {
        let plain = try await httpdns("lookup", "ok.example.test", zone.resolver)
        #expect(!plain.output.contains(0x1B))
        let forced = try await httpdns(
            "lookup", "ok.example.test", zone.resolver, "--color", "always")
        #expect(forced.output.contains(0x1B))
    }

    @Test func `a closed pipe ends quietly`() async throws {
        let names = (0..<200).map { "n\($0).example.test ok.example.test" }
        let script =
            "\"$0\" lookup --file - --json --parallel 4 \"$1\" | head -n 1; echo ${PIPESTATUS[0]}"
        let result = try await run(
            "bash", ["-c", script, Tool.path, zone.resolver],
            input: Array(names.joined(separator: "\n").replacing(" ", with: "\n").utf8))
        #expect(result.lines.count == 2)
        #expect(result.lines.last == "0")
        #expect(!result.errorText.contains("ipe"))
    }

    @Test func `an interrupt ends with 130`() async throws {
        let child = try ChildProcess(
            Tool.path, ["lookup", "drop.example.test", zone.resolver, "--timeout", "1m"])
        #expect(await eventually { !zone.server.queries.isEmpty })
        kill(child.identifier, SIGINT)
        let status = try await offPool { child.awaitEnd() }
        #expect(status == 130)
    }

    private func shell(_ script: String) async throws -> CommandResult {
        try await run("sh", ["-c", script, Tool.path, zone.resolver])
    }

    @Test(arguments: ["> /dev/full", ">&-"])
    func `output that cannot be written is a failure`(redirection: String) async throws {
        let result = try await shell(#"exec "$0" lookup ok.example.test "$1" \#(redirection)"#)
        #expect(result.errorText.hasPrefix("httpdns: cannot write standard output: "))
        #expect(result.status == 2)
    }

    @Test func `few descriptors make names wait, not fail`() async throws {
        // What the test process has open is not the tool's: it is closed first.
        let script =
            #"for f in /proc/self/fd/*; do n=${f##*/}; [ "$n" -le 2 ] || eval "exec $n>&-"; done; "#
            + #"ulimit -n 32; yes ok.example.test | head -n 300 | "#
            + #""$0" lookup --file - A --parallel 300 --short "$1""#
        let result = try await run("bash", ["-c", script, Tool.path, zone.resolver])
        #expect(result.errorText == "")
        #expect(result.lines == Array(repeating: "127.0.0.1", count: 300))
        #expect(result.status == 0)
    }
}

extension String {
    fileprivate func replacing(_ space: Character, with other: Character) -> String {
        String(map { $0 == space ? other : $0 })
    }
}
