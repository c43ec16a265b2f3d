import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProxyCommandTests {
    private func tool(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> CommandResult {
        try await run(
            ProxyTool.path, ["proxy"] + arguments,
            environment: ProxyTool.quiet.merging(environment) { $1 })
    }

    @Test(arguments: [
        (["--listen", "8353"], "--listen"), (["--listen", "localhost:80"], "--listen"),
        (["--listen", "127.0.0.1:99999"], "--listen"),
        (["--listen", "0.0.0.0:0"], "--serve-other-machines"),
        (["--listen", "0.0.0.0:0", "--serve-other-machines"], "--token-env"),
        (["--token-env", "NOT_THERE"], "--token-env"),
        (["--token-file", "/nowhere/token"], "--token-file"),
        (["--unproven-port", "0"], "--unproven-port"), (["--pin", "sha256/AAAA"], "HOST="),
        (["--resolve", "nonsense"], "--resolve"), (["extra"], "extra"),
        (["--print-env", "--listen", "127.0.0.1:0"], "--print-env"),
        (["--cacert", "/nowhere/ca.pem", "--listen", "127.0.0.1:0"], "ca.pem"),
    ])
    func `what cannot be served is a fault of the command line`(
        arguments: [String], word: String
    ) async throws {
        let result = try await tool(["--resolver", "udp://127.0.0.1:9"] + arguments)
        #expect(result.status == 2, "\(result.errorText)")
        #expect(result.errorText.contains(word), "\(result.errorText)")
        #expect(result.errorText.split(separator: "\n").count == 1)
    }

    @Test func `the variables for a shell name the port`() async throws {
        let result = try await tool(["--print-env", "--listen", "127.0.0.1:8999"])
        #expect(result.status == 0)
        #expect(
            result.outputText.contains("export https_proxy=http://127.0.0.1:8999\n"),
            "\(result.outputText)")
    }

    @Test func `with a token the variables for a shell get programs in`() async throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("token", "s3cret/ä@:'$(x)\n")
        chmod(file, 0o600)
        let served = try await RunningProxy(["--token-file", file])
        let script =
            "eval \"$($1 proxy --print-env --listen $2 --token-file $3)\"; "
            + "no_proxy= NO_PROXY= curl -s -o /dev/null -w '%{http_code}' http://a.example.test/; "
            + "$1 proxy --print-env --listen $2 | tail -1"
        let result = try await run(
            "sh", ["-c", script, "sh", ProxyTool.path, String(served.url.dropFirst(7)), file],
            environment: ProxyTool.quiet)
        #expect(result.outputText == "502export NO_PROXY=localhost,127.0.0.1,::1\n")
        let (status, lines, errors) = try await served.end(SIGTERM)
        #expect(status == 130 && !(lines.joined() + errors).contains("s3cret"))
    }

    @Test func `a token in a file is read only where nobody else can`() async throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("token", "s3cret\n")
        chmod(file, 0o644)
        let open = try await tool([
            "--resolver", "udp://127.0.0.1:9", "--listen", "127.0.0.1:0", "--token-file", file,
        ])
        #expect(open.status == 2)
        #expect(open.errorText.contains("chmod 600"))
        chmod(file, 0o600)
        let served = try await RunningProxy(["--token-file", file])
        let refused = try await run(
            "curl", ["-s", "-i", "-x", served.url, "http://a.example.test/"])
        #expect(refused.outputText.hasPrefix("HTTP/1.1 407 "))
        let known = try await run(
            "curl", ["-s", "-i", "-x", served.url, "-U", "me:s3cret", "http://a.example.test/"])
        #expect(known.outputText.hasPrefix("HTTP/1.1 502 "))
        let (status, lines, errors) = try await served.end(SIGINT)
        #expect(status == 130)
        #expect(!(lines.joined() + errors).contains("s3cret"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `each request is an object, a signal is the end`(signal: Int32) async throws {
        let nginx = try await NginxServer.shared()
        let served = try await RunningProxy([
            "--resolve", "shop.example.test:127.0.0.1", "--cacert", nginx.rootFile,
        ])
        let page = try await run(
            "curl",
            [
                "-s", "-x", served.url, "--cacert", nginx.rootFile,
                "https://shop.example.test:\(nginx.http2)/",
                "http://shop.example.test:\(nginx.plain)/", "http://none.example.test/",
            ])
        #expect(page.outputText.hasPrefix("hello from shop.example.test\n"))
        let (status, lines, _) = try await served.end(signal)
        #expect(status == 130)
        let objects = try lines.map { try JSONValue.parse($0) }
        let told = objects.compactMap { $0["event"]?.string }
        #expect(Set(told) == ["opened", "ended", "stopped"])
        #expect(told.last == "stopped")
        let tunnel = try #require(objects.first { $0["event"]?.string == "opened" })
        #expect(tunnel["verified"]?["name"]?.string == "shop.example.test")
        #expect(tunnel["remoteAddress"]?.string == "127.0.0.1:\(nginx.http2)")
        let ended = objects.filter { $0["event"]?.string == "ended" }
        #expect(ended.count == 3)
        #expect(Set(ended.compactMap { $0["kind"]?.string }) == ["tunnel", "exchange"])
        #expect(ended.contains { $0["error"]?["code"]?.string == "unreachable" })
    }

    @Test func `a capture holds plain requests whole and tunnels from outside`() async throws {
        let nginx = try await NginxServer.shared()
        let directory = try TemporaryDirectory()
        let file = directory.path + "/traffic.sqlite"
        let served = try await RunningProxy([
            "--resolve", "shop.example.test:127.0.0.1", "--cacert", nginx.rootFile, "--capture",
            file, "--resolve", "liar.example.test:127.0.0.1",
        ])
        for arguments in [
            ["--cacert", nginx.rootFile, "https://shop.example.test:\(nginx.http2)/"],
            [
                "http://shop.example.test:\(nginx.plain)/echo", "-d", "visible=1", "-H",
                "Cookie: session=hidden",
            ],
            ["-k", "https://liar.example.test:\(nginx.http2)/"],
        ] {
            _ = try await run("curl", ["-s", "-x", served.url] + arguments)
        }
        #expect(try await served.end(SIGTERM).0 == 130)
        let har = try await run(
            ProxyTool.path, ["capture", "har", file], environment: ProxyTool.quiet)
        #expect(har.status == 0, "\(har.errorText)")
        let text = har.outputText
        #expect(text.contains("visible=1") && !text.contains("hidden"))
        let entries = try JSONValue.parse(text)["log"]?["entries"]?.array ?? []
        let asked = entries.compactMap { $0["request"]?["url"]?.string }.sorted()
        #expect(
            asked == [
                "http://shop.example.test:\(nginx.plain)/echo",
                "https://liar.example.test:\(nginx.http2)/",
                "https://shop.example.test:\(nginx.http2)/",
            ], "\(asked)")
        let shown = try await run(
            ProxyTool.path, ["capture", "show", file, "--json"], environment: ProxyTool.quiet)
        #expect(shown.status == 0, "\(shown.errorText)")
        #expect(shown.outputText.contains("\"tunnel\""))
        #expect(shown.outputText.contains("wrong_name"))
    }
}

