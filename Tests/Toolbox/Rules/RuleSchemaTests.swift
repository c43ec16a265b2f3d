import Foundation
import HTTPDNSRules
import HTTPDNSURLSession
import TestSupport
import Testing

/// docs/rules.schema.json and the reader say the same: by name, and judged by a validator of
/// somebody else's.
@Suite(.timeLimit(.minutes(2))) struct RuleSchemaTests {
    // MARK: Names

    /// An object or a word of the file, with what the reader is given to make it list what it knows.
    struct Place: Sendable, CustomTestStringConvertible {
        let name: String
        /// Where in the schema; `$ref` is followed.
        let path: [String]
        /// Holds the unknown member or word.
        let text: String
        var testDescription: String { name }

        init(_ name: String, _ path: String, _ text: String) {
            self.name = name
            self.path = path.split(separator: "/").map(String.init)
            self.text = text
        }
    }

    private static func rule(_ text: String) -> String { "{\"version\": 1, \"rules\": [\(text)]}" }

    private static func then(_ text: String) -> String { rule("{\"then\": \(text)}") }

    /// Like no word that is known.
    private static let odd = "zzzzzzzzzzzz"

    static let objects = [
        Place("file", "", "{\"\(odd)\": 1}"),
        Place("rule", "$defs/rule", rule("{\"\(odd)\": 1}")),
        Place("when", "$defs/matcher", rule("{\"when\": {\"\(odd)\": 1}, \"then\": \"block\"}")),
        Place(
            "body", "$defs/matcher/properties/body",
            rule("{\"when\": {\"body\": {\"\(odd)\": 1}}, \"then\": \"block\"}")),
        Place(
            "pattern", "$defs/text/oneOf/2",
            rule("{\"when\": {\"query\": {\"a\": {\"\(odd)\": 1}}}, \"then\": \"block\"}")),
        Place("action", "$defs/action/oneOf/1", then("{\"\(odd)\": 1}")),
        Place("answer", "$defs/answer", then("{\"stub\": {\"\(odd)\": 1}}")),
        Place(
            "answers", "$defs/action/oneOf/1/properties/stub/oneOf/2",
            then("{\"stub\": {\"answers\": [{}], \"\(odd)\": 1}}")),
        Place(
            "mapping", "$defs/action/oneOf/1/properties/map/oneOf/1",
            then("{\"map\": {\"\(odd)\": 1}}")),
        Place(
            "recording", "$defs/action/oneOf/1/properties/replay/oneOf/1",
            then("{\"replay\": {\"\(odd)\": 1}}")),
        Place(
            "recorder", "$defs/action/oneOf/1/properties/record/oneOf/1",
            then("{\"record\": {\"\(odd)\": 1}}")),
    ]

    static let words = [
        Place(
            "otherwise", "properties/otherwise",
            "{\"version\": 1, \"rules\": [], \"otherwise\": \"\(odd)\"}"),
        Place("fault", "$defs/fault", then("{\"block\": \"\(odd)\"}")),
        Place(
            "scheme", "$defs/scheme",
            rule("{\"when\": {\"scheme\": \"\(odd)\"}, \"then\": \"block\"}")),
        Place(
            "afterLast", "$defs/action/oneOf/1/properties/stub/oneOf/2/properties/afterLast",
            then("{\"stub\": {\"answers\": [{}], \"afterLast\": \"\(odd)\"}}")),
    ]

    private static let schemaFile = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../docs/rules.schema.json")

    private static func schema(at path: [String]) throws -> [String: Any] {
        let whole = try JSONSerialization.jsonObject(with: Data(contentsOf: schemaFile))
        var value: Any = whole
        for step in path {
            if let object = value as? [String: Any] {
                value = try #require(object[step], "no \(step) in \(path)")
            } else {
                let list = try #require(value as? [Any], "no list for \(step) in \(path)")
                value = list[try #require(Int(step))]
            }
        }
        return try #require(value as? [String: Any])
    }

    /// What the reader lists as known where it is given something that is not.
    private static func known(_ text: String) throws -> Set<String> {
        let fault = #expect(throws: RuleFileFault.self) { try RuleFile(text: text) }
        let message = try #require(fault?.message)
        let list = try #require(message.components(separatedBy: "; known are ").last)
        #expect(message.contains("known are "), "\(message)")
        return Set(list.components(separatedBy: ", "))
    }

    @Test(arguments: objects)
    func `each member that the reader knows stands in the schema, and the reverse`(_ place: Place)
        throws
    {
        let object = try Self.schema(at: place.path)
        let properties = try #require(object["properties"] as? [String: Any])
        #expect(try Self.known(place.text) == Set(properties.keys))
        // What is not listed there is refused there, too.
        #expect(object["additionalProperties"] as? Bool == false)
    }

    @Test(arguments: words)
    func `each word that the reader knows stands in the schema, and the reverse`(_ place: Place)
        throws
    {
        let list = try #require(try Self.schema(at: place.path)["enum"] as? [String])
        #expect(try Self.known(place.text) == Set(list))
    }

    @Test func `actions that are words stand in the schema, and the reverse`() throws {
        let words = try #require(
            try Self.schema(at: ["$defs", "action", "oneOf", "0"])["enum"] as? [String])
        let objects = try #require(
            try Self.schema(at: ["$defs", "action", "oneOf", "1"])["properties"] as? [String: Any])
        #expect(
            try Self.known(Self.then("\"\(Self.odd)\"")) == Set(words).union(objects.keys))
        for word in words { _ = try RuleFile(text: Self.then("\"\(word)\"")) }
    }

    @Test func `the limits of the schema are those of the reader`() throws {
        let rules = try Self.schema(at: ["properties", "rules"])
        #expect(rules["maxItems"] as? Int == RuleFile.maximumRules)
        for (path, low, high) in [
            (["$defs", "answer", "properties", "status"], 200, 599),
            (["$defs", "port"], 1, 65_535),
            (["$defs", "rule", "properties", "first"], 1, 1_000_000_000),
            (["$defs", "rule", "properties", "after"], 1, 1_000_000_000),
        ] {
            let number = try Self.schema(at: path)
            #expect(number["minimum"] as? Int == low && number["maximum"] as? Int == high)
        }
        let recorder = ["$defs", "action", "oneOf", "1", "properties", "record", "oneOf", "1"]
        let most = try Self.schema(at: recorder + ["properties", "maximumBodyOctets"])
        #expect(most["maximum"] as? Int == FixtureRecorder.mostBodyOctets)
        #expect(most["default"] as? Int == FixtureRecorder.usualBodyOctets)
        let accepts = { (text: String) in (try? RuleFile(text: text)) != nil }
        for (bound, isIn) in [
            (0, false), (1, true), (1_000_000_000, true), (1_000_000_001, false),
        ] {
            for name in ["first", "after"] {
                #expect(
                    accepts(Self.rule("{\"\(name)\": \(bound), \"then\": \"block\"}")) == isIn,
                    "\(name) \(bound)")
            }
        }
        for (port, isIn) in [(0, false), (1, true), (65_535, true), (65_536, false)] {
            #expect(
                accepts(Self.rule("{\"when\": {\"port\": \(port)}, \"then\": \"block\"}")) == isIn,
                "port \(port)")
        }
        for (status, isIn) in [(199, false), (200, true), (599, true), (600, false)] {
            #expect(accepts(Self.then("{\"stub\": {\"status\": \(status)}}")) == isIn, "\(status)")
        }
    }
}
