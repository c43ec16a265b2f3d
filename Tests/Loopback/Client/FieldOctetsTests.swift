import HTTPDNS
import HTTPDNSExchange
import HTTPDNSPlatform
import Testing

/// Octets that are not UTF-8, from one answer into the next request. Sites in Latin-1 and GBK live on
/// it.
@Suite(.timeLimit(.minutes(1))) struct FieldOctetsTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    /// Answers `/first` with these lines, and keeps all heads as they came.
    static func server(
        _ lines: [[UInt8]], _ heads: Locked<[[UInt8]]>
    ) throws -> ScriptedServer {
        let first =
            Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n".utf8)
            + lines.flatMap { $0 + [0x0D, 0x0A] } + [0x0D, 0x0A]
        return try ScriptedServer { connection in
            while let head = connection.readHeadOctets() {
                heads.withLock { $0.append(head + [0x0D, 0x0A]) }
                let isFirst = head.starts(with: Array("GET /first ".utf8))
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                guard connection.send(isFirst ? first : Array(answer.utf8)) else { return }
            }
        }
    }

    static let latin = Array("Set-Cookie: l=".utf8) + [0xE9, 0xFF] + Array("; Path=/".utf8)
    static let text = Array("Set-Cookie: u=\u{e9}; Path=/".utf8)

    static func line(_ head: [UInt8], _ name: String) -> [UInt8]? {
        let start = Array("\r\n\(name): ".utf8)
        return head.indices.first { head[$0...].starts(with: start) }
            .map { Array(head[($0 + start.count)...].prefix { $0 != 0x0D }) }
    }

    @Test func `a cookie and a redirect's target keep the octets that came`() async throws {
        let heads = Locked<[[UInt8]]>([])
        let location = Array("Location: /n/".utf8) + [0xE9] + Array("?q=\u{e9}".utf8)
        let server = try FieldOctetsTests.server(
            [FieldOctetsTests.latin, FieldOctetsTests.text, location], heads)
        let httpdns = try lab.httpdns()
        let url = try HTTPURL("http://shop.example.test:\(server.endpoint.port)/first")
        let answer = try await httpdns.client.get(url)
        #expect(answer.text == "ok")
        #expect(answer.head.url.target == "/n/%E9?q=%C3%A9")
        let second = try #require(heads.withLock { $0.last })
        #expect(second.starts(with: Array("GET /n/%E9?q=%C3%A9 HTTP/1.1".utf8)))
        let sent = Array("l=".utf8) + [0xE9, 0xFF] + Array("; u=\u{e9}".utf8)
        #expect(FieldOctetsTests.line(second, "Cookie") == sent)
        // An application sees text; the file has what came.
        #expect(
            httpdns.cookies.all(now: WallTime(secondsSince1970: 0)).map(\.value) == [
                "\u{e9}\u{ff}", "\u{e9}",
            ])
        let file = httpdns.cookies.netscapeOctets
        #expect(file.split(separator: 0x0A).contains { $0.suffix(4) == [0x6C, 0x09, 0xE9, 0xFF] })
        let other = try lab.httpdns()
        other.cookies = try CookieJar(netscape: file)
        _ = try await other.client.get(
            try HTTPURL("http://shop.example.test:\(server.endpoint.port)/x"))
        #expect(heads.withLock { $0.last }.flatMap { FieldOctetsTests.line($0, "Cookie") } == sent)
    }

    @Test func `what an application reads of such a field is one character an octet`() async throws
    {
        let server = try FieldOctetsTests.server([FieldOctetsTests.latin], Locked([]))
        var request = HTTPRequest(
            .get, try HTTPURL("http://shop.example.test:\(server.endpoint.port)/first"))
        request.followsRedirects = false
        let answer = try await lab.client().fetch(request)
        #expect(answer.head.fields.first("Set-Cookie") == "l=\u{e9}\u{ff}; Path=/")
    }
}
