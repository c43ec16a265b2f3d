import HTTPDNS
import HTTPDNSJSON
import HTTPDNSTransport
import HTTPDNSTrust
import TestSupport
import Testing

/// A server's URL may hold a token: it is sent, and never shown.
@Suite(.timeLimit(.minutes(3))) struct SecretLabelTests {
    private static let token = "0123456789abcdef0123456789abcdef"
    private static let schemes = ["https", "json+https"]

    private func url(_ scheme: String) throws -> String {
        let dead = try closedEndpoint()
        return "\(scheme)://\(dead.address):\(dead.port)/dns-query?token=\(Self.token)"
    }

    private func tool(_ words: [String]) async throws -> CommandResult {
        try await run(
            DiagnoseToolTests.tool, words, environment: DiagnoseToolTests.environment)
    }

    @Test(arguments: schemes)
    func `a source is described, and labelled, without the token in its URL`(
        scheme: String
    ) throws {
        let text = try url(scheme)
        let description = try ResolverDescription(text)
        let shown = text.replacing(Self.token, with: "REDACTED")
        #expect(description.description == shown)
        let backend = try ResolverFactory(trust: TrustPolicy(), transport: Transport()).backend(
            for: description)
        #expect(backend.label == shown)
    }

    @Test(arguments: schemes)
    func `a diagnosis shows it nowhere`(scheme: String) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/page.html"
        let place = try url(scheme)
        let words = [
            "diagnose", "www.shop.test", "--no-system", "--hosts", "none", "--nameserver", "none",
            "--trusted", place, "--resolver", place, "--connect-only", "--stay-on-loopback",
            "--raw", "--verbose",
        ]
        let text = try await tool(words + ["--html", file])
        let json = try await tool(words + ["--json"])
        let page = try contents(of: file)
        for shown in [text.outputText, text.errorText, json.outputText, json.errorText, page] {
            #expect(shown.contains("token=REDACTED"))
            #expect(!shown.contains(Self.token))
        }
    }

    @Test(arguments: schemes)
    func `a look-up shows it nowhere`(scheme: String) async throws {
        let words = ["lookup", "www.shop.test", "@" + (try url(scheme)), "--verbose"]
        for more in [[], ["--json"], ["--explain"]] {
            let result = try await tool(words + more)
            #expect(result.status == 9)
            let shown = result.outputText + result.errorText
            #expect(shown.contains("token=REDACTED"))
            #expect(!shown.contains(Self.token))
        }
    }

    @Test func `sources that differ in a token alone are all asked, and told apart`() async throws {
        let dead = try closedEndpoint()
        let trusted = ["a", "b", "c"].flatMap { letter -> [String] in
            let token = String(repeating: letter, count: 32)
            return ["--trusted", "https://\(dead.address):\(dead.port)/dns-query?token=\(token)"]
        }
        let words = [
            "diagnose", "www.shop.test", "--no-system", "--hosts", "none", "--nameserver", "none",
            "--connect-only", "--stay-on-loopback", "--json",
        ]
        let object = try JSONValue.parse(try await tool(words + trusted).outputText)
        let labels = (object["sources"]?.array ?? []).compactMap { $0["source"]?.string }
        #expect(labels.count == 3)
        #expect(Set(labels).count == 3)
        #expect(labels.allSatisfy { $0.contains("token=REDACTED") })
    }

    @Test func `a mistake in such a URL is told without it`() async throws {
        let wrong = "https://127.0.0.1:99999/dns-query?token=\(Self.token)"
        for words in [
            ["lookup", "www.shop.test", "@" + wrong],
            ["diagnose", "www.shop.test", "--trusted", wrong, "--no-system", "--hosts", "none"],
        ] {
            let result = try await tool(words)
            #expect(result.status == 2)
            #expect(result.errorText.contains("is not a resolver"))
            #expect(!result.errorText.contains(Self.token))
        }
    }
}
