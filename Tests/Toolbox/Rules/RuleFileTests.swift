import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSURLSession
import TestSupport
import Testing

/// Rules from a file: what it may say, and what it is told when it says something else.
@Suite(.timeLimit(.minutes(2))) struct RuleFileTests {
    private func file(_ rules: String) throws -> RuleFile {
        try RuleFile(text: "{\"version\": 1, \"rules\": [\(rules)]}", file: "r.json")
    }

    private func fault(_ text: String) -> String {
        do {
            _ = try RuleFile(text: text, file: "r.json")
            return "no fault"
        } catch { return error.description }
    }

    private func faultOf(rule: String) -> String {
        fault("{\"version\": 1, \"rules\": [\n\(rule)]}")
    }

    @Test func `everything a file can say is read as it is meant`() throws {
        let file = try RuleFile(
            text: """
                {
                  "$schema": "rules.schema.json", "version": 1, "name": "all", "comment": "all of it",
                  "otherwise": "refuse",
                  "rules": [
                    {"name": "a", "when": {
                      "scheme": "https", "host": ["api.example.com", "*.bücher.example"],
                      "port": 8443, "path": "/v1/**", "extension": ["png", "JPG"],
                      "method": ["GET", "HEAD"], "header": {"X-A": {"glob": "a*"}},
                      "query": {"id": "7", "tag": {"contains": "x"}, "flag": true, "no": false},
                      "body": {"contains": "z"}}, "then": "block"},
                    {"when": {"not": {"host": "::1"}, "any": [{"path": "/a"}, {"path": "/b"}],
                      "all": [{}]}, "first": 2, "probability": 0.5, "then": [
                      {"setHeaders": {"X-B": "1", "X-C": ["2", "3"]}}, {"removeHeaders": "X-D"},
                      {"addCookies": {"sid": "1"}}, {"map": "https://b.example:8443"},
                      {"addresses": ["127.0.0.1", "::1"]}, "resolve"]},
                    {"name": "off", "enabled": false, "after": 3, "then": {"pass": "why"}},
                    {"then": {"map": {"scheme": "http", "host": "c.example", "port": 8080}}},
                    {"then": {"block": "timedOut"}}, {"then": "offline"},
                    {"then": {"stub": {"answers": [
                      {"status": 503, "headers": {"Retry-After": "1"}},
                      {"json": {"a": [1, 2.5, null]}, "latency": "250ms", "octetsPerSecond": 1000},
                      {"text": "hi", "failAfter": 1, "failWith": "networkConnectionLost"},
                      {"base64": "aGk="}, {"file": "a.png"}], "afterLast": "goOn"}}}
                  ]
                }
                """)
        #expect(file.name == "all" && file.rules.otherwise == .refuse)
        #expect(
            file.rules.rules.map(\.description) == [
                "a: when scheme https and (host api.example.com or host *.xn--bcher-kva.example) and "
                    + "port 8443 and path \"/v1/**\" and extension png, jpg and query item id is \"7\" "
                    + "and query item tag is something with \"x\" in it and query item flag is "
                    + "anything and not (query item no is anything) and method GET, HEAD and field "
                    + "X-A is \"a*\" and body is something with \"z\" in it: block (refused)",
                "rule 2: when not (host ::1) and (path \"/a\" or path \"/b\") and every request, the "
                    + "first 2, with probability 0.5: set X-B, X-C, X-C; remove X-D; add the cookies "
                    + "sid; map to scheme https, host b.example, port 8443; connect to 127.0.0.1, "
                    + "::1; resolve",
                "off: when every request, after the first 3 (disabled): pass to the system's loader "
                    + "(why)",
                "rule 4: when every request: map to scheme http, host c.example, port 8080",
                "rule 5: when every request: block (timedOut)",
                "rule 6: when every request: offline",
                "rule 7: when every request: stub 503, then 200, 18 octets, after 0.25 seconds, 1000 "
                    + "octets a second, then 200, 2 octets, broken off after 1 octets "
                    + "(networkConnectionLost), then 200, 2 octets, then 200, from a.png, then no "
                    + "more",
            ])
    }

    @Test(arguments: [
        (
            "{\"when\": {\"hots\": \"a.test\"}, \"then\": \"block\"}",
            "r.json:2:11: rules[0].when.hots: unknown member \"hots\"; did you mean \"host\"?"
        ),
        (
            "{\"when\": {\"host\": 7}, \"then\": \"block\"}",
            "r.json:2:19: rules[0].when.host: a string is expected, not a number"
        ),
        (
            "{\"when\": {\"host\": [\"a.test\", \"a..b\"]}, \"then\": \"block\"}",
            "r.json:2:30: rules[0].when.host[1]: "
        ),
        ("{\"when\": {\"port\": 70000}, \"then\": \"block\"}", "70000 is not in 1...65535"),
        ("{\"when\": {\"path\": \"v1\"}, \"then\": \"block\"}", "paths begin with '/'"),
        (
            "{\"when\": {\"method\": \"get\"}, \"then\": \"block\"}",
            "methods are written in capitals: \"GET\""
        ),
        ("{\"when\": {\"scheme\": \"htps\"}, \"then\": \"block\"}", "did you mean \"https\"?"),
        ("{\"when\": {\"host\": []}, \"then\": \"block\"}", "an empty array fits nothing"),
        ("{\"when\": {\"query\": {}}, \"then\": \"block\"}", "it names nothing"),
        (
            "{\"when\": {\"header\": {\"a\": {\"is\": \"x\", \"glob\": \"y\"}}}, \"then\": \"block\"}",
            "one of"
        ),
        ("{\"when\": {}}", "rules[0]: \"then\" is missing"),
        (
            "{\"then\": \"blok\"}",
            "rules[0].then: \"blok\" is not known here; did you mean \"block\"?"
        ),
        ("{\"then\": \"stub\"}", "\"stub\" needs a value"),
        ("{\"then\": {\"block\": \"timeout\"}}", "did you mean \"timedOut\"?"),
        (
            "{\"then\": [\"block\", {\"setHeaders\": {\"a\": \"b\"}}]}",
            "nothing comes after \"block (refused)\""
        ),
        ("{\"then\": {\"setHeaders\": {\"Host\": \"a.test\"}}}", "Host follows from the URL"),
        ("{\"then\": {\"setHeaders\": {\"X-A\": \"a\\nb\"}}}", "control character"),
        ("{\"then\": {\"addCookies\": {\"a\": \"1;2\"}}}", "rules[0].then.addCookies.a: "),
        (
            "{\"then\": {\"map\": \"https://a.test/path\"}}",
            "only scheme, host and port can be mapped"
        ),
        ("{\"then\": {\"map\": \"staging\"}}", "is no origin"),
        ("{\"then\": {\"map\": {}}}", "scheme, host or port is expected"),
        ("{\"then\": {\"addresses\": \"a.test\"}}", "is no address"),
        (
            "{\"then\": {\"stub\": {\"status\": 100}}}",
            "rules[0].then.stub.status: 100 is not in 200...599"
        ),
        ("{\"then\": {\"stub\": {\"text\": \"a\", \"json\": 1}}}", "one body: text or json"),
        ("{\"then\": {\"stub\": {\"base64\": \"!\"}}}", "this is no base64"),
        ("{\"then\": {\"stub\": {\"latency\": \"2 weeks\"}}}", "a time is expected"),
        ("{\"then\": {\"stub\": {\"latency\": \"90000000000s\"}}}", "a time is expected"),
        ("{\"then\": {\"stub\": {\"answers\": []}}}", "at least one answer"),
        ("{\"then\": {\"stub\": {\"body\": 1}}}", "unknown member \"body\""),
        ("{\"then\": {\"replay\": \"a.har\"}}", "nobody here reads recordings"),
        ("{\"then\": \"block\", \"probability\": 1.5}", "1.5 is not in 0.0...1.0"),
        ("{\"then\": \"block\", \"first\": 1, \"after\": 2}", "exclude each other"),
        ("{\"then\": \"block\", \"first\": -1}", "-1 is not in 1..."),
        ("{\"then\": \"block\", \"then\": \"block\"}", "\"then\" stands twice"),
        (
            "{\"name\": \"a\", \"then\": \"block\"}, {\"name\": \"a\", \"then\": \"block\"}",
            "there is a rule \"a\" already"
        ),
        ("7", "rules[0]: an object is expected, not a number"),
    ])
    func `a fault names its place, what was expected, and the nearest word`(
        rule: String, expected: String
    ) {
        let told = faultOf(rule: rule)
        #expect(told.hasPrefix("r.json:2:") && told.contains(expected), "\(told)")
    }

    @Test func `files that are broken, of another version, deep or huge are refused`() throws {
        #expect(fault("").contains("not JSON"))
        #expect(fault("{\"version\": 1,").hasPrefix("r.json:1:"))
        #expect(fault("[]").contains("an object is expected, not an array"))
        #expect(fault("{\"rules\": []}").contains("\"version\": 1 is missing"))
        #expect(
            fault("{\"version\": 2, \"rules\": []}").contains(
                "version: this version is not known here; 1 is"))
        #expect(fault("{\"version\": 1}").contains("\"rules\" is missing"))
        let deep =
            String(repeating: "{\"not\":", count: 5_000) + "{}"
            + String(repeating: "}", count: 5_000)
        #expect(faultOf(rule: "{\"when\": \(deep), \"then\": \"block\"}").contains("nested deeper"))
        let many = Array(repeating: "{\"then\":\"block\"}", count: 1_001).joined(separator: ",")
        #expect(faultOf(rule: many).contains("1001 rules; at most 1000 are read"))
        #expect(
            fault(String(repeating: " ", count: 1_048_577)).contains("at most 1048576 are read"))
        let octets = try TemporaryDirectory()
        #expect(throws: RuleFileFault.self) { try RuleFile(path: octets.path) }
        #expect(throws: RuleFileFault.self) { try RuleFile(path: octets.path + "/none.json") }
        #expect(throws: RuleFileFault.self) { try RuleFile(path: "/dev/zero") }
        try Data([0x7B, 0xFF, 0xFE]).write(to: URL(fileURLWithPath: octets.path + "/b.json"))
        #expect(throws: RuleFileFault.self) { try RuleFile(path: octets.path + "/b.json") }
    }

    @Test func `every cut and every changed octet of a file is read or refused`() throws {
        let text = Array(
            """
            {"version": 1, "rules": [{"when": {"host": "*.a.test", "query": {"a": {"glob": "*"}}},
            "then": [{"map": {"port": 8443}}, {"stub": {"json": {"a": 1}, "latency": "1s"}}]}]}
            """.utf8)
        var read = 0
        for place in text.indices {
            for octet: UInt8 in [0x00, 0x22, 0x7B, 0x5D, 0x39, 0xFF] {
                var changed = text
                changed[place] = octet
                let text = String(decoding: changed, as: UTF8.self)
                if (try? RuleFile(text: text)) != nil { read += 1 }
            }
            #expect((try? RuleFile(text: String(decoding: text[..<place], as: UTF8.self))) == nil)
        }
        #expect(read < text.count * 6)
    }

    @Test func `a file's rules answer a session, its paths relative to it`() async throws {
        let directory = try TemporaryDirectory()
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        try png.write(to: URL(fileURLWithPath: directory.path + "/cat.png"))
        let path = try directory.write(
            "rules.json",
            """
            {"version": 1, "rules": [
              {"name": "images", "when": {"extension": "jpg"}, "then": {"stub": {"file": "cat.png"}}},
              {"name": "user", "when": {"path": "/user"}, "then": {"stub": {"json": {"name": "Ada"}}}}]}
            """)
        let rules = try LiveRules(file: path)
        let session = try RuleLab().session(rules)
        let image = try await session.answer("https://shop.example.test/a.jpg")
        #expect(image.data == png && image.response?.mimeType == "image/png")
        let user = try await session.answer("https://shop.example.test/user")
        #expect(user.text == "{\"name\":\"Ada\"}" && user.response?.mimeType == "application/json")
    }
}
