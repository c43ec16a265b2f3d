import HTTPDNS
import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSWire
import TestSupport
import Testing

/// How a typed name becomes the name that is asked for.
@Suite struct LookupNameTests {
    let zone: ZoneServer

    init() throws { zone = try ZoneServer() }

    @Test func `a short name is completed when that is asked for, and it is said`() async throws {
        let result = try await httpdns(
            "lookup", "ok", "A", zone.resolver, "--search=none.test,example.test")
        #expect(result.lines[1].squeezed.hasPrefix("ok.example.test A 30s 127.0.0.1"))
        #expect(result.errorText == "note: ok was looked up as ok.example.test (search list)\n")
        #expect(
            zone.server.queries.map(\.question.text) == ["ok.none.test", "ok.example.test"])
    }

    @Test func `without being asked nothing is completed`() async throws {
        let result = try await httpdns("lookup", "ok", "A", zone.resolver)
        #expect(zone.server.queries.map(\.question.text) == ["ok"])
        #expect(result.errorText.hasPrefix("ok: NXDOMAIN"))
    }

    @Test func `the system's list is replaced by LOCALDOMAIN`() async throws {
        let result = try await httpdns(
            "lookup", "ok", "A", zone.resolver, "--search", "--json",
            environment: ["LOCALDOMAIN": "example.test"])
        let object = try #require(try result.objects.first)
        #expect(object["name"]?.string == "ok")
        #expect(object["effectiveName"]?.string == "ok.example.test")
        #expect(object["addresses"]?.array == ["127.0.0.1"])
    }

    @Test func `a dot at the end, and as many dots as ndots says, leave a name alone first`() throws
    {
        let list = SearchList(domains: [try HostName("a.test"), try HostName("b.test")], dots: 1)
        let names = { (text: String) in
            list.candidates(for: try HostName(text), typed: text).map(\.text)
        }
        #expect(try names("svc") == ["svc.a.test", "svc.b.test", "svc"])
        #expect(try names("svc.corp") == ["svc.corp", "svc.corp.a.test", "svc.corp.b.test"])
        #expect(try names("svc.") == ["svc"])
        let never = SearchList(domains: list.domains, dots: 0)
        #expect(
            never.candidates(for: try HostName("svc"), typed: "svc").first == (try HostName("svc")))
    }

    @Test(
        arguments: [
            ("search a.test b.test\noptions ndots:3 rotate", ["a.test", "b.test"], 3),
            ("search a.test\ndomain b.test c.test", ["b.test"], 1),
            ("options ndots:99\nsearch a..b ok.test", ["ok.test"], 15),
            ("nameserver 127.0.0.1", [], 1), ("options ndots:x", [], 1),
        ] as [(String, [String], Int)])
    func `the system's file is read as the system reads it`(
        text: String, domains: [String], dots: Int
    ) {
        let list = SearchList(resolvConf: text)
        #expect(list.domains.map(\.text) == domains)
        #expect(list.dots == dots)
    }

    @Test func `A-labels that are none are asked as typed`() async throws {
        let result = try await httpdns(
            "lookup", "xn--aa.example.test", "A", zone.resolver, "--no-idn", "--json")
        let object = try #require(try result.objects.first)
        #expect(object["name"]?.string == "xn--aa.example.test")
        #expect(object["unicodeName"]?.isNull == true)
        #expect(object["status"]?.string == "NXDOMAIN")
        let unicode = try await httpdns(
            "lookup", "bücher.test", "A", zone.resolver, "--no-idn")
        #expect(unicode.errorText.contains("convert the name to A-labels"))
        #expect(unicode.status == 2)
    }

    @Test func `a name that the hosts file has is told on standard error`() throws {
        let name = try HostName("intra.test")
        let table = [name: [LabAddress.ipv4]]
        #expect(
            AddressNotes.hosts(table, has: name, asked: "google")
                == "note: /etc/hosts has 127.0.0.1 for intra.test; programs that ask the system get "
                + "that, here google was asked")
        #expect(AddressNotes.hosts(table, has: try HostName("other.test"), asked: "google") == nil)
    }

    @Test func `localhost is in the hosts file, and another resolver is asked`() async throws {
        let result = try await httpdns("lookup", "localhost", "A", zone.resolver, "--short")
        #expect(result.outputText == "127.0.0.1\n")
        #expect(result.errorText.contains("note: /etc/hosts has "))
    }

    @Test func `every question carries what the options say`() throws {
        let rules = Command.lookup.allOptions
        let arguments = try ParsedArguments(
            [
                "a.test", "--client-subnet", "127.0.0.0/8", "--sdns", "b=2", "--sdns=a=1",
                "--dnssec", "--no-recursion",
            ], rules: rules)
        let question = try LookupRequest(arguments).question(try HostName("a.test"), .a)
        #expect(question.clientSubnet?.description == "127.0.0.0/8")
        #expect(question.serviceParameters.entries.map(\.key) == ["a", "b"])
        #expect(question.wantsDNSSEC)
        #expect(!question.wantsRecursion)
    }

    @Test func `the options reach the descriptions of resolvers`() throws {
        let arguments = try ParsedArguments(
            ["--batch", "--account", "7", "--bootstrap", "127.0.0.1"],
            rules: Command.lookup.allOptions)
        let console = Console(
            output: OutputStream(descriptor: 1), errors: OutputStream(descriptor: 2),
            variable: { _ in nil })
        let resolvers = try ResolverArguments(
            ["aliyun"], arguments, ToolConfiguration(), console)
        let description = try #require(resolvers.descriptions.first)
        #expect(description.batchesNames)
        #expect(description.account == "7")
        #expect(description.bootstrap == [LabAddress.ipv4])
        #expect(resolvers.areNamed)
    }

    @Test func `a provider of plain DNS is asked at another port`() async throws {
        let result = try await httpdns(
            "lookup", "ok.example.test", "A", "@google-udp", "--bootstrap", "127.0.0.1", "--port",
            "\(zone.server.port)", "--tcp", "--json")
        let object = try #require(try result.objects.first)
        #expect(object["addresses"]?.array == ["127.0.0.1"])
        #expect(object["transport"]?.string == "tcp")
        #expect(object["server"]?.string == zone.place)
    }

    @Test func `a number of a type is asked for`() async throws {
        let result = try await httpdns(
            "lookup", "ok.example.test", "TYPE65", "255", zone.resolver, "--json")
        #expect(try result.objects.first?["types"]?.array == ["HTTPS", "ANY"])
        #expect(Set(zone.server.queries.map(\.question.type)) == [.https, .any])
    }
}
