import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct FetchProxyTests {
    let proxy: LabServer
    private let url = "http://shop.example.test/echo?a=1"

    init() throws {
        proxy = try LabServer { .text("by way of \($0.target)") }
        try proxy.start()
    }

    private var proxyURL: String { "http://127.0.0.1:\(proxy.port)" }

    private func fetch(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> CommandResult {
        try await run(
            Tool.path,
            ["fetch", url, "--resolver", "udp://127.0.0.1:9", "--timeout", "30s"] + arguments,
            environment: environment.merging(["NO_COLOR": "1"]) { $1 })
    }

    @Test func `A proxy is given the name, and it is said that nothing was rewritten`() async throws
    {
        defer { proxy.stop() }
        let result = try await fetch(["--proxy", proxyURL, "--json", "--verbose"])
        #expect(result.status == 0, "\(result.errorText)")
        let object = try result.object
        #expect(object["proxy"]?["url"]?.string == proxyURL)
        #expect(object["proxy"]?["told"]?.string == "name")
        #expect(object["addresses"]?.array == [])
        #expect(result.errorText.contains("told the name: not rewritten"))
        #expect(proxy.record.requests.map(\.target) == [url])
        #expect(proxy.record.requests.map(\.host) == ["shop.example.test"])
    }

    @Test func `The environment counts when it is asked for, and only then`() async throws {
        defer { proxy.stop() }
        let environment = ["http_proxy": proxyURL]
        let asked = try await fetch(["--proxy", "env"], environment: environment)
        #expect(asked.outputText == "by way of \(url)")
        let unasked = try await fetch(
            ["--resolve", "shop.example.test:127.0.0.9"], environment: environment)
        #expect(unasked.status == 9)
        #expect(proxy.record.requests.count == 1)
    }

    @Test func `What no_proxy has that cannot be read is said, and ends nothing`() async throws {
        defer { proxy.stop() }
        let environment = [
            "http_proxy": proxyURL, "no_proxy": "http://me:hunter2@x/,other.test",
        ]
        let result = try await fetch(["--proxy", "env", "--json"], environment: environment)
        #expect(result.status == 0, "\(result.errorText)")
        let notes = try #require(try result.object["notes"]?.array?.compactMap(\.string))
        #expect(notes.count == 1)
        #expect(notes.first?.contains("excepts nothing: it is a URL") == true)
        #expect(result.errorText == "")
        let verbose = try await fetch(["--proxy", "env", "--verbose"], environment: environment)
        #expect(verbose.errorText.contains("no_proxy: "))
        #expect(!(verbose.errorText + result.outputText).contains("hunter2"))
    }

    @Test(arguments: ["shop.example.test", "b\u{FC}cher.test,*.example.test", "[::1],*", "*:80"])
    func `A host of --no-proxy is connected to directly`(list: String) async throws {
        defer { proxy.stop() }
        let result = try await fetch([
            "--proxy", proxyURL, "--no-proxy", list, "--resolve", "shop.example.test:127.0.0.9",
            "--json",
        ])
        #expect(try result.object["proxy"] == .null)
        #expect(proxy.record.connections == 0)
    }

    @Test func `Credentials come from a variable and are shown nowhere`() async throws {
        defer { proxy.stop() }
        let result = try await fetch(
            ["--proxy", proxyURL, "--proxy-secret-env", "PROXY_SECRET", "--json", "--verbose"],
            environment: ["PROXY_SECRET": "me:hunter2"])
        #expect(result.status == 0, "\(result.errorText)")
        let request = try #require(proxy.record.requests.first)
        #expect(request.value(of: "Proxy-Authorization") == "Basic bWU6aHVudGVyMg==")
        #expect(!(result.outputText + result.errorText).contains("hunter2"))
    }

    @Test(arguments: [
        ["--proxy", "http://me:hunter2@127.0.0.1:1"], ["--proxy", "https://127.0.0.1:1"],
        ["--proxy", "nonsense/x"], ["--no-proxy", "*"], ["--proxy-address"],
        ["--proxy", "http://127.0.0.1:1", "--proxy-secret-env", "NOT_THERE"],
        ["--proxy", "http://127.0.0.1:1", "--no-proxy", "a.test,http://x/"],
        ["--proxy", "http://127.0.0.1:1", "--no-proxy", "[::1"],
        ["--proxy", "http://127.0.0.1:1", "--no-proxy", "a.test:99999"],
        ["--proxy", "http://127.0.0.1:1", "--no-proxy", "192.0.2.0/33"],
    ])
    func `A proxy that cannot be used is a fault of the command line`(
        arguments: [String]
    ) async throws {
        defer { proxy.stop() }
        let result = try await fetch(arguments)
        #expect(result.status == 2)
        #expect(result.errorText.contains("--"))
        #expect(!result.errorText.contains("hunter2"))
    }
}
