import Glibc
import HTTPDNSJSON
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct LabSelfTests {
    @Test func `This library does in every scenario what it must, for the right reason`()
        async throws
    {
        let result = try await httpdns("lab", "run", "--self", "--json", "--timeout", "60s")
        #expect(result.status == 0)
        let names = { (grade: String) in
            try result.objects.filter { $0["grade"]?.string == grade }
                .compactMap { $0["scenario"]?.string }
        }
        let missed = try result.objects.filter { $0["grade"]?.string == "missed" }
        #expect(missed.isEmpty, "\(missed)")
        #expect(try names("not_covered").isEmpty)
        #expect(Set(try names("not_served")).isSubset(of: ["rc4", "rc4-md5", "3des", "dh480"]))
    }

    @Test func `Without its fault, this library accepts every scenario`() async throws {
        let result = try await httpdns(
            "lab", "run", "--self", "--no-fault", "--json", "--timeout", "60s")
        let missed = try result.objects.filter { $0["grade"]?.string == "missed" }
        #expect(missed.isEmpty, "\(missed)")
        #expect(result.status == 0)
    }

    @Test func `An interrupt ends the command that runs, and leaves nothing behind`() async throws {
        let directory = try TemporaryDirectory()
        let note = directory.path + "/pid"
        let script =
            "exec 3<>/dev/tcp/{ip}/{port}; echo $$ {cacert} > \(note).new; mv \(note).new \(note); "
            + "read -u 3 line"
        let child = try ChildProcess(
            Tool.path, ["lab", "run", "--only", "expired", "--", "bash", "-c", script])
        #expect(await eventually(withinMilliseconds: 30_000) { access(note, R_OK) == 0 })
        kill(child.identifier, SIGINT)
        let status = try await offPool { child.awaitEnd() }
        #expect(status == 130)
        let words = try await run("cat", [note]).outputText.split(separator: " ")
        let process = try #require(words.first.flatMap { pid_t($0) })
        #expect(await eventually { kill(process, 0) != 0 })
        let authority = words.dropFirst().joined().prefix { $0 != "\n" }
        #expect(access(String(authority), F_OK) != 0)
    }

    @Test func `Serve tells all that a client needs, until it is interrupted`() async throws {
        let child = try ChildProcess(
            Tool.path, ["lab", "serve", "--json", "right-pin", "badssl-expired"])
        let first = try await offPool { child.readLine() }
        let second = try await offPool { child.readLine() }
        for (line, status) in [(first, Int32(0)), (second, 60)] {
            let target = try JSONValue.parse(try #require(line))
            let text = { (name: String) in target[name]?.string ?? "" }
            let port = try #require(target["port"]?.integer)
            let pin = try #require(target["pins"]?.array?.first?.string)
            let result = try await run(
                "curl",
                [
                    "-sS", "--cacert", text("cacert"), "--resolve",
                    "\(text("host")):\(port):\(text("ip"))", "--pinnedpubkey",
                    "sha256//" + pin.dropFirst(7), text("url"),
                ])
            #expect(result.status == status, "\(result.errorText)")
        }
        kill(child.identifier, SIGINT)
        let status = try await offPool { child.awaitEnd() }
        #expect(status == 130)
    }
}
