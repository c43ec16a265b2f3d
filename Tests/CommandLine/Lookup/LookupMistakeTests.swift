import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// Mistakes of the caller and of servers, and how each is told.
@Suite(.timeLimit(.minutes(1))) struct LookupMistakeTests {
    @Test(arguments: ["https://", "json+https://"])
    func `a password in a resolver's URL is refused, and not repeated`(scheme: String) async throws
    {
        let result = try await httpdns(
            "lookup", "a.test", "@\(scheme)lab:hush@127.0.0.1:9/dns-query", "--config", "none")
        #expect(result.errorText.contains("takes no user name or password"))
        #expect(!result.errorText.contains("hush"))
        #expect(result.status == 2)
    }

    @Test func `a fragment in a resolver's URL is refused`() async throws {
        let result = try await httpdns(
            "lookup", "a.test", "@https://127.0.0.1:9/dns-query#part", "--config", "none")
        #expect(result.errorText.contains("takes no fragment"))
        #expect(result.status == 2)
    }

    @Test(arguments: ["lab:hush@127.0.0.1:9/", "127.0.0.1:9/#part"])
    func `neither belongs in an endpoint`(rest: String) async throws {
        let result = try await httpdns(
            "lookup", "a.test", "@aliyun", "--account", "1", "--endpoint", "https://\(rest)",
            "--config", "none")
        #expect(result.errorText.contains("an endpoint takes no user name, password or fragment"))
        #expect(!result.errorText.contains("hush"))
        #expect(result.status == 2)
    }

    @Test func `roots are looked for beside the file that names them`() async throws {
        let service = try ServiceServer()
        let directory = try TemporaryDirectory()
        try directory.write("ca.pem", service.authority.certificatePEM)
        let text = { (roots: String) in
            """
            {"resolvers": [{"resolver": "https://127.0.0.1:\(service.port)/dns-query",
              "cacert": "\(roots)"}]}
            """
        }
        let good = try directory.write("good.json", text("ca.pem"))
        let found = try await httpdns(
            "lookup", "ok.example.test", "A", "--short", "--config", good)
        #expect(found.outputText == "127.0.0.1\n")
        let bad = try directory.write("bad.json", text("none.pem"))
        let missing = try await httpdns("lookup", "ok.example.test", "A", "--config", bad)
        #expect(
            missing.errorText.contains(
                "\(bad): resolvers[0].cacert: cannot read roots from "
                    + "\(directory.path)/none.pem: No such file or directory"))
        #expect(missing.status == 2)
    }

    @Test func `a configuration that is no regular file is refused at once`() async throws {
        let directory = try TemporaryDirectory()
        let pipe = directory.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let paths = [
            (pipe, "no regular file"), ("/dev/zero", "no regular file"),
            (directory.path, "a directory"),
        ]
        for (path, what) in paths {
            let result = try await httpdns("lookup", "a.test", "@127.0.0.1:9", "--config", path)
            #expect(result.errorText.contains("it is \(what)"))
            #expect(result.status == 2)
        }
    }

    @Test(arguments: [
        ("/", "it is a directory"), ("./", "it is a directory"),
        ("./nowhere", "No such file or directory"), ("../nowhere.json", "No such file"),
        ("/dev/null", "it is no regular file"), ("nowhere/x.json", "No such file or directory"),
    ])
    func `a path that names no profile is told as that, to whichever command`(
        path: String, why: String
    ) async throws {
        let commands = [
            ["lookup", "a.test", "@" + path], ["resolvers", path], ["resolvers", "@" + path],
            ["fetch", "https://a.test/", "--resolver", path],
            ["diagnose", "a.test", "--no-system", "--nameserver", "none", "--trusted", path],
        ]
        for words in commands {
            let result = try await run(
                Tool.path, words, environment: ["NO_COLOR": "", "XDG_CONFIG_HOME": "/nowhere"])
            #expect(result.status == 2)
            #expect(result.errorText.contains("cannot read \"\(path)\": \(why)"), "\(words)")
            #expect(result.errorText.split(separator: "\n").count == 1)
        }
    }

    @Test func `a profile of one's own is shown as one that is built in`() async throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "fleet.json",
            """
            {"id": "fleet", "title": "The fleet", "kind": "doh",
             "url": "https://dns.example.com/dns-query", "bootstrap": {"ipv4": ["127.0.0.1"]},
             "needs": [], "takes": [], "supports": ["any"],
             "source": "https://wiki.example.com/dns", "date": "2026-11-30"}
            """)
        let shown = try await httpdns("resolvers", file)
        #expect(shown.status == 0, "\(shown.errorText)")
        #expect(shown.outputText.contains("https://dns.example.com/dns-query"))
    }

    @Test func `a resolver is shown by the name that the file gives it`() async throws {
        let zone = try ZoneServer()
        let directory = try TemporaryDirectory()
        let path = try directory.write(
            "c.json", #"{"resolvers": [{"resolver": "\#(zone.place)", "name": "mine"}]}"#)
        for resolver in [[], ["@mine"]] {
            let arguments = ["lookup", "ok.example.test", "A", "--config", path] + resolver
            let table = try await run(Tool.path, arguments)
            #expect(table.lines.count > 1)
            #expect(table.lines.dropFirst().first?.hasSuffix("  mine") == true)
            let json = try await run(Tool.path, arguments + ["--json"])
            #expect(try json.objects.first?["resolver"]?.string == "udp://\(zone.place)")
        }
    }

    @Test func `a frame without a message is a malformed answer`() async throws {
        let server = try LabDNSServer { _ in LabAnswer().conducting(.writes([])) }
        try server.start()
        defer { server.stop() }
        let result = try await httpdns(
            "lookup", "a.test", "A", "@tcp://\(server.endpoint)", "--json", "--config", "none")
        let error = try #require(try result.objects.first?["error"])
        #expect(error["code"]?.string == "malformed")
        #expect(error["message"]?.string?.contains("c-ares") == false)
        #expect(result.status == 3)
    }

    @Test func `chunks that are none are a malformed answer`() async throws {
        let service = try ServiceServer()
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
        let garbage = Array((head + String(repeating: "f", count: 40) + "\r\n").utf8)
        let origin = try LabServer(security: .tls(service.identity)) { _ in
            LabResponse().conducting(.writes(garbage))
        }
        try origin.start()
        defer { origin.stop() }
        let result = try await httpdns(
            "lookup", "a.test", "A", "@https://127.0.0.1:\(origin.port)/dns-query", "--cacert",
            service.rootFile, "--json", "--config", "none")
        #expect(try result.objects.first?["error"]?["code"]?.string == "malformed")
        #expect(result.status == 3)
    }

    @Test(
        arguments: [
            (["@system:5"], "system is this machine's own resolver and takes no port"),
            (["@resolv.conf:53"], "resolv.conf is this machine's own resolver and takes no port"),
            (["@google:53"], "google is a provider, whose servers have ports of their own"),
            (["-x", "fe80::1%lo", "@127.0.0.1:9"], "-x \"fe80::1%lo\": a zone names an interface"),
            (
                ["--cacert", "x", "@127.0.0.1:9"],
                "--cacert needs a resolver over TLS, such as @tls"
            ),
            (["--pin", "x", "@127.0.0.1:9"], "--pin needs a resolver over TLS, such as @tls://"),
        ] as [([String], String)])
    func `what cannot work is refused with its reason`(
        arguments: [String], words: String
    ) async throws {
        let result = try await run(
            Tool.path, ["lookup", "a.test", "--config", "none"] + arguments)
        #expect(result.errorText.contains(words))
        #expect(result.complaints.count == 1)
        #expect(result.outputText == "")
        #expect(result.status == 2)
    }

    @Test func `a server that is called like the system can still be named`() async throws {
        let result = try await httpdns(
            "lookup", "a.test", "@udp://system:9", "--bootstrap", "127.0.0.1", "--config", "none",
            "--json", "A")
        #expect(try result.objects.first?["resolver"]?.string == "udp://system:9")
        #expect(result.status == 9)
    }

    @Test func `a port behind the file's own name is no server of that name`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(
            "c.json", #"{"resolvers": [{"resolver": "127.0.0.1:9", "name": "mine"}]}"#)
        let result = try await httpdns("lookup", "a.test", "@mine:53", "--config", path)
        #expect(result.errorText.contains("the configuration file says where mine is"))
        #expect(result.status == 2)
    }

    @Test func `a configuration that is not UTF-8 is not guessed at`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/c.json"
        let made = try await run("sh", ["-c", "printf '{\"overrides\": {\"\\377\": 1}}' >\(path)"])
        #expect(made.status == 0)
        let result = try await httpdns("lookup", "a.test", "@127.0.0.1:9", "--config", path)
        #expect(result.errorText == "httpdns lookup: cannot read \"\(path)\": it is not UTF-8\n")
        #expect(result.status == 2)
    }

    @Test func `a watch ends when nobody reads it any longer`() async throws {
        let zone = try ZoneServer()
        let command =
            "('\(Tool.path)' lookup ok.example.test A \(zone.resolver) --config none --watch "
            + "--interval 10ms --json; echo ended $? >&2) | head -1"
        let result = try await run("sh", ["-c", command])
        #expect(result.lines.count == 1)
        #expect(result.errorText == "ended 0\n")
    }
}
