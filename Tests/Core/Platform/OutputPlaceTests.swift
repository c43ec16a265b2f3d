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
}
