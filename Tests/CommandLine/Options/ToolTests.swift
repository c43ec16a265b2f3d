import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSProfiles
import TestSupport
import Testing

@Suite struct ToolTests {
    @Test func `help lists the commands and the exit codes`() async throws {
        for arguments in [["--help"], ["-h"], ["help"]] {
            let result = try await run(Tool.path, arguments)
            #expect(result.outputText.contains("\n  lookup NAME… [TYPE…] [@RESOLVER…]  "))
            #expect(result.outputText.contains("\n  resolvers "))
            #expect(!result.outputText.contains("conformance"))
            #expect(result.outputText.contains("  130  interrupted"))
            #expect(result.status == 0)
        }
    }

    @Test func `nothing at all prints help as an error`() async throws {
        let result = try await httpdns()
        #expect(result.outputText == "")
        #expect(result.errorText.contains("Usage: httpdns COMMAND"))
        #expect(result.status == 2)
    }

    @Test func `an argument that is not UTF-8 is refused, not sent as something else`() async throws
    {
        let script = #"exec "$0" fetch "http://127.0.0.1:1/$(printf '\377')" --timeout 1s"#
        let result = try await run("sh", ["-c", script, Tool.path])
        #expect(result.errorText.hasPrefix("httpdns: argument 2 is not UTF-8"))
        #expect(result.status == 2)
    }

    @Test(arguments: [
        ["fetch", "http://user:hush@127.0.0.1:99999/"], ["fetch", "http://user:hush@[bad"],
        ["fetch", "http://user:hu@sh@/x"],
        ["fetch", "http://127.0.0.1:1/", "-H", "Authorization Bearer hush"],
        ["lookup", "a.test", "@aliyun", "--endpoint", "https://user:hush@127.0.0.1:0/"],
        ["lookup", "a.test", "@https://user:hush@127.0.0.1:0/"],
    ])
    func `what is refused is named without the secrets in it`(arguments: [String]) async throws {
        let result = try await run(Tool.path, arguments)
        #expect(result.status == 2)
        #expect(result.errorText != "")
        #expect(!result.errorText.contains("hush"))
        #expect(!result.errorText.contains("hu@sh"))
    }

    @Test func `a list without an end is refused`() async throws {
        let result = try await httpdns("lookup", "--file", "/dev/zero", "@127.0.0.1:1")
        #expect(result.errorText.contains("a line is longer than 4194304 octets"))
        #expect(result.status == 2)
    }

    @Test(arguments: Command.all.map(\.name))
    func `every command explains itself with examples, options and exit codes`(
        name: String
    ) async throws {
        let command = try #require(Command.all.first { $0.name == name })
        for arguments in [[name, "--help"], ["help", name], [name, "word", "-h"]] {
            let result = try await run(Tool.path, arguments)
            #expect(result.status == 0)
            #expect(result.errorText == "")
            for option in command.allOptions {
                #expect(result.outputText.contains("--\(option.name)"))
            }
            #expect(result.outputText.contains("Exit codes:"))
            #expect(result.outputText.contains("xample") || command.isHidden)
        }
    }

    @Test func `the version is one line`() async throws {
        let result = try await httpdns("--version")
        #expect(result.outputText == "httpdns \(CommandLineTool.version)\n")
        #expect(result.status == 0)
    }

