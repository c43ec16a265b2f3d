import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite struct LabHTTPDNSServerTests {
    func service(
        shape: LabJSONShape = .google, fault: LabServiceFault = .none,
        security: LabSecurity = .plain, account: LabAccount = LabAccount("139450", secret: "key")
    ) throws -> LabHTTPDNSServer {
        let table = LabTable(
            try HostName("shop.example.test"), [LabAddress.ipv4(host: 7), LabAddress.ipv6],
            ttlSeconds: 57)
        let service = try LabHTTPDNSServer(
            security: security, table: table, account: account, shape: shape)
        service.misbehave(fault)
        try service.start()
        return service
    }

    func fetched(
        _ service: LabHTTPDNSServer, _ path: String, _ more: [String] = []
    ) async throws -> CommandResult {
        try await curl(service.server.url(host: "127.0.0.1", path: path), more)
    }

    @Test(arguments: [
        (
            "/139450/d?host=shop.example.test",
            #"{"host":"shop.example.test","ips":["127.0.0.7"],"ttl":57,"origin_ttl":57,"#
                + #""client_ip":"127.0.0.1"}"#
        ),
        (
            "/139450/d?host=shop.example.test&query=4,6",
            #"{"host":"shop.example.test","ips":["127.0.0.7"],"ipsv6":["::1"],"ttl":57,"#
                + #""origin_ttl":57,"client_ip":"127.0.0.1"}"#
        ),
        (
            "/139450/d?host=other.example.test",
            #"{"host":"other.example.test","ips":[],"ttl":300,"origin_ttl":300,"#
                + #""client_ip":"127.0.0.1"}"#
        ),
        ("/1/d?host=shop.example.test", #"{"code":"InvalidAccount"}"#),
        ("/139450/d", #"{"code":"MissingArgument"}"#),
        ("/139450/d?host=a..b", #"{"code":"InvalidHost"}"#),
        ("/139450/sign_d?host=shop.example.test&t=1&s=00", #"{"code":"InvalidSignature"}"#),
        (
            // MD5 of shop.example.test-key-1534316400, long ago.
            "/139450/sign_d?host=shop.example.test&t=1534316400"
                + "&s=4a0b9e52c3f7f3d6d1a53d1c1d2ab2d5",
            #"{"code":"InvalidSignature"}"#
        ),
        ("/d?dn=shop.example.test", "127.0.0.7"),
        ("/d?dn=shop.example.test&ttl=1&clientip=1", "127.0.0.7,57|127.0.0.1"),
        ("/d?dn=shop.example.test&ttl=1&type=addrs", "127.0.0.7,57-::1,57"),
        ("/d?dn=other.example.test&ttl=1", ""),
        (
            "/resolve?name=shop.example.test&type=A",
            #"{"Status":0,"TC":false,"RD":true,"RA":true,"AD":false,"CD":false,"#
                + #""Question":[{"name":"shop.example.test.","type":1}],"#
                + #""Answer":[{"name":"shop.example.test.","type":1,"TTL":57,"#
                + #""data":"127.0.0.7"}],"Comment":"Response from 127.0.0.1."}"#
        ),
        (
            "/dns-query?name=shop.example.test&type=AAAA",
            #"{"Status":0,"TC":false,"RD":true,"RA":true,"AD":false,"CD":false,"#
                + #""Question":[{"name":"shop.example.test","type":28}],"#
                + #""Answer":[{"name":"shop.example.test","type":28,"TTL":57,"data":"::1"}]}"#
        ),
    ])
    func `each form answers from the one table`(path: String, body: String) async throws {
        let service = try service()
        defer { service.stop() }
        let fields = ["-H", "Accept: application/dns-json"]
        #expect(try await fetched(service, path, fields).outputText == body)
    }

    @Test func `AliDNS writes its question as an object`() async throws {
        let service = try service(shape: .aliDNS)
        defer { service.stop() }
        let text = try await fetched(service, "/resolve?name=shop.example.test&type=1").outputText
        #expect(text.contains(#""Question":{"name":"shop.example.test","type":1}"#))
    }

    @Test(arguments: [
        (600, "\"ips\":[\"127.0.0.7\"]"), (-600, "SignatureExpired"),
        (90_000, "InvalidDuration"),
    ])
    func `a right signature counts while it is in time`(
        offset: Int, sign: String
    ) async throws {
        let service = try service(account: LabAccount("9", secret: "key", allowsUnsigned: false))
        defer { service.stop() }
        let now = try await run("date", ["+%s"]).outputText.split(separator: "\n")[0]
        let expiry = try #require(Int(now)) + offset
        let digest = try await run(
            "md5sum", [], input: Array("shop.example.test-key-\(expiry)".utf8))
        let path =
            "/9/sign_d?host=shop.example.test&t=\(expiry)&s=\(digest.outputText.prefix(32))"
        #expect(try await fetched(service, path).outputText.contains(sign))
        let unsigned = try await fetched(service, "/9/d?host=shop.example.test")
        #expect(unsigned.outputText == #"{"code":"UnsignedInterfaceDisabled"}"#)
    }

    @Test(arguments: ["+https=/dns-query", "+https-get"])
    func `kdig gets DNS messages over HTTPS, by POST and GET`(option: String) async throws {
        let root = try TestAuthority()
        let service = try service(security: .tls(try root.leaf(["resolver.example.test"])))
        defer { service.stop() }
        let directory = try TemporaryDirectory()
        let file = try directory.write("root.pem", root.certificatePEM)
        // kdig speaks HTTP/2 only, so curl carries what kdig would.
        let query = "AAABAAABAAAAAAAABHNob3AHZXhhbXBsZQR0ZXN0AAABAAE"
        let url = service.server.url(host: "resolver.example.test", path: "/dns-query")
        let isGet = option == "+https-get"
        let binary = try await run("base64", ["-d"], input: Array("\(query)=".utf8))
        let body = try directory.write("query", "")
        _ = try await run("cp", ["/dev/stdin", body], input: binary.output)
        let result = try await curl(
            isGet ? url + "?dns=\(query)" : url, at: service.server,
            ["--cacert", file]
                + (isGet
                    ? []
                    : [
                        "-H", "Content-Type: application/dns-message", "--data-binary",
                        "@\(body)",
                    ]))
        #expect(result.output.suffix(4) == [127, 0, 0, 7], "\(result.errorText)")
        #expect(service.record.requests.map(\.method) == [isGet ? "GET" : "POST"])
    }

    @Test(arguments: [
        (LabServiceFault.answersEmpty, "\"ips\":[]"),
        (.leavesOutTTL, "\"ips\":[\"127.0.0.7\"],\"c"),
        (.answersOtherJSON, "\"message\""), (.captivePortal, "<title>"),
        (.lies([LabAddress.ipv4(host: 66)]), "127.0.0.66"), (.redirects(to: "/login"), "302"),
        (.status(429), "429"), (.status(500), "500"), (.answersHuge(octets: 1_000_000), "1000000"),
        (.truncates, "bytes remaining"), (.neverAnswers, "timed out"),
        (.delays(milliseconds: 60_000), "timed out"),
    ])
    func `a service fails in the way asked for`(
        fault: LabServiceFault, sign: String
    ) async throws {
        let service = try service(fault: fault)
        defer { service.stop() }
        let result = try await fetched(
            service, "/139450/d?host=shop.example.test",
            ["-w", "%{http_code} %{size_download} %{errormsg}", "--max-time", "1"])
        #expect(result.outputText.suffix(300).contains(sign), "\(result.outputText.suffix(300))")
    }

    @Test func `a hijacked client reaches the hijacker and sends it nothing`() async throws {
        let root = try TestAuthority()
        let origin = try LabServer(security: .tls(try root.leaf(["shop.example.test"]))) { _ in
            .text("hello")
        }
        try origin.start()
        let hijacker = try Hijacker(port: origin.port)
        try hijacker.start()
        defer {
            hijacker.stop()
            origin.stop()
        }
        let lie = try await kdig(hijacker.dns.address, hijacker.dns.port, ["shop.example.test"])
        #expect(lie == ["\(hijacker.server.address)"])
        let url = origin.url(host: "shop.example.test")
        let refused = try await curl(url, trusting: root, at: hijacker.server)
        #expect(refused.status == 60)
        #expect(hijacker.server.awaitConnectionsEnded())
        #expect(hijacker.server.record.serverNames == ["shop.example.test"])
        #expect(hijacker.server.record.receivedOctets == 0)
        #expect(try await curl(url, trusting: root, at: origin).outputText == "hello")
    }
}
