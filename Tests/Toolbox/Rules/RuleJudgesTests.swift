import Foundation
import HTTPDNSURLSession
import TestSupport
import Testing

/// Files of rules before two judges: the reader, and python3-jsonschema with docs/rules.schema.json.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled("there is no python3-jsonschema; \"make setup\" installs it") {
        try await run("python3", ["-c", "from jsonschema import Draft202012Validator"]).status
            == 0
    })
struct RuleJudgesTests {
    static let rules = [
        "{\"then\": \"block\"}", "{\"then\": \"resolve\"}", "{\"then\": \"offline\"}",
        "{\"then\": {\"record\": {\"file\": \"a.sqlite\"}}}",
        "{\"then\": {\"record\": {\"file\": \"a\", \"maximumBodyOctets\": 67108864}}}",
        "{\"name\": \"a\", \"comment\": \"b\", \"enabled\": false, \"then\": \"block\"}",
        "{\"first\": 2, \"then\": \"block\"}", "{\"after\": 2, \"then\": \"block\"}",
        "{\"probability\": 0.5, \"then\": \"block\"}", "{\"probability\": 1, \"then\": \"block\"}",
        "{\"when\": {}, \"then\": \"block\"}",
        "{\"when\": {\"scheme\": \"http\"}, \"then\": \"block\"}",
        "{\"when\": {\"scheme\": [\"http\", \"https\"]}, \"then\": \"block\"}",
        "{\"when\": {\"host\": \"**.a.test\", \"port\": 1}, \"then\": \"block\"}",
        "{\"when\": {\"host\": [\"a.test\", \"192.0.2.1\"], \"port\": [80, 443]}, \"then\": \"block\"}",
        "{\"when\": {\"path\": \"/v1/**\", \"extension\": [\"png\"]}, \"then\": \"block\"}",
        "{\"when\": {\"method\": [\"GET\", \"PURGE\"]}, \"then\": \"block\"}",
        "{\"when\": {\"query\": {\"a\": \"1\", \"b\": true, \"c\": false}}, \"then\": \"block\"}",
        "{\"when\": {\"header\": {\"A\": {\"contains\": \"b\"}}}, \"then\": \"block\"}",
        "{\"when\": {\"header\": {\"A\": {\"glob\": \"b*\"}}}, \"then\": \"block\"}",
        "{\"when\": {\"header\": {\"A\": {\"is\": \"b\"}}}, \"then\": \"block\"}",
        "{\"when\": {\"body\": {\"contains\": \"b\"}}, \"then\": \"block\"}",
        "{\"when\": {\"not\": {\"any\": [{\"path\": \"/a\"}, {}]}, \"all\": []}, \"then\": \"block\"}",
        "{\"then\": {\"pass\": \"why\"}}", "{\"then\": {\"block\": \"timedOut\"}}",
        "{\"then\": {\"stub\": {}}}", "{\"then\": {\"stub\": {\"status\": 404, \"text\": \"a\"}}}",
        "{\"then\": {\"stub\": {\"json\": null}}}", "{\"then\": {\"stub\": {\"json\": [1, {}]}}}",
        "{\"then\": {\"stub\": {\"base64\": \"aGk=\"}}}",
        "{\"then\": {\"stub\": {\"file\": \"a.png\", \"latency\": \"250ms\"}}}",
        "{\"then\": {\"stub\": {\"octetsPerSecond\": 10, \"failAfter\": 0}}}",
        "{\"then\": {\"stub\": {\"failWith\": \"cancelled\"}}}",
        "{\"then\": {\"stub\": {\"headers\": {\"A\": [\"b\", \"c\"], \"D\": \"e\"}}}}",
        "{\"then\": {\"stub\": [{\"status\": 503}, {}]}}",
        "{\"then\": {\"stub\": {\"answers\": [{}], \"afterLast\": \"goOn\"}}}",
        "{\"then\": {\"map\": \"https://b.test:8443\"}}",
        "{\"then\": {\"map\": {\"scheme\": \"http\", \"host\": \"b.test\", \"port\": 80}}}",
        "{\"then\": {\"addresses\": \"127.0.0.1\"}}",
        "{\"then\": [{\"addresses\": [\"::1\"]}, {\"removeHeaders\": \"A\"}, \"resolve\"]}",
        "{\"then\": {\"setHeaders\": {\"A\": \"b\"}}}",
        "{\"then\": {\"addCookies\": {\"a\": \"b\"}}}", "{\"then\": {\"record\": \"a.sqlite\"}}",
        "{\"then\": {\"replay\": {\"file\": \"a.har\", \"otherwise\": \"goOn\"}}}",
        "{\"then\": {\"replay\": \"a.har\"}}",
    ]

