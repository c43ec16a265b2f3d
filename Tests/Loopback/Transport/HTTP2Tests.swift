import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSTrust
import TestSupport
import Testing

/// HTTP/2 with nginx.
@Suite(.timeLimit(.minutes(2))) struct HTTP2Tests {
    let lab: TrustedLab

    init() throws { lab = try TrustedLab() }

    private func withOrigin(_ body: (NginxOrigin) async throws -> Void) async throws {
        let origin = try await NginxOrigin(
            try lab.root.leaf(["shop.example.test"], commonName: "Lab origin"))
        do { try await body(origin) } catch {
            try await origin.stop()
            throw error
        }
        try await origin.stop()
    }

    private func request(
        _ origin: NginxOrigin, _ target: String = "/", host: String = "shop.example.test",
        change: (inout TransportRequest) throws -> Void = { _ in }
    ) throws -> TransportRequest {
        try secureRequest(to: host, at: origin.endpoint, verifier: lab.verifier) {
            $0.target = target
            try change(&$0)
        }
    }

    @Test func `HTTP 2 carries the origin as authority and server name`() async throws {
        try await withOrigin { origin in
            let story = await run(try request(origin, "/a?b"))
            #expect(story.text == "hello shop.example.test", "\(story.results)")
            #expect(story.head?.version == .http2)
            #expect(story.head?.status == 200)
            let older = await run(try request(origin) { $0.version = .http11 })
            #expect(older.head?.version == .http11)
            let refused = await run(try request(origin, host: "evil.example.test"))
            #expect(refused.refusal?.code == .wrongName)
            #expect(
                try await origin.log(2) == [
                    "HTTP/2.0 GET /a?b shop.example.test shop.example.test 200",
                    "HTTP/1.1 GET / shop.example.test shop.example.test 200",
                ])
        }
    }

    @Test func `many requests share one connection, each after its own proof`() async throws {
        try await withOrigin { origin in
            let transport = Transport()
            let recorders = (0..<90).map { _ in Recorder() }
            for recorder in recorders {
                _ = transport.start(try request(origin), observer: recorder)
            }
            var fresh = 0
            for recorder in recorders {
                let story = await recorder.end()
                #expect(story.text == "hello shop.example.test", "\(story.results)")
                #expect(story.peers.count == 1 && story.peers.allSatisfy { $0 != nil })
                fresh += story.connections.filter { !$0.isReused }.count
            }
            // libcurl puts up to 100 streams on a connection before it opens another.
            #expect(fresh == 1)
        }
    }

    @Test func `a body goes up and comes down whole`() async throws {
        try await withOrigin { origin in
            let piece = String(repeating: "0123456789abcdef", count: 4_096)
            let steps: [ScriptedSource.Step] = (0..<16).flatMap { _ in
                [.give(Array(piece.utf8)), .pending]
            }
            let transport = Transport()
            let whole = String(repeating: piece, count: 16)
            for length in [nil, Int64(whole.utf8.count)] {
                let name = length == nil ? "unknown" : "known"
                let up = await run(
                    try request(origin, "/files/" + name) {
                        $0.method = .put
                        $0.body = .stream(ScriptedSource(steps, length: length))
                    }, transport)
                // nginx takes no body of unknown length over HTTP/1.1 alone; over HTTP/2 it does.
                #expect(up.head?.status == 201, "\(up.results)")
                #expect(try origin.stored(name) == whole)
                let down = await run(try request(origin, "/files/" + name), transport)
                #expect(down.text == whole)
            }
        }
    }

    @Test func `a paused stream waits, and the connection serves others`() async throws {
        try await withOrigin { origin in
            let transport = Transport()
            let total = 20 * 1_024 * 1_024
            let body = [UInt8](repeating: 0x61, count: total)
            let up = await run(
                try request(origin, "/files/big") {
                    $0.method = .put
                    $0.body = .bytes(body)
                }, transport)
            #expect(up.head?.status == 201)
            let pauses = Locked(true)
            let recorder = Recorder(keepsBody: false) { _ in
                pauses.withLock { $0 } ? .pause : .more
            }
            let transfer = transport.start(try request(origin, "/files/big"), observer: recorder)
            let first = await recorder.wait { $0.bodyOctets > 0 }.bodyOctets
            for _ in 0..<20 {
                let other = await run(
                    try request(origin) { $0.limits.idleMilliseconds = 5_000 }, transport)
                #expect(other.text == "hello shop.example.test", "\(other.results)")
            }
            #expect(recorder.story.bodyOctets == first)
            pauses.withLock { $0 = false }
            transfer.resume()
            #expect(await recorder.end().bodyOctets == total)
        }
    }

    @Test func `a storm of cancels leaves the shared connection usable`() async throws {
        try await withOrigin { origin in
            let transport = Transport()
            let recorders = (0..<300).map { _ in Recorder() }
            for (index, recorder) in recorders.enumerated() {
                let transfer = transport.start(try request(origin), observer: recorder)
                if index % 3 == 0 { startThread { transfer.cancel() } }
            }
            for recorder in recorders {
                let story = await recorder.end()
                #expect(story.failure == nil || story.failure == .cancelled)
                #expect(story.callsAfterEnd == 0)
            }
            #expect(await run(try request(origin), transport).head?.status == 200)
        }
    }
}
