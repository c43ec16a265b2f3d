import CHTTPDNSSystem
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@testable import HTTPDNSCLI

/// `--data @FILE`.
@Suite(.timeLimit(.minutes(2))) struct FetchDataTests {
    let origin: FetchOrigin

    init() throws { origin = try FetchOrigin() }

    private func body(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    }

    @Test(arguments: [1_000, 1_000_003])
    func `A body from a file arrives octet for octet, as often as it is sent`(
        count: Int
    ) async throws {
        let body = body(count)
        let file = origin.directory.path + "/data"
        try WrittenFile(file).write(body)
        let result = try await origin.fetch("/echo", ["--data", "@" + file])
        #expect(result.status == 0)
        #expect(result.output == body)
        let many = try await origin.fetch(
            "/echo", ["-d", "@" + file, "--repeat", "5", "--parallel", "3"])
        #expect(many.status == 0)
        #expect(many.outputText.contains("200: 5"))
        let requests = origin.server.record.requests
        #expect(requests.count == 6)
        #expect(requests.allSatisfy { $0.body == body })
        #expect(requests.allSatisfy { $0.value(of: "Content-Length") == "\(count)" })
    }

    @Test func `A file is read in pieces, each time anew, and a small one or a pipe is not`()
        async throws
    {
        let body = body(1_000_003)
        let path = origin.directory.path + "/data"
        try WrittenFile(path).write(body)
        let file = try #require(try DataFile(path))
        #expect(file.octets == 1_000_003)
        for _ in 0..<2 {
            var read: [UInt8] = []
            for try await piece in file {
                #expect((1...262_144).contains(piece.count))
                read += piece
            }
            #expect(read == body)
        }
        try WrittenFile(path).write(Array(body.prefix(262_144)))
        #expect(try DataFile(path) == nil)
        #expect(try DataFile("-") == nil)
        #expect(try DataFile(path + "-not-there") == nil)
        #expect(try DataFile(origin.directory.path) == nil)
    }

    /// What happens to a file while it is read.
    enum Change: CaseIterable {
        case grows, shrinks, isWrittenOver, isReplaced, isGone
    }

    @Test(arguments: Change.allCases)
    func `A file that changes while it is sent is not sent as a whole one`(
        change: Change
    ) async throws {
        let path = origin.directory.path + "/data"
        try WrittenFile(path).write(body(1_000_003))
        let file = try #require(try DataFile(path))
        let pieces = file.makeAsyncIterator()
        var octets = 0
        // Replaced and gone, it is still there for who has it open: not for the next pass.
        if change != .isReplaced, change != .isGone { octets += try pieces.next()?.count ?? 0 }
        switch change {
        case .grows: try append(path, [1])
        case .shrinks: #expect(truncate(path, 500_000) == 0)
        case .isWrittenOver: try touch(path)
        case .isReplaced:
            try WrittenFile(path + ".new").write(body(1_000_003))
            #expect(rename(path + ".new", path) == 0)
        case .isGone: #expect(remove(path) == 0)
        }
        let thrown = #expect(throws: DataFileFault.self) {
            while let piece = try pieces.next() { octets += piece.count }
        }
        #expect(octets < 1_000_003)
        let text = try #require(thrown).description
        #expect(text.contains(path))
        #expect(text.contains(change == .isGone ? "No such file" : "changed"))
    }

    private func append(_ path: String, _ octets: [UInt8]) throws {
        let file = try #require(fopen(path, "ae"))
        #expect(fwrite(octets, 1, octets.count, file) == octets.count)
        fclose(file)
    }

    /// A time of change that no write of the test has.
    private func touch(_ path: String) throws {
        var times = [timespec(tv_sec: 1, tv_nsec: 2), timespec(tv_sec: 1, tv_nsec: 2)]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
    }
}