    /// Refused by both.
    static let bad = [
        "{\"then\": {\"record\": {}}}", "{\"then\": {\"record\": {\"maximumBodyOctets\": 1}}}",
        "{\"then\": {\"record\": {\"file\": \"a\", \"maximumBodyOctets\": 0}}}",
        "{\"then\": {\"record\": {\"file\": \"a\", \"maximumBodyOctets\": 67108865}}}",
        "{\"then\": {\"record\": {\"file\": \"a\", \"maximumBodyOctets\": \"9\"}}}",
        "{}", "7", "[]", "\"block\"", "{\"then\": 7}", "{\"then\": []}", "{\"then\": null}",
        "{\"then\": \"blok\"}", "{\"then\": \"stub\"}", "{\"Then\": \"block\"}",
        "{\"then\": {\"pass\": \"a\", \"stub\": {}}}", "{\"then\": {}}",
        "{\"then\": {\"block\": \"late\"}}", "{\"then\": {\"pass\": true}}",
        "{\"name\": 7, \"then\": \"block\"}", "{\"comment\": 7, \"then\": \"block\"}",
        "{\"enabled\": \"no\", \"then\": \"block\"}",
        "{\"first\": 0, \"then\": \"block\"}", "{\"first\": 1.5, \"then\": \"block\"}",
        "{\"first\": \"1\", \"then\": \"block\"}", "{\"first\": 1e300, \"then\": \"block\"}",
        "{\"first\": 99999999999999999999, \"then\": \"block\"}",
        "{\"first\": 1, \"after\": 1, \"then\": \"block\"}",
        "{\"probability\": 2, \"then\": \"block\"}", "{\"probability\": -0.1, \"then\": \"block\"}",
        "{\"when\": [], \"then\": \"block\"}",
        "{\"when\": {\"hots\": \"a.test\"}, \"then\": \"block\"}",
        "{\"when\": {\"host\": []}, \"then\": \"block\"}",
        "{\"when\": {\"host\": 7}, \"then\": \"block\"}",
        "{\"when\": {\"port\": \"443\"}, \"then\": \"block\"}",
        "{\"when\": {\"port\": 65536}, \"then\": \"block\"}",
        "{\"when\": {\"port\": 1e2000}, \"then\": \"block\"}",
        "{\"when\": {\"scheme\": \"ftp\"}, \"then\": \"block\"}",
        "{\"when\": {\"query\": {}}, \"then\": \"block\"}",
        "{\"when\": {\"query\": {\"a\": 7}}, \"then\": \"block\"}",
        "{\"when\": {\"query\": {\"a\": {}}}, \"then\": \"block\"}",
        "{\"when\": {\"query\": {\"a\": {\"is\": \"b\", \"glob\": \"c\"}}}, \"then\": \"block\"}",
        "{\"when\": {\"query\": {\"a\": {\"glob\": \"\"}}}, \"then\": \"block\"}",
        "{\"when\": {\"body\": {}}, \"then\": \"block\"}",
        "{\"when\": {\"body\": \"a\"}, \"then\": \"block\"}",
        "{\"when\": {\"not\": []}, \"then\": \"block\"}",
        "{\"when\": {\"any\": {}}, \"then\": \"block\"}",
        "{\"then\": {\"stub\": 7}}", "{\"then\": {\"stub\": []}}",
        "{\"then\": {\"stub\": {\"status\": 199}}}", "{\"then\": {\"stub\": {\"text\": 7}}}",
        "{\"then\": {\"stub\": {\"latency\": 250}}}",
        "{\"then\": {\"stub\": {\"latency\": \"2 weeks\"}}}",
        "{\"then\": {\"stub\": {\"octetsPerSecond\": 0}}}",
        "{\"then\": {\"stub\": {\"failAfter\": -1}}}", "{\"then\": {\"stub\": {\"body\": \"a\"}}}",
        "{\"then\": {\"stub\": {\"answers\": []}}}",
        "{\"then\": {\"stub\": {\"afterLast\": \"stay\"}}}",
        "{\"then\": {\"stub\": {\"file\": \"\"}}}", "{\"then\": {\"map\": {}}}",
        "{\"then\": {\"map\": {\"port\": 0}}}", "{\"then\": {\"map\": 7}}",
        "{\"then\": {\"addresses\": []}}", "{\"then\": {\"setHeaders\": []}}",
        "{\"then\": {\"setHeaders\": {\"A\": 7}}}", "{\"then\": {\"addCookies\": {\"a\": 1}}}",
        "{\"then\": {\"record\": \"\"}}", "{\"then\": {\"replay\": {}}}",
        "{\"then\": {\"pass\": \" \"}}", "{\"then\": {\"setHeaders\": {}}}",
        "{\"then\": {\"addCookies\": {}}}",
        "{\"then\": {\"replay\": {\"file\": \"a\", \"otherwise\": \"maybe\"}}}",
    ]

