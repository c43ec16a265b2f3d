import HTTPDNSForwardProxy
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSTrust
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProxyCurlTests {
    private let name = "shop.example.test"

    private func lab(
        _ adjust: (inout ForwardProxyConfiguration) -> Void = { _ in }
    ) async throws -> (ProxyLab, NginxServer) {
        let nginx = try await NginxServer.shared()
        return (try ProxyLab(NginxServer.hosts, root: nginx.rootFile, adjust), nginx)
    }

    @Test(arguments: [true, false])
    func `a page over https comes through a tunnel to a proven address`(
        isHTTP2: Bool
    ) async throws {
        let (lab, nginx) = try await lab()
        let port = isHTTP2 ? nginx.http2 : nginx.http1
        let result = try await lab.curl([
            "--cacert", nginx.rootFile, "https://\(name):\(port)/",
            "--write-out", "|%{http_version}",
        ])
        #expect(result.outputText == "hello from \(name)\n|\(isHTTP2 ? "2" : "1.1")")
        let record = try #require(await lab.ended(1).first)
        #expect(record.kind == .tunnel)
        #expect(record.target == "\(name):\(port)")
        #expect(record.remote?.description == "127.0.0.1:\(port)")
        #expect(record.peer?.matchedName == name)
        #expect(record.resolver == "override")
        #expect(record.isProofKept == false)
        #expect(record.octetsUp > 300 && record.octetsDown > 500)
        #expect(lab.proxy.counts.openTunnels == 0)
    }

    @Test func `one proof opens the next tunnels, too`() async throws {
        let (lab, nginx) = try await lab()
        for _ in 0..<3 {
            let result = try await lab.curl([
                "--cacert", nginx.rootFile, "https://\(name):\(nginx.http2)/",
            ])
            #expect(result.status == 0, "\(result.errorText)")
        }
        #expect(await lab.ended(3).map(\.isProofKept) == [false, true, true])
    }

    @Test func `OPTIONS of a URL without a path arrives as one about the server`() async throws {
        let server = try LabServer { .text("[\($0.method) \($0.target)]") }
        try server.start()
        defer { server.stop() }
        let (lab, _) = try await lab()
        let base = "http://\(name):\(server.port)"
        // A connection is used again for what comes next: each has its own target.
        for (url, told) in [(base, "*"), (base + "/", "/"), (base, "*"), (base + "?a=1", "/?a=1")] {
            let result = try await lab.curl([
                base, "--request", "OPTIONS", "--request-target", url,
            ])
            #expect(result.outputText == "[OPTIONS \(told)]", "\(url)")
        }
        #expect(await lab.ended(4).map(\.target).first == base + "/")
    }

    @Test func `a plain request arrives as one for its host, marked as relayed`() async throws {
        let server = try LabServer { request in
            .text(request.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n"))
        }
        try server.start()
        defer { server.stop() }
        let (lab, _) = try await lab()
        let result = try await lab.curl([
            "http://\(name):\(server.port)/p?q=1", "--include", "--header", "Cookie: a=b",
            "--header", "Connection: X-Mine", "--header", "X-Mine: 1", "--proxy-user", "u:p",
        ])
        let request = try #require(server.record.requests.first)
        #expect(request.target == "/p?q=1")
        #expect(request.host == "\(name):\(server.port)")
        #expect(request.value(of: "Cookie") == "a=b")
        #expect(request.value(of: "Via")?.hasPrefix("1.1 httpdns-") == true)
        #expect(request.value(of: "X-Mine") == nil)
        #expect(request.value(of: "Proxy-Authorization") == nil)
        #expect(request.value(of: "Proxy-Connection") == nil)
        #expect(result.outputText.contains("\r\nVia: 1.1 httpdns-"))
        #expect(!result.outputText.lowercased().contains("proxy-connection"))
    }

    @Test func `large bodies pass both ways as they are`() async throws {
        let (lab, nginx) = try await lab()
        let directory = try TemporaryDirectory()
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
        let ways: [(String, [String])] = [
            ("http://\(name):\(nginx.plain)/store/proxy-a", []),
            (
                "http://\(name):\(nginx.plain)/store/proxy-b",
                ["--header", "Transfer-Encoding: chunked", "--header", "Expect: 100-continue"]
            ),
            (
                "https://\(name):\(nginx.http2)/store/proxy-c", ["--cacert", nginx.rootFile]
            ),
        ]
        for (url, options) in ways {
            let sent = try await lab.curl(
                options + ["--upload-file", "-", url, "--write-out", "%{http_code}"], input: body)
            #expect(sent.outputText.contains("201"), "\(sent.errorText)")
            let file = directory.path + "/down"
            let received = try await lab.curl(options + [url, "--output", file])
            #expect(received.status == 0, "\(received.errorText)")
            #expect(try await contents(file) == body)
        }
    }

    private func contents(_ file: String) async throws -> [UInt8] {
        try await run("cat", [file]).output
    }

    @Test func `HEAD, empty answers and many requests share one connection`() async throws {
        let (lab, nginx) = try await lab()
        let base = "http://\(name):\(nginx.plain)"
        let result = try await lab.curl([
            "--head", "\(base)/large", "\(base)/status/204", "\(base)/status/404", "\(base)/",
            "--write-out", "%{http_code} %{num_connects}\n",
        ])
        let lines = result.outputText.split(whereSeparator: \.isNewline).map { String($0) }
        #expect(lines.contains("Content-Length: 16777216"))
        #expect(
            lines.filter { $0.hasSuffix(" 0") || $0.hasSuffix(" 1") } == [
                "200 1", "204 0", "404 0", "200 0",
            ])
        #expect(lab.proxy.counts.connections == 1)
    }

    @Test func `an answer without a length is told in chunks, or by the end`() async throws {
        let server = try LabServer { _ in
            var response = LabResponse.text("0123456789")
            response.framing = .chunked
            return response
        }
        try server.start()
        defer { server.stop() }
        let (lab, _) = try await lab()
        let url = "http://\(name):\(server.port)/"
        let new = try await lab.curl(["--include", url])
        #expect(new.outputText.contains("Transfer-Encoding: chunked"))
        #expect(new.outputText.hasSuffix("\r\n\r\n0123456789"))
        let old = try await lab.curl(["--include", "--http1.0", url])
        #expect(old.outputText.contains("Connection: close"))
        #expect(!old.outputText.contains("chunked"))
        #expect(old.outputText.hasSuffix("\r\n\r\n0123456789"))
    }

    @Test func `a redirect and a cookie are the client's, not the proxy's`() async throws {
        let (lab, nginx) = try await lab()
        let base = "http://\(name):\(nginx.plain)"
        let result = try await lab.curl(["--include", "\(base)/redirect/302?to=/echo"])
        #expect(result.outputText.contains("HTTP/1.1 302"))
        let first = try await lab.curl(["--include", "\(base)/set-cookie?value=a"])
        #expect(first.outputText.contains("Set-Cookie:"))
        let second = try await lab.curl(["\(base)/echo"])
        #expect(second.outputText.contains("cookie=\n"))
    }

    @Test func `a compressed answer stays as the origin made it`() async throws {
        let coded: [UInt8] = [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let server = try LabServer { _ in
            LabResponse(fields: [LabField("Content-Encoding", "gzip")], body: coded)
        }
        try server.start()
        defer { server.stop() }
        let (lab, _) = try await lab()
        for options in [[], ["--header", "Accept-Encoding: gzip"]] {
            let result = try await lab.curl(options + ["http://\(name):\(server.port)/"])
            #expect(result.output == coded)
        }
        #expect(server.record.requests.map { $0.value(of: "Accept-Encoding") } == [nil, "gzip"])
    }

    @Test func `who does not show the token gets nothing`() async throws {
        let (lab, nginx) = try await lab { $0.token = Secret("s3cret") }
        let url = "http://\(name):\(nginx.plain)/"
        for options in [[], ["--proxy-user", "me:wrong"]] {
            let refused = try await lab.curl(options + ["--include", url])
            #expect(refused.outputText.hasPrefix("HTTP/1.1 407 "))
            #expect(refused.outputText.contains("Proxy-Authenticate: Basic"))
            #expect(!refused.outputText.contains("hello"))
        }
        let tunnel = try await lab.curl([
            "--cacert", nginx.rootFile, "https://\(name):\(nginx.http2)/",
        ])
        #expect(tunnel.errorText.contains("407"))
        for options in [
            ["--proxy-user", "me:s3cret"], ["--proxy-user", "s3cret:"],
            ["--proxy-header", "Proxy-Authorization: Bearer s3cret"],
        ] {
            let plain = try await lab.curl(options + [url])
            #expect(plain.outputText == "hello from \(name)\n", "\(plain.outputText)")
            let secure = try await lab.curl(
                options + ["--cacert", nginx.rootFile, "https://\(name):\(nginx.http2)/"])
            #expect(secure.outputText == "hello from \(name)\n", "\(secure.errorText)")
        }
        #expect(lab.records.count { $0.kind == .refused && $0.reason == "token_missing" } == 3)
    }
}
