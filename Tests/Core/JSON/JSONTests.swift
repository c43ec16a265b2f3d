import HTTPDNSJSON
import Testing

@Suite struct JSONParserTests {
    @Test(
        arguments: [
            ("null", .null), ("true", true), (" \t\r\n[ ] ", []), ("{}", [:]),
            ("\"a\\u0041\\n\\\"\\\\\\/\"", "aA\n\"\\/"), ("\"\\ud83d\\ude00\"", "\u{1F600}"),
            ("0", 0), ("-0", 0), ("9223372036854775807", 9_223_372_036_854_775_807),
            ("-9223372036854775808", .integer(.min)), ("1.0", 1), ("2e2", 200), ("0.5", 0.5),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            ("[1,[\"[\",{\"a\":[null]}]]", [1, ["[", ["a": [nil]]]]),
        ] as [(String, JSONValue)])
    func `a JSON text becomes its value`(text: String, value: JSONValue) throws {
        #expect(try JSONValue.parse(text) == value)
    }

    @Test func `members come in ascending order and the first of duplicates counts`() throws {
        let value = try JSONValue.parse(#"{"b":1,"a":2,"b":3}"#)
        #expect(value.object?.names == ["a", "b"])
        #expect(value["b"] == 1)
    }

    @Test(
        arguments: [
            (#"{"log":{"a":1,"entries":[1,{"x":[2]},"y"],"b":2}}"#, 3),
            (#"{"a":[7],"log":{"entries":[]}}"#, 0), (#"{"log":{"entries":{"0":[1]}}}"#, 0),
            (#"{"log":[1],"x":{"entries":[1]}}"#, 0), ("[1]", 0), ("7", 0),
            (#"{"log":{"entries":[1]},"log":{"entries":[2,3]}}"#, 1),
            (#"{"log":{"entries":7,"entries":[2,3]}}"#, 0),
            (#"{"log":{"entries":[[1],[2]],"entries":[3]}}"#, 2),
        ] as [(String, Int)])
    func `elements that are handed over are those of the value, and the rest is the rest`(
        text: String, count: Int
    ) throws {
        let octets = Array(text.utf8)
        var (elements, ends): ([JSONValue], [Int]) = ([], [])
        let rest = try JSONValue.parse(
            octets, maximumOctets: 1_000, handingOver: ["log", "entries"]
        ) { element, end in
            elements.append(element)
            ends.append(end)
        }
        #expect(elements.count == count && ends == ends.sorted())
        #expect(ends.allSatisfy { $0 > 0 && $0 < octets.count })
        var whole = try JSONValue.parse(octets)
        #expect(count == 0 || whole["log"]?["entries"]?.array == elements)
        if count > 0, var object = whole.object, var log = object["log"]?.object {
            log["entries"] = []
            object["log"] = .object(log)
            whole = .object(object)
        }
        #expect(rest == whole)
    }

    @Test(arguments: [
        #"{"log":{"entries":[1,"#, #"{"log":{"entries":[1}}"#, #"{"log":{"entries":[1]}"#,
    ])
    func `a text that breaks off behind elements is refused all the same`(text: String) {
        #expect(throws: JSONError.self) {
            _ = try JSONValue.parse(
                Array(text.utf8), maximumOctets: 1_000, handingOver: ["log", "entries"]
            ) { _, _ in }
        }
    }

    @Test(
        arguments: [
            (#"{"b":1,"a":2,"b":3}"#, "octet 13"), (#"[{"a":{"a":1,"\u0061":2}}]"#, "octet 13"),
            (#"{"a":1,"b":{"a":2}}"#, nil), (#"[{"a":1},{"a":1}]"#, nil),
        ] as [(String, String?)])
    func `where a person wrote the text a duplicate is an error with its place`(
        text: String, place: String?
    ) {
        let found: String?
        do throws(JSONError) {
            _ = try JSONValue.parse(text, refusesDuplicates: true)
            found = nil
        } catch {
            found = error.place
        }
        #expect(found == place)
    }

    @Test(arguments: [
        "", " ", "nul", "01", "+1", ".5", "1.", "1e999", "NaN", "Infinity", "'a'", "{a:1}",
        "[1,]", "{\"a\":1,}", "[1 2]", "[1],", "[1] x", "[", "]", "{\"a\"", "[}", "{]", "\"",
        "\"\\",
        "\"\\x\"", "\"\\ud800\"", "\"\\udc00x\"", "\"\u{1}\"", "1\u{0}", "// c\n1", "<html></html>",
        "{\"a\":\"\\ud800\"}", "{\"\\ud800\":1}", "[,]", "{,}", "[,1]",
    ])
    func `a text that is not JSON is refused`(text: String) {
        #expect(throws: JSONError.self) { try JSONValue.parse(text) }
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x31, 0x00], [0x00, 0x31],
            [0xFF, 0xFE, 0x31, 0x00], [0x22, 0xED, 0xA0, 0x80, 0x22],
        ] as [[UInt8]])
    func `octets that are not UTF-8 are refused`(octets: [UInt8]) {
        #expect(throws: JSONError.self) { try JSONValue.parse(octets) }
    }

    @Test(arguments: [
        ("[1,\n2,]", "octet 6"), ("[1}", "octet 2"), ("{\"a\":\"\u{7}\"}", "octet 6"),
        ("[1,[2", "octet 5"),
    ])
    func `an error says where`(text: String, place: String) {
        #expect {
            try JSONValue.parse(text)
        } throws: { error in
            (error as? JSONError)?.place == place
        }
    }

    @Test func `nesting is read to its limit and refused beyond`() async throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(repeating: 0x5B, count: depth) + Array(repeating: 0x5D, count: depth)
        }
        _ = try JSONValue.parse(nested(JSONValue.maximumDepth))
        #expect(throws: JSONError.self) { try JSONValue.parse(nested(JSONValue.maximumDepth + 1)) }
        #expect(throws: JSONError.self) { try JSONValue.parse(nested(400_000)) }
    }

    @Test func `a text longer than the limit is refused unread`() {
        #expect(throws: JSONError("11 octets of JSON; at most 10 are read")) {
            try JSONValue.parse(Array("\"123456789\"".utf8), maximumOctets: 10)
        }
    }
}

@Suite struct JSONWriterTests {
    @Test func `members are written in the order given`() {
        var object: JSONObject = ["name": "a", "answers": [], "ttl": 5]
        object["name"] = "b"
        object["answers"] = nil
        object["last"] = nil
        object["milliseconds"] = 38.2
        #expect(
            JSONValue.object(object).description == #"{"name":"b","ttl":5,"milliseconds":38.2}"#)
    }

    @Test(arguments: [
        ("\"\\/", #""\"\\/""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
        ("\u{0}\u{1B}[31m\u{7F}\u{9B}", #""\u0000\u001b[31m\u007f\u009b""#),
        ("\u{2028}", #""\u2028""#), ("é\u{1F600}", "\"é\u{1F600}\""),
    ])
    func `what could break a line or a terminal is escaped`(text: String, written: String) throws {
        #expect(JSONValue.string(text).description == written)
        #expect(try JSONValue.parse(written) == .string(text))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a number that JSON cannot write becomes null`(number: Double) {
        #expect(JSONValue.number(number).description == "null")
    }

    @Test(arguments: [0.1, -1.5e300, 2.5e-308, 1e16, 123_456.789])
    func `a double comes back the same`(number: Double) throws {
        #expect(try JSONValue.parse(JSONValue.number(number).description).number == number)
    }
}
