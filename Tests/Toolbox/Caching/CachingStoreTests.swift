import Glibc
import HTTPDNS
import HTTPDNSExchange
import HTTPDNSPlatform
import HTTPDNSStore
import TestSupport
import Testing

/// The store by itself: kills, other processes, damage, other versions, full disks.
@Suite struct CachingStoreTests {
    private static let limits = ResponseLimits(
        maximumOctets: 64 << 20, largestBodyOctets: 1 << 20)

    /// A store, and what it told.
    struct Kept {
        let store: SQLiteResponseStore
        let events = Locked<[StoreEvent]>([])

        init(
            _ directory: String, boot: any BootSource = SystemBootClock(),
            limits: ResponseLimits = CachingStoreTests.limits
        ) {
            store = SQLiteResponseStore(directory: directory, limits: limits, boot: boot) {
                [events] event in
                events.withLock { $0.append(event) }
            }
        }

        func keep(_ number: Int, round: Int = 1) throws {
            let request = try CachingBench.request(url: "https://a.test/\(number)")
            let keeper = store.keep(
                try CachingBench().kept(["X-Round: \(round)"], to: request), hasRoom: {})
            _ = ProvenBody.octets(number, round: round).withUnsafeBytes { keeper.write($0) }
            keeper.finish()
        }

        /// The whole body; nil when nothing is kept.
        func read(_ number: Int) async throws -> [UInt8]? {
            let request = try CachingBench.request(url: "https://a.test/\(number)")
            let key = try #require(request.key)
            let octets = Locked<[UInt8]>([])
            let end: PourEnd? = await withCheckedContinuation { continuation in
                store.find(key) {
                    $0.last
                } _: { found in
                    guard let body = found?.body else {
                        return continuation.resume(returning: nil)
                    }
                    body.pour { piece in
                        octets.withLock { $0 += piece }
                        return .more
                    } _: { end in
                        withExtendedLifetime(body) { continuation.resume(returning: end) }
                    }
                }
            }
            guard let end else { return nil }
            #expect(end == .whole)
            return octets.withLock { $0 }
        }

        func names(_ directory: String) throws -> [String] {
            try PrivateDirectory(directory + "/bodies").names
        }
    }

