import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// With `--json` a command that cannot begin says so on standard output, too.
@Suite struct UsageJSONTests {
    @Test(arguments: [
        ["lookup", "x.test", "--json", "--short"], ["lookup", "x.test", "--jsn", "--json"],
        ["lookup", "x.test", "AAAB", "--json"], ["lookup", "--json"],
        ["lookup", "x.test", "@gogle", "--json"], ["lookup", "x.test", "--timeout=2x", "--json"],
        ["lookup", "x.test", "--json", "--config", "/nowhere/c.json"],
        ["lookup", "--json", "--file", "/nowhere/names", "@127.0.0.1:1"],
    ])
    func `lookup prints one object with the keys of a result`(arguments: [String]) async throws {
        let result = try await run(Tool.path, arguments)
        let objects = try result.objects
        #expect(objects.count == 1)
        #expect(objects.first?.object?.names == LookupScriptTests.keys.sorted())
        #expect(objects.first?["error"]?["code"]?.string == "usage")
        #expect(objects.first?["status"]?.isNull == true)
        #expect(result.complaints.count == 1)
        #expect(
            result.complaints.first
                == "httpdns lookup: " + (objects.first?["error"]?["message"]?.string ?? ""))
        #expect(result.status == 2)
    }

    @Test func `the name is the first word`() async throws {
        let result = try await httpdns("lookup", "x.test", "--json", "--short")
        #expect(try result.objects.first?["name"]?.string == "x.test")
        let behind = try await httpdns(
            "lookup", "--timeout", "2x", "MX", "--parallel=1", "y.test", "--json")
        #expect(try behind.objects.first?["name"]?.string == "y.test")
        let list = try await httpdns("lookup", "--file", "/nowhere/names", "--json", "--short")
        #expect(try list.objects.first?["name"]?.isNull == true)
    }

    @Test func `fetch and resolvers have their own keys`() async throws {
        let fetch = try await httpdns("fetch", "ftp://x.test/", "--json")
        let object = try #require(try fetch.objects.first)
        #expect(object["error"]?["code"]?.string == "usage")
        for key in ["url", "finalURL", "status", "verified", "timings", "attempts", "bytes"] {
            #expect(object[key] != nil)
        }
        #expect(fetch.status == 2)
        let resolvers = try await httpdns("resolvers", "gogle", "--json")
        let keys = try await httpdns("resolvers", "google", "--json").objects.first?.object?.names
        #expect(try resolvers.objects.first?.object?.names == keys)
        #expect(resolvers.status == 2)
    }

    @Test func `behind two dashes it is no option`() async throws {
        let result = try await httpdns("lookup", "--short", "--timeout=2x", "--", "--json")
        #expect(result.outputText == "")
        #expect(result.status == 2)
    }
}

/// A peer that fails before it shows a certificate has not answered; one that shows a wrong one has.
@Suite struct HandshakeExitTests {
    @Test(arguments: [LabConnectionFault.resetsInHandshake, .closesInHandshake, .alertsInHandshake])
    func `a broken handshake is the same exit code in lookup and fetch`(
        fault: LabConnectionFault
    ) async throws {
        let root = try TestAuthority("Broken Root")
        let server = try LabServer(
            security: .tls(try root.leaf(["dns.example.test"])), fault: fault
        ) { _ in .text("never") }
        try server.start()
        defer { server.stop() }
        let url = "https://dns.example.test:\(server.port)/dns-query"
        let lookup = try await httpdns(
            "lookup", "ok.example.test", "A", "@\(url)", "--bootstrap", "127.0.0.1", "--json")
        #expect(try lookup.objects.first?["error"]?["code"]?.string == "unreachable")
        #expect(lookup.status == 9)
        let fetch = try await httpdns(
            "fetch", url, "--resolve", "dns.example.test:127.0.0.1", "--json")
        #expect(try fetch.objects.first?["error"]?["code"]?.string == "handshake_failed")
        #expect(fetch.status == 9)
    }
}
