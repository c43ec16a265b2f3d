import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct ReplyCheckTests {
    let query: [UInt8]
    let questionOctets: Int

    init() throws {
        let question = Question(name: try HostName("shop.example.test"), type: .aaaa)
        query = try #require(DatagramReply.message(asking: question, id: 0xBEEF))
        questionOctets = question.name.text.utf8.count + 6
    }

    private func verdict(_ reply: [UInt8]) -> ReplyCheck {
        ReplyCheck.verdict(reply, to: query, questionOctets: questionOctets)
    }

    private func reply(_ change: (inout [UInt8]) -> Void = { _ in }) -> [UInt8] {
        var octets = query
        octets[2] |= 0x80
        change(&octets)
        return octets
    }

    @Test func `a reply with our id and question is ours`() {
        #expect(verdict(reply()) == .ours)
        #expect(verdict(reply { $0 += [1, 2, 3] }) == .ours)
    }

    @Test func `letters of the name may change their case, nothing else may`() {
        #expect(verdict(reply { $0[13] ^= 0x20 }) == .ours)
        #expect(verdict(reply { $0[13] ^= 0x01 }) == .wrongQuestion)
        let type = 12 + questionOctets - 3
        #expect(verdict(reply { $0[type] ^= 0x20 }) == .wrongQuestion)
        #expect(verdict(reply { $0[12] = 5 }) == .wrongQuestion)
    }

    @Test func `another id is not ours, whatever follows`() {
        #expect(verdict(reply { $0[0] ^= 1 }) == .wrongID)
        #expect(verdict(reply { $0[1] ^= 0x80 }) == .wrongID)
    }

    @Test func `a query and a stump are no replies`() {
        #expect(verdict(query) == .notReply)
        for count in 0..<12 { #expect(verdict(Array(reply().prefix(count))) == .notReply) }
        #expect(verdict(Array(reply().prefix(20))) == .wrongQuestion)
    }

    @Test func `without a question only a failure or a cut reply is ours`() {
        let bare = reply { octets in
            octets = Array(octets.prefix(12))
            octets[5] = 0
        }
        #expect(verdict(bare) == .wrongQuestion)
        for (code, expected) in [(1, ReplyCheck.ours), (2, .ours), (3, .wrongQuestion)] {
            var octets = bare
            octets[3] = UInt8(code)
            #expect(verdict(octets) == expected)
            octets[7] = 1
            #expect(verdict(octets) == .wrongQuestion)
        }
        var cut = bare
        cut[2] |= 0x02
        #expect(verdict(cut) == .ours)
    }

    @Test func `no octets trap, however they are cut or bent`() {
        var state: UInt64 = 1
        for _ in 0..<2_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1
            var octets = reply()
            octets[Int(state >> 33) % octets.count] = UInt8(truncatingIfNeeded: state >> 20)
            _ = verdict(Array(octets.prefix(Int(state >> 40) % (octets.count + 1))))
        }
    }
}
