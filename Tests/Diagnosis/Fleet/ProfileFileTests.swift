import FleetLab
import HTTPDNS
import HTTPDNSJSON
import TestSupport
import Testing

@Suite struct ProfileFileTests {
    private static let text = """
        {"id": "tier", "title": "Our tier", "kind": "doh",
         "url": "https://dns.example.com:8443/dns-query",
         "bootstrap": {"ipv4": ["127.0.0.1"]}, "needs": [], "takes": [], "supports": ["any"],
         "source": "https://wiki.example.com/dns", "date": "2026-11-30"}
        """

    @Test func `a profile of one's own is a resolver`() throws {
        let tier = try ResolverDescription(profile: Self.text, file: "/etc/httpdns/tier.json")
        #expect(tier.description == "tier")
        #expect(tier.unresolvedHost == nil)
        #expect(tier.serverHost?.text == "dns.example.com")
    }

    @Test(arguments: [
        (text.replacing("https://dns.example.com:8443", with: "http://dns.example.com"), "url"),
        (text.replacing("{\"ipv4\": [\"127.0.0.1\"]}", with: "{}"), "bootstrap"),
        (text.replacing("\"tier\"", with: "\"other\""), "name the file other.json"),
        ("{", "tier.json"),
    ])
    func `a profile with a fault says where it is`(text: String, said: String) {
        #expect {
            _ = try ResolverDescription(profile: text, file: "tier.json")
        } throws: { "\($0)".contains(said) }
    }

    @Test func `a profile cannot take the name of a provider that is built in`() {
        #expect {
            _ = try ResolverDescription(
                profile: Self.text.replacing("\"tier\"", with: "\"google\""), file: "google.json")
        } throws: { "\($0)".contains("google is a provider that is built in") }
    }

    @Test func `the configuration file names profiles by path, and other parts by their id`()
        async throws
    {
        let directory = try TemporaryDirectory()
        try directory.write("tier.json", Self.text)
        let file = try directory.write(
            "config.json",
            "{\"resolvers\": [\"./tier.json\"], \"routes\": {\"*.corp.example\": [\"tier\"]}}")
        let result = try await run(FleetTests.tool, ["resolvers", "tier", "--config", file])
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.outputText.contains("tier"))
    }

    @Test func `a profile that is not there, or is none, is named with its place`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("bad.json", "{}")
        let missing = try await run(
            FleetTests.tool, ["lookup", "www.example.com", "@\(directory.path)/none.json"])
        #expect(missing.status == 2)
        #expect(missing.errorText.contains("none.json"))
        #expect(missing.errorText.contains("No such file"))
        let file = try directory.write("config.json", "{\"resolvers\": [\"./bad.json\"]}")
        let bad = try await run(
            FleetTests.tool, ["lookup", "www.example.com", "--config", file])
        #expect(bad.status == 2)
        #expect(bad.errorText.contains("resolvers[0]"), "\(bad.errorText)")
        #expect(bad.errorText.contains("bad.json: id"), "\(bad.errorText)")
    }
}
