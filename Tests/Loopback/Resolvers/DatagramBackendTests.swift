import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire
import TestSupport
import Testing

@Suite struct DatagramBackendTests {
    @Test func `an answer tells its server, its transport and its tries`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        let testimony = try await patient(server.endpoint).asked("alias", .a)
        #expect(testimony.answers.map { $0.type } == [.cname, .a, .a])
        #expect(testimony.answers.map { $0.ttlSeconds } == [60, 30, 30])
        #expect(testimony.source.transport == .udp)
        #expect(testimony.source.server == server.endpoint.description)
        #expect(testimony.source.resolver == "udp://\(server.endpoint)")
        #expect(testimony.source.tries == 1)
    }

    @Test func `a truncated reply is had whole over TCP from the same port`() async throws {
        let server = try RawDNSServer { arrival in
            arrival.isOverTCP ? contractActs(arrival) : truncated(arrival)
        }
        defer { server.stop() }
        let testimony = try await patient(server.endpoint).asked("ok", .a)
        #expect(testimony.answers.count == 2)
        #expect(testimony.source.transport == .tcp)
        #expect(testimony.source.tries == 2)
        #expect(server.arrivals.map { $0.isOverTCP } == [false, true])
    }

    @Test func `a truncated reply without TCP is a failure, never half an answer`() async throws {
        let server = try RawDNSServer(isListeningOnTCP: false) { truncated($0) }
        defer { server.stop() }
        let failure = await DatagramBackend(servers: [server.endpoint]).failure("ok", .a)
        #expect(
            failure
                == .unreachable("tcp \(server.endpoint): Connection refused"))
    }

    @Test(arguments: [DatagramBackend.Mode.udpThenTCP, .tcpOnly])
    func `a server on IPv6 is asked`(mode: DatagramBackend.Mode) async throws {
        let server = try RawDNSServer(on: "::1") { contractActs($0) }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], mode: mode)
        let testimony = try await backend.asked("ok", .aaaa)
        #expect(testimony.answers.map { $0.data } == [.address(try IPAddress("2001:db8::7"))])
        #expect(testimony.source.server == server.endpoint.description)
        #expect(testimony.source.transport == (mode == .tcpOnly ? .tcp : .udp))
    }

    @Test(arguments: [DatagramBackend.Mode.udpThenTCP, .tcpOnly])
    func `a dead first server costs no waiting`(mode: DatagramBackend.Mode) async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        // Waiting for silence would take this long, beyond the deadline.
        let backend = DatagramBackend(
            servers: [try closedEndpoint(), server.endpoint], mode: mode,
            firstTryMilliseconds: 60_000)
        let testimony = try await backend.asked("ok", .a)
        #expect(testimony.source.server == server.endpoint.description)
        #expect(testimony.source.tries == 2)
    }

    @Test func `a dead server alone is unreachable, in the system's word`() async throws {
        let dead = try closedEndpoint()
        let failure = await DatagramBackend(servers: [dead]).failure("ok", .a)
        #expect(failure == .unreachable("\(dead): Connection refused"))
    }

    @Test func `a reply with another id is ignored`() async throws {
        try await expectIgnored { arrival, forged in
            var octets = forged
            octets[0] ^= 0x5A
            return [.send(octets)]
        }
    }

    @Test func `a reply to another question is ignored`() async throws {
        try await expectIgnored { arrival, forged in
            // The first letter of the name.
            var octets = forged
            octets[13] ^= 0x01
            return [.send(octets)]
        }
    }

    @Test func `a reply from another address or port is ignored`() async throws {
        try await expectIgnored { _, forged in [.sendFromElsewhere(forged)] }
    }

    @Test func `a lost datagram is sent again from another port`() async throws {
        let count = Locked(0)
        let server = try RawDNSServer { arrival in
            count.withLock {
                $0 += 1
                return $0
            } == 1 ? [] : contractActs(arrival)
        }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], firstTryMilliseconds: 50)
        let testimony = try await backend.asked("ok", .a)
        #expect(testimony.source.tries >= 2)
        #expect(server.arrivals.count >= 2)
        #expect(server.arrivals[0].peerPort != server.arrivals[1].peerPort)
        #expect(server.arrivals[0].message?.id != server.arrivals[1].message?.id)
    }

    @Test func `a late reply to the first try is taken`() async throws {
        let octets = Locked<[[UInt8]]>([])
        let server = try RawDNSServer { arrival in
            let all = octets.withLock {
                $0.append(arrival.octets)
                return $0
            }
            guard all.count == 2, let late = ContractZone.octets(answering: all[0]) else {
                return []
            }
            return [.sendToArrival(0, late)]
        }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], firstTryMilliseconds: 100)
        let testimony = try await backend.asked("ok", .a)
        #expect(testimony.answers.count == 2)
    }

    @Test func `a server that does not know EDNS is asked again without it`() async throws {
        let server = try RawDNSServer { arrival in
            guard let message = arrival.message, message.edns != nil else {
                return contractActs(arrival)
            }
            var reply = Message(id: message.id, code: .formatError, questions: message.questions)
            reply.flags.isResponse = true
            return [.send((try? reply.encode()) ?? [])]
        }
        defer { server.stop() }
        let testimony = try await patient(server.endpoint).asked("ok", .a)
        #expect(testimony.code == .noError)
        #expect(testimony.source.tries == 2)
    }

    @Test func `a server that fails is passed over for one that knows`() async throws {
        let lame = try RawDNSServer { arrival in
            guard let message = arrival.message else { return [] }
            var reply = Message(id: message.id, code: .serverFailure, questions: message.questions)
            reply.flags.isResponse = true
            return [.send((try? reply.encode()) ?? [])]
        }
        defer { lame.stop() }
        let good = try RawDNSServer { contractActs($0) }
        defer { good.stop() }
        let backend = DatagramBackend(servers: [lame.endpoint, good.endpoint])
        #expect(try await backend.asked("ok", .a).source.server == good.endpoint.description)
    }

    @Test func `the question carries its own RD and DO bits and a size of 1232`() async throws {
        let server = try RawDNSServer { contractActs($0) }
        defer { server.stop() }
        var question = Question(name: try HostName("ok.contract.test"), type: .https)
        question.wantsDNSSEC = true
        question.wantsRecursion = false
        _ = try await DatagramBackend(servers: [server.endpoint]).ask(question, deadline: .soon)
        let message = try #require(server.arrivals.first?.message)
        #expect(message.questions.first?.type == .https)
        #expect(message.edns?.isDNSSECOK == true)
        #expect(message.edns?.udpPayloadOctets == 1_232)
        #expect(!message.flags.wantsRecursion)
    }

    @Test func `a TCP server that hangs up is not an empty answer`() async throws {
        let server = try RawDNSServer { _ in [.closeConnection] }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], mode: .tcpOnly)
        guard case .unreachable(let why) = await backend.failure("ok", .a) else {
            Issue.record("not unreachable")
            return
        }
        #expect(why.contains("tcp \(server.endpoint): "))
    }

    @Test(arguments: [[0xFF, 0xFF, 0x00], [0x00, 0x00], [0x00, 0x01, 0xAA], []] as [[UInt8]])
    func `hostile lengths over TCP end in an error`(octets: [UInt8]) async throws {
        let server = try RawDNSServer { _ in [.sendRaw(octets), .closeConnection] }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], mode: .tcpOnly)
        #expect(await backend.failure("ok", .a) != nil)
    }

    @Test func `garbage datagrams are ignored until the deadline`() async throws {
        let server = try RawDNSServer { arrival in
            [
                .send([]), .send([0]), .send(Array(repeating: 0xFF, count: 4_000)),
                .send(Array(arrival.octets.prefix(12))),
            ]
        }
        defer { server.stop() }
        let backend = DatagramBackend(servers: [server.endpoint], firstTryMilliseconds: 60_000)
        let deadline = SystemMonotonicClock().now().adding(milliseconds: 200)
        #expect(await backend.failure("ok", .a, deadline: deadline) != nil)
    }

    @Test func `a zone without an interface is named in the error`() async throws {
        let server = Endpoint(address: try IPAddress("fe80::1%nosuch0"), port: .dns)
        let failure = await DatagramBackend(servers: [server]).failure("ok", .a)
        #expect(
            failure
                == .unreachable("[fe80::1%nosuch0]:53: no network interface named nosuch0"))
    }

    /// The reply that `forge` sends first, with a forged address in it, must not be believed.
    private func expectIgnored(
        _ forge: @escaping @Sendable (RawDNSServer.Arrival, [UInt8]) -> [RawDNSServer.Act]
    ) async throws {
        let server = try RawDNSServer { arrival in
            guard let message = arrival.message, var reply = ContractZone.reply(to: message),
                let honest = try? reply.encode(), let name = message.questions.first?.name,
                let liar = IPAddress(octets: [198, 51, 100, 66])
            else { return [] }
            reply.answers = [
                ResourceRecord(name: name, type: .a, ttlSeconds: 9, data: .address(liar))
            ]
            guard let forged = try? reply.encode() else { return [] }
            return forge(arrival, forged) + [.send(honest)]
        }
        defer { server.stop() }
        let testimony = try await patient(server.endpoint).asked("ok", .a)
        #expect(
            testimony.answers.map { $0.data } == [
                .address(try IPAddress("203.0.113.7")), .address(try IPAddress("203.0.113.8")),
            ])
        #expect(testimony.source.tries == 1)
    }
}

