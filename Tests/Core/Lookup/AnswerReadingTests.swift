import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct AnswerReadingTests {
    static let source = Testimony.Source(resolver: "udp://127.0.0.1:53", transport: .udp)

    static func question(_ name: String, _ type: RecordType = .a) throws -> Question {
        Question(name: try HostName(name), type: type)
    }

    static func record(_ name: String, _ type: RecordType, _ data: RecordData) -> ResourceRecord {
        ResourceRecord(name: wire(name), type: type, ttlSeconds: 600, data: data)
    }

    static func wire(_ name: String) -> WireName { WireName(text: name) ?? .root }

    static func soa(_ zone: String, ttl: UInt32, minimum: UInt32) -> ResourceRecord {
        let data = StartOfAuthority(
            primary: .root, mailbox: .root, serial: 1, refreshSeconds: 1, retrySeconds: 1,
            expireSeconds: 1, minimumSeconds: minimum)
        return ResourceRecord(name: wire(zone), type: .soa, ttlSeconds: ttl, data: .soa(data))
    }

    static func reply(_ name: String, _ type: RecordType = .a) -> Message {
        var message = Message(
            id: 1, questions: [Message.Question(name: wire(name), type: type)])
        message.flags.isResponse = true
        return message
    }

    @Test func `an answer keeps its records in order and its AD bit`() throws {
        var reply = Self.reply("WWW.example.com")
        reply.flags.isAuthenticData = true
        reply.answers = [
            Self.record("www.example.com", .cname, .name(Self.wire("b.test"))),
            Self.record("b.test", .a, .address(try IPAddress("127.0.0.1"))),
        ]
        let question = try Self.question("www.example.com")
        let told = try testimony(
            fromWire: try reply.encode(), for: question, source: Self.source)
        #expect(told.answers == reply.answers)
        #expect(told.isAuthenticData && told.code == .noError && told.question == question)
        #expect(told.negativeTTLSeconds == nil)
    }

    @Test func `a reply to something else is refused`() throws {
        let question = try Self.question("www.example.com")
        var notResponse = Self.reply("www.example.com")
        notResponse.flags.isResponse = false
        var update = Self.reply("www.example.com")
        update.flags.opcode = 5
        var twice = Self.reply("www.example.com")
        twice.questions += twice.questions
        var bare = Self.reply("www.example.com")
        bare.questions = []
        var chaos = bare
        chaos.questions = [
            Message.Question(name: Self.wire("www.example.com"), type: .a, recordClass: 3)
        ]
        let strangers = [
            notResponse, update, twice, bare, chaos, Self.reply("www.example.org"),
            Self.reply("www.example.com", .aaaa),
        ]
        for stranger in strangers {
            let failure = #expect(throws: QueryFailure.self) {
                try testimony(from: stranger, for: question, source: Self.source)
            }
            #expect(failure?.label == "malformed")
        }
    }

    @Test func `a failure may come without the question, a claim about the name may not`() throws {
        var bare = Self.reply("www.example.com")
        bare.questions = []
        let question = try Self.question("www.example.com")
        for code in [ResponseCode.formatError, .serverFailure, .refused, .notImplemented] {
            bare.code = code
            #expect(try testimony(from: bare, for: question, source: Self.source).code == code)
        }
        bare.code = .noSuchName
        #expect(throws: QueryFailure.self) {
            try testimony(from: bare, for: question, source: Self.source)
        }
    }

    @Test func `octets that are no message are malformed, and the text says where`() throws {
        let question = try Self.question("www.example.com")
        let failure = #expect(throws: QueryFailure.self) {
            try testimony(fromWire: [0, 1, 2], for: question, source: Self.source)
        }
        guard case .malformed(let why) = failure else {
            Issue.record("not malformed: \(String(describing: failure))")
            return
        }
        #expect(why.contains("octet 2"))
    }

    @Test(
        arguments: [
            ("example.com", 900, 300, 300), ("example.com", 60, 300, 60), ("com", 60, 300, 60),
            (".", 60, 300, 60), ("www.example.com", 5, 5, 5), ("ple.com", 60, 300, nil),
            ("example.org", 60, 300, nil), ("a.www.example.com", 60, 300, nil),
        ] as [(String, UInt32, UInt32, UInt32?)])
    func `a negative answer holds as long as the SOA of a zone around the name says`(
        zone: String, ttl: UInt32, minimum: UInt32, holds: UInt32?
    ) throws {
        let question = try Self.question("www.example.com")
        for code in [ResponseCode.noError, .noSuchName] {
            var reply = Self.reply("www.example.com")
            reply.code = code
            reply.authorities = [Self.soa(zone, ttl: ttl, minimum: minimum)]
            let told = try testimony(from: reply, for: question, source: Self.source)
            #expect(told.negativeTTLSeconds == holds)
        }
        var failed = Self.reply("www.example.com")
        failed.code = .serverFailure
        failed.authorities = [Self.soa(zone, ttl: ttl, minimum: minimum)]
        #expect(
            try testimony(from: failed, for: question, source: Self.source).negativeTTLSeconds
                == nil)
    }

    @Test func `no data at the end of a chain holds by the SOA around that end`() throws {
        let question = try Self.question("www.example.com", .aaaa)
        var reply = Self.reply("www.example.com", .aaaa)
        reply.answers = [
            Self.record("b.test", .cname, .name(Self.wire("c.test"))),
            Self.record("www.example.com", .cname, .name(Self.wire("b.test"))),
        ]
        reply.authorities = [Self.soa("test", ttl: 30, minimum: 40)]
        let read = { try testimony(from: reply, for: question, source: Self.source) }
        #expect(try read().negativeTTLSeconds == 30)
        reply.authorities = [Self.soa("example.com", ttl: 30, minimum: 40)]
        #expect(try read().negativeTTLSeconds == nil)
        // A loop ends.
        reply.answers.append(Self.record("c.test", .cname, .name(Self.wire("b.test"))))
        #expect(try read().negativeTTLSeconds == nil)
    }

    @Test func `a question becomes a query with its DO and RD bits`() throws {
        var question = try Self.question("www.example.com", .https)
        question.wantsDNSSEC = true
        question.wantsRecursion = false
        let query = question.query(id: 7, edns: nil)
        #expect(query.edns?.isDNSSECOK == true)
        #expect(!query.flags.wantsRecursion)
        #expect(query.questions.map(\.type) == [.https])
        question.wantsDNSSEC = false
        #expect(question.query(id: 7, edns: nil).edns == nil)
        #expect(question.query(id: 7).edns?.udpPayloadOctets == 1_232)
    }
}

