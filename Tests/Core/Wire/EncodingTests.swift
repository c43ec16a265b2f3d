import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct EncodingTests {
    static func answer(_ type: RecordType, _ data: RecordData) -> Message {
        var message = Message(id: 0)
        message.answers = [ResourceRecord(name: .root, type: type, ttlSeconds: 1, data: data)]
        return message
    }

    @Test(
        arguments: [
            (.a, .name(.root)),
            (.a, .address(IPAddress(octets: [UInt8](repeating: 0, count: 16))!)),
            (.aaaa, .address(IPAddress(octets: [127, 0, 0, 1])!)), (.txt, .txt([])),
            (.txt, .txt([[UInt8](repeating: 0, count: 256)])),
            (.caa, .caa(flags: 0, tag: [], value: [])),
            (.mx, .opaque([])), (.opt, .opaque([])),
        ] as [(RecordType, RecordData)])
    func `data that does not fit its type has no wire form`(type: RecordType, data: RecordData) {
        guard case .opaque = data, type != .opt else {
            #expect(throws: WireError.self) { try Self.answer(type, data).encode() }
            return
        }
        #expect(throws: Never.self) { try Self.answer(type, data).encode() }
    }

    @Test func `a message that would be too long is an error and never a trap`() {
        let octets = [UInt8](repeating: 0, count: 60_000)
        var message = Self.answer(RecordType(rawValue: 65_280), .opaque(octets))
        #expect(throws: Never.self) { try message.encode() }
        message.authorities = message.answers
        #expect(throws: WireError(.messageTooLong, atOctet: 65_535)) { try message.encode() }
        let data = [UInt8](repeating: 0, count: 65_536)
        #expect(throws: WireError(.recordTooLong, atOctet: 21)) {
            try Self.answer(RecordType(rawValue: 65_280), .opaque(data)).encode()
        }
        message.answers = []
        message.authorities = []
        message.edns = EDNS(options: [.padding(octets: -1)])
        #expect(throws: WireError.self) { try message.encode() }
        message.edns = EDNS(options: [.padding(octets: 65_536)])
        #expect(throws: WireError.self) { try message.encode() }
    }

    @Test func `more records than a header can count are an error`() {
        var message = Message(id: 0)
        message.questions = Array(
            repeating: Message.Question(name: .root, type: .a), count: 65_536)
        #expect(throws: WireError(.tooManyRecords, atOctet: 4)) { try message.encode() }
    }

    @Test func `names written beyond the reach of a pointer are written in full`() throws {
        var message = Message(id: 0)
        let name = try #require(WireName(text: "host.example.com"))
        let blob = ResourceRecord(
            name: .root, type: RecordType(rawValue: 65_280), ttlSeconds: 0,
            data: .opaque([UInt8](repeating: 0, count: 0x4000)))
        message.answers = [
            blob, ResourceRecord(name: name, type: .cname, ttlSeconds: 0, data: .name(name)),
        ]
        let encoded = try message.encode()
        #expect(try Message(decoding: encoded) == message)
        #expect(
            encoded.suffix(18) == [4] + Array("host".utf8) + octets("07657861 6d706c65 03636f6d 00")
        )
    }

    @Test func `case is kept, so a name that differs in case is not shared`() throws {
        var message = Message(id: 0)
        for text in ["a.Example.com", "b.example.com", "c.EXAMPLE.com"] {
            let name = try #require(WireName(text: text))
            message.answers.append(
                ResourceRecord(name: name, type: .ns, ttlSeconds: 0, data: .name(name)))
        }
        let read = try Message(decoding: try message.encode())
        #expect(
            read.answers.map(\.name.description) == [
                "a.Example.com", "b.example.com", "c.EXAMPLE.com",
            ])
    }
}
