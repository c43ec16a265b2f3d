import HTTPDNSForwardProxy
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// Clients that break off, dawdle or lie.
@Suite(.timeLimit(.minutes(5))) struct ProxyHostileTests {
    private let server: LabServer
    private let directory: TemporaryDirectory

    init() throws {
        server = try LabServer { request in
            switch request.path {
            case "/long": LabResponse(body: [UInt8](repeating: 0x61, count: 8 << 20))
            case "/silent": .never
            case "/short": LabResponse.text("0123456789").conducting(.closes(afterBodyOctets: 4))
            case "/cut":
                LabResponse().conducting(
                    .writes(
                        Array(
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
                                .utf8)))
            case "/garbage": LabResponse().conducting(.writes(Array("SSH-2.0-x\r\n\r\n".utf8)))
            default: .text("\(request.method) \(request.path) \(request.body.count)")
            }
        }
        try server.start()
        directory = try TemporaryDirectory()
        try directory.write("root.pem", try TestAuthority("Hostile Root").certificatePEM)
    }

    private func lab(
        _ adjust: (inout ForwardProxyConfiguration) -> Void = { _ in }
    ) throws -> ProxyLab {
        try ProxyLab(
            ["web.example.test": ["127.0.0.1"]], root: directory.path + "/root.pem", adjust)
    }

    private var base: String { "http://web.example.test:\(server.port)" }

    private func say(_ lab: ProxyLab, _ text: String) async throws -> String {
        try await offPool {
            let client = try lab.proxy.connected()
            client.send(text)
            client.endWriting()
            return client.readText()
        }
    }

    @Test(arguments: ["--http1.0", "--http1.1"])
    func `a body that is cut does not look whole`(version: String) async throws {
        let lab = try lab()
        let result = try await lab.curl([version, "\(base)/cut"])
        #expect(result.status != 0)
        #expect(result.outputText == "hello" || result.outputText.isEmpty)
        #expect(await lab.ended(1).map(\.status) == [200])
    }

    @Test func `a request hidden in the body of another does not come out`() async throws {
        let lab = try lab()
        let hidden = "GET \(base)/hidden HTTP/1.1\r\nHost: x\r\n\r\n"
        let forms = [
            "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
            "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + hidden,
            "Content-Length: 0\r\nContent-Length: \(hidden.utf8.count)\r\n\r\n" + hidden,
            "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
            "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden,
            "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
            "X: y\n\n" + hidden, "X: y\r\n Content-Length: 0\r\n\r\n" + hidden,
            "Transfer-Encoding: chunked\r\n\r\n0\rX\r\n" + hidden,
            "Transfer-Encoding: chunked\r\n\r\n1\r\nAXX0\r\n\r\n" + hidden,
        ]
        for form in forms {
            let text = try await say(lab, "POST \(base)/seen HTTP/1.1\r\nHost: x\r\n" + form)
            let states = text.split(whereSeparator: \.isNewline).filter {
                $0.hasPrefix("HTTP/1.1 ")
            }
            #expect(states.count == 1, "\(form.debugDescription): \(text)")
            #expect(states.first?.hasPrefix("HTTP/1.1 2") == false, "\(form.debugDescription)")
        }
        #expect(!server.record.requests.contains { $0.path == "/hidden" })
        // An honest one behind the other is served.
        let honest = try await say(
            lab, "POST \(base)/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi" + hidden)
        #expect(honest.contains("POST /a 2") && honest.contains("GET /hidden 0"))
    }

    @Test(arguments: [
        "\u{16}\u{3}\u{1}\u{2}\u{0}", "hello\r\n\r\n", "\0\0\0\0\0\0\0\0", "GET\r\n\r\n",
        "GET http://x/ HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ": :\r\n\r\n",
    ])
    func `garbage is answered with an error, and the end`(text: String) async throws {
        let lab = try lab()
        let answer = try await say(lab, text)
        #expect(answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 5"), "\(answer)")
        #expect(answer.contains("Connection: close"))
        #expect(await lab.ended(1).count == 1)
    }

    @Test func `a head that never ends is ended by its size, and one that drips by the clock`()
        async throws
    {
        let lab = try lab { $0.limits.head = .milliseconds(200) }
        let long = try await say(
            lab, "GET \(base)/ HTTP/1.1\r\nX: " + String(repeating: "a", count: 200_000))
        #expect(long.hasPrefix("HTTP/1.1 431 "))
        let slow = try await offPool {
            let client = try lab.proxy.connected()
            client.send("GET \(self.base)/ HT")
            return client.readText()
        }
        #expect(slow.hasPrefix("HTTP/1.1 408 "))
        #expect(server.record.requests.isEmpty)
    }

    @Test func `a client that stays silent is let go`() async throws {
        let lab = try lab { $0.limits.keepAlive = .milliseconds(100) }
        let text = try await offPool { try lab.proxy.connected().readText() }
        #expect(text.isEmpty)
        #expect(lab.records.isEmpty)
    }

    @Test func `a body that stops half-way ends the exchange at both ends`() async throws {
        let lab = try lab { $0.limits.idle = .milliseconds(300) }
        let text = try await offPool {
            let client = try lab.proxy.connected()
            client.send(
                "PUT \(self.base)/half HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
            return client.readText()
        }
        #expect(text.hasPrefix("HTTP/1.1 408 ") || text.hasPrefix("HTTP/1.1 504 "), "\(text)")
        #expect(!server.record.requests.contains { $0.path == "/half" })
    }

    @Test func `clients that leave in the middle of a body cost nothing afterwards`() async throws {
        let lab = try lab()
        try await offPool {
            for round in 0..<40 {
                let client = try lab.proxy.connected()
                if round % 2 == 0 {
                    client.send("GET \(self.base)/long HTTP/1.1\r\nHost: x\r\n\r\n")
                    _ = client.read()
                } else {
                    client.send(
                        "PUT \(self.base)/up HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\nab"
                    )
                }
                if round % 3 == 0 { client.reset() }
            }
        }
        let isEmpty = await eventually(withinMilliseconds: 20_000) {
            lab.proxy.counts.openConnections == 0
        }
        #expect(isEmpty)
        let records = await lab.ended(40)
        #expect(records.count == 40)
        #expect(records.allSatisfy { $0.reason != nil })
        #expect(try await say(lab, "GET \(base)/ HTTP/1.0\r\n\r\n").contains("GET / 0"))
    }

    @Test func `an origin that breaks off is told as such, never as a whole answer`() async throws {
        let lab = try lab()
        let short = try await lab.curl(["\(base)/short"])
        #expect(short.status == 18)
        #expect(short.outputText == "0123")
        let garbage = try await lab.curl(["--include", "\(base)/garbage"])
        #expect(garbage.outputText.hasPrefix("HTTP/1.1 502 "))
        let closed = try closedPort(address: LabAddress.ipv4)
        let dead = try await lab.curl(["--include", "http://web.example.test:\(closed)/"])
        #expect(dead.outputText.hasPrefix("HTTP/1.1 502 "))
        #expect(dead.outputText.contains("Httpdns-Reason: cannot_connect"))
        let unknown = try await lab.curl(["--include", "http://nobody.example.test/"])
        #expect(unknown.outputText.hasPrefix("HTTP/1.1 502 "))
        #expect(unknown.outputText.contains("error=dns_error"))
    }

    @Test func `a silent origin is given up after the time for it`() async throws {
        let lab = try lab { $0.limits.idle = .milliseconds(400) }
        let silent = try await lab.curl(["--include", "\(base)/silent"])
        #expect(silent.outputText.hasPrefix("HTTP/1.1 504 "), "\(silent.outputText)")
    }

    @Test func `a client that reads nothing holds the origin back`() async throws {
        let lab = try lab()
        let client = try lab.proxy.connected()
        client.send("GET \(base)/long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let isAsked = await eventually { !self.server.record.requests.isEmpty }
        #expect(isAsked)
        let all = try await offPool {
            var count = 0
            while let more = client.read(), !more.isEmpty { count += more.count }
            return count
        }
        #expect(all > 8 << 20)
        #expect(await lab.ended(1).map(\.octetsDown) == [8 << 20])
    }

    @Test func `the body is asked for only when the origin wants it`() async throws {
        let lab = try lab()
        let text = try await offPool {
            let client = try lab.proxy.connected()
            client.send(
                "POST \(self.base)/e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                    + "Content-Length: 5\r\nConnection: close\r\n\r\n")
            let first = client.readText(until: "\r\n\r\n")
            client.send("hello")
            return first + client.readText()
        }
        #expect(text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 "))
        #expect(text.hasSuffix("POST /e 5"))
    }

    @Test func `its own pages name the port, and no page of the web can read them`() async throws {
        let lab = try lab()
        let place = lab.proxy.endpoint.description
        let own = try await run("curl", ["-s", "http://\(place)/proxy.pac"])
        #expect(own.outputText.contains("return \"PROXY \(place)\""))
        let rebound = try await run(
            "curl", ["-s", "-i", "-H", "Host: evil.example.test", "http://\(place)/"])
        #expect(rebound.outputText.hasPrefix("HTTP/1.1 421 "))
    }
}
