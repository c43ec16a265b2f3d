import HTTPDNS
import HTTPDNSJSON
import HTTPDNSPlatform
import TestSupport
import Testing

/// Options that cannot act together, and what `-` means.
@Suite(.timeLimit(.minutes(3))) struct CaptureOptionTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var path: String { directory.path + "/traffic.sqlite" }

    private func filled() async {
        let capture = Capture(CaptureConfiguration(path: path))
        capture.add(.sample("/one", body: Array("hello".utf8)))
        await capture.close()
    }

    private func tool(_ arguments: [String], input: [UInt8] = []) async throws -> CommandResult {
        try await run(ProxyTool.path, arguments, input: input, environment: ProxyTool.quiet)
    }

    @Test(arguments: [
        (["capture", "show", "FILE", "1", "--body", "response", "--json"], "--body"),
        (["capture", "show", "FILE", "1", "--host", "a.test"], "--host"),
        (["capture", "show", "FILE", "1", "--last", "3"], "--last"),
        (["capture", "show", "FILE", "1", "--since", "1h"], "--since"),
        (["capture", "show", "FILE", "1", "--kind", "cached"], "--kind"),
        (["capture", "har", "FILE", "--check", "--host", "a.test"], "--check"),
        (["capture", "har", "FILE", "--check", "--output", "x"], "--check"),
        (["proxy", "--print-env", "--json"], "--json"),
        (["proxy", "--print-env", "--capture", "FILE"], "--capture"),
        (["proxy", "--print-env", "--grace", "1s"], "--grace"),
        (["proxy", "--print-env", "--resolver", "udp://127.0.0.1:9"], "--resolver"),
        (["proxy", "--print-env", "--verbose"], "--verbose"),
        (["proxy", "--print-env", "--listen", "0.0.0.0:8353"], "--serve-other-machines"),
        (
            ["proxy", "--print-env", "--listen", "0.0.0.0:8353", "--serve-other-machines"],
            "--token-env"
        ),
        (["fetch", "http://a.test/", "--no-follow", "--max-redirects", "3"], "--no-follow"),
        (["fetch", "http://a.test/", "--no-follow", "--follow-to-http"], "--no-follow"),
        (["fetch", "http://a.test/", "--json", "--include"], "--include"),
        (["fetch", "http://a.test/", "--capture", "FILE", "-o", "FILE"], "name one file"),
        (["fetch", "http://a.test/", "--capture", "FILE", "--rules", "FILE"], "name one file"),
        (["fetch", "http://a.test/", "--cookie-jar", "new", "-o", "new"], "name one file"),
        (["fetch", "http://a.test/", "--capture", "-"], "--capture"),
        (["fetch", "http://a.test/", "--cookie-jar", "-"], "--cookie-jar"),
        (["fetch", "http://a.test/", "--cache", "-"], "--cache"),
        (["fetch", "http://a.test/", "--config", "-"], "--config"),
        (["fetch", "http://a.test/", "--cacert", "-"], "--cacert - : this is not read from"),
        (["fetch", "http://a.test/", "--cert", "-"], "--cert - : this is not read from"),
        (["fetch", "http://a.test/", "--crl", "-"], "--crl - : this is not read from"),
        (["fetch", "http://a.test/", "--rules", "-", "-d", "@-"], "read once"),
        (["proxy", "--token-file", "-"], "--token-file"),
    ])
    func `of two options none is ignored`(arguments: [String], word: String) async throws {
        await filled()
        let result = try await tool(arguments.map { $0 == "FILE" ? path : $0 })
        #expect(result.status == 2)
        #expect(result.errorText.contains(word), "\(result.errorText)")
        #expect(result.errorText.split(separator: "\n").count == 1)
    }

    @Test func `a proxy on all addresses is reached on loopback by programs of this machine`()
        async throws
    {
        let result = try await run(
            ProxyTool.path,
            [
                "proxy", "--print-env", "--listen", "0.0.0.0:8999", "--serve-other-machines",
                "--token-env", "TOKEN",
            ], environment: ProxyTool.quiet.merging(["TOKEN": "open"]) { $1 })
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.outputText.contains("http_proxy=http://httpdns:open@127.0.0.1:8999\n"))
    }

    @Test func `standard input is a HAR file, and output is standard output`() async throws {
        await filled()
        let har = try await tool(["capture", "har", path, "-o", "-"])
        #expect(har.status == 0)
        #expect(har.outputText == (try await tool(["capture", "har", path])).outputText)
        for name in ["-", "/dev/stdin"] {
            let list = try await tool(["capture", "show", name], input: har.output)
            #expect(list.status == 0 && list.outputText.contains("/one"), "\(list.errorText)")
            let one = try await tool(["capture", "show", name, "1", "--json"], input: har.output)
            let object = try #require(try one.documents.first)
            #expect(object["responseText"]?.string == "hello" && object["file"]?.string == name)
            let judged = try await tool(["capture", "har", name, "--check"], input: har.output)
            #expect(judged.status == 0, "\(judged)")
            let database = try SmallFile.whole(path, most: 16 << 20)
            let refused = try await tool(["capture", "stats", name, "--json"], input: database)
            #expect(refused.status == 2)
            #expect(refused.errorText.contains("read from a file"), "\(refused.errorText)")
            #expect(try refused.documents.first?["error"]?["code"]?.string == "unreadable")
        }
        let nothing = try await tool(["capture", "show", "-"])
        #expect(nothing.status == 2 && nothing.errorText.contains("standard input"))
    }

    @Test func `rules come from standard input, too`() async throws {
        let rules = Array(#"{"version":1,"rules":[{"name":"a","then":"block"}]}"#.utf8)
        let result = try await tool(["rules", "check", "-"], input: rules)
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.outputText.contains("1 rule"))
        let broken = try await tool(["rules", "check", "-"], input: [0xFF])
        #expect(broken.status == 2 && broken.errorText.contains("UTF-8"))
    }

    @Test func `who gave no address is null in sums`() async throws {
        await filled()
        let sums = try #require(
            try await tool(["capture", "stats", path, "--json"]).documents.first)
        let groups = sums["resolvers"]?.array ?? []
        #expect(groups.count == 1 && groups.first?["resolver"] == .null)
        let table = try await tool(["capture", "stats", path, "--by", "resolver"])
        #expect(table.outputText.contains("\n-  "), "\(table.outputText)")
    }

    @Test(arguments: [4, 5, 6, 7, 8, 10, 12, 16, 24, 26])
    func `too few descriptors are told in a line, by every command`(limit: Int) async throws {
        await filled()
        for arguments in [
            ["lookup", "a.test", "@127.0.0.1:9"], ["fetch", "http://127.0.0.1:9/"],
            ["diagnose", "a.test", "--trusted", "udp://127.0.0.1:9", "--json"],
            ["proxy", "--listen", "127.0.0.1:0", "--json"], ["lab", "serve"],
            ["verify", "127.0.0.1:9"], ["pins", "show", "127.0.0.1:9"],
            ["capture", "show", path],
        ] {
            // What other tests have open meanwhile is not to count.
            let script =
                "for f in /proc/$$/fd/*; do n=${f##*/}; [ $n -gt 2 ] && eval \"exec $n>&-\"; done; "
                + "ulimit -n \(limit); exec \"$0\" \"$@\""
            let result = try await run(
                "bash", ["-c", script, ProxyTool.path] + arguments, environment: ProxyTool.quiet)
            // A file needs few.
            if arguments[0] == "capture", limit >= 12 {
                #expect(result.status == 0, "\(arguments): \(result)")
                continue
            }
            #expect(result.status == 2, "\(arguments): \(result.status) \(result.errorText)")
            #expect(result.errorText.contains("descriptors are left"), "\(result.errorText)")
            #expect(result.errorText.split(separator: "\n").count == 1)
            if arguments.contains("--json") { #expect(try result.documents.count == 1) }
        }
    }
}
