import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// Deadlines, cancels, and responses that nobody reads.
@Suite(.timeLimit(.minutes(1))) struct StoppingTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    @Test func `the deadline holds before the answer, in the body and over redirects`()
        async throws
    {
        let origin = try lab.origin { request in
            switch request.path {
            case "/never": .never
            case "/stalls":
                LabResponse(body: [1, 2, 3, 4]).conducting(.stalls(afterBodyOctets: 2))
            default: LabResponse.redirect(to: "/circle").delayed(milliseconds: 30)
            }
        }
        defer { origin.stop() }
        let client = try lab.client()
        for path in ["/never", "/stalls", "/circle"] {
            var request = HTTPRequest(.get, try origin.httpURL(path))
            request.limits.total = .milliseconds(200)
            let failure = await client.failure(of: request)
            #expect(failure?.cause == .timedOut(waitingFor: "total"), "\(path)")
        }
    }

    @Test func `a deadline of nothing ends at once`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        var request = HTTPRequest(.get, try origin.httpURL())
        request.limits.total = .zero
        #expect(try await lab.client().failure(of: request)?.label == "timed_out")
    }

    @Test func `silence is a time-out of its own`() async throws {
        let origin = try lab.origin { request in
            request.path == "/never"
                ? .never : LabResponse(body: [1, 2, 3]).conducting(.stalls(afterBodyOctets: 1))
        }
        defer { origin.stop() }
        let client = try lab.client()
        var request = HTTPRequest(.get, try origin.httpURL("/never"))
        request.limits.idle = .milliseconds(150)
        #expect(await client.failure(of: request)?.cause == .timedOut(waitingFor: "response"))
        request.head.url = try origin.httpURL("/stalls")
        #expect(await client.failure(of: request)?.cause == .timedOut(waitingFor: "idle"))
    }

    @Test func `a task that was cancelled before it began sends nothing`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let client = try lab.client()
        let url = try origin.httpURL()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await client.failure(of: HTTPRequest(.get, url))
        }
        task.cancel()
        #expect(await task.value?.cause == .cancelled)
        #expect(origin.record.connections == 0)
    }

    @Test func `cancelling a reader ends its wait`() async throws {
        let origin = try lab.origin { _ in
            LabResponse(body: [1, 2, 3]).conducting(.stalls(afterBodyOctets: 1))
        }
        defer { origin.stop() }
        let response = try await lab.client().send(HTTPRequest(.get, try origin.httpURL()))
        let isReading = Locked(false)
        let task = Task { () -> ExchangeFailure? in
            do throws(ExchangeFailure) {
                var iterator = response.body.makeAsyncIterator()
                _ = try await iterator.nextChunk()
                isReading.withLock { $0 = true }
                _ = try await iterator.nextChunk()
                return nil
            } catch { return error }
        }
        #expect(await eventually { isReading.withLock { $0 } })
        task.cancel()
        #expect(await task.value?.cause == .cancelled)
    }

    @Test func `dropping a response unread closes its connection`() async throws {
        let hasGone = Locked(false)
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
            connection.waitForEnd()
            hasGone.withLock { $0 = true }
        }
        let client = try lab.client()
        let url = try HTTPURL("http://shop.example.test:\(server.endpoint.port)/")
        #expect(try await client.send(HTTPRequest(.get, url)).status == 200)
        #expect(await eventually { hasGone.withLock { $0 } })
    }

    @Test func `cancels at random moments each end their own request alone`() async throws {
        let origin = try lab.origin { request in
            LabResponse(body: Array(request.path.utf8) + [UInt8](repeating: 0x2E, count: 50_000))
                .chunked(octets: 5_000)
        }
        defer { origin.stop() }
        let client = try lab.client()
        var random = SystemRandomNumberGenerator()
        var tasks: [(number: Int, isCancelled: Bool, task: Task<String, any Error>)] = []
        for number in 0..<300 {
            let url = try origin.httpURL("/\(number)/")
            let task = Task { try await client.get(url).text as String }
            let isCancelled = number % 3 != 0
            tasks.append((number, isCancelled, task))
            guard isCancelled else { continue }
            let pause = Int.random(in: 0..<3_000, using: &random)
            Task {
                for _ in 0..<pause { await Task.yield() }
                task.cancel()
            }
        }
        for (number, isCancelled, task) in tasks {
            do {
                let text = try await task.value
                #expect(text.hasPrefix("/\(number)/.") && text.utf8.count > 50_000)
            } catch let failure as ExchangeFailure {
                #expect(isCancelled, "\(failure)")
                #expect(failure.cause == .cancelled)
            }
        }
        #expect(try await client.get(try origin.httpURL("/after/")).text.hasPrefix("/after/"))
    }
}
