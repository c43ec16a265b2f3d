import HTTPDNSExchange
import HTTPDNSNames
import Testing

@Suite struct HostRewriterTests {
    @Test(arguments: [
        Row(
            "https://api.example.test/v1?x=1", "192.0.2.7", "https://192.0.2.7/v1?x=1",
            authority: "api.example.test", serverName: "api.example.test"),
        Row(
            "https://api.example.test:8443/", "2001:db8::1", "https://[2001:db8::1]:8443/",
            authority: "api.example.test:8443", serverName: "api.example.test"),
        Row(
            "http://api.example.test/", "::ffff:192.0.2.1", "http://[::ffff:192.0.2.1]/",
            authority: "api.example.test", serverName: nil),
        Row(
            "http://a.test/?u=a.test", "192.0.2.7", "http://192.0.2.7/?u=a.test",
            authority: "a.test", serverName: nil),
        Row(
            "https://user:a.test@a.test/a.test#a.test", "192.0.2.7", "https://192.0.2.7/a.test",
            authority: "a.test", serverName: "a.test"),
        Row(
            "https://192.0.2.9:444/x", "192.0.2.9", "https://192.0.2.9:444/x",
            authority: "192.0.2.9:444", serverName: nil),
        Row(
            "https://[2001:db8::9]/", "2001:db8::9", "https://[2001:db8::9]/",
            authority: "[2001:db8::9]", serverName: nil),
    ])
    func `only the host is replaced, and everything else stays that of the name`(row: Row) throws {
        let url = try HTTPURL(row.url)
        let rewritten = try HostRewriter().rewrite(
            RequestHead(method: .post, url: url), to: IPAddress(row.address))
        #expect(rewritten.url == row.rewritten)
        #expect(rewritten.authority == row.authority)
        #expect(rewritten.serverName?.text == row.serverName)
        #expect(rewritten.verifyAs == url.origin.host)
        #expect(rewritten.target == url.target)
        #expect(rewritten.method == .post)
    }

    @Test func `an address with a zone is refused`() throws {
        let request = RequestHead(url: try HTTPURL("http://a.test/"))
        #expect(throws: RewriteFault.zone) {
            try HostRewriter().rewrite(request, to: IPAddress("fe80::1%eth0"))
        }
    }

    @Test(arguments: ["a.test:8443", "A.Test:8443", "a.test.:8443"])
    func `a Host field that says what the URL says is taken out`(value: String) throws {
        let rewritten = try rewrite("https://a.test:8443/", [("host", value)])
        #expect(!rewritten.fields.contains("Host"))
        #expect(rewritten.authority == "a.test:8443")
    }

    @Test(arguments: [
        "b.test", "a.test:444", "http://a.test", "a.test/", "u@a.test", "", "a.test\\", "192.0.2.7",
        "a.test, b.test", "%61.test",
    ])
    func `a Host field that names another is refused`(value: String) {
        #expect(
            throws: RewriteFault.hostFieldDiffers(
                given: value.replacing("\\", with: "\\\\"), authority: "a.test")
        ) {
            try rewrite("https://a.test/", [("Host", value)])
        }
    }

    @Test func `userinfo becomes Basic credentials and is nowhere else`() throws {
        let rewritten = try rewrite("https://us%65r:p%C3%A4ss%3A@a.test/", [])
        #expect(rewritten.fields.first("Authorization") == "Basic dXNlcjpww6Rzczo=")
        #expect(rewritten.url == "https://192.0.2.7/")
    }

    @Test func `an Authorization field of the caller stays`() throws {
        let rewritten = try rewrite("https://u:p@a.test/", [("authorization", "Bearer t")])
        #expect(rewritten.fields.all("Authorization") == ["Bearer t"])
    }

    @Test(arguments: ["https://u%3Av:p@a.test/", "https://u:p%0D%0A@a.test/"])
    func `userinfo that Basic cannot carry is refused`(url: String) {
        #expect(throws: RewriteFault.unusableUserinfo) { try rewrite(url, []) }
    }

    @Test func `cookies are set once`() throws {
        #expect(
            try rewrite("https://a.test/", [], cookies: "a=1; b=2").fields.all("Cookie") == [
                "a=1; b=2"
            ])
        #expect(
            try rewrite("https://a.test/", [("cookie", "c=3")], cookies: "a=1").fields.all("Cookie")
                == ["c=3"])
        #expect(throws: RewriteFault.unusableCookies) {
            try rewrite("https://a.test/", [], cookies: "a=1\r\nX: y")
        }
    }

    private func rewrite(
        _ url: String, _ fields: [(String, String)], cookies: String? = nil
    ) throws -> RewrittenRequest {
        var head = RequestHead(url: try HTTPURL(url))
        for (name, value) in fields { try head.fields.append(name, value) }
        return try HostRewriter().rewrite(head, to: IPAddress("192.0.2.7"), cookies: cookies)
    }

    struct Row: Sendable {
        let url: String
        let address: String
        let rewritten: String
        let authority: String
        let serverName: String?

        init(
            _ url: String, _ address: String, _ rewritten: String, authority: String,
            serverName: String?
        ) {
            self.url = url
            self.address = address
            self.rewritten = rewritten
            self.authority = authority
            self.serverName = serverName
        }
    }
}
