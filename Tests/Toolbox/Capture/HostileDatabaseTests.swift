import FuzzedFiles
import Glibc
import HTTPDNS
import HTTPDNSPlatform
import TestSupport
import Testing

/// Databases that are captures by their looks, and hold what no capture does.
@Suite(.timeLimit(.minutes(5))) struct HostileDatabaseTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var path: String { directory.path + "/traffic.sqlite" }

    private func filled(_ count: Int = 3) async {
        let capture = Capture(CaptureConfiguration(path: path))
        for number in 0..<count {
            var record = CaptureRecord.sample("/\(number)")
            record.responseBody = .init([UInt8](repeating: 0x61, count: 100_000))
            capture.add(record)
        }
        await capture.close()
    }

    private func sqlite(_ sql: String) async throws {
        let result = try await run("sqlite3", [path, sql])
        #expect(result.status == 0, "\(result.errorText)")
    }

    /// Each verb ends: with what there is, or with a line that says why not.
    private func readAll(_ what: String) async throws {
        for words in [
            ["show", "--host", "none.test"], ["stats"], ["export", "--format", "har"],
        ] {
            let result = try await CaptureTool.run(
                ["capture", words[0], path] + words.dropFirst())
            #expect([0, 1, 2].contains(result.status), "\(what), \(words): \(result.status)")
            if result.status != 0 {
                #expect(
                    result.errorText.hasPrefix("httpdns capture: "),
                    "\(what), \(words): \(result.errorText)")
                #expect(result.errorText.split(separator: "\n").count == 1)
            }
        }
    }

    @Test(arguments: [
        "id", "started", "ended", "total", "kind", "method", "host", "failure", "resolver",
        "status", "sent_octets", "received_octets", "cached", "stream", "octets", "detail", "sent",
        "received",
    ])
    func `a column of another type is a damaged row`(column: String) async throws {
        await filled()
        let sound = try SmallFile.whole(path, most: 16 << 20)
        for value in ["x'00ff'", "1.5e300", "-9223372036854775808", "NULL"] {
            try ReplacedFile.replace(path, with: sound)
            // What the table does not let in cannot be there.
            let sql = "UPDATE OR IGNORE exchange SET \(column) = \(value) WHERE id = 2"
            _ = try await run("sqlite3", [path, sql])
            let file = try CaptureFile(path)
            do throws(CaptureFileFault) {
                try file.read { record in
                    _ = CaptureJSON.object(record, withBodies: true)
                    return true
                }
                var sums = CaptureStatistics()
                try sums.add(file)
            } catch { #expect(error.code == .damaged, "\(column) = \(value): \(error)") }
        }
    }

    @Test(arguments: [
        ("a giant detail", "UPDATE exchange SET detail = zeroblob(40000000) WHERE id = 1"),
        ("a giant host", "UPDATE exchange SET host = hex(zeroblob(20000000)) WHERE id = 1"),
        ("a giant piece", "UPDATE piece SET octets = zeroblob(40000000)"),
        ("no sums", "DELETE FROM sum"), ("many sums", "INSERT INTO sum SELECT * FROM sum"),
        ("odd sums", "UPDATE sum SET records = 'x', octets = -1, dropped = x'00'"),
        ("no pieces", "DROP TABLE piece"), ("no table", "DROP TABLE exchange"),
        (
            "a view for a table",
            "DROP TABLE exchange; CREATE VIEW exchange AS WITH RECURSIVE r(id) AS (SELECT 1 UNION "
                + "ALL SELECT id + 1 FROM r) SELECT id, id AS started FROM r"
        ),
        (
            "columns that are made",
            "DROP TABLE exchange; CREATE TABLE exchange(id INTEGER PRIMARY KEY, started INTEGER, "
                + "ended INTEGER, total INTEGER, kind TEXT, method TEXT, host TEXT AS "
                + "(hex(zeroblob(400000000))), failure TEXT, resolver TEXT, status INTEGER, "
                + "sent_octets INTEGER, received_octets INTEGER, cached INTEGER, stream INTEGER, "
                + "octets INTEGER, detail BLOB, sent BLOB, received BLOB); INSERT INTO "
                + "exchange(id, started, ended, kind, method, failure, resolver) "
                + "VALUES(1, 1, 1, 'exchange', 'GET', '', '')"
        ),
        ("a newer version", "PRAGMA user_version = 2147483647"),
        ("a negative version", "PRAGMA user_version = -1"),
        ("another's mark", "PRAGMA application_id = 7"),
        ("another encoding", "PRAGMA user_version = 0"),
    ])
    func `what no capture holds ends in words`(what: String, sql: String) async throws {
        await filled()
        try await sqlite(sql)
        try await readAll(what)
    }

    /// Pages of a table that lead back to each other: without a bound a reader goes round for ever.
    @Test func `pages that lead in circles end the reading`() async throws {
        let capture = Capture(CaptureConfiguration(path: path))
        for number in 0..<3_000 { capture.add(.sample("/\(number)", body: Array("x".utf8))) }
        await capture.close()
        try await sqlite("VACUUM")
        var octets = try SmallFile.whole(path, most: 64 << 20)
        let page = 4_096
        // Every pointer of an inner page of a table leads to the first child.
        var changed = 0
        for start in stride(from: page, to: octets.count, by: page) where octets[start] == 0x05 {
            let cells = Int(octets[start + 3]) << 8 | Int(octets[start + 4])
            guard cells > 1 else { continue }
            let pointers = (0..<cells).map { cell in
                start
                    + (Int(octets[start + 12 + 2 * cell]) << 8 | Int(octets[start + 13 + 2 * cell]))
            }
            let first = Array(octets[pointers[0]..<pointers[0] + 4])
            for pointer in pointers { octets.replaceSubrange(pointer..<pointer + 4, with: first) }
            octets.replaceSubrange(start + 8..<start + 12, with: first)
            changed += 1
        }
        try #require(changed > 0)
        try ReplacedFile.replace(path, with: octets)
        try await readAll("circles")
        let file = try CaptureFile(path)
        #expect(throws: CaptureFileFault.self) { try file.read { _ in true } }
    }

    @Test func `a log with any octets changed is read or refused`() async throws {
        let capture = Capture(CaptureConfiguration(path: path))
        for number in 0..<50 { capture.add(.sample("/\(number)", body: Array("x".utf8))) }
        await capture.flush()
        let database = try SmallFile.whole(path, most: 16 << 20)
        let log = try SmallFile.whole(path + "-wal", most: 16 << 20)
        await capture.close()
        let place = directory.path + "/changed.sqlite"
        var generator = SplitMix(state: 23)
        var read = 0
        for round in 0..<120 {
            var changed = log
            if round % 6 == 0 {
                changed.removeLast(Int(generator.next() % UInt64(changed.count)))
            }
            for _ in 0..<(round % 8) where !changed.isEmpty {
                let at = Int(generator.next() % UInt64(changed.count))
                changed[at] = UInt8(truncatingIfNeeded: generator.next())
            }
            try ReplacedFile.replace(place, with: database)
            try ReplacedFile.replace(place + "-wal", with: changed)
            do throws(CaptureFileFault) {
                let file = try CaptureFile(place)
                var last: Int64 = 0
                try file.read { record in
                    #expect(record.id > last)
                    last = record.id
                    read += 1
                    return true
                }
                _ = try file.contents()
            } catch { #expect(!error.description.isEmpty) }
        }
        #expect(read > 50)
    }

    @Test func `what a fuzzer did to a file and its log is read or refused`() async throws {
        let capture = Capture(CaptureConfiguration(path: path))
        for number in 0..<4 {
            var record = CaptureRecord.sample("/\(number)")
            record.responseBody = .init([UInt8](repeating: 0x61, count: 70_000))
            capture.add(record)
        }
        await capture.flush()
        let database = try SmallFile.whole(path, most: 16 << 20)
        let log = try SmallFile.whole(path + "-wal", most: 16 << 20)
        await capture.close()
        let place = directory.path + "/changed.sqlite"
        var generator = SplitMix(state: 41)
        let random = (0..<40).map { round in
            (0..<(4 * (1 + round % 6))).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        }
        for octets in try FuzzCorpusTests.corpus("CaptureFiles").map(\.octets) + random {
            let (file, changed) = FileChanges(octets).applied(to: database, log)
            try ReplacedFile.replace(place, with: file)
            try ReplacedFile.replace(place + "-wal", with: changed)
            do throws(CaptureFileFault) {
                let file = try CaptureFile(place)
                var last = Int64.min
                try file.read { record in
                    #expect(record.id > last)
                    last = record.id
                    return true
                }
                for side in CaptureRecord.Side.allCases { _ = try file.body(of: 1, side) }
                _ = try file.contents()
            } catch { #expect(!error.description.isEmpty) }
            #expect(access(place + "-shm", F_OK) != 0)
        }
    }
}
