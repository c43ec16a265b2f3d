import Glibc
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSStore
import TestSupport
import Testing

@Suite struct StoreDamageTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `octets that change anywhere are served to nobody`() async throws {
        let whole = try await filled(answers: 120)
        var random = Steps(state: 20_261_130)
        var told = 0
        for number in 0..<150 {
            var octets = whole
            for _ in 0..<(1 + number % 3) {
                let place = random.next(below: octets.count)
                octets[place] ^= UInt8(1 + random.next(below: 255))
            }
            told += try await check(octets, "flip-\(number)") ? 1 : 0
        }
        // Most of a file is rows: their checksums see it.
        #expect(told > 30)
    }

    @Test func `a file that was cut anywhere is begun anew`() async throws {
        let whole = try await filled(answers: 120)
        var random = Steps(state: 7)
        var told = 0
        for number in 0..<60 {
            let octets = Array(whole.prefix(random.next(below: whole.count)))
            told += try await check(octets, "cut-\(number)") ? 1 : 0
        }
        #expect(told > 30)
    }

    @Test(arguments: ["This is no database.", String(repeating: "x", count: 10_000)])
    func `a file that is no database is moved aside`(text: String) async throws {
        let path = try directory.write("answers.db", text)
        let events = Locked<[StoreEvent]>([])
        let store = SQLiteAnswerStore(path: path) { event in
            events.withLock { $0.append(event) }
        }
        let testimony = try ProvenAnswers.testimony(1, round: 1)
        store.keep(testimony, scope: "", lifeSeconds: 50)
        await store.flush()
        #expect(await store.found(testimony.question)?.testimony == testimony)
        let seen = events.withLock { $0 }
        guard seen.count == 1, case .setAside(path, let newPath, _) = seen[0] else {
            Issue.record("\(seen)")
            return
        }
        #expect(newPath.hasPrefix(path + ".corrupt-"))
        #expect(try contents(of: newPath) == text)
    }

    @Test func `a file of a newer version is left as it is`() async throws {
        var octets = try await filled(answers: 5)
        // The schema's version. Source: "Database File Format", sqlite.org, §1.3.
        octets[63] = 9
        try await expectLeftAlone(octets)
    }

    @Test func `a file of another program is left as it is`() async throws {
        var octets = try await filled(answers: 5)
        octets[68] = 1
        try await expectLeftAlone(octets)
    }

    private func expectLeftAlone(_ octets: [UInt8]) async throws {
        let path = directory.path + "/other.db"
        try write(octets, path)
        let events = Locked<[StoreEvent]>([])
        let store = SQLiteAnswerStore(path: path) { event in
            events.withLock { $0.append(event) }
        }
        let testimony = try ProvenAnswers.testimony(1, round: 1)
        for _ in 0..<3 {
            store.keep(testimony, scope: "", lifeSeconds: 50)
            await store.flush()
            #expect(await store.found(testimony.question) == nil)
        }
        #expect(events.withLock { $0 }.map { $0.label } == ["foreign"])
        #expect(try read(path) == octets)
    }

    /// Opens a damaged file: whatever is found is what was kept, and the store goes on working. True
    /// when damage was reported.
    private func check(_ octets: [UInt8], _ name: String) async throws -> Bool {
        let path = directory.path + "/" + name
        try write(octets, path)
        let events = Locked<[StoreEvent]>([])
        let store = SQLiteAnswerStore(path: path) { event in
            events.withLock { $0.append(event) }
        }
        for number in 0..<120 {
            let question = try ProvenAnswers.question(number)
            guard let found = await store.found(question) else { continue }
            #expect(ProvenAnswers.isProven(found.testimony, number: number))
            #expect(found.secondsLeft <= 3_600)
        }
        let fresh = try ProvenAnswers.testimony(1_000, round: 3)
        store.keep(fresh, scope: "", lifeSeconds: 60)
        await store.flush()
        let seen = events.withLock { $0 }
        let isForeign = seen.contains { $0.label == "foreign" }
        let again = await store.found(fresh.question)?.testimony
        #expect(again == (isForeign ? nil : fresh), "\(name): \(seen)")
        return !seen.isEmpty
    }

    /// A whole file with so many answers, closed.
    private func filled(answers: Int) async throws -> [UInt8] {
        let path = directory.path + "/whole.db"
        do {
            let store = SQLiteAnswerStore(path: path)
            for number in 0..<answers {
                store.keep(
                    try ProvenAnswers.testimony(number, round: 1), scope: "", lifeSeconds: 3_600)
            }
            await store.flush()
        }
        // The last one to close it takes the log in.
        #expect(await eventually { access(path + "-wal", F_OK) != 0 })
        return try read(path)
    }

    private func read(_ path: String) throws -> [UInt8] {
        let stream = try #require(fopen(path, "re"))
        defer { fclose(stream) }
        var octets: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, stream), count > 0 {
            octets += piece.prefix(count)
        }
        return octets
    }

    private func write(_ octets: [UInt8], _ path: String) throws {
        let stream = try #require(fopen(path, "we"))
        defer { fclose(stream) }
        #expect(fwrite(octets, 1, octets.count, stream) == octets.count)
    }
}

/// Numbers that look random and are the same in each run.
private struct Steps {
    var state: UInt64

    mutating func next(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % max(limit, 1)
    }
}
