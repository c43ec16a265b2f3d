import HTTPDNS
import HTTPDNSCapture
import HTTPDNSExchange
import HTTPDNSRules
import TestSupport
import Testing

/// Browsers write several fields of one name as one, with line feeds between them.
@Suite(.timeLimit(.minutes(2))) struct JoinedFieldsTests {
    private let directory: TemporaryDirectory
    private let har: String

    init() throws {
        directory = try TemporaryDirectory()
        har = try directory.write(
            "browser.har",
            #"""
            {"log":{"version":"1.2","creator":{"name":"Browser","version":"1"},"entries":[{
              "startedDateTime":"2027-01-31T12:00:00Z","time":1,"cache":{},
              "timings":{"send":0,"wait":1,"receive":0},
              "request":{"method":"GET","url":"https://a.test/in","httpVersion":"HTTP/1.1",
                "queryString":[],"cookies":[],"headersSize":-1,"bodySize":-1,
                "headers":[{"name":"cookie","value":"a=geheim1\nb=geheim2"}]},
              "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1",
                "cookies":[],"redirectURL":"","headersSize":-1,"bodySize":-1,
                "headers":[{"name":"set-cookie","value":"a=geheim3; path=/\nb=geheim4; path=/"},
                  {"name":"X-Empty","value":"\n"},{"name":"Vary","value":" x \n\n y"}],
                "content":{"size":2,"mimeType":"text/plain","text":"hi"}}}]}}
            """#)
    }

    @Test func `each line is a field`() throws {
        let reader = try HARReader(file: har)
        let hop = try #require(reader.records.first?.hops.first)
        #expect(hop.requestFields.map(\.value) == ["a=geheim1", "b=geheim2"])
        #expect(
            hop.responseFields == [
                .init("set-cookie", "a=geheim3; path=/"), .init("set-cookie", "b=geheim4; path=/"),
                .init("X-Empty", ""), .init("Vary", "x"), .init("Vary", "y"),
            ])
        #expect(reader.faults == [])
    }

    @Test(arguments: HARSecretsTests.ways)
    func `no line keeps a secret`(way: [String]) async throws {
        let result = try await CaptureTool.run(["capture", way[0], har] + way.dropFirst())
        #expect(result.status == 0, "\(result.errorText)")
        #expect(!result.outputText.contains("geheim"), "\(result.outputText)")
    }

    @Test func `the check has nothing to say of it, before and after`() async throws {
        #expect(try await CaptureTool.run("capture", "har", har, "--check").status == 0)
        let written = try await CaptureTool.run("capture", "har", har)
        let path = try directory.write("again.har", written.outputText)
        #expect(try await CaptureTool.run("capture", "har", path, "--check").status == 0)
        #expect(!written.outputText.contains(#"path=/\nb="#))
    }

    @Test func `a replay sets each cookie`() throws {
        let fixture = try #require(try FixtureLibrary(file: har).fixtures.first)
        let cookies = fixture.stub.fields.fields.filter { $0.name == "set-cookie" }
        #expect(cookies.map(\.value) == ["a=geheim3; path=/", "b=geheim4; path=/"])
    }
}