    @Test func `a process that is killed while it writes leaves no half body and no leftover`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let place = directory.path + "/cache"
        var finished = 0
        for attempt in 0..<12 {
            let end = try await KilledChild.run(
                "responses", place, after: finished, attempt: attempt)
            #expect(end.wasKilled)
            finished = end.round
            let kept = Kept(place)
            var files = 0
            for number in 0..<30 {
                guard let body = try await kept.read(number) else {
                    #expect(finished == 0, "\(number) after round \(finished)")
                    continue
                }
                let round = try #require(
                    ProvenBody.round(of: body, number: number), "\(number) is half")
                if !body.isEmpty {
                    files += 1
                    #expect(round >= finished)
                }
            }
            #expect(try kept.names(place).count == files)
            #expect(kept.events.withLock { $0 } == [])
        }
        #expect(finished > 3)
    }

    @Test func `two processes may keep responses in one directory`() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path + "/cache"
        let complaints = try await KilledChild.pair("responses", place, rounds: 4) {
            let kept = Kept(place)
            for turn in 0..<60 {
                let number = turn % 30
                guard let body = try await kept.read(number) else { continue }
                #expect(ProvenBody.round(of: body, number: number) != nil)
            }
        }
        #expect(complaints == ["", ""])
        let after = Kept(place)
        for number in 0..<30 {
            let body = try #require(try await after.read(number))
            #expect(ProvenBody.round(of: body, number: number) != nil)
        }
        #expect(after.events.withLock { $0 } == [])
    }

    @Test func `a damaged database is moved aside and said, and begun anew`() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path + "/cache"
        do {
            let before = Kept(place)
            for number in 0..<30 { try before.keep(number) }
            await before.store.flush()
        }
        // The last connection that closes empties the log and takes it away.
        let isClosed = await eventually(withinMilliseconds: 60_000) {
            access(place + "/responses.db-wal", F_OK) != 0
        }
        #expect(isClosed)
        try await offPool {
            let file = try #require(fopen(place + "/responses.db", "r+"))
            defer { fclose(file) }
            fseek(file, 4_096, SEEK_SET)
            let noise = [UInt8](repeating: 0xA5, count: 30_000)
            fwrite(noise, 1, noise.count, file)
        }
        let after = Kept(place)
        _ = try await after.read(1)
        try after.keep(2, round: 9)
        let body = try await after.read(2)
        let events = after.events.withLock { $0.map(\.description) }
        #expect(events.count == 1, "\(events)")
        #expect(events.first?.contains("was damaged") == true)
        #expect(ProvenBody.round(of: try #require(body), number: 2) == 9)
        #expect(try after.names(place).count == 1)
    }

    @Test func `what is no database, or another program's, does no harm`() async throws {
        let directory = try TemporaryDirectory()
        let (noise, others) = (directory.path + "/noise", directory.path + "/others")
        for name in ["noise", "others"] { try directory.makeDirectory(name) }
        let text = String(repeating: "no database ", count: 5_000)
        try directory.write("noise/responses.db", text)
        let made = try await run(
            "python3",
            [
                "-c",
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                    + "c.execute('CREATE TABLE response(mine)'); c.commit()",
                others + "/responses.db",
            ])
        #expect(made.status == 0)
        for (place, label, isKept) in [
            (noise, "set_aside", true), (others, "foreign", false),
        ] {
            let kept = Kept(place)
            try kept.keep(1)
            #expect(try await (kept.read(1) != nil) == isKept)
            #expect(kept.events.withLock { $0.map(\.label) } == [label])
        }
    }

    @Test(arguments: [("999", 0, "foreign"), ("0", 1, "")])
    func `a newer release's file is left alone, an older one's begun anew`(
        _ version: String, _ responses: Int, _ label: String
    ) async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path + "/cache"
        let before = Kept(place)
        try before.keep(1)
        await before.store.flush()
        let altered = try await run(
            "python3",
            [
                "-c",
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                    + "c.execute('PRAGMA user_version = ' + sys.argv[2]); c.commit()",
                place + "/responses.db", version,
            ])
        #expect(altered.status == 0)
        let after = Kept(place)
        #expect(try await after.read(1) == nil)
        try after.keep(2)
        #expect((try await after.read(2) != nil) == (responses == 1))
        #expect(after.events.withLock { $0.map(\.label) } == (label.isEmpty ? [] : [label]))
    }

    @Test func `a body whose file is gone, short or a link is not there`() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path + "/cache"
        let kept = Kept(place)
        for (number, harm) in [1, 2, 3].enumerated() {
            try kept.keep(harm)
            await kept.store.flush()
            let file = place + "/bodies/" + (try #require(try kept.names(place).first))
            switch number {
            case 0: #expect(unlink(file) == 0)
            case 1: #expect(truncate(file, 5) == 0)
            default:
                #expect(rename(file, directory.path + "/moved") == 0)
                #expect(symlink(directory.path + "/moved", file) == 0)
            }
            #expect(try await kept.read(harm) == nil)
            await kept.store.flush()
            #expect(await kept.store.contents()?.responses == 0)
            unlink(file)
        }
    }

    @Test func `after a new start of the machine a body is compared with its sum`() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path + "/cache"
        let before = Kept(place, boot: FixedBoot("one"))
        try before.keep(1)
        try before.keep(2)
        await before.store.flush()
        for name in try before.names(place) {
            let path = place + "/bodies/" + name
            guard try contents(of: path).hasPrefix("1 ") else { continue }
            try await offPool {
                let file = try #require(fopen(path, "r+"))
                defer { fclose(file) }
                fseek(file, 5_000, SEEK_SET)
                fwrite([0, 0, 0, 0], 1, 4, file)
            }
        }
        let after = Kept(place, boot: FixedBoot("two"))
        #expect(try await after.read(1) == nil)
        #expect(try await after.read(2) == ProvenBody.octets(2, round: 1))
        #expect(await after.store.contents()?.responses == 1)
    }

    @Test(.enabled("a small disk needs rights that are not there") { await KilledChild.mayMount() })
    func `a disk that is full is said once, and nobody waits for it`() async throws {
        let directory = try TemporaryDirectory()
        let (end, complaints) = try await KilledChild.onSmallDisk(
            "responses", "cache", size: "2m", in: directory, upTo: 6)
        #expect(end.round == 6 && end.wasKilled)
        #expect(!complaints.isEmpty)
        #expect(complaints.allSatisfy { $0.contains("cannot be used for now") })
    }

    @Test func `a row of another form is damage, and no octets trap`() throws {
        let kept = try CachingBench().kept(["ETag: \"a\"", "X: y"])
        let (variant, head) = (ResponseForm.variant(kept.variant), ResponseForm.head(kept))
        let read = ResponseForm.response(key: kept.key, variant: variant, head: head)
        #expect(read == kept)
        for count in 0..<head.count {
            #expect(
                ResponseForm.response(
                    key: kept.key, variant: variant, head: Array(head.prefix(count))) == nil)
        }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<1_000 {
            var noisy = head
            for _ in 0..<3 {
                noisy[Int.random(in: 0..<noisy.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            _ = ResponseForm.response(key: kept.key, variant: variant, head: noisy)
            _ = ResponseForm.response(key: kept.key, variant: noisy, head: head)
        }
    }
}

private struct FixedBoot: BootSource {
    let bootID: String

    init(_ name: String) { bootID = name }

    func millisecondsSinceBoot() -> Int64 { 1_000 }
}