    /// Refused by the reader alone: no schema knows what a host is, or what was said before.
    static let beyondSchema = [
        "{\"when\": {\"host\": \"a..b\"}, \"then\": \"block\"}",
        "{\"when\": {\"host\": \"a*b.test\"}, \"then\": \"block\"}",
        "{\"when\": {\"path\": \"v1\"}, \"then\": \"block\"}",
        "{\"when\": {\"method\": \"get\"}, \"then\": \"block\"}",
        "{\"then\": [\"block\", \"resolve\"]}", "{\"then\": {\"setHeaders\": {\"Host\": \"a\"}}}",
        "{\"then\": {\"setHeaders\": {\"A\": \"a\\nb\"}}}",
        "{\"then\": {\"removeHeaders\": \"Host\"}}",
        "{\"then\": {\"addresses\": \"a.test\"}}",
        "{\"then\": {\"map\": \"staging\"}}",
        "{\"then\": {\"stub\": {\"text\": \"a\", \"json\": 1}}}",
        "{\"then\": {\"stub\": {\"base64\": \"!\"}}}",
        "{\"when\": {\"extension\": \".png\"}, \"then\": \"block\"}",
        "{\"then\": {\"record\": \"a.har\"}}",
        "{\"then\": {\"stub\": {\"latency\": \"99999999s\"}}}",
        "{\"name\": \"a\", \"then\": \"block\"}, {\"name\": \"a\", \"then\": \"block\"}",
        "{\"then\": \"block\", \"then\": \"block\"}",
    ]

    static let badFiles = [
        "{}", "[]", "null", "{\"version\": 1}", "{\"rules\": []}",
        "{\"version\": 2, \"rules\": []}",
        "{\"version\": \"1\", \"rules\": []}", "{\"version\": 1, \"rules\": {}}",
        "{\"version\": 1, \"rules\": [], \"otherwise\": \"block\"}",
        "{\"version\": 1, \"rules\": [], \"name\": 7}",
        "{\"version\": 1, \"rules\": [], \"Rules\": []}",
    ]

    private static func file(_ rules: String) -> String {
        "{\"version\": 1, \"rules\": [\(rules)]}"
    }