    @Test(arguments: [
        (["lokup", "x.test"], "httpdns: unknown command \"lokup\"; did you mean \"lookup\"?"),
        (["--jsn"], "httpdns: unknown option \"--jsn\""),
        (["lookup", "x.test", "--tls-ca"], "httpdns lookup: unknown option \"--tls-ca\""),
        (["lookup", "x.test", "--shrt"], "did you mean \"--short\"?"),
        (["lookup", "x.test", "AAAB"], "unknown record type \"AAAB\"; did you mean \"AAAA\"?"),
        (["lookup", "x.test", "TYPE70000"], "unknown record type \"TYPE70000\""),
        (["lookup", "x.test", "@gogle"], "did you mean \"google\"?"),
        (["lookup", "x.test", "@"], "after @ a resolver must follow"),
        (["lookup", "x.test", "@ftp://h/"], "\"ftp\" is not one of"),
        (["lookup", "x.test", "@127.0.0.1:99999"], "a port is a number from 1 to 65535"),
        (["lookup"], "no name to look up"), (["lookup", "mx"], "--name MX makes it a name"),
        (["lookup", "127.0.0.1"], "-x 127.0.0.1 finds its name"),
        (["lookup", "-x", "host"], "-x \"host\""),
        (["lookup", "x.test", "--tcp"], "none is named"),
        (["lookup", "x.test", "@google", "--tcp"], "--tcp means nothing to google"),
        (["lookup", "x.test", "@127.0.0.1", "--method", "POST"], "--method means nothing"),
        (["lookup", "x.test", "@system", "--dnssec"], "--dnssec means nothing to system"),
        (["lookup", "x.test", "@google-json", "--no-recursion"], "--no-recursion means nothing"),
        (["lookup", "x.test", "@google", "--method", "PUT"], "is not one of GET, POST"),
        (["lookup", "x.test", "@127.0.0.1", "--port", "0"], "from 1 to 65535"),
        (["lookup", "x.test", "--timeout", "2x"], "\"2x\" is not a duration; write 2s"),
        (["lookup", "x.test", "--color", "alway"], "did you mean \"always\"?"),
        (["lookup", "x.test", "@google", "--bootstrap", "1.2.3"], "--bootstrap \"1.2.3\""),
        (["lookup", "x.test", "@google", "--pin", "sha256/x"], "--pin \"sha256/x\""),
        (["lookup", "x.test", "@127.0.0.1", "--cacert", "x"], "--cacert needs a resolver over"),
        (["lookup", "x.test", "@https://127.0.0.1:1/", "--cacert", "/nowhere"], "/nowhere"),
        (["lookup", "x.test", "@aliyun", "--secret-env", "NOT_SET_HERE"], "is not set"),
        (["lookup", "x.test", "@aliyun", "--endpoint", "ftp://x"], "--endpoint \"ftp://x\""),
        (["lookup", "x.test", "--client-subnet", "1.2.3.4/99"], "--client-subnet \"1.2.3.4/99\""),
        (["lookup", "x.test", "--ndots", "1"], "--search is missing"),
        (["lookup", "x.test", "--search=a..b"], "--search \"a..b\""),
        (["lookup", "x.test", "--interval", "1s"], "--watch is missing"),
        (["lookup", "--file", "x", "--watch"], "--file and --watch exclude each other"),
        (["lookup", "x.test", "--repeat", "0"], "from 1 to 1000000"),
        (["lookup", "x.test", "@google", "--sdns", "a=b"], "--sdns means nothing to google"),
        (["lookup", "x.test", "@aliyun", "--sdns", "a"], "--sdns \"a\" has no =; write KEY=VALUE"),
        (["lookup", "x.test", "@aliyun", "--sdns", "a b=c"], "--sdns: \"a b\" is no key"),
        (["lookup", "x.test", "@google", "--batch"], "--batch means nothing to google"),
        (
            ["lookup", "x.test", "@system", "--client-subnet", "::/0"],
            "--client-subnet means nothing"
        ),
        (["resolvers", "gogle"], "did you mean \"google\"?"),
    ])
    func `a mistake is one line that names it, and exit 2`(
        arguments: [String], words: String
    ) async throws {
        let result = try await run(Tool.path, arguments)
        #expect(result.errorText.contains(words))
        #expect(result.complaints.count == 1)
        #expect(result.outputText == "")
        #expect(result.status == 2)
    }

    @Test func `a secret on the command line is not shown`() async throws {
        let result = try await httpdns(
            "lookup", "x.test", "@aliyun", "--secret-env", "5ecret0fMine")
        #expect(!result.errorText.contains("5ecret0fMine"))
        #expect(result.status == 2)
    }

    @Test func `an account that is missing is named with its option`() async throws {
        let result = try await httpdns("lookup", "x.test", "@aliyun", "--json")
        #expect(try result.objects.first?["error"]?["code"]?.string == "misconfigured")
        #expect(result.errorText.contains("--account"))
        #expect(result.status == 2)
    }

    @Test func `the providers are a table`() async throws {
        let result = try await httpdns("resolvers")
        #expect(result.lines[0].squeezed == "NAME NEEDS TAKES TYPES URL SERVERS TITLE")
        for profile in Profiles.all {
            #expect(result.lines.filter { $0.hasPrefix(profile.id + " ") }.count == 1)
        }
        #expect(
            result.lines.contains {
                $0.squeezed.hasPrefix("aliyun --account --secret-env A AAAA https://")
            })
        let headings = result.lines.indices.filter { result.lines[$0].isEmpty }
            .map { result.lines[$0 + 1].prefix { $0 != " " && $0 != ":" } }
        #expect(headings == ["HTTP-DNS", "DNS", "DNS", "JSON", "Plain"])
    }

    @Test func `one provider is shown whole`() async throws {
        let result = try await httpdns("resolvers", "@google")
        for word in ["kind", "url", "servers", "8.8.8.8", "source", "date", "notes"] {
            #expect(result.outputText.contains(word))
        }
        #expect(result.status == 0)
    }

    @Test func `the providers as JSON have the same keys, a line each`() async throws {
        let objects = try await httpdns("resolvers", "--json").objects
        #expect(objects.count == Profiles.all.count)
        #expect(Set(objects.map { $0.object?.names ?? [] }).count == 1)
        let one = try await httpdns("resolvers", "aliyun", "--json").objects
        #expect(one.count == 1)
        #expect(one.first?["needs"]?.array == ["account"])
    }
}
