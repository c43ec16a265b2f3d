import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct MessageTests {
    @Test(arguments: GoldenMessages.all)
    func `a message survives the way out and back`(wire: [UInt8]) throws {
        let message = try Message(decoding: wire)
        let encoded = try message.encode()
        #expect(try Message(decoding: encoded) == message)
        #expect(try Message(decoding: encoded).encode() == encoded)
    }

    @Test(arguments: [
        GoldenMessages.query, GoldenMessages.ednsQuery, GoldenMessages.aliasAnswer,
        GoldenMessages.noSuchName, GoldenMessages.oldTypes, GoldenMessages.service,
        GoldenMessages.badVersion,
    ])
    func `encoding compresses as the golden messages do`(wire: [UInt8]) throws {
        #expect(try Message(decoding: wire).encode() == wire)
    }

    @Test func `an alias chain is read in the order sent`() throws {
        let message = try Message(decoding: GoldenMessages.aliasAnswer)
        #expect(message.id == 0x1A2B)
        #expect(message.flags.isResponse && message.flags.offersRecursion)
        #expect(message.questions.map(\.type) == [.a])
        let told = message.answers.map {
            "\($0.name) \($0.ttlSeconds) \($0.type) \($0.data.presentation(type: $0.type))"
        }
        #expect(
            told == [
                "www.example.com 300 CNAME cdn.example.com.", "cdn.example.com 60 A 203.0.113.7",
                "cdn.example.com 60 A 203.0.113.8",
            ])
    }

    @Test func `extended errors and padding are options of EDNS`() throws {
        let message = try Message(decoding: GoldenMessages.sixAnswer)
        #expect(message.additionals.isEmpty)
        let edns = try #require(message.edns)
        #expect(edns.udpPayloadOctets == 1_232)
        #expect(edns.options == [.extendedError(code: 3, text: "stale"), .padding(octets: 6)])
        #expect(edns.extendedErrors.map(\.text) == ["stale"])
    }

    @Test func `a client subnet stays octets, and a cut extended error costs no answer`() throws {
        let message = try Message(
            decoding: octets(
                "00008180 00000000 00000001 00 0029 04d0 00000000 0010"
                    + "0008 0007 00011800c00002 000f 0001 09"))
        #expect(
            message.edns?.options == [
                .clientSubnet([0, 1, 0x18, 0, 0xC0, 0, 2]), .other(code: 15, [9]),
            ])
    }

    @Test func `a response code takes its upper bits from EDNS`() throws {
        let message = try Message(decoding: GoldenMessages.badVersion)
        #expect(message.code.rawValue == 16)
        #expect(message.code.name == "BADVERS")
        var bare = message
        bare.edns = nil
        #expect(throws: WireError(.codeNeedsEDNS, atOctet: 2)) { try bare.encode() }
    }

    @Test func `each flag is one bit of the header`() throws {
        let flags: [(UInt16, (Message.Flags) -> Bool)] = [
            (0x8000, \.isResponse), (0x0400, \.isAuthoritative), (0x0200, \.isTruncated),
            (0x0100, \.wantsRecursion), (0x0080, \.offersRecursion), (0x0020, \.isAuthenticData),
            (0x0010, \.isCheckingDisabled), (0x2800, { $0.opcode == 5 }),
        ]
        for (bits, isSet) in flags {
            let wire = [0, 0, UInt8(bits >> 8), UInt8(bits & 0xFF), 0, 0, 0, 0, 0, 0, 0, 0]
            let message = try Message(decoding: wire)
            #expect(flags.filter { $0.1(message.flags) }.map(\.0) == [bits])
            #expect(isSet(message.flags))
            #expect(try message.encode() == wire)
        }
    }

    @Test func `the header can be read when the rest is cut off`() throws {
        let header = try MessageHeader(Array(GoldenMessages.aliasAnswer.prefix(20)))
        #expect(header.id == 0x1A2B && header.questions == 1 && header.answers == 3)
    }

    @Test func `a TTL with the top bit set is zero`() throws {
        let message = try Message(
            decoding: octets(
                "00008180 00000002 00000000 00 0001 0001 80000001 0004 7f000001"
                    + "00 0001 0001 7fffffff 0004 7f000001"))
        #expect(message.answers.map(\.ttlSeconds) == [0, 0x7FFF_FFFF])
    }

    @Test func `a record that must be last stays last`() throws {
        var message = Message(id: 1)
        message.edns = EDNS()
        let signature = ResourceRecord(
            name: .root, type: RecordType(rawValue: 250), recordClass: 255, ttlSeconds: 0,
            data: .opaque([1, 2]))
        message.additionals = [signature]
        #expect(try message.encode().suffix(2) == [1, 2])
    }
}

@Suite struct QueryTests {
    static let name = WireName(text: "www.example.com") ?? .root

    @Test func `the query of RFC 8484 comes out octet for octet`() throws {
        let query = Message.query(
            id: 0, name: Self.name, type: .a, options: QueryOptions(edns: nil))
        let wire = try query.encode()
        #expect(wire == GoldenMessages.query)
        #expect(Base64.urlEncoded(wire) == "AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB")
    }

    @Test func `the long example of RFC 8484 comes out octet for octet`() throws {
        let name = try #require(
            WireName(
                text: "a.62characterlabel-makes-base64url-distinct-from-standard-base64"
                    + ".example.com"))
        let query = Message.query(id: 0, name: name, type: .a, options: QueryOptions(edns: nil))
        let wire = try query.encode()
        #expect(wire.count == 94)
        #expect(
            Base64.urlEncoded(wire)
                == "AAABAAABAAAAAAAAAWE-NjJjaGFyYWN0ZXJsYWJlbC1tYWtlcy1iYXNlNjR1cmwtZGlz"
                + "dGluY3QtZnJvbS1zdGFuZGFyZC1iYXNlNjQHZXhhbXBsZQNjb20AAAEAAQ")
    }

    @Test func `EDNS says 1232 octets and carries the DO bit`() throws {
        let query = Message.query(
            id: 0x1A2B, name: Self.name, type: .a,
            options: QueryOptions(edns: EDNS(isDNSSECOK: true)))
        #expect(try query.encode() == GoldenMessages.ednsQuery)
    }

    @Test(arguments: ["a", "www.example.com", String(repeating: "abcdefg.", count: 15) + "test"])
    func `a padded query is a multiple of 128 octets`(name: String) throws {
        let query = Message.query(id: 0, name: try #require(WireName(text: name)), type: .aaaa)
        let wire = try query.encode(padTo: QueryOptions.paddingBlockOctets)
        #expect(wire.count % 128 == 0)
        #expect(wire.count - 128 < (try query.encode().count) + 4)
        let read = try Message(decoding: wire)
        #expect(read.questions == query.questions)
        #expect(try read.encode(padTo: 128) == wire)
    }

    @Test func `a query without EDNS is not padded`() throws {
        let query = Message.query(
            id: 0, name: Self.name, type: .a, options: QueryOptions(edns: nil))
        #expect(try query.encode(padTo: 128) == GoldenMessages.query)
    }

    @Test func `recursion is asked for unless refused`() throws {
        let options = QueryOptions(wantsRecursion: false, edns: nil)
        let query = Message.query(id: 0, name: Self.name, type: .a, options: options)
        #expect(try query.encode()[2] == 0)
    }
}