enum ProxyTool {
    /// The tool as it was built: it lies beside the test bundle.
    static var path: String {
        var octets = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &octets, octets.count)
        let own = String(decoding: octets.prefix(max(count, 0)).map(UInt8.init), as: UTF8.self)
        return "/" + own.split(separator: "/").dropLast().joined(separator: "/") + "/httpdns"
    }

    static let quiet = ["NO_COLOR": "1", "XDG_CONFIG_HOME": "/nowhere"]
}

/// `httpdns proxy --json` in a process of its own.
final class RunningProxy: Sendable {
    let url: String
    private let child: ChildProcess

    init(_ arguments: [String]) async throws {
        let child = try ChildProcess(
            ProxyTool.path,
            [
                "proxy", "--json", "--listen", "127.0.0.1:0", "--resolver", "udp://127.0.0.1:9",
                "--grace", "2s",
            ] + arguments, environment: ProxyTool.quiet)
        self.child = child
        let line = try await offPool { child.readLine() }
        guard let line, let url = try JSONValue.parse(line)["url"]?.string else {
            throw ProxyTestError(description: child.readErrors())
        }
        self.url = url
    }

    /// Ends it; the exit code and what it said.
    func end(_ signal: Int32) async throws -> (Int32, [String], String) {
        kill(child.identifier, signal)
        let child = child
        return try await offPool {
            var lines: [String] = []
            while let line = child.readLine() { lines.append(line) }
            return (child.awaitEnd(), lines, child.readErrors())
        }
    }
}
