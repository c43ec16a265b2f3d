import HTTPDNSCLI
import Testing

@Suite struct OptionParsingTests {
    static let flag = OptionRule("json", "")
    static let single = OptionRule("timeout", letter: "t", value: "DURATION", "")
    static let several = OptionRule("pin", value: "PIN", isRepeatable: true, "")
    static let rules = [flag, single, several]

    private func parse(_ words: String...) throws(CommandFault) -> ParsedArguments {
        try ParsedArguments(words, rules: OptionParsingTests.rules)
    }

    private func fault(_ words: String...) -> String? {
        do throws(CommandFault) {
            _ = try ParsedArguments(words, rules: OptionParsingTests.rules)
            return nil
        } catch {
            #expect(error.code == .usage)
            return error.message
        }
    }

    @Test(arguments: [
        ["--timeout", "2s", "a", "b"], ["a", "--timeout=2s", "b"], ["a", "b", "-t", "2s"],
        ["-t2s", "a", "b"], ["--timeout=2s", "--", "a", "b"],
    ])
    func `options stand anywhere, their values apart or attached`(words: [String]) throws {
        let parsed = try ParsedArguments(words, rules: OptionParsingTests.rules)
        #expect(parsed.words == ["a", "b"])
        #expect(parsed.value(OptionParsingTests.single) == "2s")
        #expect(!parsed.has(OptionParsingTests.flag))
    }

    @Test func `two dashes end the options`() throws {
        #expect(try parse("--json", "--", "--json", "-x").words == ["--json", "-x"])
    }

    @Test func `a lone dash is a word, and a value`() throws {
        let parsed = try parse("-", "--timeout", "-")
        #expect(parsed.words == ["-"])
        #expect(parsed.value(OptionParsingTests.single) == "-")
    }

    @Test func `a value may hold an equals sign, and may be empty`() throws {
        #expect(try parse("--timeout=a=b").value(OptionParsingTests.single) == "a=b")
        #expect(try parse("--timeout=").value(OptionParsingTests.single) == "")
    }

    @Test func `a repeatable option keeps all its values in order`() throws {
        #expect(
            try parse("--pin", "1", "--pin=2").values(OptionParsingTests.several) == ["1", "2"])
    }

    @Test(
        arguments: [
            (["--jsn"], "unknown option \"--jsn\"; did you mean \"--json\"?"),
            (["--timeuot=2s"], "unknown option \"--timeuot\"; did you mean \"--timeout\"?"),
            (["-json"], "unknown option \"-json\"; did you mean \"--json\"?"),
            (["-q"], "unknown option \"-q\""),
            (["--something-else"], "unknown option \"--something-else\""),
            (["--json=yes"], "--json takes no value"),
            (["--timeout"], "--timeout needs a value: --timeout DURATION"),
            (["-t"], "-t needs a value: -t DURATION"),
            (["--timeout=1s", "-t", "2s"], "-t was given twice; it takes one value"),
            (["--\u{1B}[2J"], "unknown option \"--\\u{1b}[2J\""),
        ] as [([String], String)])
    func `a wrong option is named, with what was expected`(words: [String], message: String) {
        do throws(CommandFault) {
            _ = try ParsedArguments(words, rules: OptionParsingTests.rules)
            Issue.record("it was taken")
        } catch {
            #expect(error == .usage(message))
        }
    }

    private enum Size: String, CaseIterable {
        case small, large
    }

    @Test func `one of a few words is taken in any case, another with the nearest`() throws {
        #expect(
            try parse("--timeout", "Small").choice(OptionParsingTests.single, Size.self) == .small)
        let parsed = try parse("--timeout", "lrage")
        #expect(
            throws: CommandFault.usage(
                "--timeout \"lrage\" is not one of small, large; did you mean \"large\"?")
        ) { try parsed.choice(OptionParsingTests.single, Size.self) }
    }

    @Test(arguments: ["0", "11", "-1", "+3", "3.5", "", "99999999999999999999"])
    func `a number out of range is refused`(text: String) throws {
        let parsed = try parse("--timeout=\(text)")
        #expect(
            throws: CommandFault.usage("--timeout \"\(text)\" is not a number from 1 to 10")
        ) { try parsed.number(OptionParsingTests.single, in: 1...10) }
    }
}

@Suite struct DurationTextTests {
    @Test(
        arguments: [
            ("2s", 2_000), ("500ms", 500), ("1.5s", 1_500), ("2", 2_000), ("1m", 60_000),
            ("24h", 86_400_000), ("0.5ms", 1),
        ] as [(String, Int64)])
    func `a length of time is a number with a unit`(text: String, milliseconds: Int64) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "s", "-1s", "0", "0s", "1e3s", "1,5s", "2 s", "2S", "1.2.3s", ".5s", "5.s", "25h",
        "9999999999999s", "٣s", "nan", "2sec",
    ])
    func `anything else is none`(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        arguments: [
            (0, "0s"), (5, "5s"), (60, "1m"), (90, "1m30s"), (3_600, "1h"), (3_660, "1h1m"),
            (86_400, "1d"), (90_061, "1d1h"), (604_800, "7d"), (UInt32.max, "49710d6h"),
        ] as [(UInt32, String)])
    func `a TTL is told in its two largest units`(seconds: UInt32, text: String) {
        #expect(DurationText.short(seconds: seconds) == text)
    }

    @Test(
        arguments: [
            (0.04, "0.0ms"), (0.44, "0.4ms"), (3.2, "3ms"), (999.4, "999ms"), (999.6, "1.0s"),
            (4_012, "4.0s"), (.infinity, "0ms"), (-1, "0ms"),
        ] as [(Double, String)])
    func `a time that passed has the digits that matter`(milliseconds: Double, text: String) {
        #expect(DurationText.elapsed(milliseconds: milliseconds) == text)
    }
}

@Suite struct PrintableTextTests {
    @Test(arguments: [
        ("plain Bücher 名前 🙂", "plain Bücher 名前 🙂"), ("a\u{1B}[2J", "a\\u{1b}[2J"),
        ("a\nb\r\tc\u{0}", "a\\u{a}b\\u{d}\\u{9}c\\u{0}"), ("\u{7F}\u{9B}", "\\u{7f}\\u{9b}"),
        ("\u{202E}abc\u{2066}", "\\u{202e}abc\\u{2066}"), ("a\u{200B}b", "a\\u{200b}b"),
        ("a\r\nb", "a\\u{d}\\u{a}b"),
    ])
    func `what moves a cursor or hides text is escaped`(text: String, shown: String) {
        #expect(text.printable == shown)
    }

    @Test func `a quoted text is cut where it is long`() {
        #expect(quoted(String(repeating: "x", count: 5_000)).count < 210)
    }

    @Test func `wide characters take two columns`() {
        var table = TextTable(["A", "B"])
        table.add(["名", "1"])
        table.add(["ab", "2"])
        #expect(table.lines(Paint(isOn: false)) == ["A   B", "名  1", "ab  2"])
    }
}
