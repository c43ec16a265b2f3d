import Glibc
import HTTPDNS
import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// The file of `--config`, through the tool.
@Suite struct ConfigurationFileTests {
    let zone: ZoneServer
    let directory: TemporaryDirectory

    init() throws {
        zone = try ZoneServer()
        directory = try TemporaryDirectory()
    }

    private func file(_ text: String, mode: mode_t = 0o600) throws -> String {
        let path = try directory.write("config.json", text)
        #expect(chmod(path, mode) == 0)
        return path
    }

    @Test func `its resolvers are asked where none is named`() async throws {
        let path = try file(#"{"resolvers": ["\#(zone.place)"]}"#)
        let result = try await httpdns(
            "lookup", "ok.example.test", "A", "--config", path, "--json")
        let object = try #require(try result.objects.first)
        #expect(object["addresses"]?.array == ["127.0.0.1"])
        #expect(object["resolver"]?.string == "udp://\(zone.place)")
        #expect(result.status == 0)
    }

    @Test func `a resolver is named by the name it has there`() async throws {
        let path = try file(#"{"resolvers": [{"resolver": "\#(zone.place)", "name": "lab"}]}"#)
        let result = try await httpdns(
            "lookup", "ok.example.test", "@LAB", "--config", path, "--short")
        #expect(result.outputText == "127.0.0.1\n")
    }

    @Test func `a provider takes account, secret, roots and endpoint from it`() async throws {
        let service = try ServiceServer()
        let path = try file(
            #"""
            {"resolvers": [{"resolver": "aliyun", "account": 100000, "secret": "lab-secret",
              "endpoint": "https://127.0.0.1:\#(service.port)", "cacert": "\#(service.rootFile)",
              "pins": "\#(service.identity.pin)"}]}
            """#)
        let result = try await httpdns(
            "lookup", "ok.example.test", "A", "@aliyun", "--config", path, "--json")
        #expect(try result.objects.first?["addresses"]?.array == ["127.0.0.1"])
        #expect(service.server.record.requests.first?.path == "/100000/sign_d")
        #expect(!result.errorText.contains("lab-secret"))
    }

    @Test func `a pin in it is held to`() async throws {
        let service = try ServiceServer()
        let other = try service.authority.leaf(["x.example.test"], commonName: "Other")
        let path = try file(
            #"""
            {"resolvers": [{"resolver": "\#(service.base)/dns-query", "bootstrap": ["127.0.0.1"],
              "cacert": "\#(service.rootFile)", "pins": ["\#(other.pin)"], "method": "POST"}]}
            """#)
        let result = try await httpdns(
            "lookup", "ok.example.test", "A", "--config", path, "--json")
        #expect(try result.objects.first?["error"]?["code"]?.string == "untrusted")
        #expect(result.status == 1)
        #expect(service.server.record.requests.isEmpty)
    }

    @Test func `a secret in a variable is found, and its absence told without the name`()
        async throws
    {
        let service = try ServiceServer()
        let path = try file(
            #"""
            {"resolvers": [{"resolver": "aliyun", "account": "100000", "secretEnv": "LAB_SECRET",
              "endpoint": "https://127.0.0.1:\#(service.port)", "cacert": "\#(service.rootFile)"}]}
            """#, mode: 0o644)
        let arguments = ["lookup", "ok.example.test", "A", "@aliyun", "--config", path, "--short"]
        let found = try await run(
            Tool.path, arguments, environment: ["LAB_SECRET": "lab-secret"])
        #expect(found.outputText == "127.0.0.1\n")
        let missing = try await run(Tool.path, arguments)
        #expect(
            missing.errorText
                == "httpdns lookup: \(path): resolvers[0].secretEnv names a variable of the "
                + "environment that is not set\n")
        #expect(missing.status == 2)
    }

    @Test(arguments: [0o640, 0o604, 0o660] as [mode_t])
    func `a file with a secret that others may read is refused, with what to run`(
        mode: mode_t
    ) async throws {
        let path = try file(
            #"{"resolvers": [{"resolver": "dnspod", "key": "hush"}]}"#, mode: mode)
        let result = try await httpdns("lookup", "a.test", zone.resolver, "--config", path)
        #expect(
            result.errorText
                == "httpdns lookup: \(path) holds a secret (resolvers[0].key), and others may read "
                + "or change it: run chmod 600 \(path)\n")
        #expect(result.outputText == "")
        #expect(result.status == 2)
    }

    @Test func `overrides answer without asking`() async throws {
        let path = try file(
            #"{"resolvers": ["\#(zone.place)"], "overrides": {"shop.test": ["127.0.0.9"]}}"#)
        let result = try await httpdns("lookup", "shop.test", "--config", path, "--json")
        let object = try #require(try result.objects.first)
        #expect(object["addresses"]?.array == ["127.0.0.9"])
        #expect(object["transport"]?.string == "hosts")
        #expect(zone.server.queries.isEmpty)
    }

    @Test func `the time-out in it holds, and that of the command line goes before it`()
        async throws
    {
        let path = try file(#"{"timeouts": {"lookup": "200ms"}, "defaults": {"seconds": true}}"#)
        let short = try await httpdns(
            "lookup", "drop.example.test", "A", zone.resolver, "--config", path)
        #expect(short.errorText.contains("udp 1 try, "))
        let long = try await httpdns(
            "lookup", "drop.example.test", "A", zone.resolver, "--config", path, "--timeout",
            "1200ms")
        #expect(long.errorText.contains("udp 2 tries, "))
        let seconds = try await httpdns(
            "lookup", "ok.example.test", "A", zone.resolver, "--config", path)
        #expect(seconds.lines[1].squeezed.contains(" A 30 127.0.0.1"))
    }

    @Test func `the user's own is read where it is, unless none is asked for`() async throws {
        try directory.makeDirectory("httpdns")
        try directory.write(
            "httpdns/config.json",
            #"{"resolvers": [{"resolver": "\#(zone.place)", "name": "lab"}]}"#
        )
        let arguments = ["lookup", "ok.example.test", "A", "@lab", "--short"]
        let environment = ["XDG_CONFIG_HOME": directory.path]
        let found = try await run(Tool.path, arguments, environment: environment)
        #expect(found.outputText == "127.0.0.1\n")
        let none = try await run(
            Tool.path, arguments + ["--config", "none"], environment: environment)
        #expect(none.errorText.contains("\"lab\" is not a resolver"))
        #expect(none.status == 2)
    }

    @Test(arguments: ["ordered", "raced"])
    func `names of a route go to its resolvers, and all others the usual way`(
        strategy: String
    ) async throws {
        let other = try LabDNSServer(
            table: LabTable(try HostName("db.corp.test"), [try IPAddress("127.0.0.9")]))
        try other.start()
        defer { other.stop() }
        let path = try file(
            """
            {"resolvers": ["\(zone.place)"], "strategy": "\(strategy)",
             "routes": {"*.corp.test": "udp://\(other.endpoint)"}}
            """)
        let routed = try await httpdns(
            "lookup", "db.corp.test", "A", "--short", "--config", path)
        #expect(routed.outputText == "127.0.0.9\n")
        let usual = try await httpdns(
            "lookup", "ok.example.test", "A", "--short", "--config", path)
        #expect(usual.outputText == "127.0.0.1\n")
        #expect(other.queries.map(\.question.text) == ["db.corp.test"])
    }

    @Test func `a route that cannot be gone is an error, not the usual way`() async throws {
        let path = try file(
            #"{"resolvers": ["\#(zone.place)"], "routes": {"**.corp.test": "aliyun"}}"#)
        let result = try await httpdns("lookup", "db.corp.test", "A", "--config", path)
        #expect(result.status == 2)
        #expect(result.errorText.contains("routes.**.corp.test"))
    }

    @Test func `a file that is named and not there is a mistake`() async throws {
        let result = try await httpdns("lookup", "a.test", "--config", "/nowhere/c.json")
        #expect(
            result.errorText
                == "httpdns lookup: cannot read \"/nowhere/c.json\": No such file or directory\n")
        #expect(result.status == 2)
    }

    @Test func `fetch asks the resolvers of the file`() async throws {
        let origin = try FetchOrigin()
        let path = try file(#"{"resolvers": ["\#(zone.place)"]}"#)
        let result = try await httpdns(
            "fetch", "https://ok.example.test:\(origin.port)/", "--config", path, "--json",
            "--cacert", origin.rootFile)
        #expect(try result.objects.first?["resolver"]?.string == "udp://\(zone.place)")
        #expect(zone.server.queries.contains { $0.question.text == "ok.example.test" })
    }

    @Test func `resolvers lists those of the file, and shows no secret`() async throws {
        let path = try file(
            #"{"resolvers": [{"resolver": "aliyun", "name": "mine", "account": "7", "secret": "hush"}]}"#
        )
        let list = try await httpdns("resolvers", "--config", path)
        #expect(list.lines.last == "mine  aliyun")
        let page = try await httpdns("resolvers", "mine", "--config", path)
        #expect(page.outputText.contains("secret    in the file"))
        let json = try await httpdns("resolvers", "mine", "--config", path, "--json")
        #expect(try json.objects.first?["configured"]?.bool == true)
        #expect(!(list.outputText + page.outputText + json.outputText).contains("hush"))
    }
}

/// The reader of the file, by itself.
@Suite struct ConfigurationReaderTests {
    private func fault(_ text: String) -> String? {
        do throws(CommandFault) {
            _ = try ConfigurationReader(file: "c.json", isOpenToOthers: false).configuration(text)
            return nil
        } catch {
            #expect(error.code == .usage)
            return error.message
        }
    }

    @Test(
        arguments: [
            ("{\n  \"resolvers\": [,]\n}", "c.json:2:17: not JSON: "),
            ("[]", "c.json: an array, expected an object"),
            (
                #"{"resolver": []}"#,
                "c.json: unknown member \"resolver\"; did you mean \"resolvers\"?"
            ),
            (#"{"resolvers": {}}"#, "c.json: resolvers: an object, expected an array"),
            (#"{"resolvers": ["gogle"]}"#, "c.json: resolvers[0]: \"gogle\" is not a resolver: "),
            (#"{"resolvers": [7]}"#, "c.json: resolvers[0]: a number, expected an object"),
            (
                #"{"resolvers": [{"account": "1"}]}"#,
                "c.json: resolvers[0]: \"resolver\" is missing"
            ),
            (
                #"{"resolvers": ["google", {"resolver": "aliyun", "acount": "1"}]}"#,
                "c.json: resolvers[1]: unknown member \"acount\"; did you mean \"account\"?"
            ),
            (
                #"{"resolvers": [{"resolver": "aliyun", "account": true}]}"#,
                "c.json: resolvers[0].account: a boolean, expected a string"
            ),
            (
                #"{"resolvers": [{"resolver": "google", "account": "1"}]}"#,
                "c.json: resolvers[0].account: it means nothing to google"
            ),
            (
                #"{"resolvers": [{"resolver": "127.0.0.1", "pins": ["x"]}]}"#,
                "c.json: resolvers[0].pins: it needs a resolver over TLS"
            ),
            (
                #"{"resolvers": [{"resolver": "google", "pins": ["sha256/x"]}]}"#,
                "c.json: resolvers[0].pins: \"sha256/x\": "
            ),
            (
                #"{"resolvers": [{"resolver": "google", "bootstrap": ["1.2"]}]}"#,
                "c.json: resolvers[0].bootstrap: \"1.2\": "
            ),
            (
                #"{"resolvers": [{"resolver": "google", "method": "PUT"}]}"#,
                "c.json: resolvers[0].method: expected \"GET\" or \"POST\""
            ),
            (
                #"{"resolvers": [{"resolver": "aliyun", "secret": "a", "secretEnv": "B"}]}"#,
                "c.json: resolvers[0].secret: \"secret\" and \"secretEnv\" exclude each other"
            ),
            (#"{"resolvers": ["google", "google"]}"#, "c.json: resolvers[1]: \"google\" is there"),
            (#"{"routes": {"*.corp.test": "gogle"}}"#, "c.json: routes.*.corp.test: \"gogle\""),
            (#"{"routes": {"a b": "system"}}"#, "c.json: routes.a b: "),
            (#"{"overrides": {"a.test": ["x"]}}"#, "c.json: overrides.a.test: \"x\": "),
            (
                #"{"timeouts": {"lookup": "2x"}}"#,
                "c.json: timeouts.lookup: \"2x\" is not a duration"
            ),
            (#"{"timeouts": {"lookups": "2s"}}"#, "c.json: timeouts: unknown member \"lookups\""),
            (
                "{\"overrides\": {\"a\": []}}",
                "c.json: overrides.a: an empty list, expected one at least"
            ),
            (#"{"routes": {"*.a": []}}"#, "c.json: routes.*.a: an empty list, expected"),
            (#"{"routes": {"*.a": ""}}"#, "c.json: routes.*.a: empty, expected a string"),
            (#"{"resolvers": []}"#, "c.json: resolvers: an empty list; leave it out"),
            (
                #"{"resolvers": [{"resolver": "google", "pins": []}]}"#,
                "c.json: resolvers[0].pins: an empty list"
            ),
            (
                #"{"overrides": {"a.test": "127.0.0.1", "A.test": "127.0.0.2"}}"#,
                "c.json: overrides.a.test: a.test is there already"
            ),
            (
                "{\"strategy\": \"raced\",\n \"routes\": {}, \"strategy\": \"ordered\"}",
                "c.json:2:16: the member \"strategy\" is there already"
            ),
            (
                #"{"resolvers": [{"resolver": "google", "resolver": "aliyun"}]}"#,
                "c.json:1:39: the member \"resolver\" is there already"
            ),
            (#"{"strategy": "fast"}"#, "c.json: strategy: \"fast\" is no strategy; write"),
            (
                #"{"defaults": {"parallel": 0}}"#,
                "c.json: defaults.parallel: 0 is not a number from"
            ),
            (#"{"defaults": {"seconds": 1}}"#, "c.json: defaults.seconds: a number, expected true"),
            (#"{"defaults": {"json": true}}"#, "c.json: defaults: unknown member \"json\""),
        ] as [(String, String)])
    func `a mistake is named with its place and what was expected`(text: String, words: String) {
        #expect(fault(text)?.hasPrefix(words) == true, "\(fault(text) ?? "it was taken")")
    }

    @Test func `what stands in it is read`() throws {
        let text = #"""
            {"resolvers": ["google", {"resolver": "dnspod", "keyEnv": "K", "batch": true}],
             "routes": {"*.corp.test": "system", "lab.test": ["google", "dnspod"]},
             "overrides": {"a.test": "127.0.0.1"}, "strategy": "raced",
             "timeouts": {"fetch": "3s"}, "defaults": {"parallel": 9, "dnssec": false}}
            """#
        let configuration = try ConfigurationReader(file: "c.json", isOpenToOthers: true)
            .configuration(text)
        #expect(configuration.resolvers.map(\.name) == ["google", "dnspod"])
        #expect(configuration.resolver(named: "DNSPOD")?.description.batchesNames == true)
        #expect(configuration.resolver(named: "dnspod")?.key == .variable("K"))
        #expect(configuration.routes.map(\.pattern) == ["*.corp.test", "lab.test"])
        #expect(configuration.routes.map(\.resolvers) == [["system"], ["google", "dnspod"]])
        #expect(configuration.overrides.keys.map(\.text) == ["a.test"])
        #expect(configuration.strategy == .raced)
        #expect(configuration.timeouts == ["fetch": "3s"])
        #expect(configuration.defaults == ["parallel": "9"])
    }
}
