import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// What Ctrl-C leaves behind.
@Suite(.timeLimit(.minutes(2))) struct LookupInterruptTests {
    let zone: ZoneServer

    init() throws { zone = try ZoneServer() }

    private struct Ending {
        let lines: [String]
        let errors: String
        let status: Int32

        var objects: [JSONValue] {
            get throws { try lines.map { try JSONValue.parse($0) } }
        }
    }

    /// Runs the tool until the server was asked for `name`, and then sends the signal.
    private func interrupted(
        onceAskedFor name: String, by number: Int32 = SIGINT, _ arguments: String...
    ) async throws -> Ending {
        let child = try ChildProcess(
            Tool.path, ["lookup", "A", zone.resolver, "--timeout", "100s"] + arguments,
            environment: ["NO_COLOR": "", "XDG_CONFIG_HOME": "/nowhere"])
        let isAsked = await eventually {
            zone.server.queries.contains { $0.question.text == name }
        }
        #expect(isAsked)
        kill(child.identifier, number)
        return try await offPool {
            var lines: [String] = []
            while let line = child.readLine() { lines.append(line) }
            return Ending(
                lines: lines, errors: child.readErrors(), status: child.awaitEnd())
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `what waits behind a silent name is printed, and that name is an object`(
        signal: Int32
    ) async throws {
        // With two in flight, the last is asked for when those before it have their answers.
        let names = ["drop.example.test", "n1.test", "n2.test", "n3.test", "n4.test"]
        let ended = try await interrupted(
            onceAskedFor: "n4.test", by: signal, names[0], names[1], names[2], names[3], names[4],
            "--parallel", "2", "--json")
        let objects = try ended.objects
        #expect(objects.map { $0["name"]?.string } == names)
        #expect(objects[1...3].allSatisfy { $0["status"]?.string == "NXDOMAIN" })
        #expect(objects[0]["error"]?["code"]?.string == "cancelled")
        #expect(objects[0]["status"]?.isNull == true)
        #expect(objects[0].object?.names == LookupScriptTests.keys.sorted())
        #expect(ended.status == 130)
    }

    @Test func `names that were not asked for are objects, too, without a try`() async throws {
        let ended = try await interrupted(
            onceAskedFor: "drop.example.test", "drop.example.test", "n1.test", "n2.test",
            "--parallel", "1", "--json")
        let objects = try ended.objects
        #expect(
            objects.map { $0["error"]?["code"]?.string } == Array(repeating: "cancelled", count: 3))
        #expect(objects.map { $0["tries"]?.integer } == [1, 0, 0])
        #expect(ended.status == 130)
    }

    @Test func `people read which name was cut off, and how many were not asked for`()
        async throws
    {
        let ended = try await interrupted(
            onceAskedFor: "drop.example.test", "ok.example.test", "drop.example.test", "n1.test",
            "n2.test", "--parallel", "1", "--short")
        #expect(ended.lines == ["127.0.0.1"])
        let complaints = ended.errors.split(separator: "\n").map { String($0).timeless }
        #expect(complaints.count == 2)
        #expect(
            complaints.first?.hasPrefix(
                "drop.example.test: interrupted before \(zone.place) answered (udp, ") == true)
        #expect(complaints.last == "interrupted: 2 names were not asked for, from n1.test on")
        #expect(ended.status == 130)
    }

    @Test(arguments: [["--repeat", "3"], ["--watch"]])
    func `the times so far are told, without what was cut off`(rounds: [String]) async throws {
        let ended = try await interrupted(
            onceAskedFor: "drop.example.test", "ok.example.test", "drop.example.test",
            "--parallel", "1", rounds[0], rounds.count > 1 ? rounds[1] : "--seconds")
        let table = ended.lines.suffix(3).map(\.squeezed)
        #expect(table.first == "NAME ANSWERED MIN MEDIAN P95 MAX FROM")
        #expect(table.dropFirst().first?.hasPrefix("ok.example.test 1 of 1 ") == true)
        #expect(table.last?.hasPrefix("drop.example.test 0 of 0 - - - - ") == true)
        #expect(ended.errors.contains("drop.example.test: interrupted before "))
        #expect(ended.status == 130)
    }

    @Test func `a list that says nothing holds nobody up`() async throws {
        let ended = try await interrupted(
            onceAskedFor: "ok.example.test", "ok.example.test", "--file", "-", "--json")
        #expect(try ended.objects.count == 1)
        #expect(ended.errors.hasSuffix("interrupted: nothing of the list was read\n"))
        #expect(ended.status == 130)
    }

    @Test func `a second signal ends what cannot print`() async throws {
        // Nobody reads the pipe, which holds a tenth of what there is to say of so many.
        let names = (0..<2_000).map { "n\($0).test" }
        let child = try ChildProcess(
            Tool.path, ["lookup", "A", zone.resolver, "--json"] + names,
            environment: ["XDG_CONFIG_HOME": "/nowhere"])
        let isAsked = await eventually { !zone.server.queries.isEmpty }
        #expect(isAsked)
        kill(child.identifier, SIGINT)
        // Another one: two of a kind may arrive as one.
        kill(child.identifier, SIGTERM)
        #expect(try await offPool { child.awaitEnd() } == 130)
    }
}
