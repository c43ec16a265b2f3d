import Testing

@testable import HTTPDNSCLI

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\u{1B}[31mred", "\\x{1b}[31mred"),
        ("line\r\nnext\rover", "line\nnextover"),
        ("\u{7F}\u{0}\u{7}", "\\x{7f}\\x{0}\\x{7}"),
        ("grün 日本 😀", "grün 日本 😀"),
        ("\u{9B}2J", "\\x{c2}\\x{9b}2J"),
    ])
    func `Text stays and control characters are escaped, wherever chunks end`(
        text: String, shown: String
    ) {
        var whole = TerminalText()
        #expect(String(decoding: whole.shown(Array(text.utf8)), as: UTF8.self) == shown)
        var pieces = TerminalText()
        let joined = text.utf8.flatMap { pieces.shown([$0]) }
        #expect(String(decoding: joined, as: UTF8.self) == shown)
    }

    @Test func `A stray octet of the C1 range is escaped`() {
        var text = TerminalText()
        #expect(text.shown([0x41, 0x9B, 0x41]) == Array("A\\x{9b}A".utf8))
    }
}