    /// What the validator says of each document: true for valid.
    private func judged(_ documents: [String]) async throws -> [Bool] {
        let schema = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/rules.schema.json").path
        let script = """
            import json, sys
            from jsonschema import Draft202012Validator
            schema = json.load(open(sys.argv[1]))
            Draft202012Validator.check_schema(schema)
            validator = Draft202012Validator(schema)
            for text in json.load(sys.stdin):
                print(int(validator.is_valid(json.loads(text))))
            """
        let input = try JSONSerialization.data(withJSONObject: documents)
        let result = try await run("python3", ["-c", script, schema], input: [UInt8](input))
        try #require(result.status == 0, "\(result.errorText)")
        return result.outputText.split(separator: "\n").map { $0 == "1" }
    }

    /// Recordings are there, whatever they are called.
    private func isRead(_ text: String) -> Bool {
        let recordings = RuleFile.Recordings(
            read: { FixtureLibrary([] as [Fixture], label: $0) },
            record: { FixtureRecorder($0.path) { _ in } })
        return (try? RuleFile(text: text, recordings: recordings)) != nil
    }

    @Test func `what one takes the other takes, and what one refuses the other refuses`()
        async throws
    {
        let good =
            Self.rules.map(Self.file) + [
                "{\"version\": 1, \"rules\": []}",
                "{\"$schema\": \"x\", \"version\": 1, \"name\": \"a\", \"comment\": \"b\", "
                    + "\"otherwise\": \"refuse\", \"rules\": []}",
                Self.file(Self.rules.joined(separator: ", ")),
            ]
        for (document, isValid) in zip(good, try await judged(good)) {
            #expect(isRead(document), "the reader refuses \(document)")
            #expect(isValid, "the schema refuses \(document)")
        }
        let bad = Self.bad.map(Self.file) + Self.badFiles
        for (document, isValid) in zip(bad, try await judged(bad)) {
            #expect(!isRead(document), "the reader takes \(document)")
            #expect(!isValid, "the schema takes \(document)")
        }
        let beyond = Self.beyondSchema.map(Self.file)
        for (document, isValid) in zip(beyond, try await judged(beyond)) {
            #expect(!isRead(document), "the reader takes \(document)")
            #expect(isValid, "the schema refuses \(document): it belongs to the list above")
        }
    }

    @Test func `of files made of both kinds, the schema takes each that the reader takes`()
        async throws
    {
        // Each good rule with one value in it replaced by another one's, of any kind.
        let values = ["7", "-1", "0.5", "true", "null", "\"x\"", "[]", "{}", "[\"a\"]", "\"\""]
        var documents: [String] = []
        for rule in Self.rules {
            let parsed = try JSONSerialization.jsonObject(with: Data(rule.utf8))
            for value in values {
                let other = try JSONSerialization.jsonObject(
                    with: Data(value.utf8), options: .fragmentsAllowed)
                for changed in Self.changed(parsed, to: other) {
                    documents.append(
                        Self.file(
                            String(
                                decoding: try JSONSerialization.data(withJSONObject: changed),
                                as: UTF8.self)))
                }
            }
        }
        #expect(documents.count > 1_000)
        var taken = 0
        for (document, isValid) in zip(documents, try await judged(documents)) {
            guard isRead(document) else { continue }
            taken += 1
            #expect(isValid, "the reader takes \(document), and the schema does not")
        }
        #expect(taken > 50)
    }

    /// The value with each part of it, in turn, replaced.
    private static func changed(_ value: Any, to other: Any) -> [Any] {
        var all: [Any] = []
        if let object = value as? [String: Any] {
            for (name, part) in object {
                for new in [other] + changed(part, to: other) {
                    all.append(object.merging([name: new]) { $1 })
                }
            }
        } else if let list = value as? [Any] {
            for (place, part) in list.enumerated() {
                for new in [other] + changed(part, to: other) {
                    var copy = list
                    copy[place] = new
                    all.append(copy)
                }
            }
        }
        return all
    }
}
