import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSTransport
import Testing

/// What servers send, well formed and not.
@Suite(.timeLimit(.minutes(2))) struct ResponseTests {
    /// Sends `response` and closes.
    private func story(
        of response: String, change: (inout TransportRequest) -> Void = { _ in }
    ) async throws -> Recorder.Story {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send(response)
        }
        return await run(try plainRequest(server, change: change))
    }

    @Test func `a head comes whole, with names as sent and interim heads apart`() async throws {
        let story = try await story(
            of: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                + "HTTP/1.1 201 Made\r\nX-One: 1\r\nset-COOKIE: a=b\r\nSet-Cookie:c=d  \r\n"
                + "X-Empty:\r\nX-Latin: caf\u{e9}\r\nContent-Length: 0\r\n\r\n")
        let head = try #require(story.head)
        #expect(story.heads.count == 1)
        #expect(story.interim.map(\.status) == [100, 103])
        #expect(story.interim.last?.fields.all("Link") == ["</x>"])
        #expect(head.status == 201)
        #expect(head.version == .http11)
        #expect(
            head.fields.fields.map { "\($0.name)=\($0.value)" } == [
                "X-One=1", "set-COOKIE=a=b", "Set-Cookie=c=d", "X-Empty=", "X-Latin=caf\u{e9}",
                "Content-Length=0",
            ])
        #expect(story.facts != nil)
        #expect(story.bodyOctets == 0)
    }

    @Test func `trailers are not mixed into the head`() async throws {
        let story = try await story(
            of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                + "5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\nX-Sum: 42\r\n\r\n")
        #expect(story.text == "hello world")
        #expect(story.facts != nil)
        #expect(story.head?.fields.contains("X-Sum") == false)
    }

    @Test func `folded lines are joined by a space`() async throws {
        let story = try await story(
            of: "HTTP/1.1 200 OK\r\nX-Long: one\r\n   two\r\n\tthree\r\nContent-Length: 0\r\n\r\n")
        #expect(story.head?.fields.first("X-Long") == "one two three")
    }

    @Test(arguments: ["99999999999999999999999", "9223372036854775808", "+5", "5 5", "5,", "", "x"])
    func `a length that is no number of octets ends the exchange`(length: String) async throws {
        let story = try await story(of: "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello")
        guard case .malformedResponse = story.failure else {
            Issue.record("it ended with \(String(describing: story.failure))")
            return
        }
    }

    @Test func `a body without a length ends with its connection`() async throws {
        let story = try await story(of: "HTTP/1.0 200 OK\r\n\r\nall of it")
        #expect(story.text == "all of it")
        #expect(story.head?.version == .http10)
        #expect(story.facts != nil)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
    ])
    func `a body that stops early is a lost connection and never a success`(response: String)
        async throws
    {
        let story = try await story(of: response)
        guard case .connectionLost(_, hadResponse: true)? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(story.results.count == 1)
        #expect(story.failedAt.count == 1)
    }

    @Test(arguments: ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nX-Half: "])
    func `a connection that ends before the head is lost without a response`(response: String)
        async throws
    {
        let story = try await story(of: response)
        switch story.failure {
        case .connectionLost(_, hadResponse: false), .malformedResponse: break
        default: Issue.record("\(story.results)")
        }
        #expect(story.heads.isEmpty)
    }

    @Test(arguments: [
        "hello, this is no HTTP\r\n\r\n",
        "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 2000 Long\r\nContent-Length: 0\r\n\r\n",
        "HTTP/7.3 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nBad Name: x\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nName : x\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: x\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon at all\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded first\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n X-Folded: first\r\nContent-Length: 0\r\n\r\n",
        "HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/2 103 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        " HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 +200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\u{1}b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: stolen=1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 2 3\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 2,\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nab",
    ])
    func `a response that is not HTTP is refused as malformed`(response: String) async throws {
        let story = try await story(of: response)
        guard case .malformedResponse(let text)? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(!text.isEmpty)
        #expect(story.bodyOctets == 0)
    }

    @Test func `a length that is said twice alike is one`() async throws {
        let story = try await story(
            of: "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nok")
        #expect(story.text == "ok")
        #expect(story.facts != nil)
    }

    @Test func `chunks count before a length`() async throws {
        let story = try await story(
            of: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\nok\r\n0\r\n\r\n")
        #expect(story.text == "ok")
        #expect(story.facts != nil)
    }

    @Test(arguments: ["zz", "0x5", "-5", "fffffffffffffffff", ""])
    func `a broken chunk size is refused`(size: String) async throws {
        let story = try await story(
            of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\nhello\r\n0\r\n\r\n"
        )
        guard case .malformedResponse? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(story.bodyOctets == 0)
    }

    @Test(arguments: [
        "Transfer-Encoding: xchunked\r\n\r\nfirst half of", "Transfer-Encoding: gzip\r\n\r\nhalf",
        "Transfer-Encoding:\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked;q=1\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ])
    func `the framing of a coding is never handed on as a body`(rest: String) async throws {
        let story = try await story(of: "HTTP/1.1 200 OK\r\n" + rest)
        guard case .malformedResponse(let text)? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(text.contains("Transfer-Encoding") || text.contains("folded"))
        #expect(story.bodyOctets == 0)
        #expect(story.heads.isEmpty)
    }

    @Test(arguments: ["none", "identity", ""])
    func `no coding is none, whatever it is called`(coding: String) async throws {
        let story = try await story(
            of: "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 5\r\n\r\nhello")
        #expect(story.text == "hello")
        #expect(story.facts != nil)
    }

    @Test func `a content coding that does not decode is malformed`() async throws {
        let story = try await story(
            of: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 11\r\n\r\nnot gzipped"
        )
        guard case .malformedResponse? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
    }

    @Test(arguments: [1_000, 90_000, 110_000, 400_000])
    func `a head beyond the limit is refused whatever its shape`(lineOctets: Int) async throws {
        let line = "X-Long: " + String(repeating: "x", count: lineOctets) + "\r\n"
        let lines = String(repeating: line, count: 400_000 / lineOctets + 1)
        let story = try await story(
            of: "HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 0\r\n\r\n")
        #expect(story.failure == .headTooLarge)
    }

    @Test(arguments: [(1, 5_000), (1, 400_000), (400, 1_000)])
    func `trailers without end are too large, and no fault of ours`(
        lines: Int, octets: Int
    ) async throws {
        let line = "X-Sum: " + String(repeating: "x", count: octets) + "\r\n"
        let story = try await story(
            of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                + String(repeating: line, count: lines))
        #expect(story.failure == .headTooLarge)
    }

    @Test func `a head may be as long as the limit says and no longer`() async throws {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let exact = try await story(of: response) {
            $0.limits.maximumHeadOctets = response.utf8.count
        }
        #expect(exact.facts != nil)
        let less = try await story(of: response) {
            $0.limits.maximumHeadOctets = response.utf8.count - 1
        }
        #expect(less.failure == .headTooLarge)
    }

    @Test(arguments: [(5, true), (4, false)] as [(Int64, Bool)])
    func `a body may be as long as the limit says and no longer`(
        limit: Int64, passes: Bool
    ) async throws {
        let story = try await story(of: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello") {
            $0.limits.maximumBodyOctets = limit
        }
        #expect((story.failure == nil) == passes)
        if !passes { #expect(story.failure == .bodyTooLarge) }
    }

    @Test(arguments: [(101, true), (100, false)])
    func `a body that announces more than is collected is not waited for`(
        announced: Int, isTooLarge: Bool
    ) async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(announced)\r\n\r\nshort")
        }
        do {
            let request = try plainRequest(server)
            _ = try await Transport().collect(request, maximumBodyOctets: 100)
            Issue.record("a body that was cut passed")
        } catch let failure as TransportFailure {
            #expect((failure == .bodyTooLarge) == isTooLarge)
        }
    }
}
