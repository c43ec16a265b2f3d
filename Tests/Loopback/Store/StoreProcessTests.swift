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
            let end = try await KilledChild.run("keep", path, after: rounds, attempt: attempt)
            #expect(end.wasKilled)
            rounds = end.round
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
        let complaints = try await KilledChild.pair("keep", path, rounds: 5)
        #expect(complaints == ["", ""])
        try await check(path, finished: 1)
    }

    @Test(.enabled("a small disk needs rights that are not there") { await KilledChild.mayMount() })
    func `a disk that is full is said once, and nobody waits for it`() async throws {
        let directory = try TemporaryDirectory()
        // A round takes some 70 KB until the disk is full, and nothing from then on.
        let (end, complaints) = try await KilledChild.onSmallDisk(
            "keep", "a.db", size: "300k", in: directory, upTo: 60)
        #expect(end.round == 60 && end.wasKilled)
        #expect(complaints.count == 1)
        #expect(complaints.first?.contains("cannot be used for now") == true)
    }
}
