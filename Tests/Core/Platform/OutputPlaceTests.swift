import Glibc
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct OutputPlaceTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func text(_ path: String) throws -> String {
        String(decoding: try ReplacedFile.read(path, maximumOctets: 1_000) ?? [], as: UTF8.self)
    }

    private func kind(_ path: String) -> mode_t? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_mode & S_IFMT : nil
    }

    @Test func `where a link leads is replaced, and the link stays`() throws {
        let (target, link) = (directory.path + "/target", directory.path + "/link")
        try ReplacedFile.replace(target, with: Array("old".utf8))
        try #require(symlink("target", link) == 0)
        try ReplacedFile.checkReplaceable(link)
        try ReplacedFile.replace(link, with: Array("new".utf8))
        #expect(kind(link) == S_IFLNK)
        #expect(try text(target) == "new")
    }

    @Test func `a pipe and a device are written to, and stay`() throws {
        let pipe = directory.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        // Both ends, so that nobody waits for the other.
        let reader = open(pipe, O_RDWR | O_NONBLOCK)
        try #require(reader >= 0)
        defer { close(reader) }
        try ReplacedFile.checkReplaceable(pipe)
        try ReplacedFile.replace(pipe, with: Array("through".utf8))
        var octets = [UInt8](repeating: 0, count: 100)
        let count = read(reader, &octets, octets.count)
        #expect(String(decoding: octets.prefix(max(0, count)), as: UTF8.self) == "through")
        #expect(kind(pipe) == S_IFIFO)
        try ReplacedFile.checkReplaceable("/dev/null")
        try ReplacedFile.replace("/dev/null", with: Array("nothing".utf8))
        #expect(kind("/dev/null") == S_IFCHR)
    }

    @Test func `a directory, and a link that leads nowhere, are refused and stay`() throws {
        let link = directory.path + "/link"
        try #require(symlink("nowhere", link) == 0)
        for path in [directory.path, link] {
            #expect(throws: FileFault.self) { try ReplacedFile.checkReplaceable(path) }
            #expect(throws: FileFault.self) { try ReplacedFile.replace(path, with: [1]) }
        }
        #expect(kind(link) == S_IFLNK)
        #expect(kind(directory.path + "/nowhere") == nil)
    }

    // MARK: Several writers

    @Test func `writers at once lose nothing of each other's`() async throws {
        let path = directory.path + "/shared"
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in UInt8(1)...4 {
                group.addTask {
                    for _ in 0..<25 {
                        try ReplacedFile.update(
                            path, maximumOctets: 1_000, waitingMilliseconds: 60_000
                        ) { $0 + [writer] }
                    }
                }
            }
            try await group.waitForAll()
        }
        let octets = try #require(try ReplacedFile.read(path, maximumOctets: 1_000))
        #expect(
            (UInt8(1)...4).map { writer in octets.filter { $0 == writer }.count } == [
                25, 25, 25, 25,
            ])
    }

    @Test func `one who never lets go is not waited for for ever, and loses nothing`() throws {
        let path = directory.path + "/shared"
        try ReplacedFile.replace(path, with: [7])
        let other = open(path, O_RDONLY)
        try #require(other >= 0 && flock(other, LOCK_EX) == 0)
        let fault = #expect(throws: FileFault.self) {
            try ReplacedFile.update(path, maximumOctets: 10, waitingMilliseconds: 20) { _ in [8] }
        }
        #expect(fault.map { "\($0)" }?.contains("locked by another program") == true)
        #expect(try ReplacedFile.read(path, maximumOctets: 10) == [7])
        // Who is killed holds nothing any more.
        close(other)
        try ReplacedFile.update(path, maximumOctets: 10) { $0 + [8] }
        #expect(try ReplacedFile.read(path, maximumOctets: 10) == [7, 8])
    }

    @Test func `a change through a link, and one into a pipe, go where writing goes`() throws {
        let (target, link) = (directory.path + "/target", directory.path + "/link")
        try ReplacedFile.replace(target, with: [1])
        try #require(symlink("target", link) == 0)
        try ReplacedFile.update(link, maximumOctets: 10) { $0 + [2] }
        #expect(kind(link) == S_IFLNK)
        #expect(try ReplacedFile.read(target, maximumOctets: 10) == [1, 2])
        try ReplacedFile.update("/dev/null", maximumOctets: 10) { $0 + [2] }
        #expect(kind("/dev/null") == S_IFCHR)
    }
}
