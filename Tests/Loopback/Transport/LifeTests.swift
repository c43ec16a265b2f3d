import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPlatform
import TestSupport
import Testing

@testable import HTTPDNSTransport

/// Limits, cancels, back-pressure, ends.
@Suite(.timeLimit(.minutes(2))) struct LifeTests {
    /// Sends some text, then nothing until the client goes.
    private func silent(after text: String) throws -> ScriptedServer {
        try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send(text)
            connection.waitForEnd()
        }
    }

    @Test(arguments: [
        ("", TransportFailure.Phase.response), ("HTTP/1.1 200 OK\r\n", .response),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", .idle),
    ])
    func `silence ends an exchange, naming what was waited for`(
        text: String, phase: TransportFailure.Phase
    ) async throws {
        let server = try silent(after: text)
        let story = await run(try plainRequest(server) { $0.limits.idleMilliseconds = 1_500 })
        #expect(story.failure == .timedOut(phase: phase))
        #expect(story.failedAt == [server.endpoint])
    }

    @Test func `the deadline ends an exchange that is never silent`() async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
            while connection.send("x") {}
        }
        let story = await run(
            try plainRequest(server) {
                $0.limits.deadline = SystemMonotonicClock().now().adding(milliseconds: 6_000)
            })
        #expect(story.failure == .timedOut(phase: .total))
        #expect(story.bodyOctets > 0)
    }

    @Test func `a deadline that has passed sends nothing that is answered`() async throws {
        let server = try silent(after: "")
        let story = await run(try plainRequest(server) { $0.limits.deadline = .zero })
        #expect(story.failure == .timedOut(phase: .total))
    }

    @Test func `a cancel is told once, and nothing comes after it`() async throws {
        let server = try silent(after: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        let transport = Transport()
        let recorder = Recorder()
        let transfer = transport.start(try plainRequest(server), observer: recorder)
        _ = await recorder.wait { $0.bodyOctets == 4 }
        transfer.cancel()
        transfer.cancel()
        let story = await recorder.end()
        #expect(story.failure == .cancelled)
        transfer.cancel()
        transfer.resume()
        // The transport still works, and has had time to say more.
        let other = try answering(okay)
        #expect(await run(try plainRequest(other), transport).text == "ok")
        #expect(recorder.story.results.count == 1)
        #expect(recorder.story.callsAfterEnd == 0)
    }

    @Test func `an observer may cancel inside its own calls`() async throws {
        let body = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nall of it"
        let server = try answering(body)
        let transport = Transport()
        let holder = Locked<Transfer?>(nil)
        let atHead = Recorder(onHead: { holder.withLock { $0 }?.cancel() })
        // The transfer is known before its thread can run: it is started under the holder's lock.
        let request = try plainRequest(server)
        holder.withLock { $0 = transport.start(request, observer: atHead) }
        let headStory = await atHead.end()
        #expect(headStory.failure == .cancelled)
        #expect(headStory.bodyOctets == 0)
        let atBody = Recorder { _ in
            holder.withLock { $0 }?.cancel()
            return .pause
        }
        holder.withLock { $0 = transport.start(request, observer: atBody) }
        #expect(await atBody.end().failure == .cancelled)
        #expect(atBody.story.callsAfterEnd == 0)
    }

    @Test func `a paused body waits in the network and not in memory`() async throws {
        let total = 64 * 1_024 * 1_024
        let sent = Locked(0)
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let chunk = [UInt8](repeating: 7, count: 65_536)
            for _ in 0..<(total / chunk.count) {
                guard connection.send(chunk) else { return }
                sent.withLock { $0 += chunk.count }
            }
        }
        let transport = Transport()
        let pauses = Locked(true)
        let recorder = Recorder(keepsBody: false) { _ in pauses.withLock { $0 } ? .pause : .more }
        let transfer = transport.start(
            try plainRequest(server), observer: recorder)
        let first = await recorder.wait { $0.bodyOctets > 0 }.bodyOctets
        let other = try answering(okay)
        for _ in 0..<200 {
            #expect(await run(try plainRequest(other), transport).text == "ok")
        }
        #expect(recorder.story.bodyOctets == first)
        // What the kernel buffers for loopback, far below the whole: 4 and 6 MiB at most by default.
        #expect(sent.withLock { $0 } < 24 * 1_024 * 1_024)
        transfer.resume()
        let second = await recorder.wait { $0.bodyOctets > first }.bodyOctets
        #expect(second < total)
        pauses.withLock { $0 = false }
        transfer.resume()
        let story = await recorder.end()
        #expect(story.facts != nil)
        #expect(story.bodyOctets == total)
    }

    @Test func `a transport that goes takes its exchanges with it`() async throws {
        let server = try silent(after: "")
        let recorders = (0..<20).map { _ in Recorder() }
        do {
            let transport = Transport()
            for recorder in recorders.dropLast(5) {
                _ = transport.start(try plainRequest(server), observer: recorder)
            }
            for recorder in recorders.dropLast(5) {
                _ = await recorder.wait { !$0.connections.isEmpty }
            }
            for recorder in recorders.suffix(5) {
                _ = transport.start(try plainRequest(server), observer: recorder)
            }
        }
        for recorder in recorders {
            #expect(await recorder.end().failure == .cancelled)
            #expect(recorder.story.callsAfterEnd == 0)
        }
    }

    /// One that is refused is over within the turn that reads of it.
    @Test(arguments: ["/", "no target"])
    func `an observer is let go once it is told the end, though the engine sleeps on`(
        target: String
    ) async throws {
        let server = try answering(okay)
        // Nothing wakes the engine before the suite's own limit.
        let transport = Transport(drowsyMilliseconds: 600_000)
        let request = try plainRequest(server) {
            $0.limits.connectMilliseconds = 600_000
            $0.limits.idleMilliseconds = 600_000
            $0.target = target
        }
        weak var gone: Recorder?
        do {
            let recorder = Recorder()
            gone = recorder
            _ = transport.start(request, observer: recorder)
            _ = await recorder.end()
        }
        // The engine's own references end right after the call that woke us.
        while gone != nil { await Task.yield() }
        withExtendedLifetime(transport) {}
    }

    @Test func `hundreds of exchanges at once all end well`() async throws {
        let server = try answering(okay)
        let transport = Transport()
        let recorders = (0..<300).map { _ in Recorder() }
        for recorder in recorders {
            _ = transport.start(try plainRequest(server), observer: recorder)
        }
        for recorder in recorders { #expect(await recorder.end().text == "ok") }
        #expect(server.heads.count == 300)
    }

    @Test func `what went out on a kept connection that died is not called unsent`() async throws {
        let itself = Locked<ScriptedServer?>(nil)
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.send(okay)
            guard connection.readHead() != nil else { return }
            itself.withLock { $0 }?.refuseOthers()
        }
        itself.withLock { $0 = server }
        defer { itself.withLock { $0 = nil } }
        let transport = Transport()
        #expect(await run(try plainRequest(server), transport).text == "ok")
        let story = await run(try plainRequest(server, method: .post, body: .bytes([1])), transport)
        #expect(server.heads.count == 2)
        guard case .requestLost(.stale, _)? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
    }

    @Test func `a storm of cancels at any moment tells each observer one end`() async throws {
        let server = try answering(okay)
        let transport = Transport()
        let recorders = (0..<600).map { _ in Recorder() }
        var transfers: [Transfer] = []
        for (index, recorder) in recorders.enumerated() {
            let transfer = transport.start(try plainRequest(server), observer: recorder)
            transfers.append(transfer)
            switch index % 4 {
            case 0: transfer.cancel()
            case 1: startThread { transfer.cancel() }
            case 2 where index > 40: transfers[index - 40].cancel()
            default: break
            }
        }
        for recorder in recorders {
            let story = await recorder.end()
            #expect(story.failure == nil || story.failure == .cancelled)
            #expect(story.failure != nil || story.text == "ok")
        }
        #expect(await run(try plainRequest(server), transport).text == "ok")
        #expect(recorders.allSatisfy { $0.story.results.count == 1 && $0.story.callsAfterEnd == 0 })
    }

    @Test func `a thread that ends without work is begun anew, however close the two come`()
        async throws
    {
        let server = try answering(okay)
        for milliseconds: Int64 in [0, 1] {
            let transport = Transport(drowsyMilliseconds: milliseconds)
            for _ in 0..<200 {
                #expect(await run(try plainRequest(server), transport).text == "ok")
            }
            let recorders = (0..<50).map { _ in Recorder() }
            for recorder in recorders {
                let request = try plainRequest(server)
                startThread { _ = transport.start(request, observer: recorder) }
            }
            for recorder in recorders { #expect(await recorder.end().text == "ok") }
        }
    }
}
