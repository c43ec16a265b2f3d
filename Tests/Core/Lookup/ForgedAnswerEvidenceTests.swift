import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct ForgedAnswerEvidenceTests {
    private func said(
        _ addresses: [String], ttl: UInt32 = 60, code: ResponseCode = .noError
    ) throws -> Testimony {
        let question = Question(name: try HostName("www.example.test"), type: .a)
        return Testimony(
            question: question, code: code,
            answers: try addresses.map {
                ResourceRecord(
                    name: WireName(question.name), type: .a, ttlSeconds: ttl,
                    data: .address(try IPAddress($0)))
            }, source: Testimony.Source(resolver: "x", transport: .udp))
    }

    @Test func `order and TTL are no difference`() throws {
        let first = try said(["192.0.2.1", "192.0.2.2"])
        let second = try said(["192.0.2.2", "192.0.2.1"], ttl: 5)
        #expect(!ForgedAnswerEvidence.differs(first, second))
    }

    @Test func `another address, one more, or another code is`() throws {
        let first = try said(["192.0.2.1"])
        #expect(ForgedAnswerEvidence.differs(first, try said(["192.0.2.9"])))
        #expect(ForgedAnswerEvidence.differs(first, try said(["192.0.2.1", "192.0.2.9"])))
        #expect(ForgedAnswerEvidence.differs(try said([]), try said([], code: .noSuchName)))
    }
}
