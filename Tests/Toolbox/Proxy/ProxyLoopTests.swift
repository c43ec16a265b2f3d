import HTTPDNSForwardProxy
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// Names that lead to the port of the proxy itself.
@Suite(.timeLimit(.minutes(5))) struct ProxyLoopTests {
    private let root: String
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("root.pem", try TestAuthority("Loop Root").certificatePEM)
        root = directory.path + "/root.pem"
    }

    @Test(arguments: [
        ("127.0.0.1", ["127.0.0.1"]), ("127.0.0.1", ["::ffff:127.0.0.1"]),
        ("127.0.0.1", ["0.0.0.0"]), ("127.0.0.1", ["::ffff:127.0.0.1", "127.0.0.1"]),
        ("::1", ["::1"]), ("::1", ["::"]), ("0.0.0.0", ["127.0.0.1"]),
        ("0.0.0.0", ["127.9.9.9"]), ("0.0.0.0", ["0.0.0.0"]), ("::", ["::1"]),
        ("::", ["127.0.0.1"]), ("::", ["::ffff:127.0.0.1"]),
    ])
    func `a name that leads to the proxy itself is a loop, either way`(
        listening: String, addresses: [String]
    ) async throws {
        let lab = try ProxyLab(["me.example.test": addresses], root: root) { settings in
            if let address = try? IPAddress(listening) { settings.address = address }
            settings.servesOtherMachines = true
            settings.allowsLocalTargets = true
            settings.token = Secret("open")
        }
        let port = lab.proxy.endpoint.port
        let near = listening.contains(":") ? "[::1]" : "127.0.0.1"
        let arguments = [
            "-s", "-i", "--max-time", "60", "-x", "http://me:open@\(near):\(port)", "--noproxy", "",
            "http://me.example.test:\(port)/",
        ]
        let plain = try await run("curl", arguments, environment: ["CURL_HOME": "/nowhere"])
        #expect(plain.outputText.hasPrefix("HTTP/1.1 508 "), "\(plain.outputText)")
        #expect(plain.outputText.contains("me.example.test:\(port) leads to this proxy itself"))
        let tunnel = try await run(
            "curl", arguments + ["--proxytunnel"], environment: ["CURL_HOME": "/nowhere"])
        #expect(tunnel.outputText.hasPrefix("HTTP/1.1 508 "), "\(tunnel.outputText)")
        let records = await lab.ended(2)
        // Nothing has come a second time.
        #expect(records.map(\.reason) == ["loop", "loop"])
        #expect(lab.proxy.counts.connections == 2)
    }

    @Test func `another port of the same address is another server`() async throws {
        let server = try LabServer { _ in .text("another") }
        try server.start()
        let lab = try ProxyLab(["near.example.test": ["127.0.0.1"]], root: root)
        let plain = try await lab.curl(["http://near.example.test:\(server.port)/"])
        #expect(plain.outputText == "another")
    }

    @Test func `who listens on all addresses is named as it was reached`() async throws {
        let lab = try ProxyLab([:], root: root) { settings in
            settings.address = IPAddress(family: .ipv4, high: 0, low: 0)
            settings.servesOtherMachines = true
            settings.token = Secret("open")
        }
        let port = lab.proxy.endpoint.port
        let page = try await run(
            "curl", ["-s", "--noproxy", "*", "http://127.0.0.7:\(port)/proxy.pac"],
            environment: ["CURL_HOME": "/nowhere"])
        #expect(page.outputText.contains("PROXY 127.0.0.7:\(port)"), "\(page.outputText)")
    }

    @Test(arguments: [
        "CONNECT me:s3cret@shop.example.test:443", "CONNECT me:s3/cr@et@shop.example.test:443",
        "CONNECT http://me:s3cret@shop.example.test:443", "GET http://me:s3cret@shop.example.test/",
        "GET http://me:s3/cret@shop.example.test/", "GET https://me:s3cret@shop.example.test/",
        "GET ftp://me:s3cret@shop.example.test/x", "CONNECT s3cret@shop.example.test:443",
        "GET http://me:s3cret@shop.example.test:x/", "GET //me:s3cret@shop.example.test/",
    ])
    func `a password in a target is told to nobody`(line: String) async throws {
        let lab = try ProxyLab([:], root: root)
        let answer = try await offPool {
            let client = try lab.proxy.connected()
            client.send("\(line) HTTP/1.1\r\nHost: shop.example.test\r\n\r\n")
            client.endWriting()
            return client.readText()
        }
        #expect(answer.hasPrefix("HTTP/1.1 "), "\(answer)")
        let record = try #require(await lab.ended(1).first)
        #expect(record.reason != nil)
        #expect(record.target.contains("shop.example.test"), "\(record.target)")
        for secret in ["s3cret", "s3/cr", "et@", "cret"] {
            #expect(!"\(record)".contains(secret), "\(record)")
            #expect(!answer.contains(secret), "\(answer)")
        }
    }
}
