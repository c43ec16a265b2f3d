import HTTPDNSForwardProxy
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// What an origin says before its answer. Source: RFC 9110 §15.2.
@Suite(.timeLimit(.minutes(2))) struct ProxyInterimTests {
    private let server: LabServer
    private let directory: TemporaryDirectory

    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func hint(_ link: String, status: Int = 103) -> String {
        "HTTP/1.1 \(status) Any words\r\nLink: <\(link)>; rel=preload\r\n\r\n"
    }

    private static let scripts: [String: String] = [
        "/one": "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: X-Hop\r\n"
            + "X-Hop: 1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + answer,
        "/several": hint("/a", status: 102) + "HTTP/1.1 100 Continue\r\nX-Own: 1\r\n\r\n"
            + hint("/b") + hint("/c", status: 199) + answer,
        "/broken": hint("/a"),
        "/unfit": "HTTP/1.1 103 Early Hints\r\nbad name: x\r\n\r\n" + hint("/b") + answer,
        "/switch": hint("/a") + "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "/row": String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 1_500) + answer,
        "/large": String(
            repeating: hint("/" + String(repeating: "x", count: 4_000)), count: 100) + answer,
    ]

    init() throws {
        server = try LabServer { request in
            LabResponse().conducting(
                .writes(Array((ProxyInterimTests.scripts[request.path] ?? "").utf8)))
        }
        try server.start()
        directory = try TemporaryDirectory()
        try directory.write("root.pem", try TestAuthority("Interim Root").certificatePEM)
    }

    private func lab() throws -> ProxyLab {
        try ProxyLab(["web.example.test": ["127.0.0.1"]], root: directory.path + "/root.pem")
    }

    private func answer(
        to path: String, version: String = "1.1", by lab: ProxyLab, _ more: String = ""
    ) async throws -> String {
        try await offPool {
            let client = try lab.proxy.connected()
            client.send(
                "GET http://web.example.test:\(server.port)\(path) HTTP/\(version)\r\n"
                    + "Host: web.example.test:\(server.port)\r\nConnection: close\r\n\r\n" + more)
            return client.readText()
        }
    }

    @Test func `a hint goes before the answer, without what is the hop's alone`() async throws {
        let lab = try lab()
        let text = try await answer(to: "/one", by: lab)
        let heads = text.components(separatedByBlankLine: 3)
        #expect(heads.count == 3)
        #expect(
            heads.first?.hasPrefix(
                "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nVia: 1.1 ") == true)
        let names = heads.first?.split(separator: "\r\n").dropFirst().map {
            $0.prefix { $0 != ":" }
        }
        #expect(names == ["Link", "Via"])
        #expect(heads.dropFirst().first?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
        #expect(heads.last == "ok")
        #expect(await lab.ended(1).map(\.status) == [200])
    }

    @Test func `each of several goes on in its order, and none that says to go on`() async throws {
        let text = try await answer(to: "/several", by: try lab())
        let lines = text.split(separator: "\r\n").filter {
            $0.hasPrefix("HTTP/") || $0.hasPrefix("Link")
        }
        #expect(
            lines == [
                "HTTP/1.1 102 Processing", "Link: </a>; rel=preload", "HTTP/1.1 103 Early Hints",
                "Link: </b>; rel=preload", "HTTP/1.1 199 ", "Link: </c>; rel=preload",
                "HTTP/1.1 200 OK",
            ])
        #expect(!text.contains("X-Own"))
    }

    @Test func `a client of HTTP 1.0, which knows of none, gets none`() async throws {
        let text = try await answer(to: "/several", version: "1.0", by: try lab())
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.hasSuffix("\r\n\r\nok"))
    }

    @Test func `one that cannot be passed on is left out, and the others are not`() async throws {
        let text = try await answer(to: "/unfit", by: try lab())
        #expect(text.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </b>; rel=preload\r\n"))
        #expect(!text.contains("bad name"))
        #expect(text.hasSuffix("\r\n\r\nok"))
    }

    @Test(arguments: [("/broken", "connection_lost"), ("/switch", "malformed_response")])
    func `what goes wrong behind a hint is told as an answer`(
        path: String, reason: String
    ) async throws {
        let text = try await answer(to: path, by: try lab())
        let heads = text.components(separatedByBlankLine: 3)
        #expect(heads.first?.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </a>;") == true)
        #expect(heads.dropFirst().first?.hasPrefix("HTTP/1.1 502 ") == true)
        #expect(text.contains("\r\nHttpdns-Reason: \(reason)\r\n"))
    }

    @Test(arguments: [("/row", 1_000), ("/large", 65)])
    func `a row of hints without end ends in an error that says so`(
        path: String, most: Int
    ) async throws {
        let lab = try lab()
        let text = try await answer(to: path, by: lab)
        let count = text.split(separator: "\r\n").count { $0 == "HTTP/1.1 103 Early Hints" }
        #expect(count > 0 && count <= most)
        #expect(text.contains("\r\nHTTP/1.1 502 Bad Gateway\r\n"))
        #expect(text.contains("\r\nHttpdns-Reason: malformed_response\r\n"))
        #expect(text.contains("interim responses (1xx) came, and none that is final"))
        #expect(await lab.ended(1).map(\.status) == [502])
    }
}

extension String {
    /// At most so many parts.
    fileprivate func components(separatedByBlankLine most: Int) -> [Substring] {
        split(separator: "\r\n\r\n", maxSplits: most - 1, omittingEmptySubsequences: false)
    }
}
