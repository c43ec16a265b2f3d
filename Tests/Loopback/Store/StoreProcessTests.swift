import Glibc
import HTTPDNSLookup
import HTTPDNSPlatform
import HTTPDNSStore
import TestSupport
import Testing

@Suite struct StoreProcessTests {
    @Test func `a process that is killed in the middle of writing leaves nothing wrong`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/answers.db"
        var rounds = 0
        for attempt in 0..<20 {
            let writer = try ChildProcess(TestChild.path, ["keep", path, String(rounds + 1)])
            rounds = try await offPool { [rounds] in
                var last = rounds
                // Some are killed before, some after their first rounds, and in the middle of one.
                for _ in 0..<(attempt % 4) {
                    last = writer.readLine().flatMap { Int($0) } ?? last
                }
                writer.awaitOutput(atMostMilliseconds: Int32(attempt * 7 % 23))
                kill(writer.identifier, SIGKILL)
                while let line = writer.readLine() { last = Int(line) ?? last }
                #expect(writer.awaitEnd() == 128 + SIGKILL)
                return last
            }
            for suffix in ["", "-wal", "-shm"] {
                var facts = stat()
                guard lstat(path + suffix, &facts) == 0 else { continue }
                #expect(facts.st_mode & 0o777 == 0o600, "\(suffix), with an umask of 0")
            }
            try await check(path, finished: rounds)
        }
        #expect(rounds > 5)
    }

    /// All that was flushed is there, or something newer; nothing else.
    private func check(_ path: String, finished: Int) async throws {
        let events = Locked<[StoreEvent]>([])
        let store = SQLiteAnswerStore(path: path) { event in
            events.withLock { $0.append(event) }
        }
        for number in 0..<200 {
            let found = await store.found(try ProvenAnswers.question(number))
            guard finished > 0 || found != nil else { continue }
            let testimony = try #require(found?.testimony, "\(number) after round \(finished)")
            #expect(ProvenAnswers.isProven(testimony, number: number))
            let round = Int(testimony.source.resolver.dropFirst("round-".count)) ?? -1
            #expect(round >= finished)
        }
        #expect(events.withLock { $0 } == [])
    }

    @Test func `two processes may keep answers in one file`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/answers.db"
        let writers = try [1, 1_000].map {
            try ChildProcess(TestChild.path, ["keep", path, String($0)])
        }
        let complaints = try await offPool {
            for writer in writers {
                for _ in 0..<5 { #expect(writer.readLine() != nil) }
            }
            for writer in writers { kill(writer.identifier, SIGKILL) }
            return writers.map { writer in
                writer.awaitEnd()
                return writer.readErrors()
            }
        }
        #expect(complaints == ["", ""])
        try await check(path, finished: 1)
    }

    private static func mayMount() async -> Bool {
        let tried = try? await run("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"])
        return tried?.status == 0
    }

    @Test(.enabled("a small disk needs rights that are not there") { await mayMount() })
    func `a disk that is full is said once, and nobody waits for it`() async throws {
        let directory = try TemporaryDirectory()
        let script = "mount -t tmpfs -o size=300k none \"$1\" && exec \"$2\" keep \"$1/a.db\" 1"
        let writer = try ChildProcess(
            "unshare", ["-m", "sh", "-c", script, "sh", directory.path, TestChild.path])
        let complaints = try await offPool {
            // A round takes some 70 KB until the disk is full, and nothing from then on.
            for _ in 0..<60 { #expect(writer.readLine() != nil) }
            kill(writer.identifier, SIGKILL)
            while writer.readLine() != nil {}
            #expect(writer.awaitEnd() == 128 + SIGKILL)
            return writer.readErrors().split(separator: "\n")
        }
        #expect(complaints.count == 1)
        #expect(complaints.first?.contains("cannot be used for now") == true)
    }
}
