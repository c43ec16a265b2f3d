import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

/// Why a server answers as it does (RFC 8914), and other things that stand beside the records.
@Suite struct ExtendedErrorTests {
    private func told(_ reply: Message, _ name: HostName) throws -> Testimony {
        try testimony(
            fromWire: try reply.encode(), for: Question(name: name, type: .a),
            source: AnswerReadingTests.source)
    }

    private func reply(_ errors: [(UInt16, String)]) -> Message {
        var reply = AnswerReadingTests.reply("a.test")
        reply.edns = EDNS(options: errors.map { .extendedError(code: $0.0, text: $0.1) })
        return reply
    }

    @Test func `reasons are kept in order, with their registered names`() throws {
        let told = try told(reply([(18, "policy"), (65_535, "")]), try HostName("a.test"))
        #expect(
            told.extendedErrors == [
                ExtendedError(code: 18, text: "policy"), ExtendedError(code: 65_535),
            ])
        #expect(told.extendedErrors.map(\.name) == ["Prohibited", nil])
        #expect(ExtendedError(code: 0).name == "Other Error")
        #expect(ExtendedError(code: 30).name == "Invalid Query Type")
        #expect(ExtendedError(code: 31).name == nil)
    }

    @Test func `no server fills memory with reasons`() throws {
        let long = String(repeating: "é", count: 2_000)
        let reply = reply((0..<16).map { (UInt16($0), long) })
        let told = try told(reply, try HostName("a.test"))
        #expect(told.extendedErrors.count == Testimony.maximumExtendedErrors)
        #expect(told.extendedErrors.allSatisfy { $0.text.count == 300 })
    }

    @Test(arguments: [0, 1, 60])
    func `reasons come back from the cache`(life: UInt32) throws {
        let key = try Said.key("a.test")
        var reply = reply([(3, "old"), (22, "\u{0}\u{1F30D}")])
        reply.answers = [
            AnswerReadingTests.record("a.test", .a, .address(try IPAddress("127.0.0.1")))
        ]
        let told = try told(reply, key.question.name)
        var cache = AnswerCache()
        cache.store(told, for: key, lifeSeconds: max(life, 1), now: .zero)
        #expect(cache.find(key, now: .zero)?.testimony == told)
    }

    @Test(arguments: [(0x7FFF_FFFF, nil), (0x8000_0000, 0x8000_0000), (UInt32.max, UInt32.max)])
    func `a TTL that counts as 0 is remembered as it was sent`(
        sent: UInt32, remembered: UInt32?
    ) throws {
        var reply = AnswerReadingTests.reply("a.test")
        let address = RecordData.address(try IPAddress("127.0.0.1"))
        reply.answers = [0, sent].map {
            ResourceRecord(
                name: AnswerReadingTests.wire("a.test"), type: .a, ttlSeconds: $0, data: address)
        }
        let told = try told(reply, try HostName("a.test"))
        #expect(told.excessiveTTLSeconds == remembered)
        #expect(told.answers.map(\.ttlSeconds) == [0, remembered == nil ? sent : 0])
    }
}

/// The root, which is no host name and can be asked about.
@Suite struct RootNameTests {
    @Test func `no text is parsed to it`() {
        #expect(throws: NameError.self) { try HostName(".") }
        #expect(WireName.root.hostName == nil)
        #expect(!HostName.root.isPublic)
    }

    @Test func `it is asked about and recognised`() throws {
        let question = Question(name: .root, type: .ns)
        #expect(WireName(HostName.root) == .root)
        #expect(WireName.root.spells(.root))
        #expect(!AnswerReadingTests.wire("a").spells(.root))
        var reply = question.query(id: 7)
        #expect(reply.questions.first?.name == .root)
        reply.flags.isResponse = true
        reply.answers = [
            AnswerReadingTests.record(".", .ns, .name(AnswerReadingTests.wire("a.test")))
        ]
        let told = try testimony(
            fromWire: try reply.encode(), for: question, source: AnswerReadingTests.source)
        #expect(told.answers.count == 1)
        #expect(AnswerLife.seconds(of: told) == 600)
        let key = LookupKey(question: question, scope: LookupScope(number: 0))
        var cache = AnswerCache()
        cache.store(told, for: key, lifeSeconds: 600, now: .zero)
        #expect(cache.find(key, now: .zero)?.testimony == told)
    }
}