@Suite struct AliasQuestionTests {
    private func reply(_ type: RecordType) throws -> Testimony {
        let question = try Said.question("www.example.test", type)
        var message = question.query(id: 0)
        message.flags.isResponse = true
        message.answers = [try Said.alias("www.example.test", 30, "cdn.example.test")]
        let zone = WireName(try HostName("example.test"))
        message.authorities = [
            ResourceRecord(
                name: zone, type: .soa, ttlSeconds: 5,
                data: .soa(
                    StartOfAuthority(
                        primary: zone, mailbox: zone, serial: 1, refreshSeconds: 1,
                        retrySeconds: 1, expireSeconds: 1, minimumSeconds: 5)))
        ]
        return try testimony(
            from: message, for: question,
            source: Testimony.Source(resolver: "one", transport: .udp))
    }

    @Test(arguments: [RecordType.cname, .any])
    func `an alias is the answer to a question for aliases or for any type`(
        type: RecordType
    ) throws {
        let testimony = try reply(type)
        #expect(testimony.negativeTTLSeconds == nil)
        let answer = LookupAnswer(testimony: testimony, ttlSeconds: 30, isCached: false)
        #expect(answer.outcome == .records)
        #expect(AnswerLife.seconds(of: testimony) == 30)
    }

    @Test func `an alias alone is no data to a question for addresses`() throws {
        let testimony = try reply(.a)
        #expect(testimony.negativeTTLSeconds == 5)
    }
}
