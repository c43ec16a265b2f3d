import HTTPDNSJSON
import Testing

@Suite(.timeLimit(.minutes(2))) struct JSONCostTests {
    /// As long as a body that we take, of the kinds of value that are many in it.
    @Test(
        arguments: [
            ("[", "1,", "1]"), ("[", "[],", "1]"), ("[", "\"a\",", "1]"), ("[", "true,", "1]"),
            ("[", "{\"a\":[1]},", "1]"), ("[", "\"\\u00e9\\n\",", "1]"),
        ] as [(String, String, String)])
    func `a body of small values is read in a moment`(
        head: String, part: String, tail: String
    ) {
        let count = 262_144 / part.utf8.count
        let octets = Array((head + String(repeating: part, count: count) + tail).utf8)
        let clock = ContinuousClock()
        // The least of several, because others use the machine too.
        var least = Duration.seconds(1_000)
        for _ in 0..<5 {
            var value: JSONValue?
            let took = clock.measure { value = try? JSONValue.parse(octets) }
            #expect(value?.array?.count == count + 1)
            least = min(least, took)
        }
        // A tenth of a second in a debug build on an idle machine; a decoder that throws for each
        // kind that a value is not takes ten.
        #expect(least < .seconds(3))
    }

    @Test func `an object of many members is read in a moment, and each is found`() throws {
        let text = "{" + (0..<20_000).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + "}"
        let value = try JSONValue.parse(text)
        #expect(value.object?.names.count == 20_000)
        #expect(value["n19999"] == 19_999)
    }

    @Test(arguments: [
        String(repeating: "9", count: 1_101), "1e" + String(repeating: "0", count: 5_000),
    ])
    func `a number without end is refused`(text: String) {
        #expect(throws: JSONError.self) { try JSONValue.parse(text) }
    }

    @Test func `a byte order mark is passed over`() throws {
        #expect(try JSONValue.parse([0xEF, 0xBB, 0xBF, 0x31]) == 1)
    }
}
