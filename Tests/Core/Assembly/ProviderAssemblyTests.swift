import HTTPDNS
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSProfiles
import HTTPDNSTransport
import HTTPDNSTrust
import Testing

/// Back-ends are made here, never asked: no packet leaves.
@Suite(.timeLimit(.minutes(1))) struct ProviderAssemblyTests {
    private static let transport = Transport()

    private func backend(
        _ id: String, _ change: (inout ResolverDescription) throws -> Void
    ) throws -> any ResolverBackend {
        var description = try ResolverDescription(id)
        description.bootstrap = [try IPAddress("127.0.0.1")]
        try change(&description)
        return try ResolverFactory(trust: TrustPolicy(), transport: Self.transport)
            .backend(for: description)
    }

    private static let hex = Secret("00112233445566778899aabbccddeeff")

    @Test(arguments: Profiles.all.filter { $0.kind != .udp }.map(\.id))
    func `every provider has a back-end for who brings what it needs`(id: String) throws {
        let profile = try #require(Profiles.named(id))
        let backend = try backend(id) { description in
            let asked = profile.needs + profile.takes
            let isPair = profile.template?.uses(.accountSecond) == true
            if asked.contains(.account) { description.account = isPair ? "1/2" : "1" }
            if asked.contains(.secret) { description.secret = Self.hex }
            if asked.contains(.key) { description.key = Self.hex }
        }
        let speaksDNS = profile.kind == .doh || profile.kind == .dot
        #expect(speaksDNS || backend.label == id)
        let isSecure = profile.kind == .dot || profile.url?.origin.scheme == .https
        #expect(backend.isAuthenticated == isSecure)
        #expect(profile.kind == .doh || backend.supportedTypes == profile.supportedTypes)
    }

    @Test(arguments: [
        ("aliyun", "--account"), ("aliyun-v2", "--account"), ("baidu", "--account"),
        ("volcengine", "--account"), ("dnspod-des", "--key-env"), ("dnspod-aes", "--key-env"),
        ("qiniu", "--account"), ("alidns-paid", "--account"),
    ])
    func `what is missing is named with the option that gives it`(id: String, option: String) {
        #expect {
            _ = try backend(id) { _ in }
        } throws: { "\($0)".contains(option) }
    }

    @Test(arguments: [("baidu", "only Aliyun and DNSPod"), ("dnspod-free", "free DNSPod")])
    func `not every provider hands out a list of servers`(id: String, why: String) {
        #expect {
            _ = try backend(id) {
                $0.account = "1"
                $0.secret = id == "baidu" ? Self.hex : nil
                $0.serverListFile = "/nowhere"
            }
        } throws: { "\($0)".contains(why) }
    }

    @Test(arguments: [
        "bob:hidden-word@dns.test/dns-query", "bob:hidden-word@dns.test://a",
        "https://bob:hidden-word@dns.test/dns-query",
    ])
    func `what is no resolver is told without its password`(text: String) {
        #expect {
            _ = try ResolverDescription(text)
        } throws: {
            "\($0)".contains("@dns.test") && !"\($0)".contains("hidden-word")
        }
    }

    @Test func `a provider without addresses asks for them, one with them does not`() throws {
        #expect(try ResolverDescription("qiniu").unresolvedHost?.text == "hdns.qnqcdn.net")
        #expect(try ResolverDescription("aliyun").unresolvedHost == nil)
    }
}
