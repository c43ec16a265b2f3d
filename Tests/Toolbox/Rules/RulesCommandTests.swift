import Foundation
import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct RulesCommandTests {
    private let directory: TemporaryDirectory
    private let file: String

    init() throws {
        directory = try TemporaryDirectory()
        file = try directory.write(
            "rules.json",
            """
            {"version": 1, "name": "work", "rules": [
              {"name": "key", "when": {"host": "**.example.test"},
                "then": {"setHeaders": {"X-Key": "geheim"}}},
              {"name": "user", "when": {"path": "/user", "method": "GET"},
                "then": {"stub": {"text": "Ada"}}},
              {"name": "rest", "then": "block"}]}
            """)
    }

    private func httpdns(_ arguments: String...) async throws -> CommandResult {
        let own = CommandLine.arguments.first ?? ""
        let products = own.split(separator: "/").dropLast().joined(separator: "/")
        return try await run("/" + products + "/httpdns", arguments)
    }

    @Test func `a sound file is printed as it is understood, without secrets`() async throws {
        let result = try await httpdns("rules", "check", file)
        #expect(result.status == 0)
        #expect(
            result.outputText == """
                \(file): 3 rules (work)
                1  key: when host **.example.test: set X-Key
                2  user: when path "/user" and method GET: stub 200, 3 octets
                3  rest: when every request: block (refused)

                """)
    }

    @Test func `for a URL it says which rule decides, and why the others do not`() async throws {
        let result = try await httpdns(
            "rules", "check", file, "--url", "https://shop.example.test/user", "--method", "PUT")
        #expect(result.status == 0)
        #expect(result.outputText.contains("1  key: fits, and the list goes on\n"))
        #expect(result.outputText.contains("2  user: method is PUT, not GET\n"))
        #expect(result.outputText.contains("3  rest: decides\n→ blocked: the request is blocked\n"))
        let json = try await httpdns(
            "rules", "check", file, "--url", "https://shop.example.test/user", "--json")
        #expect(
            json.outputText.contains(
                "\"decision\":{\"verdict\":\"stub\",\"rules\":[\"key\",\"user\"]"))
        #expect(json.outputText.contains("\"outcome\":\"not_reached\""))
    }

    @Test func `no secret of the URL is printed`() async throws {
        let result = try await httpdns(
            "rules", "check", file, "--url", "https://shop.example.test/x?token=hidden&id=7")
        #expect(result.status == 0 && result.outputText.contains("/x?token=REDACTED&id=7\n"))
        #expect(!result.outputText.contains("hidden"))
        let passing = try directory.write(
            "pass.json", #"{"version":1,"rules":[{"name":"all","then":"resolve"}]}"#)
        let resolved = try await httpdns(
            "rules", "check", passing, "--url", "https://shop.example.test/x?token=hidden")
        #expect(resolved.outputText.contains("→ resolve GET https://shop.example.test"))
        #expect(!resolved.outputText.contains("hidden"))
    }

    @Test func `a rule is told without the secrets of the URLs in it`() async throws {
        let passing = try directory.write(
            "why.json",
            #"{"version":1,"rules":[{"name":"token","when":{"host":"a.example.test"},"#
                + #""then":{"pass":"as https://bob:hidden@a.test/?token=hidden says"}}]}"#)
        for more in [[], ["--json"], ["--url", "https://a.example.test/"]] {
            let own = CommandLine.arguments.first ?? ""
            let products = own.split(separator: "/").dropLast().joined(separator: "/")
            let told = try await run(
                "/" + products + "/httpdns", ["rules", "check", passing] + more)
            #expect(told.outputText.contains("token: when host a.example.test: pass"))
            #expect(told.outputText.contains("https://REDACTED@a.test/?token=REDACTED says"))
            #expect(!told.outputText.contains("hidden"), "\(told.outputText)")
        }
    }

    @Test func `fetch says which rules acted, and what they did`() async throws {
        let url = "http://shop.example.test:1"
        let stubbed = try await httpdns("fetch", url + "/user", "--rules", file, "--json")
        let object = try JSONValue.parse(stubbed.outputText)
        #expect(stubbed.status == 0 && object["status"]?.integer == 200)
        #expect(
            object["rules"]
                == (try JSONValue.parse(
                    #"[{"url":"\#(url)/user","name":"key","actions":["setHeaders"]},"#
                        + #"{"url":"\#(url)/user","name":"user","actions":["stub"]}]"#)))
        let blocked = try await httpdns("fetch", url + "/x", "--rules", file, "--json", "--verbose")
        let rules = try JSONValue.parse(blocked.outputText)["rules"]?.array ?? []
        #expect(blocked.status == 1 && rules.map { $0["name"]?.string } == ["key", "rest"])
        #expect(blocked.errorText.contains("rest: block"), "\(blocked.errorText)")
        let passing = try directory.write(
            "pass.json",
            #"{"version":1,"rules":[{"name":"theirs","then":{"pass":"why"}}]}"#)
        let passed = try await httpdns(
            "fetch", "http://127.0.0.1:\(closedPort(address: LabAddress.ipv4))/", "--rules",
            passing,
            "--json")
        let acted = try JSONValue.parse(passed.outputText)["rules"]?.array ?? []
        #expect(passed.status == 9 && acted.first?["actions"] == ["pass"])
    }

    @Test func `a file that is wrong is named by line and member, with exit code 2`() async throws {
        let wrong = try directory.write(
            "wrong.json",
            "{\"version\": 1,\\n\"rules\": [{\"then\": \"blok\"}]}".replacing("\\n", with: "\n"))
        let result = try await httpdns("rules", "check", wrong)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errorText.contains(":2:"))
        #expect(
            result.errorText.contains(
                "rules[0].then: \"blok\" is not known here; did you mean \"block\"?"))
        #expect(try await httpdns("rules").status == 2)
        #expect(
            try await httpdns("rules", "chek", file).errorText.contains("did you mean \"check\"?"))
    }

    @Test func `fetch goes out under rules: answered here, or refused`() async throws {
        let resolver = "127.0.0.1:\(try closedPort(address: LabAddress.ipv4))"
        let answered = try await httpdns(
            "fetch", "http://shop.example.test/user", "--rules", file, "--resolver", resolver)
        #expect(answered.status == 0 && answered.outputText == "Ada")
        let refused = try await httpdns(
            "fetch", "http://shop.example.test/", "--rules", file, "--resolver", resolver, "--json")
        #expect(refused.status == 1 && refused.outputText.contains("\"code\":\"blocked\""))
    }
}
