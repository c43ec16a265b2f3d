import Glibc
import HTTPDNS
import HTTPDNSPlatform
import HTTPDNSRuleFile
import HTTPDNSURLSession
import TestSupport
import Testing

@testable import HTTPDNSStore

/// Captures that are read while this process, or another, writes them.
@Suite(.timeLimit(.minutes(3))) struct SharedReadingTests {
    private let directory: TemporaryDirectory
    private let other: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        other = try TemporaryDirectory()
    }

    private var path: String { directory.path + "/traffic.sqlite" }

    private func filled(_ count: Int) -> Capture {
        let capture = Capture(CaptureConfiguration(path: path))
        for number in 0..<count { capture.add(.sample("/\(number)")) }
        return capture
    }

    /// Whether a process has the lock of those who have the database open. An open file description
    /// asks as a stranger does, also about this process.
    /// Source: sqlite3's os.h, PENDING_BYTE to SHARED_FIRST + SHARED_SIZE; fcntl(2), F_OFD_GETLK.
    private func isLocked(_ probe: Int32) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        return fcntl(probe, 36, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    @Test func `the writer of the same process keeps its locks`() async throws {
        let capture = filled(3)
        await capture.flush()
        let probe = open(path, O_RDONLY | O_CLOEXEC)
        try #require(probe >= 0)
        // Last of all: this close gives the locks back.
        defer { close(probe) }
        #expect(isLocked(probe))
        let file = try CaptureFile(path)
        #expect(try file.contents().records == 3)
        #expect(try file.read { _ in true } == 0)
        #expect(isLocked(probe), "a reader")
        _ = try? FixtureLibrary(file: path)
        #expect(isLocked(probe), "fixtures")
        let rules = try directory.write(
            "rules.json", #"{"version":1,"rules":[{"then":[{"record":"traffic.sqlite"}]}]}"#)
        _ = try RuleFile(path: rules, recordings: .captures)
        #expect(isLocked(probe), "rules")
        let second = filled(1)
        await second.close()
        #expect(isLocked(probe), "a second writer")
        #expect(try file.contents().records == 4)
        await capture.close()
    }

    @Test func `through a link, changes are seen`() async throws {
        await filled(2).close()
        // Long ago, for a clock that moves in steps.
        let time = timeval(tv_sec: 1_000, tv_usec: 0)
        #expect(utimes(path, [time, time]) == 0)
        let link = other.path + "/link.sqlite"
        #expect(symlink(path, link) == 0)
        let file = try CaptureFile(link)
        #expect(try file.contents().records == 2)
        await filled(1).close()
        #expect(try file.contents().records == 3)
    }

    @Test func `a file that changes with every look is read as one that is written`() async throws {
        await filled(3).close()
        let path = path
        var reader = try ReadDatabase(path, anything)
        var looks = 0
        let records = try reader.settled(anything) { (database) throws(DatabaseFault) -> Int64? in
            looks += 1
            let time = timeval(tv_sec: looks, tv_usec: 0)
            utimes(path, [time, time])
            return try database.number("SELECT records FROM sum")
        }
        #expect(records == 3)
        // Three times as one that nobody writes.
        #expect(looks == 4)
    }

    @Test func `a writer that comes while a copied log is read is noticed`() async throws {
        let capture = filled(3)
        await capture.flush()
        let place = other.path + "/traffic.sqlite"
        for suffix in ["", "-wal"] {
            try ReplacedFile.replace(
                place + suffix, with: try SmallFile.whole(path + suffix, most: 16 << 20))
        }
        await capture.close()
        let seen = try await offPool { () throws -> [Int64?] in
            var reader = try ReadDatabase(place, anything)
            var seen: [Int64?] = []
            _ = try reader.settled(anything) { (database) throws(DatabaseFault) -> Int64? in
                let records = try database.number("SELECT records FROM sum")
                seen.append(records)
                guard seen.count == 1 else { return records }
                let written = Gate()
                Task.detached {
                    let writer = Capture(CaptureConfiguration(path: place))
                    writer.add(.sample("/later"))
                    await writer.close()
                    written.open()
                }
                written.pass()
                return records
            }
            return seen
        }
        #expect(seen == [3, 4])
    }
}

/// Any database will do.
private func anything(_ database: Database) {}
