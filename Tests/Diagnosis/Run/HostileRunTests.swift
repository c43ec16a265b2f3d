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

/// Runs against servers that answer so that a run would do what it should not.
@Suite(.timeLimit(.minutes(3))) struct HostileRunTests {
    /// The octets that answer an arrival with addresses.
    private static func answer(
        _ arrival: RawDNSServer.Arrival, _ addresses: [IPAddress]
    ) -> [UInt8]? {
        guard let query = arrival.message, let asked = query.questions.first,
            let host = try? HostName(DiagnosisLab.host)
        else { return nil }
        var reply = Message(id: query.id, questions: [asked])
        reply.flags.isResponse = true
        let said = LabTable(host, addresses).answer(
            LabQuestion(name: asked.name, type: asked.type, isTCP: arrival.isOverTCP))
        reply.code = said.code
        reply.answers = said.answers
        return try? reply.encode()
    }

    @Test func `two answers to a question that was sent twice are no race`() async throws {
        let lab = try DiagnosisLab()
        let seen = Locked<Set<UInt16>>([])
        let server = try RawDNSServer { arrival in
            guard let id = arrival.message?.id else { return [] }
            let isFirst = seen.withLock { $0.insert(id).inserted }
            guard !isFirst || arrival.isOverTCP else { return [] }
            let dead = LabAddress.ipv4(host: 199)
            return [[dead], [DiagnosisLab.right]].compactMap { Self.answer(arrival, $0) }
                .map { .send($0) }
        }
        defer { server.stop() }
        let diagnosis = try await lab.diagnosed {
            $0.nameservers = [server.endpoint]
            $0.listening = .seconds(1)
        }
        let own = diagnosis.evidence.answers.first { $0.type == .a && $0.source.transport == .udp }
        #expect(own?.statement?.isPositive == true)
        #expect(diagnosis.evidence.races.isEmpty)
    }

    @Test func `a flood of answers to one question is one race`() async throws {
        let lab = try DiagnosisLab()
        let server = try RawDNSServer { arrival in
            guard !arrival.isOverTCP else {
                return Self.answer(arrival, [DiagnosisLab.right]).map { [.send($0)] } ?? []
            }
            return (100..<160).compactMap {
                Self.answer(arrival, [LabAddress.ipv4(host: $0)]).map { .send($0) }
            }
        }
        defer { server.stop() }
        let diagnosis = try await lab.diagnosed {
            $0.nameservers = [server.endpoint]
            $0.listening = .seconds(1)
        }
        #expect(diagnosis.evidence.races.filter { $0.type == .a }.count == 1)
        #expect(diagnosis.judgement.addresses.count < 8)
    }

    @Test func `a suffix of a company's is not asked for names made up`() async throws {
        let lab = try DiagnosisLab()
        let diagnosis = try await Diagnosis.run(
            try HostName("me.github.io"), options: try lab.options)
        let probes = diagnosis.evidence.randomNames.filter { $0.parent == .publicSuffix }
        #expect(!probes.isEmpty)
        #expect(probes.allSatisfy { $0.answer.name.labels.count == 2 })
        #expect(probes.allSatisfy { $0.answer.name.labels.last == "io" })
        #expect(diagnosis.evidence.isUnderRegistry)
        #expect(try await !lab.diagnosed().evidence.isUnderRegistry)
    }

    @Test func `a lying answer for a public name has nobody knock at a host of this network`()
        async throws
    {
        let lab = try DiagnosisLab { question, truth in
            question.type == .a ? question.answer([DiagnosisLab.wrong]) : truth
        }
        let clear = try LabServer(address: DiagnosisLab.wrong) { _ in .text("an admin page") }
        try clear.start()
        defer { clear.stop() }
        var options = try lab.options
        // All that this network says is on loopback.
        options.staysOnLoopback = false
        options.fetches = true
        options.plainPort = clear.port
        let name = try HostName("www.shop.com")
        let quiet = try await Diagnosis.run(name, options: options)
        let peer = try #require(quiet.evidence.peers.first)
        guard case .notDialled = peer.connection else {
            Issue.record("\(peer)")
            return
        }
        #expect(quiet.evidence.fetches.isEmpty)
        #expect(lab.stranger.record.handshakes.isEmpty)
        options.dialsOwnNetwork = true
        let asked = try await Diagnosis.run(name, options: options)
        #expect(asked.evidence.peers.first?.connection == .connected)
        #expect(clear.record.requests.isEmpty)
    }

    @Test func `what a trusted source gives is dialled, though another gave it first`()
        async throws
    {
        let lab = try DiagnosisLab { question, _ in
            question.type == .a ? question.answer([DiagnosisLab.wrong]) : question.noSuchName()
        }
        let same = try LabDNSServer { question in
            question.type == .a ? question.answer([DiagnosisLab.wrong]) : question.noSuchName()
        }
        try same.start()
        defer { same.stop() }
        try same.behave(.slow(milliseconds: 700))
        var options = try lab.options
        options.staysOnLoopback = false
        options.trusted = [DatagramBackend(servers: [try Endpoint(text: same.endpoint)])]
        let diagnosis = try await Diagnosis.run(try HostName("www.shop.com"), options: options)
        #expect(diagnosis.evidence.peers.map(\.connection) == [.connected])
    }
}
