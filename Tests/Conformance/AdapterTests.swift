import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSPlatform
import Testing

@Suite struct AdapterTests {
    /// What the adapter says to this input, handed over in pieces of that size.
    private func answers(_ input: [UInt8], pieceOctets: Int = 65_536) throws -> [JSONValue] {
        var rest = input[...]
        var output: [UInt8] = []
        ConformanceAdapter.run(
            reading: {
                defer { rest = rest.dropFirst(pieceOctets) }
                return Array(rest.prefix(pieceOctets))
            },
            writing: { answer in
                output += answer
                return true
            })
        return try output.split(separator: 0x0A).map { try JSONValue.parse(Array($0)) }
    }

    @Test(arguments: [1, 7, 65_536])
    func `Lines are answered in order, however they arrive`(pieceOctets: Int) throws {
        let input = """
            {"id":1,"op":"ip.literal","input":"192.0.2.1"}

            {"id":"two","op":"ip.literal","input":"192.0.2"}
            {"id":null,"op":"no.such"}
            """
        let answers = try answers(Array(input.utf8), pieceOctets: pieceOctets)
        try #require(answers.count == 3)
        #expect(answers[0] == ["bytes": "c0000201", "id": 1, "ok": true])
        #expect(answers[1] == ["id": "two", "ok": false])
        #expect(answers[2]["skip"] != nil)
    }

    @Test(arguments: [
        "{", "[]", "null", "17", "\u{0}", "{}", #"{"op":1}"#, #"{"op":"dns.parse"}"#,
        #"{"op":"dns.parse","wire":"0"}"#, #"{"op":"dns.parse","wire":"zz"}"#,
        #"{"op":"doh.decode","wire":"","qtype":65536}"#,
        #"{"op":"doh.decode","wire":"","qtype":-1}"#,
        #"{"op":"cookie.jar","steps":[1]}"#, #"{"op":"cookie.jar","steps":[{"now":1e99}]}"#,
        #"{"op":"pin.check","chain":[],"policy":{}}"#, #"{"op":"url.target","input":"\ud800"}"#,
    ])
    func `A malformed request gets an error, and the next one its answer`(line: String) throws {
        let next = #"{"id":"next","op":"url.target","input":"https://a.example"}"#
        let answers = try answers(Array((line + "\n" + next + "\n").utf8))
        try #require(answers.count == 2)
        #expect(answers[0]["error"]?.string?.isEmpty == false)
        #expect(answers[1]["host_header"] == "a.example")
    }

    @Test func `A malformed request keeps its id`() throws {
        let answers = try answers(Array(#"{"id":{"a":[1]},"op":"dns.parse"}"#.utf8))
        #expect(answers.first?["id"] == ["a": [1]])
        #expect(answers.first?["error"] == "wire is missing")
    }

    @Test func `A line that is too long is passed over`() {
        var cutter = LineCutter(maximumOctets: 4)
        #expect(cutter.append(Array("ab".utf8)) == [])
        #expect(cutter.append(Array("cd\nabc".utf8)) == [.whole(Array("abcd".utf8))])
        #expect(cutter.append(Array("de".utf8)) == [])
        #expect(cutter.append(Array("f\nx\n".utf8)) == [.tooLong, .whole([0x78])])
        #expect(cutter.finish() == [])
    }

    @Test func `When nobody listens it stops reading`() {
        var reads = 0
        ConformanceAdapter.run(
            reading: {
                reads += 1
                return Array("{}\n".utf8)
            },
            writing: { _ in false })
        #expect(reads == 1)
    }
}
