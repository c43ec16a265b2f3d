import HTTPDNSDoH
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSWire
import TestSupport
import Testing

/// DoH over our own HTTP/2, and when it is not used.
@Suite(.timeLimit(.minutes(2))) struct DoHStreamTests {
    private let lab: StreamLab

    init() throws { lab = try StreamLab() }

    @Test func `the age in an HTTP cache is taken off the lifetime`() async throws {
        let server = try lab.dohServer { stream, query, server in
            server.reply(
                stream, ContractZone.octets(answering: query) ?? [],
                fields: [("content-type", "Application/DNS-Message; x=y"), ("age", "10")])
        }
        let testimony = try await lab.doh(at: server).asked("ok", .a)
        let left = ContractZone.addressTTLSeconds - 10
        #expect(testimony.answers.map(\.ttlSeconds) == [left, left])
        #expect(testimony.source.transport == .https)
        #expect(testimony.source.server == "127.0.0.1:\(server.port)")
    }

    @Test(arguments: ["302", "404", "500"])
    func `any status but success is told`(status: String) async throws {
        let server = try lab.dohServer { stream, _, server in
            server.reply(stream, [], status: status)
        }
        #expect(
            await (try lab.doh(at: server)).failure("ok", .a) == .httpStatus(Int(status) ?? 0))
    }

    @Test func `a web page is not an answer`() async throws {
        let server = try lab.dohServer { stream, _, server in
            server.reply(stream, Array("<html>".utf8), fields: [("content-type", "text/html")])
        }
        #expect(await (try lab.doh(at: server)).failure("ok", .a)?.label == "malformed")
    }

    @Test func `a body longer than any message ends its stream alone`() async throws {
        let server = try lab.dohServer { stream, query, server in
            var body = ContractZone.octets(answering: query) ?? []
            if body.contains(Array("silent".utf8)) || body.isEmpty {
                body = [UInt8](repeating: 0, count: 65_535)
                server.frame(0x1, flags: 0x4, stream: stream, [0x88])
                for part in stride(from: 0, to: body.count, by: 16_000) {
                    server.frame(
                        0x0, flags: 0, stream: stream,
                        Array(body[part..<min(part + 16_000, body.count)]))
                }
                // One octet more, as soon as the window has room for it.
                server.onFrame = { type, _, of in
                    if type == 0x8, of == stream {
                        server.frame(0x0, flags: 1, stream: stream, [0])
                    }
                }
                return
            }
            server.reply(stream, body)
        }
        let backend = try lab.doh(at: server)
        #expect(await backend.failure("silent", .a)?.label == "malformed")
        #expect(try await backend.asked("ok", .a).answers.count == 2)
        #expect(server.record.connections == 1)
    }

    @Test func `a head larger than any resolver's is refused`() async throws {
        let server = try lab.dohServer { stream, _, server in
            let long = String(repeating: "x", count: 120)
            server.reply(stream, [], fields: (0..<124).map { ("x-\($0)", long) })
        }
        #expect(await (try lab.doh(at: server)).failure("ok", .a)?.label == "malformed")
    }

    @Test func `no more streams are open than the server allows`() async throws {
        let open = Locked((now: 0, most: 0))
        let held = Locked<[UInt32: [UInt8]]>([:])
        let server = try lab.dohServer { stream, query, server in
            // The first hundred may come before the settings are known.
            let ready = held.withLock { held -> [UInt32: [UInt8]] in
                held[stream] = query
                guard held.count >= 4 || stream > 400 else { return [:] }
                defer { held = [:] }
                return held
            }
            open.withLock { open in
                open.now += 1
                open.most = max(open.most, open.now)
                open.now -= ready.count
            }
            for (stream, query) in ready { StreamLab.answer(stream, query, server) }
        } begin: {
            $0.settings([(id: 3, value: 4)])
        }
        let backend = try lab.doh(at: server)
        _ = await backend.failure(
            "ok", .a, deadline: SystemMonotonicClock().now().adding(milliseconds: 100))
        held.withLock { $0 = [:] }
        open.withLock { $0 = (0, 0) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<40 {
                group.addTask { try await backend.asked("many-\(number)", .a).answers.count }
            }
            for try await count in group { #expect(count == 1) }
        }
        #expect(open.withLock { $0.most } <= 4)
    }

    @Test func `what GOAWAY left out is asked again elsewhere`() async throws {
        let connections = Locked(0)
        let server = try lab.dohServer { stream, query, server in
            guard connections.withLock({ $0 }) == 1, stream >= 3 else {
                return StreamLab.answer(stream, query, server)
            }
            server.goAway(after: 1)
        } begin: { server in
            connections.withLock { $0 += 1 }
            server.settings([])
        }
        let backend = try lab.doh(at: server)
        _ = try await backend.asked("ok", .a)
        let testimony = try await backend.asked("many-3", .a)
        #expect(testimony.answers.count == 1)
        #expect(testimony.source.tries == 2)
        #expect(server.record.connections == 2)
    }

    @Test func `a server that takes its leave at once is asked twice, no more`() async throws {
        let server = try lab.dohServer { _, _, _ in
        } begin: { server in
            server.settings([])
            server.goAway(after: 0)
        }
        #expect(await (try lab.doh(at: server)).failure("ok", .a)?.label == "unreachable")
        #expect(server.record.connections == 2)
    }

    @Test func `what GOAWAY says was taken up is not asked again`() async throws {
        let server = try lab.dohServer { stream, _, server in
            server.goAway(after: stream)
            server.link?.close()
        }
        #expect(await (try lab.doh(at: server)).failure("ok", .a)?.label == "unreachable")
        #expect(server.record.connections == 1)
    }

    @Test func `a refused stream is asked again, once`() async throws {
        let seen = Locked(0)
        let server = try lab.dohServer { stream, query, server in
            let number = seen.withLock { seen in
                seen += 1
                return seen
            }
            if number == 1 { server.reset(stream, code: 7) }
            if number > 1 { StreamLab.answer(stream, query, server) }
        }
        #expect(try await lab.doh(at: server).asked("ok", .a).source.tries == 2)
        let refuser = try lab.dohServer { stream, _, server in server.reset(stream, code: 7) }
        #expect(await (try lab.doh(at: refuser)).failure("ok", .a)?.label == "unreachable")
    }

    @Test func `pings are answered`() async throws {
        let answers = Locked(0)
        let server = try lab.dohServer { stream, query, server in
            server.frame(0x6, flags: 0, stream: 0, [1, 2, 3, 4, 5, 6, 7, 8])
            server.onFrame = { type, flags, _ in
                guard type == 0x6, flags & 1 == 1 else { return }
                answers.withLock { $0 += 1 }
                StreamLab.answer(stream, query, server)
            }
        }
        #expect(try await lab.doh(at: server).asked("ok", .a).answers.count == 2)
        #expect(answers.withLock { $0 } == 1)
    }

    @Test(arguments: 0..<6)
    func `a peer that breaks HTTP/2 is left`(kind: Int) async throws {
        let server = try lab.dohServer { stream, _, server in
            switch kind {
            // A push, which was forbidden.
            case 0: server.frame(0x5, flags: 0x4, stream: stream, [0, 0, 0, 2, 0x88])
            // Data on a stream that was never opened.
            case 1: server.frame(0x0, flags: 0, stream: 99, [1])
            // A frame larger than allowed.
            case 2:
                server.frame(0x0, flags: 0, stream: stream, [UInt8](repeating: 0, count: 20_000))
            // Not HTTP/2 at all.
            case 3: server.link?.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
            // Field compression that refers to nothing.
            case 4: server.frame(0x1, flags: 0x4, stream: stream, [0xFF, 0xFF, 0xFF])
            // A flood of settings.
            default: for _ in 0..<12_000 { server.settings([(id: 1, value: 4_096)]) }
            }
        }
        let failure = await (try lab.doh(at: server)).failure("ok", .a)
        #expect(failure?.label == "unreachable" || failure?.label == "malformed")
    }

    @Test func `a flood of frames of unknown types is cut off, and disturbs nobody`() async throws {
        let flood = try lab.dohServer { _, _, server in
            let frames = (0..<1_000).flatMap { _ in [0, 0, 0, 0xFA, 0, 0, 0, 0, 0] as [UInt8] }
            for _ in 0..<100 { server.link?.send(frames) }
        }
        let honest = try lab.dohServer()
        let (bad, good) = (try lab.doh(at: flood), try lab.doh(at: honest))
        async let failure = bad.failure("ok", .a)
        for _ in 0..<20 { #expect(try await good.asked("ok", .a).answers.count == 2) }
        #expect(await failure?.description.contains("that end nothing") == true)
        #expect(honest.record.connections == 1)
    }

    @Test func `continuations without end are cut off`() async throws {
        let server = try lab.dohServer { stream, _, server in
            server.frame(0x1, flags: 0, stream: stream, [0x88])
            let field: [UInt8] = [0, 1, 0x61, 100] + [UInt8](repeating: 0x62, count: 100)
            for _ in 0..<400 { server.frame(0x9, flags: 0, stream: stream, field) }
        }
        #expect(await (try lab.doh(at: server)).failure("ok", .a) != nil)
        #expect(server.record.connections <= 2)
    }

    @Test func `without a task too a server without HTTP/2 is asked over HTTP/1.1`() async throws {
        let server = try lab.lab.dnsServer()
        defer { server.stop() }
        let backend = try backend(at: server)
        let question = Question(name: try HostName("ok.example.test"), type: .a)
        for _ in 0..<3 {
            let result = await withCheckedContinuation { continuation in
                _ = backend.start(question, deadline: .soon) { continuation.resume(returning: $0) }
            }
            #expect(try result.get().source.transport == .https)
        }
        #expect(server.record.requests.count == 3)
    }

    @Test(arguments: [true, false])
    func `what was asked without a task can be ended, over either way`(
        hasHTTP2: Bool
    ) async throws {
        let raw = try lab.dohServer { _, _, _ in }
        let plain = try lab.lab.dnsServer { $0.conduct = .neverAnswers }
        defer { plain.stop() }
        let backend = hasHTTP2 ? try lab.doh(at: raw) : try backend(at: plain)
        let question = Question(name: try HostName("silent.example.test"), type: .a)
        let told = Locked<[QueryFailure?]>([])
        let end = backend.start(question, deadline: .soon) { result in
            told.withLock { told in
                if case .failure(let failure) = result {
                    told.append(failure)
                } else {
                    told.append(nil)
                }
            }
        }
        if !hasHTTP2 { #expect(await eventually { !plain.record.requests.isEmpty }) }
        end()
        #expect(await eventually { told.withLock { $0 } == [.cancelled] })
        end()
        #expect(told.withLock { $0.count } == 1)
    }

    private func backend(at server: LabServer) throws -> DoHBackend {
        var settings = DoHBackend.Settings(
            bootstrap: [server.address], verifier: lab.lab.verifier)
        settings.engine = lab.engine
        let origin = Origin(
            scheme: .https, host: .name(try HostName(StreamLab.name)), port: server.port)
        return try DoHBackend(
            url: HTTPURL(origin: origin, target: "/dns-query"), settings: settings,
            transport: sharedTransport)
    }

    @Test func `a server without HTTP/2 is asked over HTTP/1.1, from then on`() async throws {
        let server = try lab.lab.dnsServer()
        defer { server.stop() }
        var settings = DoHBackend.Settings(
            bootstrap: [server.address], verifier: lab.lab.verifier)
        settings.engine = lab.engine
        let origin = Origin(
            scheme: .https, host: .name(try HostName(StreamLab.name)), port: server.port)
        let backend = try DoHBackend(
            url: HTTPURL(origin: origin, target: "/dns-query"), settings: settings,
            transport: sharedTransport)
        for _ in 0..<3 { #expect(try await backend.asked("ok", .a).answers.count == 2) }
        #expect(server.record.requests.count == 3)
    }

    @Test func `a server that refuses our protocols is asked over HTTP/1.1`() async throws {
        let server = try RawTLSServer(lab.identity(), .refused) { MessageScript { _, _ in } }
        // libcurl's form is refused alike; what matters is that it is not taken for distrust.
        let failure = await (try lab.doh(at: server)).failure("ok", .a)
        #expect(failure != nil)
        #expect(server.record.connections >= 2)
    }

    @Test(arguments: DoHMethod.allCases)
    func `a real unbound answers`(method: DoHMethod) async throws {
        let unbound = try await UnboundServer.shared()
        let origin = Origin(
            scheme: .https, host: .name(try HostName(unbound.name)), port: unbound.doh)
        let backend = try DoHBackend(
            url: HTTPURL(origin: origin, target: "/dns-query"),
            settings: DoHBackend.Settings(
                bootstrap: [try IPAddress("127.0.0.1")],
                verifier: try StreamLab.verifier(of: unbound), method: method),
            transport: sharedTransport)
        let big = Question(name: try HostName("big.example.test"), type: .a)
        #expect(try await backend.ask(big, deadline: .soon).answers.count == 100)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let name = try HostName("n\(number).wild.example.test")
                    let question = Question(name: name, type: .a)
                    return try await backend.ask(question, deadline: .soon).answers.count
                }
            }
            for try await count in group { #expect(count == 1) }
        }
    }
}
