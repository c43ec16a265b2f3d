import HTTPDNSCLI
import Testing

@Suite struct TerminalTextTests {
    @Test(
        arguments: [
            ("caf\u{E9} \u{65E5}\u{1F600}\n".utf8.map { $0 }, "caf\u{E9} \u{65E5}\u{1F600}\n"),
            ([0x1B, 0x5B, 0x6D], #"\u{1b}[m"#), ([0xC2, 0x9B, 0x6D], #"\u{9b}m"#),
            ([0x9B, 0x6D], #"\u{9b}m"#), ([0x41, 0x9B, 0x6D], #"A\u{9b}m"#),
            ([0xC3, 0xA9, 0x9B, 0x6D], "\u{E9}" + #"\u{9b}m"#),
            ([0xE6, 0x97, 0xA5, 0x9B], "\u{65E5}" + #"\u{9b}"#),
            ([0xC2, 0xA0, 0x9B], "\u{A0}" + #"\u{9b}"#),
        ] as [([UInt8], String)])
    func `no control character reaches a terminal, however it is cut`(
        octets: [UInt8], shown: String
    ) {
        var whole = TerminalText()
        #expect(String(decoding: whole.shown(octets), as: UTF8.self) == shown)
        var pieces = TerminalText()
        let joined = octets.flatMap { pieces.shown([$0]) }
        #expect(String(decoding: joined, as: UTF8.self) == shown)
    }
}
