import HTTPDNSCapture
import TestSupport
import Testing

/// One value that is no JSON does not cost the other entries.
@Suite struct HARRepairTests {
    private static func entry(_ text: String, time: String = "1") -> String {
        #"""
        {"startedDateTime":"2027-01-31T12:00:00Z","time":\#(time),"cache":{},
          "timings":{"send":0,"wait":1,"receive":0},
          "request":{"method":"GET","url":"https://a.test/","httpVersion":"HTTP/1.1",
            "cookies":[],"headers":[],"queryString":[],"headersSize":-1,"bodySize":-1},
          "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],
            "headers":[],"content":{"size":0,"mimeType":"text/plain","text":"\#(text)"},
            "redirectURL":"","headersSize":-1,"bodySize":-1}}
        """#
    }

    private static func file(_ entries: String..., comment: String = "") -> [UInt8] {
        Array(
            #"""
            {"log":{"version":"1.2","comment":"\#(comment)","creator":{"name":"a","version":"1"},
              "_other":[{"entries":[{}]}],"entries":[\#(entries.joined(separator: ","))]}}
            """#.utf8)
    }

    private static func bodies(_ reader: HARReader) -> [String] {
        reader.records.map { String(decoding: $0.responseBody.octets, as: UTF8.self) }
    }

    @Test(arguments: [
        (#"\ud83d cut"#, "\u{FFFD} cut", #"\ud83d is half"#),
        (#"\uDE00"#, "\u{FFFD}", #"\uDE00 is half"#),
        (#"a\ud83d\ud83d\ude00b"#, "a\u{FFFD}\u{1F600}b", #"\ud83d is half"#),
        (#"\\ud83d\ud83d"#, #"\ud83d\#u{FFFD}"#, #"\ud83d is half"#),
    ])
    func `half of a character is read as none, and named`(
        written: String, read: String, told: String
    ) throws {
        let reader = try HARReader(Self.file(Self.entry("first"), Self.entry(written)))
        #expect(Self.bodies(reader) == ["first", read])
        #expect(reader.faults.count == 1)
        #expect(reader.faults.first?.hasPrefix("log.entries[1]: \(told)") == true)
    }

    @Test func `octets that are no UTF-8 are named, and what is around them stays`() throws {
        var octets = Self.file(Self.entry("ab\u{01}cd".replacing("\u{01}", with: "!!")))
        let place = try #require(octets.firstRange(of: Array("!!".utf8)))
        octets.replaceSubrange(place, with: [0xFF, 0xFE])
        let reader = try HARReader(octets)
        #expect(Self.bodies(reader) == ["ab\u{FFFD}\u{FFFD}cd"])
        #expect(
            reader.faults == [
                "log.entries[0]: octets that are no UTF-8; U+FFFD is read in their place"
            ])
    }

    @Test func `a number beyond all numbers is left out, and named`() throws {
        for number in ["1e400", "-1E+999"] {
            let reader = try HARReader(
                Self.file(Self.entry("a", time: number), Self.entry("b", time: "1e300")))
            #expect(Self.bodies(reader) == ["a", "b"])
            #expect(reader.records.first?.totalMilliseconds == nil)
            #expect(
                reader.faults.first
                    == "log.entries[0]: \(number) is beyond all numbers, and left out")
        }
    }

    @Test func `what stands in no entry is named, too`() throws {
        let reader = try HARReader(Self.file(Self.entry("a"), comment: #"\udc00"#))
        #expect(reader.records.count == 1)
        #expect(reader.faults.first?.hasPrefix(#"log: \udc00"#) == true)
    }

    @Test(arguments: [
        "{\"log\":", "{\"log\":{\"entries\":[{\"a\":\"\\ud83d\"}",
        "{\"log\":{\"entries\":[\"\\ud83d",
        "\u{FFFD}", "{\"a\":1e400}", "\"\\ud8", "\"\\", "\\ud83d", "-1e400", "]]]]", "\"\\u12",
    ])
    func `what else is wrong stays wrong`(text: String) {
        #expect(throws: HARFault.self) { try HARReader(Array(text.utf8)) }
        #expect(throws: HARFault.self) { try HARReader([0xFF] + Array(text.utf8)) }
    }

    @Test func `a sound file is read as it is`() throws {
        let sound = #"\\ud83d \ud83d\ude00 é \u0041"#
        let reader = try HARReader(Self.file(Self.entry(sound)))
        #expect(reader.faults.isEmpty && Self.bodies(reader) == ["\\ud83d \u{1F600} é A"])
    }

    @Test func `check names it, and show reads on`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(
            "cut.har",
            String(decoding: Self.file(Self.entry(#"\ud83d cut"#), Self.entry("b")), as: UTF8.self))
        let judged = try await CaptureTool.run("capture", "har", path, "--check")
        #expect(judged.status == 1)
        #expect(judged.outputText.contains(#"log.entries[0]: \ud83d is half of a character"#))
        let shown = try await CaptureTool.run("capture", "show", path, "--json")
        #expect(try shown.status == 0 && shown.documents.count == 2)
    }
}
