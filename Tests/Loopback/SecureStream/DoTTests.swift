import HTTPDNSDoT
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct DoTBackendTests {
    private let lab: StreamLab

    init() throws { lab = try StreamLab() }

    @Test func `an answer tells who gave it and how`() async throws {
        let server = try lab.dotServer()
        let testimony = try await lab.dot(at: server).asked("ok", .a)
        #expect(testimony.source.transport == .tls)
        #expect(testimony.source.server == "127.0.0.1:\(server.port)")
        #expect(testimony.source.resolver == "tls://\(StreamLab.name):\(server.port)")
    }

    @Test func `queries are padded, their ids differ`() async throws {
        let queries = Locked<[[UInt8]]>([])
        let server = try lab.dotServer { query, server in
            queries.withLock { $0.append(query) }
            StreamLab.answer(query, server)
        }
        let backend = try lab.dot(at: server)
        for _ in 0..<8 { _ = try await backend.asked("ok", .a) }
        let seen = queries.withLock { $0 }
        #expect(seen.allSatisfy { $0.count == 128 })
        // Eight draws of 65,536: equal ones are a one-in-thousands matter, all equal ones a bug.
        #expect(Set(seen.map { $0.prefix(2) }).count > 1)
    }

    @Test func `replies in any order find their questions`() async throws {
        let held = Locked<[[UInt8]]>([])
        let server = try lab.dotServer { query, server in
            let all = held.withLock { held -> [[UInt8]] in
                held.append(query)
                return held.count == 20 ? held : []
            }
            for query in all.reversed() { StreamLab.answer(query, server) }
        }
        let backend = try lab.dot(at: server)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await backend.asked("many-\(number)", .a).answers.map { $0.data }
                        == [.address(try IPAddress("198.51.0.\(number)"))]
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(server.record.connections == 1)
    }

    @Test func `replies to nothing and to other questions are passed over`() async throws {
        let server = try lab.dotServer { query, server in
            guard let reply = ContractZone.octets(answering: query) else { return }
            var foreign = reply
            foreign[0] ^= 0xFF
            server.reply(foreign)
            var other = reply
            other[13] ^= 0x01
            server.reply(other)
            server.reply(query)
            server.reply([])
            server.reply(reply)
        }
        #expect(try await lab.dot(at: server).asked("ok", .a).answers.count == 2)
    }

    @Test func `a flood of replies to nothing ends the connection`() async throws {
        let server = try lab.dotServer { query, server in
            var foreign = ContractZone.octets(answering: query) ?? query
            foreign[0] ^= 0xFF
            for _ in 0..<1_200 { server.reply(foreign) }
        }
        let failure = await (try lab.dot(at: server)).failure("ok", .a)
        #expect(failure?.label == "unreachable")
        #expect(server.record.connections == 2)
    }

    @Test func `a truncated answer is not taken for the whole`() async throws {
        let server = try lab.dotServer { query, server in
            guard var reply = ContractZone.octets(answering: query) else { return }
            reply[2] |= 0x02
            server.reply(reply)
        }
        #expect(await (try lab.dot(at: server)).failure("ok", .a)?.label == "malformed")
    }

    @Test func `a late reply to a withdrawn question is nobody's`() async throws {
        let held = Locked<[[UInt8]]>([])
        let server = try lab.dotServer { query, server in
            let first = held.withLock { held -> [UInt8]? in
                held.append(query)
                return held.count == 2 ? held.first : nil
            }
            guard let first else { return }
            StreamLab.answer(first, server)
            StreamLab.answer(query, server)
        }
        let backend = try lab.dot(at: server)
        let withdrawn = Task { await backend.failure("ok", .a) }
        #expect(await eventually { held.withLock { $0.count == 1 } })
        withdrawn.cancel()
        #expect(await withdrawn.value == .cancelled)
        let testimony = try await backend.asked("many-7", .a)
        #expect(testimony.answers.map { $0.data } == [.address(try IPAddress("198.51.0.7"))])
        #expect(server.record.connections == 1)
    }

    @Test func `a dead first address is passed over`() async throws {
        let server = try lab.dotServer()
        let dead = try IPAddress("127.0.0.99")
        let testimony = try await lab.dot(at: server, bootstrap: [dead, server.address])
            .asked("ok", .a)
        #expect(testimony.source.server == "127.0.0.1:\(server.port)")
    }

    @Test func `an address that lies is passed over`() async throws {
        let honest = try lab.dotServer()
        let other = try IPAddress("127.0.0.2")
        let stranger = try TrustedLab()
        let identity = try stranger.root.leaf(["dns.example.test"], commonName: "Liar")
        let liar = try LabServer(
            address: other, port: honest.port, security: .tls(identity)
        ) { _ in .text("no") }
        try liar.start()
        defer { liar.stop() }
        let testimony = try await lab.dot(at: honest, bootstrap: [other, honest.address])
            .asked("ok", .a)
        #expect(testimony.source.server == "127.0.0.1:\(honest.port)")
        #expect(liar.record.receivedOctets == 0)
    }

    @Test func `a real unbound answers`() async throws {
        let unbound = try await UnboundServer.shared()
        let verifier = try StreamLab.verifier(of: unbound)
        let backend = try DoTBackend(
            host: .name(try HostName(unbound.name)), port: unbound.dot,
            bootstrap: [try IPAddress("127.0.0.1")], verifier: verifier)
        let deadline = Monotonic.soon
        let shop = Question(name: try HostName("shop.example.test"), type: .a)
        #expect(try await backend.ask(shop, deadline: deadline).answers.count == 1)
        // 100 addresses: more than UDP would carry.
        let big = Question(name: try HostName("big.example.test"), type: .a)
        #expect(try await backend.ask(big, deadline: deadline).answers.count == 100)
    }
}
