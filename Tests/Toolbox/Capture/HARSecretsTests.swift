import HTTPDNS
import HTTPDNSCapture
import HTTPDNSExchange
import HTTPDNSJSON
import HTTPDNSRules
import TestSupport
import Testing

/// HAR files of other programs hold every secret; what is made of them here does not.
@Suite(.timeLimit(.minutes(3))) struct HARSecretsTests {
    private let directory: TemporaryDirectory
    private let har: String

    init() throws {
        directory = try TemporaryDirectory()
        har = try directory.write(
            "foreign.har",
            #"""
            {"log":{"version":"1.2","creator":{"name":"Browser","version":"1"},"entries":[{
              "startedDateTime":"2027-01-31T12:00:00Z","time":1,"cache":{},
              "timings":{"send":0,"wait":1,"receive":0},
              "request":{"method":"POST","url":"https://a.test/in?token=geheim1&id=7",
                "httpVersion":"HTTP/1.1","queryString":[{"name":"token","value":"geheim1"}],
                "cookies":[{"name":"sid","value":"geheim2"}],"headersSize":-1,"bodySize":-1,
                "headers":[{"name":"Cookie","value":"sid=geheim2"},
                  {"name":"Authorization","value":"Basic geheim3"},
                  {"name":"Content-Type","value":"application/x-www-form-urlencoded"}],
                "postData":{"mimeType":"application/x-www-form-urlencoded",
                  "text":"user=ann&password=geheim4"}},
              "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1",
                "cookies":[{"name":"sid","value":"geheim5"}],"redirectURL":"","headersSize":-1,
                "bodySize":-1,"headers":[{"name":"Set-Cookie","value":"sid=geheim5; Path=/"},
                  {"name":"Content-Type","value":"application/json"}],
                "content":{"size":31,"mimeType":"application/json",
                  "text":"{\"access_token\":\"geheim6\",\"n\":1}"}}}]}}
            """#)
    }

    static let ways = [
        ["show", "--json"], ["show", "1"], ["show", "1", "--json"],
        ["show", "1", "--body", "request"],
        ["show", "1", "--body", "response"], ["har"], ["export"], ["export", "--html"],
        ["export", "--format", "har"],
    ]

    private func told(_ way: [String], _ more: String...) async throws -> CommandResult {
        try await CaptureTool.run(["capture", way[0], har] + way.dropFirst() + more)
    }

    @Test(arguments: ways)
    func `what is made of another program's file is without its secrets`(way: [String]) async throws
    {
        let result = try await told(way)
        #expect(result.status == 0, "\(result.errorText)")
        #expect(!result.outputText.contains("geheim"), "\(result.outputText)")
        #expect(result.outputText.contains("REDACTED"))
        let kept = try await told(way, "--keep-secrets")
        #expect(kept.status == 0 && kept.outputText.contains("geheim"))
    }

    @Test func `secrets are kept only where there are some`() async throws {
        let path = directory.path + "/traffic.sqlite"
        let capture = Capture(CaptureConfiguration(path: path))
        capture.add(.sample("/"))
        await capture.close()
        for words in [
            ["show", path, "--keep-secrets"], ["stats", har, "--keep-secrets"],
            ["har", har, "--check", "--keep-secrets"],
        ] {
            let result = try await CaptureTool.run(["capture"] + words)
            #expect(result.status == 2 && result.errorText.contains("--keep-secrets"), "\(words)")
        }
        #expect(try await told(["har"], "--check").status == 0)
    }

    @Test func `a replay answers as the file says`() throws {
        let library = try FixtureLibrary(file: har)
        let fixture = try #require(library.fixtures.first)
        #expect(String(decoding: fixture.body, as: UTF8.self).contains("geheim6"))
        #expect(fixture.url.target == "/in?token=geheim1&id=7")
    }

    @Test func `a page holds the beginning of long bodies, from whatever file`() async throws {
        var record = CaptureRecord.sample("/")
        record.responseBody = .init(
            [UInt8](repeating: 0x61, count: 300_000) + Array("the very end".utf8))
        let page = CapturePage.page([record], title: "x")
        #expect(page.count < 200_000)
        #expect(!String(decoding: page, as: UTF8.self).contains("the very end"))
        let path = try directory.write(
            "long.har", String(decoding: HARWriter.file([record]), as: UTF8.self))
        let html = try await CaptureTool.run("capture", "export", path, "--html")
        #expect(html.status == 0 && html.output.count < 200_000)
        let whole = try await CaptureTool.run("capture", "export", path)
        #expect(whole.outputText.contains("the very end"))
    }
}
