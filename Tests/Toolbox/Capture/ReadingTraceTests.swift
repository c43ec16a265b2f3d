import Glibc
import HTTPDNS
import HTTPDNSPlatform
import TestSupport
import Testing

/// What is read stays as it was, with nothing new beside it.
@Suite(.timeLimit(.minutes(3))) struct ReadingTraceTests {
    private let directory: TemporaryDirectory
    private let other: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        other = try TemporaryDirectory()
    }

    private var path: String { directory.path + "/traffic.sqlite" }

    private func filled(_ count: Int = 3) -> Capture {
        let capture = Capture(CaptureConfiguration(path: path))
        for number in 0..<count {
            var record = CaptureRecord.sample("/\(number)")
            record.responseBody = .init([UInt8](repeating: 0x61, count: 100_000))
            capture.add(record)
        }
        return capture
    }

    /// Names and octets of all in a directory.
    private func state(of directory: String) throws -> [String: [UInt8]] {
        var state: [String: [UInt8]] = [:]
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let file = directory + "/traffic.sqlite" + suffix
            guard access(file, F_OK) == 0 else { continue }
            // Whoever shares the index marks in it what it reads.
            state[suffix] = suffix == "-shm" ? [] : try SmallFile.whole(file, most: 16 << 20)
        }
        return state
    }

    private func copy(_ suffixes: [String]) throws {
        for suffix in suffixes {
            let octets = try SmallFile.whole(path + suffix, most: 16 << 20)
            try ReplacedFile.replace(other.path + "/traffic.sqlite" + suffix, with: octets)
        }
    }

    private func readAll(in place: String) async throws {
        let file = place + "/traffic.sqlite"
        let before = try state(of: place)
        for words in [
            ["show"], ["show", "--json"], ["show", "2"], ["stats"], ["har"], ["export", "--html"],
        ] {
            let result = try await CaptureTool.run(["capture", words[0], file] + words.dropFirst())
            #expect(result.status == 0, "\(words): \(result.errorText)")
            if words == ["show"] {
                #expect(result.outputText.split(separator: "\n").count == 4)
            }
            #expect(try state(of: place) == before, "\(words)")
        }
        let missing = try await CaptureTool.run("capture", "show", file, "9")
        #expect(missing.status == 1)
        #expect(try state(of: place) == before)
    }

    @Test func `a capture that is whole`() async throws {
        await filled().close()
        #expect(try state(of: directory.path).count == 1)
        try await readAll(in: directory.path)
    }

    @Test(arguments: [["", "-wal"], ["", "-wal", "-shm"]])
    func `what a writer that was killed has left, and copies of it`(
        suffixes: [String]
    ) async throws {
        let capture = filled()
        await capture.flush()
        try copy(suffixes)
        await capture.close()
        #expect(try state(of: other.path).count == suffixes.count)
        try await readAll(in: other.path)
    }

    @Test func `a log that is empty`() async throws {
        await filled().close()
        try copy([""])
        try ReplacedFile.replace(other.path + "/traffic.sqlite-wal", with: [])
        try await readAll(in: other.path)
    }

    @Test func `a capture that is being written`() async throws {
        let capture = filled()
        await capture.flush()
        try await readAll(in: directory.path)
        await capture.close()
        #expect(try state(of: directory.path).count == 1)
    }

    @Test func `a writer that comes while it is read is noticed`() async throws {
        await filled(20).close()
        let path = path
        let read = try await offPool { () throws -> [Int64] in
            let file = try CaptureFile(path)
            var numbers: [Int64] = []
            try file.read { record in
                numbers.append(record.id)
                guard numbers.count == 5 else { return true }
                let written = Gate()
                Task.detached {
                    // It changes the file itself, and goes.
                    let capture = Capture(CaptureConfiguration(path: path))
                    capture.add(.sample("/later"))
                    await capture.close()
                    written.open()
                }
                written.pass()
                return true
            }
            return numbers
        }
        #expect(read == Array(1...21))
        let file = try CaptureFile(path)
        let capture = filled(1)
        await capture.close()
        #expect(try file.contents().records == 22)
        #expect(try file.body(of: 22, .response).count == 100_000)
        #expect(try state(of: directory.path).count == 1)
    }
}
