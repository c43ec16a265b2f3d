import HTTPDNSExchange
import HTTPDNSPlatform
import HTTPDNSTransport
import Testing

/// A body source that does what a list of steps says, then ends.
final class ScriptedSource: RequestBodySource {
    enum Step: Sendable {
        case give([UInt8])
        /// Nothing now; the wake comes from another thread.
        case pending
        case failed(String)
    }

    private struct State {
        var steps: [Step]
        let all: [Step]
        var wake: (@Sendable () -> Void)?
        var rewinds = 0
    }

    let length: Int64?
    private let state: Locked<State>

    private let isReplayable: Bool

    init(_ steps: [Step], length: Int64? = nil, isReplayable: Bool = true) {
        self.length = length
        self.isReplayable = isReplayable
        state = Locked(State(steps: steps, all: steps))
    }

    var rewinds: Int { state.withLock { $0.rewinds } }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let room = buffer.count
        let (outcome, octets, wake): (BodyRead, [UInt8], (@Sendable () -> Void)?) =
            state.withLock { state in
                guard let step = state.steps.first else { return (.end, [], nil) }
                state.steps.removeFirst()
                switch step {
                case .give(let all):
                    if all.count > room {
                        state.steps.insert(.give(Array(all.dropFirst(room))), at: 0)
                    }
                    return (.filled(min(room, all.count)), Array(all.prefix(room)), nil)
                case .pending: return (.pending, [], state.wake)
                case .failed(let text): return (.failed(text), [], nil)
                }
            }
        buffer.copyBytes(from: octets)
        if let wake { startThread(wake) }
        return outcome
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wake = wake }
    }

    func rewind() -> Bool {
        state.withLock { state in
            state.rewinds += 1
            if isReplayable { state.steps = state.all }
            return isReplayable
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct UploadTests {
    private static let octets = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test func `octets in memory are sent whole, under their length alone`() async throws {
        let received = Locked<[UInt8]>([])
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil,
                let body = connection.read(UploadTests.octets.count)
            else { return }
            received.withLock { $0 = body }
            connection.send(okay)
        }
        let story = await run(
            try plainRequest(server, method: .put, body: .bytes(UploadTests.octets)) {
                $0.decodesContent = false
            })
        #expect(story.text == "ok")
        #expect(received.withLock { $0 } == UploadTests.octets)
        #expect(
            server.heads == ["PUT / HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 1000000"])
        #expect((story.facts?.sentOctets ?? 0) > 1_000_000)
    }

    @Test func `a source of unknown length goes out in chunks, waiting whenever it waits`()
        async throws
    {
        let received = Locked("")
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil, let body = connection.read(until: "0\r\n\r\n")
            else { return }
            received.withLock { $0 = body }
            connection.send(okay)
        }
        let source = ScriptedSource([
            .pending, .give(Array("hello".utf8)), .pending, .pending,
            .give(Array(" world".utf8)), .pending,
        ])
        let story = await run(
            try plainRequest(server, method: .post, body: .stream(source)) {
                $0.decodesContent = false
            })
        #expect(story.text == "ok")
        #expect(received.withLock { $0 } == "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
        #expect(
            server.heads == ["POST / HTTP/1.1\r\nHost: origin.test\r\nTransfer-Encoding: chunked"])
    }

    @Test func `a source of known length goes out under that length`() async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil, connection.read(11) == Array("hello world".utf8)
            else { return }
            connection.send(okay)
        }
        let source = ScriptedSource(
            [.give(Array("hello".utf8)), .pending, .give(Array(" world".utf8))], length: 11)
        let story = await run(
            try plainRequest(
                server, method: HTTPMethod("PATCH") ?? .put, body: .stream(source)))
        #expect(story.text == "ok")
        #expect(server.heads.first?.contains("Content-Length: 11") == true)
    }

    @Test(
        arguments: [
            ([.give([1, 2, 3]), .failed("the file went away")], nil, "the file went away"),
            ([.failed("at once")], nil, "at once"),
            ([.give([1, 2, 3])], 5, "3 of the 5"),
            ([.give([1, 2, 3]), .give([4, 5, 6])], 5, "more than the 5"),
        ] as [([ScriptedSource.Step], Int64?, String)])
    func `a source that breaks ends the exchange with its own words`(
        steps: [ScriptedSource.Step], length: Int64?, words: String
    ) async throws {
        let server = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            connection.waitForEnd()
        }
        let source = ScriptedSource(steps, length: length)
        let story = await run(try plainRequest(server, method: .post, body: .stream(source)))
        guard case .bodySourceFailed(let text)? = story.failure else {
            Issue.record("\(story.results)")
            return
        }
        #expect(text.contains(words))
    }

    @Test func `a request on a kept connection that has died is sent again from its start`()
        async throws
    {
        let server = try ScriptedServer { connection in
            // The first connection serves one request and reads another that it never answers.
            guard let head = connection.readHead() else { return }
            if head.hasPrefix("POST") {
                guard connection.read(5) != nil else { return }
                connection.send(okay)
                return
            }
            connection.send(okay)
            if connection.readHead() != nil { _ = connection.read(5) }
        }
        let transport = Transport()
        #expect(await run(try plainRequest(server), transport).text == "ok")
        let source = ScriptedSource([.give([1, 2]), .give([3, 4, 5])], length: 5)
        let story = await run(
            try plainRequest(server, method: .post, body: .stream(source)), transport)
        #expect(story.text == "ok")
        #expect(source.rewinds == 1)
        #expect(server.connections == 2)
        #expect(story.connections.map(\.isReused) == [true, false])
    }
}
