import HTTPDNSJSON
import Testing

@Suite(.timeLimit(.minutes(2))) struct JSONCostTests {
    /// The least of several readings, because others use the machine too.
    private func cost(_ part: String, count: Int) -> Duration {
        let octets = Array(("[" + String(repeating: part + ",", count: count) + "0]").utf8)
        let clock = ContinuousClock()
        return (0..<5).map { _ in
            var value: JSONValue?
            let took = clock.measure { value = try? JSONValue.parse(octets) }
            #expect(value?.array?.count == count + 1)
            return took
        }.min() ?? .zero
    }

    /// A decoder that throws for each kind that a value is not takes fifty times as long for numbers.
    @Test(arguments: ["1", "-1.5", "true", "null", "[]"])
    func `a value of any kind costs about as much as a string`(part: String) {
        #expect(cost(part, count: 4_000) / cost(#""a""#, count: 4_000) < 30)
    }

    @Test func `a body of the largest size is read in linear time`() {
        // Sixteen times the values: a quadratic cost would be near 256.
        #expect(cost("1", count: 64_000) / cost("1", count: 4_000) < 64)
    }

    @Test func `an object of many members is read in a moment, and each is found`() throws {
        let text = "{" + (0..<20_000).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + "}"
        let value = try JSONValue.parse(text)
        #expect(value.object?.names.count == 20_000)
        #expect(value["n19999"] == 19_999)
    }

    /// With a look at all members before, for each of that name, this would take minutes.
    @Test func `the first of many members of one name is the path, at no cost`() throws {
        let text =
            "{" + (0..<100_000).map { "\"n\($0)\":0," }.joined()
            + #""log":[1,2],"# + String(repeating: #""log":[3],"#, count: 50_000) + #""log":[4]}"#
        var taken: [JSONValue] = []
        _ = try JSONValue.parse(
            Array(text.utf8), maximumOctets: 8 << 20, handingOver: ["log"]
        ) { element, _ in taken.append(element) }
        #expect(taken == [1, 2])
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
