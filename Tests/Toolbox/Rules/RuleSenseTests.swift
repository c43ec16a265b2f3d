import HTTPDNS
import HTTPDNSClient
import HTTPDNSJSON
import HTTPDNSRuleFile
import TestSupport
import Testing

@testable import HTTPDNSRules

/// A rule that is accepted can do what it says, and what it costs does not depend on how it is written.
@Suite(.timeLimit(.minutes(3))) struct RuleSenseTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func check(_ text: String, _ options: String...) async throws -> CommandResult {
        let file = try directory.write("rules.json", text)
        return try await CaptureTool.run(["rules", "check", file] + options)
    }

    private func rule(_ text: String) -> String { "{\"version\": 1, \"rules\": [\(text)]}" }

    @Test(arguments: [
        (#"{"when": {"extension": ".png"}, "then": "block"}"#, "without its dot: \"png\""),
        (#"{"when": {"extension": "*.png"}, "then": "block"}"#, "without its dot: \"png\""),
        (#"{"when": {"extension": ["gif", "a/b"]}, "then": "block"}"#, "is no extension"),
        (#"{"when": {"extension": ""}, "then": "block"}"#, "is no extension"),
        (#"{"then": {"record": "new.har"}}"#, "an SQLite database, and no har file"),
        (#"{"then": {"record": "New.JSON"}}"#, "give it another name (a.sqlite)"),
    ])
    func `what would never fit, or mislead, is refused in words`(
        text: String, words: String
    ) async throws {
        let result = try await check(rule(text))
        #expect(result.status == 2 && result.errorText.contains(words), "\(result.errorText)")
    }

    @Test func `a version that is no number is told that one is wanted`() async throws {
        let result = try await check(#"{"version": "1", "rules": []}"#)
        #expect(
            result.errorText.contains("version: the number 1 is expected, not a string"),
            "\(result.errorText)")
        let other = try await check(#"{"version": 1.5, "rules": []}"#)
        #expect(other.errorText.contains("this version is not known here; 1 is"))
    }

    @Test func `a query behind a path is remarked on, and read as a pattern`() async throws {
        let text = rule(
            #"{"name": "odd", "when": {"not": {"path": "/v1?x=1"}}, "then": "block"}, "#
                + #"{"name": "fine", "when": {"path": "/v?/x"}, "then": "block"}"#)
        let result = try await check(text)
        #expect(result.status == 0)
        #expect(result.errorText.contains("rule 1, odd: path \"/v1?x=1\": a path has no query"))
        #expect(!result.errorText.contains("fine"))
        let json = try await check(text, "--json")
        let rules = try JSONValue.parse(json.outputText)["rules"]?.array ?? []
        #expect(rules.map { $0["remarks"]?.array?.count } == [1, 0])
    }

    @Test func `rules on standard input are held against the files that they name`() async throws {
        let text = rule(#"{"then": {"stub": {"file": "/nowhere/missing.png"}}}"#)
        let result = try await run(
            ProxyTool.path, ["rules", "check", "-"], input: Array(text.utf8),
            environment: ProxyTool.quiet)
        #expect(result.status == 2, "\(result.outputText)")
        #expect(result.errorText.contains("standard input:1:"), "\(result.errorText)")
        #expect(result.errorText.contains("/nowhere/missing.png"))
    }

    @Test(arguments: [
        ("/a.tar.gz", "tar.gz", true), ("/a.TAR.GZ", "tar.gz", true), ("/tar.gz", "tar.gz", false),
        ("/.tar.gz", "tar.gz", false), ("/a.tar.gz", "gz", true), ("/a.targz", "tar.gz", false),
        ("/x.tar.gz/a", "tar.gz", false), ("/a.png", ".png", true), ("/a.png", "", false),
    ])
    func `an extension may have a dot in it`(
        path: String, wanted: String, isMeant: Bool
    ) throws {
        let request = RuledRequest(
            RequestHead(url: try HTTPURL("https://a.test\(path)")))
        #expect(RequestMatcher.pathExtension(wanted).matches(request) == isMeant)
    }

    @Test func `a stub that is to break off behind its end breaks off at it`() async throws {
        let rules = LiveRules(
            RequestRules([RequestRule("short", .any, .stub(.text("abc").failing(afterOctets: 10)))])
        )
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        let client = try HTTPDNS(configuration).client
        let url = try HTTPURL("http://a.test/")
        let response = try await client.send(HTTPRequest(.get, url), under: rules)
        await #expect(throws: ExchangeFailure.self) {
            _ = try await response.collect(upTo: 1_000)
        }
        // There is no body to break off in: it is whole with its head.
        let head = try await client.send(HTTPRequest(.head, url), under: rules)
        #expect(try await head.collect(upTo: 1_000).0.isEmpty)
        #expect(head.head.fields.first("Content-Length") == "3")
    }

    @Test(arguments: [
        ("/a b/*", "/a%20b/c", true), ("/a%20b/*", "/a b/c", true), ("/a b", "/a%2520b", false),
        ("/\"q\"", "/%22q%22", true), ("/a|b", "/a%7Cb", true), ("/a|b", "/a|b", true),
        ("/a%7cb", "/a|b", true), ("/[1]", "/%5B1%5D", true), ("/{id}/^`", "/{id}/^`", true),
        ("/<a>", "/%3ca%3E", true), ("/a\\b", "/a%5Cb", true), ("/a#b", "/a%23b", true),
        ("/\u{E4} b/*", "/%C3%A4%20b/x", true), ("/a%2Fb", "/a/b", false),
        ("/a?b", "/a%20b", false),
        ("/a???b", "/a%20b", true),
    ])
    func `a path may be written as people write it, or as it is sent`(
        glob: String, path: String, fits: Bool
    ) throws {
        let request = RuledRequest(RequestHead(url: try HTTPURL("https://a.test\(path)")))
        #expect(try RequestMatcher.path(glob).matches(request) == fits)
    }

    @Test func `a condition on Host holds, and one on what is added later is remarked on`()
        async throws
    {
        for (url, value, fits) in [
            ("https://a.test/", "a.test", true), ("https://a.test:8443/", "a.test:8443", true),
            ("https://a.test:8443/", "a.test", false), ("https://b.test/", "a.test", false),
        ] {
            let request = RuledRequest(RequestHead(url: try HTTPURL(url)))
            #expect(RequestMatcher.header("host", .exactly(value)).matches(request) == fits)
        }
        let text = rule(
            #"{"when": {"header": {"accept-encoding": "gzip"}}, "then": "block"}, "#
                + #"{"when": {"header": {"Host": "a.test"}}, "then": "resolve"}, "#
                + #"{"then": {"removeHeaders": ["X-A", "Cookie"]}}, "#
                + #"{"when": {"header": {"Authorization": true}}, "then": "block"}, "#
                + #"{"then": {"removeHeaders": "authorization"}}"#)
        let result = try await check(text)
        #expect(result.status == 0)
        #expect(result.errorText.contains("rule 1: header accept-encoding: what goes out is"))
        #expect(!result.errorText.contains("rule 2"))
        for remark in [
            "rule 3: removeHeaders Cookie: those that the application sets itself",
            "rule 4: header Authorization: what goes out is added behind the rules",
            "rule 5: removeHeaders Authorization: one that the application sets itself",
        ] { #expect(result.errorText.contains(remark), "\(result.errorText)") }
    }

    @Test func `the JSON of a stub has its numbers as they are written`() throws {
        let json =
            #"{"u":18446744073709551615,"p":3.141592653589793238462643,"d":1.0,"e":1E+5,"z":-0,"#
            + #""n":[0.1000,12345678901234567890123,true,null,"a\"b"],"o":{}}"#
        let spaced = json.replacing(",", with: " ,\n").replacing(":", with: " : ")
        let file = try RuleFile(text: rule("{\"then\": {\"stub\": {\"json\": \(spaced)}}}"))
        guard case .stub(let stub) = file.rules.rules.first?.actions.first,
            case .listed(let responses, _)? = stub.response(0),
            case .octets(let octets)? = responses.first?.body
        else {
            Issue.record("no stub")
            return
        }
        #expect(String(decoding: octets, as: UTF8.self) == json)
    }
}

extension RuleSenseTests {
    /// A glob as its documentation has it: every reading, one after the other.
    private static func fits(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>)
        -> Bool
    {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            let stars = pattern.prefix { $0 == "*" }.count
            let rest = pattern.dropFirst(stars)
            if fits(rest, text) { return true }
            guard let next = text.first, stars > 1 || next != "/" else { return false }
            return fits(pattern, text.dropFirst())
        }
        guard let next = text.first else { return false }
        guard first == "?" ? next != "/" : first == next else { return false }
        return fits(pattern.dropFirst(), text.dropFirst())
    }

    @Test func `globs of any form mean what is written`() throws {
        var generator = Generator()
        for round in 0..<4_000 {
            // Long ones take more than one word.
            let isLong = round % 8 == 0
            let head = isLong ? String(repeating: "ab", count: 60) : ""
            func some(_ letters: String, _ most: UInt64) -> String {
                let letters = Array(letters)
                return String(
                    (0..<generator.next(most)).map { _ in
                        letters[Int(generator.next(UInt64(letters.count)))]
                    })
            }
            let pattern = head + some("ab/*?*\u{E9}", 8) + (isLong ? some("ab*", 4) : "") + "*a"
            let text = head + some("ab/\u{E9}z", 9) + "a"
            let glob = try Glob(pattern)
            #expect(
                glob.matches(text) == RuleSenseTests.fits(Array(pattern)[...], Array(text)[...]),
                "\(pattern) over \(text)")
        }
    }

    @Test func `a list of patterns that are made to be slow is not`() throws {
        // One of them took seconds when its readings were followed one by one.
        let patterns = ["*a", "?*a", "**a", "*?", "a*"].map { part in
            "/" + String(repeating: part, count: 500 / part.count - 2) + "b"
        }
        let path = "/" + String(repeating: "a", count: 8_000)
        let request = RuledRequest(RequestHead(url: try HTTPURL("https://a.test\(path)")))
        for _ in 0..<40 {
            for pattern in patterns {
                #expect(try !RequestMatcher.path(pattern).matches(request), "\(pattern)")
            }
        }
    }

    @Test func `a text is found in another wherever it stands`() {
        for (text, part) in [
            ("abababac", "ababac"), ("aaab", "ab"), ("a", "aa"), ("", "a"), ("xyz", "z"),
            ("aabaaab", "aaab"), ("s\u{FC}\u{DF}", "\u{DF}"),
        ] {
            #expect(TextPattern.containing(part).matches(text) == text.contains(part), "\(part)")
        }
        let long = String(repeating: "a", count: 200_000)
        let part = String(repeating: "a", count: 20_000) + "b"
        #expect(!TextPattern.containing(part).matches(long))
    }

    /// Numbers that are the same in each run.
    private struct Generator {
        private var state: UInt64 = 7

        mutating func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
    }
}
