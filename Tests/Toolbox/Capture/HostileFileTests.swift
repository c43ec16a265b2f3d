import Glibc
import HTTPDNS
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct HostileFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var path: String { directory.path + "/traffic.sqlite" }

    private func fault(_ path: String? = nil) -> CaptureFileFault? {
        do throws(CaptureFileFault) {
            let file = try CaptureFile(path ?? self.path)
            try file.read { _ in true }
            return nil
        } catch { return error }
    }

    private func filled(_ count: Int = 300) async throws {
        let capture = Capture(CaptureConfiguration(path: path))
        for number in 0..<count {
            capture.add(.sample("/\(number)", body: Array("body \(number)".utf8)))
        }
        await capture.close()
    }

    private func sqlite(_ sql: String) async throws {
        let result = try await run("sqlite3", [path, sql])
        #expect(result.status == 0, "\(result.errorText)")
    }

    private func octets(of path: String) throws -> [UInt8] {
        try SmallFile.whole(path, most: 64 << 20)
    }

    private func write(_ octets: [UInt8], _ path: String) throws {
        let file = try NewFile(path)
        try file.write(octets)
        try file.finish()
    }

    @Test func `what is no capture is told from one, and says what it is`() throws {
        #expect(fault()?.code == .missing)
        try directory.write("text", "hello\n")
        #expect(fault(directory.path + "/text")?.code == .foreign)
        try directory.write("empty", "")
        #expect(fault(directory.path + "/empty")?.code == .foreign)
        try directory.makeDirectory("folder")
        #expect(fault(directory.path + "/folder")?.code == .unreadable)
        #expect(mkfifo(directory.path + "/pipe", 0o600) == 0)
        #expect(fault(directory.path + "/pipe")?.code == .unreadable)
        #expect(fault("/dev/zero")?.code == .unreadable)
    }

    @Test func `a database of another program is neither read nor written`() async throws {
        try await sqlite("CREATE TABLE mine(a); INSERT INTO mine VALUES(1)")
        #expect(fault()?.code == .foreign)
        let before = try octets(of: path)
        let troubles = Locked<[String]>([])
        var configuration = CaptureConfiguration(path: path)
        configuration.report = { trouble in troubles.withLock { $0.append(trouble.label) } }
        let capture = Capture(configuration)
        capture.add(.sample())
        await capture.flush()
        #expect(troubles.withLock { $0 } == ["foreign"])
        #expect(capture.counts.droppedRecords == 1)
        #expect(try octets(of: path) == before)
    }

    @Test func `a capture of a newer version is left as it is, and said to be one`() async throws {
        try await filled(3)
        try await sqlite("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA user_version = 2")
        let before = try octets(of: path)
        let newer = try #require(self.fault())
        #expect(newer.code == .newer && newer.description.contains("newer version"))
        let capture = Capture(CaptureConfiguration(path: path))
        capture.add(.sample())
        await capture.flush()
        #expect(capture.counts.droppedRecords == 1)
        #expect(try octets(of: path) == before)
    }

    @Test func `reading changes nothing in the file`() async throws {
        try await filled(20)
        try await sqlite("PRAGMA wal_checkpoint(TRUNCATE)")
        let before = try octets(of: path)
        #expect(fault() == nil)
        #expect(try octets(of: path) == before)
        // Nor is a place beside it needed.
        try #require(chmod(directory.path, 0o500) == 0)
        defer { chmod(directory.path, 0o700) }
        #expect(fault() == nil)
        #expect(try octets(of: path) == before)
    }

    @Test func `a damaged file is an error or a loss of records, never a crash or a lie`()
        async throws
    {
        try await filled()
        try await sqlite("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        let sound = try octets(of: path)
        let place = directory.path + "/damaged.sqlite"
        var generator = SplitMix(state: 7)
        for round in 0..<60 {
            var octets = sound
            if round % 5 == 0 {
                octets.removeLast(Int(generator.next() % UInt64(octets.count - 20)))
            } else {
                for _ in 0..<(1 + round % 40) {
                    let at = 16 + Int(generator.next() % UInt64(octets.count - 16))
                    octets[at] = UInt8(truncatingIfNeeded: generator.next())
                }
            }
            try write(octets, place)
            do throws(CaptureFileFault) {
                let file = try CaptureFile(place)
                var last: Int64 = 0
                try file.read { record in
                    _ = CaptureJSON.object(record, withBodies: true)
                    #expect(record.sentOctets >= 0 && record.receivedOctets >= 0)
                    #expect(record.requestBody.keptOctets >= 0)
                    #expect(record.id > last, "out of order")
                    last = record.id
                    return true
                }
                var sums = CaptureStatistics()
                try sums.add(file)
                _ = try file.body(of: 7, .response)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test func `a damaged file is moved aside by who writes, and a new one begun`() async throws {
        try await filled()
        try await sqlite("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        var octets = try octets(of: path)
        for at in 4_096..<20_000 { octets[at] = 0xAA }
        try write(octets, path)
        let troubles = Locked<[CaptureTrouble]>([])
        var configuration = CaptureConfiguration(path: path)
        configuration.report = { trouble in troubles.withLock { $0.append(trouble) } }
        let capture = Capture(configuration)
        capture.add(.sample("/after"))
        await capture.flush()
        var found: [String] = []
        try CaptureFile(path).read { record in
            found.append(CapturedPath.of(record.url))
            return true
        }
        #expect(found == ["/after"])
        guard case .setAside(_, let newPath, _)? = troubles.withLock({ $0.first }) else {
            Issue.record("nothing was moved aside")
            return
        }
        // SQLite may have touched its head before it met the damage.
        #expect(try self.octets(of: newPath).dropFirst(100) == octets.dropFirst(100))
    }

    @Test func `rows that a stranger wrote are left out and counted`() async throws {
        try await filled(3)
        try await sqlite(
            """
            UPDATE exchange SET detail = '{"hops":[' WHERE id = 1;
            UPDATE exchange SET detail = CAST('{"hops":[{"url":"https://x/","status":99999999999999}],\
            "task":1e300,"requestBody":{"octets":-5,"kept":-1}}' AS BLOB), total = -7 WHERE id = 2;
            """)
        var found: [CaptureRecord] = []
        let damaged = try CaptureFile(path).read { record in
            found.append(record)
            return true
        }
        #expect(damaged == 1 && found.map(\.id) == [2, 3])
        #expect(found[0].requestBody.totalOctets == 0 && found[0].initiator.task == nil)
        _ = CaptureJSON.object(found[0], withBodies: true)
        _ = HARWriter.file(found)
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
    func `a row that lies about its size does not harm who shortens the file`(
        octets: String
    ) async throws {
        try await filled(5)
        try await sqlite(
            "UPDATE exchange SET octets = \(octets), ended = 0 WHERE id < 4; "
                + "UPDATE sum SET octets = \(octets)")
        let capture = Capture(CaptureConfiguration(path: path))
        capture.add(.sample("/after"))
        await capture.close()
        var found: [Int64] = []
        try CaptureFile(path).read { record in
            found.append(record.id)
            return true
        }
        #expect(found == [4, 5, 6] && capture.counts.droppedRecords == 0)
    }

    @Test func `a record that is turned away leaves no part of its body in the file`()
        async throws
    {
        let gate = Gate()
        var configuration = CaptureConfiguration(path: path)
        configuration.limits.maximumWaitingRecords = 8
        configuration.onRecord = { _ in gate.pass() }
        let capture = Capture(configuration)
        let body = [UInt8](repeating: 0x61, count: 200_000)
        let early = try #require(capture.begin(.sample("/early")))
        body.withUnsafeBytes { early.received($0) }
        await capture.flush()
        capture.add(.sample("/first"))
        gate.awaitArrival()
        let late = try #require(capture.begin(.sample("/late")))
        body.withUnsafeBytes { late.received($0) }
        for number in 0..<20 { capture.add(.sample("/\(number)")) }
        early.ended()
        late.ended()
        gate.open()
        await capture.flush()
        #expect(capture.counts.droppedRecords >= 2)
        await capture.close()
        let result = try await run(
            "sqlite3",
            [
                path,
                "SELECT (SELECT count(*) FROM piece), (SELECT octets FROM sum) = "
                    + "(SELECT sum(octets) FROM exchange), (SELECT records FROM sum) = "
                    + "(SELECT count(*) FROM exchange)",
            ])
        #expect(result.outputText == "0|1|1\n")
    }

    @Test(arguments: ["größe ü/日本.sqlite", "a%b ü?#.sqlite", "\u{1F4E6}.sqlite"])
    func `a capture is read under whatever name it was written`(name: String) async throws {
        try directory.makeDirectory("größe ü")
        let path = directory.path + "/" + name
        let capture = Capture(CaptureConfiguration(path: path))
        capture.add(.sample("/named"))
        await capture.close()
        var found: [String] = []
        try CaptureFile(path).read { record in
            found.append(CapturedPath.of(record.url))
            return true
        }
        #expect(found == ["/named"])
    }

    @Test func `a disk without room costs records and no request`() async throws {
        let troubles = Locked<[String]>([])
        var configuration = CaptureConfiguration(path: directory.path + "/text/x.sqlite")
        try directory.write("text", "a file where a directory would have to be")
        configuration.report = { trouble in troubles.withLock { $0.append(trouble.label) } }
        let capture = Capture(configuration)
        for _ in 0..<3 { capture.add(.sample()) }
        await capture.flush()
        #expect(troubles.withLock { $0 } == ["quiet"] && capture.counts.droppedRecords == 3)
    }
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
