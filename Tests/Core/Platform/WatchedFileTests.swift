import Glibc
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite struct WatchedFileTests {
    private let directory: TemporaryDirectory
    private let clock = FakeClock()
    private let file: WatchedFile<String>

    init() throws {
        directory = try TemporaryDirectory()
        file = WatchedFile(path: directory.path + "/watched", clock: clock) { $0 }
    }

    private func write(_ text: String) throws { _ = try directory.write("watched", text) }

    @Test func `a change is seen within a second, and not looked for before`() throws {
        #expect(file.value == "")
        try write("one")
        #expect(file.value == "")
        clock.advance(milliseconds: 1_000)
        #expect(file.value == "one")
        try write("longer")
        clock.advance(milliseconds: 999)
        #expect(file.value == "one")
        clock.advance(milliseconds: 1)
        #expect(file.value == "longer")
    }

    @Test func `a file that is gone is empty`() throws {
        try write("one")
        #expect(file.value == "one")
        #expect(unlink(directory.path + "/watched") == 0)
        clock.advance(milliseconds: 1_000)
        #expect(file.value == "")
    }

    @Test func `a file longer than a piece is read whole`() throws {
        let text = String(repeating: "0123456789abcdef\n", count: 10_000)
        try write(text)
        #expect(file.value == text)
    }
}
