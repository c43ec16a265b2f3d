import Foundation
import HTTPDNSURLSession
import TestSupport
import Testing

/// Files of rules that are broken on purpose: refused as a whole, with the place, and soon.
@Suite(.timeLimit(.minutes(2))) struct RuleHostileFileTests {
    private func fault(_ text: String) -> String {
        do {
            let file = try RuleFile(text: text, file: "r.json")
            return "read: \(file.rules.rules.count) rules"
        } catch { return error.description }
    }

    private func fault(rule: String) -> String {
        fault("{\"version\": 1, \"rules\": [\n\(rule)]}")
    }

    @Test(
        arguments: [
            ("{\"first\": 99999999999999999999, \"then\": \"block\"}", "whole number"),
            ("{\"first\": 9223372036854775807, \"then\": \"block\"}", "is not in 1..."),
            ("{\"first\": -9223372036854775808, \"then\": \"block\"}", "is not in 1..."),
            ("{\"first\": 1e400, \"then\": \"block\"}", "r.json:2:"),
            ("{\"probability\": 1e400, \"then\": \"block\"}", "r.json:2:"),
            ("{\"probability\": -1e-400, \"then\": \"blok\"}", "r.json:2:"),
            ("{\"when\": {\"port\": 18446744073709551617}, \"then\": \"block\"}", "r.json:2:"),
            ("{\"then\": {\"stub\": {\"status\": 4294967496}}}", "is not in 200...599"),
            ("{\"then\": {\"stub\": {\"octetsPerSecond\": 99999999999999}}}", "is not in"),
            ("{\"then\": {\"stub\": {\"latency\": \"999999999s\"}}}", "a time is expected"),
            ("{\"then\": {\"stub\": {\"latency\": \"-1s\"}}}", "a time is expected"),
            ("{\"then\": {\"stub\": {\"latency\": \"1.1.1s\"}}}", "a time is expected"),
            ("{\"first\": 01, \"then\": \"block\"}", "r.json:2:"),
            ("{\"first\": NaN, \"then\": \"block\"}", "r.json:2:"),
        ] as [(String, String)])
    func `numbers beyond what is meant are refused, not cut`(_ rule: String, _ word: String) {
        let told = fault(rule: rule)
        #expect(told.contains(word) && told.hasPrefix("r.json:2:"), "\(told)")
    }

    @Test func `a byte order mark is passed over, one of UTF-16 is not`() throws {
        let text = "{\"version\": 1, \"rules\": [{\"then\": \"block\"}]}"
        let directory = try TemporaryDirectory()
        let read = { (octets: [UInt8]) throws -> RuleFile in
            let path = directory.path + "/rules.json"
            try Data(octets).write(to: URL(fileURLWithPath: path))
            return try RuleFile(path: path)
        }
        #expect(try read([0xEF, 0xBB, 0xBF] + Array(text.utf8)).rules.rules.count == 1)
        #expect(throws: RuleFileFault.self) { try read([0xEF, 0xBB] + Array(text.utf8)) }
        #expect(throws: RuleFileFault.self) {
            try read([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + Array(text.utf8))
        }
        let wide = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        #expect(throws: RuleFileFault.self) { try read([0xFF, 0xFE] + wide) }
        #expect(throws: RuleFileFault.self) { try read(wide) }
    }

    @Test(
        arguments: [
            ("{\"version\": 1, \"version\": 1, \"rules\": []}", "\"version\" stands twice"),
            ("{\"version\": 1, \"rules\": [], \"rules\": []}", "\"rules\" stands twice"),
            (
                "{\"version\": 1, \"rules\": [{\"when\": {\"host\": \"a.test\", \"host\": \"b.test\"}, "
                    + "\"then\": \"block\"}]}", "\"host\" stands twice"
            ),
            (
                #"{"version": 1, "rules": [{"then": {"setHeaders": {"A": "1", "A": "2"}}}]}"#,
                "\"A\" stands twice"
            ),
            // Written in another way, and the same.
            (
                "{\"version\": 1, \"rules\": [{\"then\": \"block\", \"th\\u0065n\": \"resolve\"}]}",
                "\"then\" stands twice"
            ),
        ] as [(String, String)])
    func `a member that stands twice is refused, since readers differ in which one counts`(
        _ text: String, _ word: String
    ) {
        #expect(fault(text).contains(word), "\(fault(text))")
    }

    @Test(arguments: [
        "0", "2", "1.5", "\"1\"", "-1", "1e0", "null", "true", "99999999999999999999",
    ])
    func `another version is refused before anything else is read`(_ version: String) {
        let told = fault("{\"version\": \(version), \"rules\": [{\"what\": \"is this\"}]}")
        let words =
            switch version {
            case "1e0": "unknown member"
            case "\"1\"", "null", "true": "version: the number 1 is expected, not "
            default: "version: this version is not known here; 1 is"
            }
        #expect(told.contains(words), "\(told)")
    }

    @Test func `deep nesting ends in an error, wherever it stands`() {
        for (open, close) in [
            ("{\"not\":", "}"), ("{\"any\":[", "]}"), ("{\"all\":[{\"not\":", "}]}"),
        ] {
            for depth in [70, 5_000, 100_000] {
                let deep =
                    String(repeating: open, count: depth) + "{}"
                    + String(repeating: close, count: depth)
                let told = fault(rule: "{\"when\": \(deep), \"then\": \"block\"}")
                #expect(
                    told.contains("nested deeper") || told.contains("are read"),
                    "\(told.prefix(90))")
            }
        }
        let list = String(repeating: "[", count: 200_000)
        #expect(fault(list).contains("nested deeper"))
        #expect(
            fault(rule: "{\"then\": {\"stub\": {\"json\": \(list)}}}").contains("nested deeper"))
    }

    @Test func `huge files, names and lists end in an error or are read, and neither takes long`() {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(fault(rule: "{\"\(long)\": 1}").contains("unknown member"))
        #expect(fault(rule: "{\"\(long)\": 1}").count < 2_000)
        #expect(fault(rule: "{\"then\": \"\(long)\"}").count < 2_000)
        #expect(
            fault(rule: "{\"when\": {\"path\": \"/\(long)\"}, \"then\": \"block\"}")
                .hasPrefix("r.json:2:"))
        let hosts = Array(repeating: "\"a.test\"", count: 100_000).joined(separator: ",")
        #expect(
            fault(rule: "{\"when\": {\"host\": [\(hosts)]}, \"then\": \"block\"}")
                == "read: 1 rules")
        let members = (0..<60_000).map { "\"k\($0)\": \"v\"" }.joined(separator: ",")
        #expect(fault(rule: "{\"then\": {\"setHeaders\": {\(members)}}}").hasPrefix("r"))
        let actions = Array(repeating: "{\"removeHeaders\": \"A\"}", count: 40_000)
        #expect(
            fault(rule: "{\"then\": [\(actions.joined(separator: ","))]}") == "read: 1 rules")
    }

    @Test func `what a file says is shown without control characters`() {
        for text in [
            "{\"version\": 1, \"rules\": [{\"\\u001b[31m\": 1}]}",
            "{\"version\": 1, \"rules\": [{\"then\": \"\\u0007\\u202e\"}]}",
            #"{"version": 1, "rules": [{"when": {"host": "\u001b]0;x"}, "then": "block"}]}"#,
        ] {
            let told = fault(text)
            #expect(
                !told.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E }, "\(told)")
        }
    }

    @Test(
        arguments: [
            ("{\"when\": {\"hosst\": \"a\"}, \"then\": \"block\"}", "host"),
            ("{\"when\": {\"methods\": \"GET\"}, \"then\": \"block\"}", "method"),
            ("{\"enable\": true, \"then\": \"block\"}", "enabled"),
            ("{\"probabilty\": 1, \"then\": \"block\"}", "probability"),
            ("{\"then\": {\"sutb\": {}}}", "stub"),
            ("{\"then\": {\"setHeader\": {}}}", "setHeaders"),
            ("{\"then\": {\"stub\": {\"statuss\": 1}}}", "status"),
            ("{\"then\": {\"stub\": {\"answers\": [{}], \"afterlast\": \"stay\"}}}", "afterLast"),
        ] as [(String, String)])
    func `an unknown name is answered with the nearest known one`(_ rule: String, _ word: String) {
        let told = fault(rule: rule)
        #expect(told.contains("did you mean \"\(word)\"?"), "\(told)")
    }
}
