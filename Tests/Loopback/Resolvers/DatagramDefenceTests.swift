import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire
import TestSupport
import Testing

@Suite struct DatagramDefenceTests {
    @Test func `what is ignored is counted by its kind`() async throws {
        let server = try RawDNSServer { arrival in
            guard let honest = ContractZone.octets(answering: arrival.octets) else { return [] }
            var otherID = honest
            otherID[1] ^= 0x40
            var otherName = honest
            otherName[13] ^= 0x01
            return [
                .send(otherID), .send(otherID), .send(otherName), .send(arrival.octets),
                .send([1, 2, 3]), .sendFromElsewhere(otherID), .send(honest),
            ]
        }
        defer { server.stop() }
        let engine = DatagramEngine()
        let backend = DatagramBackend(
            servers: [server.endpoint], firstTryMilliseconds: 60_000, engine: engine)
        #expect(try await backend.asked("ok", .a).answers.count == 2)
        #expect(await eventually { engine.statistics.replies == 1 })
        let seen = engine.statistics
        #expect(seen.sent == 1)
        #expect(seen.wrongID == 2)
        #expect(seen.wrongQuestion == 1)
        #expect(seen.notReplies == 2)
        #expect(seen.ignored == 5)
    }

    @Test func `a reply that comes twice is counted, and does no harm to the next question`()
        async throws
    {
        let server = try RawDNSServer { arrival in contractActs(arrival) + contractActs(arrival) }
        defer { server.stop() }
        let engine = DatagramEngine()
        let backend = DatagramBackend(
            servers: [server.endpoint], firstTryMilliseconds: 60_000, engine: engine)
        for number in 0..<60 {
            let testimony = try await backend.asked("many-\(number)", .a)
            #expect(
                testimony.answers.map { $0.data } == [
                    .address(try IPAddress("198.51.0.\(number)"))
                ])
        }
        #expect(await eventually { engine.statistics.ignored == 60 })
    }

    @Test func `questions one after the other leave from ever other ports`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], engine: DatagramEngine())
        for _ in 0..<100 { _ = try await backend.asked("ok", .a) }
        let ports = server.arrivals.map { $0.peerPort }
        // The first sixteen are all new; later ones are drawn among sixteen or more.
        #expect(Set(ports.prefix(16)).count == 16)
        #expect(Set(ports.dropFirst(16).prefix(40)).count > 8)
        let ids = Set(server.arrivals.compactMap { $0.message?.id })
        #expect(ids.count > 90)
    }

    @Test func `no two questions in flight share a port`() async throws {
        let server = try RawDNSServer { _ in [] }
        defer { server.stop() }
        let engine = DatagramEngine()
        let backend = DatagramBackend(
            servers: [server.endpoint], firstTryMilliseconds: 60_000, engine: engine)
        let tickets = try (0..<200).map { number in
            backend.ask(
                Question(name: try HostName("n\(number).test"), type: .a), deadline: .soon
            ) { _ in }
        }
        await server.received(200)
        #expect(Set(server.arrivals.map { $0.peerPort }).count == 200)
        for ticket in tickets { ticket.cancel() }
        engine.stop()
    }

    @Test func `two answers to one query are reported, and the first is not held up`() async throws
    {
        let server = try RawDNSServer { arrival in
            guard let message = arrival.message, var reply = ContractZone.reply(to: message),
                let honest = try? reply.encode(), let name = message.questions.first?.name,
                let liar = IPAddress(octets: [198, 51, 100, 66])
            else { return [] }
            guard name.description.hasPrefix("ok.") else {
                // The true answer to the first question comes when the second one arrives.
                return heldReply(arrival) + [.send(honest)]
            }
            reply.answers = [
                ResourceRecord(name: name, type: .a, ttlSeconds: 9, data: .address(liar))
            ]
            held.withLock { $0[arrival.peerPort] = honest }
            return ((try? reply.encode()).map { [.send($0)] }) ?? []
        }
        defer { server.stop() }
        let seen = Locked<[ForgedAnswerEvidence]>([])
        let engine = DatagramEngine()
        let plain = DatagramBackend(
            servers: [server.endpoint], firstTryMilliseconds: 60_000, engine: engine)
        let backend = plain.watchingForForgeries(milliseconds: 5_000) { evidence in
            seen.withLock { $0.append(evidence) }
        }
        let first = try await backend.asked("ok", .a)
        #expect(first.answers.count == 1)
        #expect(seen.withLock { $0 } == [])
        firstPort.withLock { $0 = server.arrivals.first?.peerPort }
        _ = try await plain.asked("many-1", .a)
        #expect(await eventually { seen.withLock { $0.count } == 1 })
        let evidence = try #require(seen.withLock { $0.first })
        #expect(evidence.first == first)
        #expect(evidence.second.answers.count == 2)
        #expect(evidence.server == server.endpoint.description)
        #expect(evidence.question.name.text == "ok.contract.test")
        #expect((0..<5_000).contains(evidence.millisecondsApart))
        #expect(await eventually { engine.statistics.contradictions == 1 })
    }

    @Test func `the same answer twice is no evidence`() async throws {
        let server = try RawDNSServer { arrival in contractActs(arrival) + contractActs(arrival) }
        defer { server.stop() }
        let seen = Locked(0)
        let engine = DatagramEngine()
        let backend = DatagramBackend(servers: [server.endpoint], engine: engine)
            .watchingForForgeries(milliseconds: 5_000) { _ in seen.withLock { $0 += 1 } }
        _ = try await backend.asked("ok", .a)
        #expect(await eventually { engine.statistics.unexpected == 1 })
        #expect(seen.withLock { $0 } == 0)
    }

    @Test func `a dead server is not asked first again`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let backend = DatagramBackend(
            servers: [try closedEndpoint(), server.endpoint], firstTryMilliseconds: 60_000,
            engine: DatagramEngine())
        #expect(try await backend.asked("ok", .a).source.tries == 2)
        for _ in 0..<3 { #expect(try await backend.asked("ok", .a).source.tries == 1) }
    }

    @Test func `a question may be asked and cancelled without a task`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let backend = DatagramBackend(
            servers: [server.endpoint], firstTryMilliseconds: 60_000, engine: DatagramEngine())
        let answered = await result(backend, "ok") { _ in }
        #expect(try answered.get().answers.count == 2)
        let cancelled = await result(backend, "silent") { $0.cancel() }
        #expect(cancelled == .failure(.cancelled))
    }

    @Test func `a subnet for which the answer holds is tolerated in the reply`() async throws {
        let server = try RawDNSServer { arrival in
            guard let message = arrival.message, var reply = ContractZone.reply(to: message)
            else { return [] }
            reply.edns?.options = [.clientSubnet([0, 1, 24, 20, 198, 51, 96])]
            return ((try? reply.encode()).map { [.send($0)] }) ?? []
        }
        defer { server.stop() }
        var question = Question(name: try HostName("ok.contract.test"), type: .a)
        question.clientSubnet = try AddressBlock("198.51.100.0/24")
        let backend = DatagramBackend(servers: [server.endpoint], engine: DatagramEngine())
        let testimony = try await backend.ask(question, deadline: .soon)
        #expect(testimony.answers.count == 2)
        #expect(testimony.question == question)
        #expect(
            server.arrivals.first?.message?.edns?.options
                == [.clientSubnet([0, 1, 24, 0, 198, 51, 100])])
    }

    private let held = Locked<[UInt16: [UInt8]]>([:])
    private let firstPort = Locked<UInt16?>(nil)

    private func heldReply(_ arrival: RawDNSServer.Arrival) -> [RawDNSServer.Act] {
        guard let port = firstPort.withLock({ $0 }),
            let octets = held.withLock({ $0[port] })
        else { return [] }
        return [.sendToArrival(0, octets)]
    }

    private func result(
        _ backend: DatagramBackend, _ label: String,
        _ use: (DatagramTicket) -> Void
    ) async -> Result<Testimony, QueryFailure> {
        guard let name = try? HostName("\(label).\(ContractZone.suffix)") else {
            return .failure(.unexpected(label))
        }
        return await withCheckedContinuation { continuation in
            use(
                backend.ask(Question(name: name, type: .a), deadline: .soon) {
                    continuation.resume(returning: $0)
                })
        }
    }
}