/// A back-end that never repeats a question for want of time: a busy machine may be slow to answer.
private func patient(_ server: Endpoint) -> DatagramBackend {
    DatagramBackend(servers: [server], firstTryMilliseconds: 60_000)
}

/// What an honest server of ``ContractZone`` does.
func contractActs(_ arrival: RawDNSServer.Arrival) -> [RawDNSServer.Act] {
    ContractZone.octets(answering: arrival.octets).map { [.send($0)] } ?? []
}

/// An empty reply with TC.
private func truncated(_ arrival: RawDNSServer.Arrival) -> [RawDNSServer.Act] {
    guard let message = arrival.message else { return [] }
    var reply = Message(id: message.id, questions: message.questions)
    reply.flags.isResponse = true
    reply.flags.isTruncated = true
    return [.send((try? reply.encode()) ?? [])]
}

extension Monotonic {
    /// Far enough that a busy machine reaches it only when something hangs.
    static var soon: Monotonic { SystemMonotonicClock().now().adding(seconds: 30) }
}

extension ResolverBackend {
    /// Asks for a name of ``ContractZone`` by its first label.
    func asked(_ label: String, _ type: RecordType) async throws -> Testimony {
        try await ask(
            Question(name: try HostName("\(label).\(ContractZone.suffix)"), type: type),
            deadline: .soon)
    }

    /// The failure of a question; nil when an answer came.
    func failure(
        _ label: String, _ type: RecordType, deadline: Monotonic = .soon
    ) async -> QueryFailure? {
        guard let name = try? HostName("\(label).\(ContractZone.suffix)") else {
            return .unexpected("\(label) is not a name")
        }
        do throws(QueryFailure) {
            _ = try await ask(Question(name: name, type: type), deadline: deadline)
            return nil
        } catch {
            return error
        }
    }
}
