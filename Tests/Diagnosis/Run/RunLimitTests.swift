import HTTPDNSDatagram
import HTTPDNSDiagnosis
import HTTPDNSEvidence
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSWire
import TestSupport
import Testing

/// Runs that meet silence, nonsense, and an end before their own.
@Suite(.timeLimit(.minutes(3))) struct RunLimitTests {
    @Test func `silent servers end a run at its deadline, and are told as such`() async throws {
        let lab = try DiagnosisLab()
        try lab.network.behave(.dead)
        try lab.trusted.behave(.dead)
        let diagnosis = try await lab.diagnosed { $0.patience = .milliseconds(2_500) }
        #expect(diagnosis.evidence.answers.count == 6)
        for answer in diagnosis.evidence.answers {
            guard case .failure(.timedOut) = answer.result else {
                Issue.record("\(answer)")
                continue
            }
        }
        #expect(diagnosis.verdict == .inconclusive(missing: [.trustedAnswer, .networkAnswer]))
    }

    @Test(arguments: [1, 1_000])
    func `who is silent in a moment too short is not offline, and not blocked`(
        milliseconds: Int64
    ) async throws {
        let lab = try DiagnosisLab()
        try lab.network.behave(.dead)
        try lab.trusted.behave(.dead)
        let diagnosis = try await lab.diagnosed { $0.patience = .milliseconds(milliseconds) }
        #expect(diagnosis.evidence.patienceMilliseconds == milliseconds)
        #expect(diagnosis.verdict == .inconclusive(missing: [.time]))
    }

    @Test func `closed ports end a run before its deadline`() async throws {
        let lab = try DiagnosisLab()
        let dead = try closedEndpoint()
        let diagnosis = try await lab.diagnosed {
            $0.nameservers = [dead]
            $0.trusted = []
            $0.patience = .seconds(3_600)
        }
        #expect(diagnosis.evidence.tookMilliseconds < 3_600_000)
        #expect(diagnosis.verdict == .inconclusive(missing: [.trustedAnswer, .networkAnswer]))
    }

    @Test func `a deadline that began before the run ends it, whatever its own patience`()
        async throws
    {
        let lab = try DiagnosisLab()
        try lab.network.behave(.dead)
        let diagnosis = try await lab.diagnosed {
            $0.patience = .seconds(3_600)
            $0.deadline = SystemMonotonicClock().now().adding(milliseconds: 2_000)
        }
        #expect(diagnosis.evidence.tookMilliseconds < 3_600_000)
        #expect(diagnosis.evidence.answers.contains { $0.statement == nil })
    }

    @Test func `a handshake that never ends ends with the run`() async throws {
        let lab = try DiagnosisLab(fault: .stallsHandshake)
        let diagnosis = try await lab.diagnosed { $0.patience = .seconds(3) }
        #expect(diagnosis.evidence.peers.first?.real == .timedOut)
        #expect(diagnosis.verdict == .addressBlocked)
    }

    @Test func `a cancelled run tells what it has`() async throws {
        let lab = try DiagnosisLab()
        try lab.network.behave(.dead)
        let options = try lab.options
        let name = lab.name
        let task = Task {
            try await Diagnosis.run(name, options: options) { _ in
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        let diagnosis = try await task.value
        #expect(diagnosis.evidence.unfinished == ["the run was cancelled"])
    }

    @Test func `no address beyond loopback is dialled where that is said`() async throws {
        let lab = try DiagnosisLab { question, truth in
            guard question.text == DiagnosisLab.host, question.type == .a,
                let far = IPAddress(octets: [10, 0, 0, 1]),
                let null = IPAddress(octets: [0, 0, 0, 0])
            else { return truth }
            return question.answer([far, null])
        }
        let diagnosis = try await lab.diagnosed()
        let far = diagnosis.evidence.peers.filter { !$0.address.isLoopback }
        #expect(far.count == 2)
        for peer in far {
            guard case .notDialled = peer.connection else {
                Issue.record("\(peer)")
                continue
            }
        }
        #expect(diagnosis.how != nil)
    }

    @Test func `a liar that answers first, and much, leaves the trusted addresses their slots`()
        async throws
    {
        let many = [DiagnosisLab.wrong] + (120..<140).map { LabAddress.ipv4(host: $0) }
        let lab = try DiagnosisLab { question, truth in
            question.text == DiagnosisLab.host && question.type == .a
                ? question.answer(many) : truth
        }
        try lab.trusted.behave(.slow(milliseconds: 1_000))
        let diagnosis = try await lab.diagnosed()
        #expect(diagnosis.how == .rewritten)
        let right = diagnosis.judgement.addresses.first { $0.address == DiagnosisLab.right }
        #expect(right?.standing == .proven)
        #expect(diagnosis.evidence.peers.count == PeerSlots.mostOfOne + 1)
        #expect(diagnosis.evidence.unfinished.contains { $0.hasPrefix("5 addresses") })
    }

    @Test func `a slot is for one address once, and what was left out may come from another`() {
        var slots = PeerSlots()
        let all = (1...60).map { LabAddress.ipv4(host: UInt8($0)) }
        var taken: [PeerSlots.Giver: Int] = [:]
        for giver in [PeerSlots.Giver.judged("liar"), .trusted, .judged("another")] {
            for address in all where slots.take(address, from: giver) {
                taken[giver, default: 0] += 1
            }
        }
        #expect(taken[.judged("liar")] == PeerSlots.mostOfOne)
        #expect(taken[.trusted] == PeerSlots.mostTrusted)
        #expect(taken[.judged("another")] == PeerSlots.mostJudged - PeerSlots.mostOfOne)
        #expect(slots.leftOut == 60 - PeerSlots.mostJudged - PeerSlots.mostTrusted)
        let isLate = slots.take(all[59], from: .judged("a third"))
        #expect(!isLate)
    }

    @Test(arguments: [0, 1, 9, 10, 40, 600])
    func `octets that are no message trap nothing`(count: Int) async throws {
        let lab = try DiagnosisLab()
        let server = try RawDNSServer { arrival in
            // With the right number, so that they are read.
            [.send(arrival.octets.prefix(2) + (0..<count).map { _ in .random(in: 0...255) })]
        }
        defer { server.stop() }
        let diagnosis = try await lab.diagnosed {
            $0.nameservers = [server.endpoint]
            $0.patience = .seconds(2)
            $0.asksIdentity = true
        }
        #expect(diagnosis.judgement.sources.last?.standing == .honest)
        if case .dnsHijacked = diagnosis.verdict { Issue.record("\(diagnosis.verdict)") }
    }

    @Test func `a server that says who it is is heard, with its control characters`()
        async throws
    {
        let lab = try DiagnosisLab()
        let truth = LabTable(lab.name, [DiagnosisLab.right])
        let server = try RawDNSServer { arrival in
            guard let query = arrival.message, let asked = query.questions.first else { return [] }
            var reply = Message(id: query.id, questions: [asked])
            reply.flags.isResponse = true
            if asked.recordClass == 3 {
                reply.answers = [
                    ResourceRecord(
                        name: asked.name, type: .txt, recordClass: 3, ttlSeconds: 0,
                        data: .txt([Array("evil\u{1B}[2J".utf8)]))
                ]
            } else {
                let answer = truth.answer(
                    LabQuestion(name: asked.name, type: asked.type, isTCP: false))
                reply.code = answer.code
                reply.answers = answer.answers
            }
            return (try? reply.encode()).map { [.send($0)] } ?? []
        }
        defer { server.stop() }
        let diagnosis = try await lab.diagnosed {
            $0.nameservers = [server.endpoint]
            $0.asksIdentity = true
        }
        let texts = diagnosis.evidence.identities.map(\.texts)
        #expect(texts == [["evil\u{1B}[2J"], ["evil\u{1B}[2J"]])
        #expect(diagnosis.evidence.identities.map(\.probe) == ["id.server", "version.bind"])
        #expect(diagnosis.verdict == .clean)
    }

    @Test func `a source that proves nothing is not trusted`() async throws {
        let lab = try DiagnosisLab()
        let dead = Endpoint(address: try IPAddress("192.0.2.1"), port: .dns)
        // It is on no loopback and has no TLS: it is not even asked.
        let diagnosis = try await lab.diagnosed {
            $0.trusted = [DatagramBackend(servers: [dead])]
        }
        let answer = try #require(
            diagnosis.evidence.answers.first { $0.source.standing == .trusted })
        guard case .failure(.misconfigured) = answer.result else {
            Issue.record("\(answer)")
            return
        }
        #expect(diagnosis.verdict == .clean)
    }
}
