import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct HostileMessageTests {
    /// A response header that counts one answer, and a root owner name.
    static let answer = "00008180 00000001 00000000 00"

    @Test(
        arguments: [
            ("", WireError.Fault.truncated, 0), ("000081800001", .truncated, 6),
            ("00008180 00010000 00000000", .truncated, 12),
            ("00008180 ffff0000 00000000 00 0001 0001", .truncated, 17),
            ("00008180 00000000 00000000 00", .trailingOctets, 12),
            ("00008180 00010000 00000000 0361", .truncated, 12),
            ("00008180 00010000 00000000 c00c 0001 0001", .pointerNotBackwards, 12),
            ("00008180 00010000 00000000 0161 c00c 0001 0001", .pointerNotBackwards, 14),
            ("00008180 00010000 00000000 c0ff 0001 0001", .pointerNotBackwards, 12),
            ("00008180 00010000 00000000 c0", .truncated, 12),
            ("00008180 00010000 00000000 4161 00 0001 0001", .reservedLabelType, 12),
            ("00008180 00010000 00000000 8161 00 0001 0001", .reservedLabelType, 12),
        ] as [(String, WireError.Fault, Int)])
    func `a broken frame is an error that says where`(
        wire: String, fault: WireError.Fault, at: Int
    ) {
        #expect(throws: WireError(fault, atOctet: at)) { try Message(decoding: octets(wire)) }
    }

    @Test(
        arguments: [
            ("0001 0001 00000000 0003 7f0000", WireError.Fault.recordTooShort),
            ("0001 0001 00000000 0005 7f00000100", .recordTooLong),
            ("0001 0001 00000000 0005 7f000001", .truncated),
            ("001c 0001 00000000 0004 7f000001", .recordTooShort),
            ("0005 0001 00000000 0000", .recordTooShort),
            ("0005 0001 00000000 0002 0000", .recordTooLong),
            ("0005 0001 00000000 0002 0361", .recordTooShort),
            ("0005 0001 00000000 0001 c0", .recordTooShort),
            ("000f 0001 00000000 0002 000a", .recordTooShort),
            ("0010 0001 00000000 0000", .recordTooShort),
            ("0010 0001 00000000 0003 126162", .recordTooShort),
            ("0021 0001 00000000 0004 02030405", .recordTooShort),
            (
                "0006 0001 00000000 0015 00 00 00000001 00000001 00000001 00000001 000000",
                .recordTooShort
            ),
            ("0101 0001 00000000 0002 00 00", .malformedRecord),
            ("0101 0001 00000000 0003 00 05 61", .recordTooShort),
            ("0029 04d0 00000000 0000", .misplacedEDNS),
        ] as [(String, WireError.Fault)])
    func `data that is not its type's is refused`(record: String, fault: WireError.Fault) throws {
        let error = #expect(throws: WireError.self) {
            try Message(decoding: octets(Self.answer + record))
        }
        #expect(error?.fault == fault)
    }

    @Test(
        arguments: [
            (
                "00 0029 04d0 00000000 0000 00 0029 04d0 00000000 0000", 2,
                WireError.Fault.duplicateEDNS
            ),
            ("0161 00 0029 04d0 00000000 0000", 1, .misplacedEDNS),
            ("00 0029 04d0 00000000 0003 000c 00", 1, .recordTooShort),
            ("00 0029 04d0 00000000 0004 000c 0001", 1, .recordTooShort),
        ] as [(String, Int, WireError.Fault)])
    func `there is one OPT record, at the root, with whole options`(
        records: String, count: Int, fault: WireError.Fault
    ) {
        let error = #expect(throws: WireError.self) {
            try Message(decoding: octets("00008180 00000000 0000000\(count)" + records))
        }
        #expect(error?.fault == fault)
    }

    @Test func `a name has at most 255 octets, however it is put together`() throws {
        let label = [63] + [UInt8](repeating: 0x61, count: 63)
        let head = octets("00008180 00010000 00000000")
        let longest = label + label + label + [61] + label[1...61] + [0]
        #expect(longest.count == 255)
        let message = try Message(decoding: head + longest + [0, 1, 0, 1])
        #expect(message.questions[0].name.octets.count == 254)
        let tooLong = label + label + label + [62] + label[1...62] + [0]
        #expect(throws: WireError(.nameTooLong, atOctet: 12 + 192)) {
            try Message(decoding: head + tooLong + [0, 1, 0, 1])
        }
        // 63 more octets in front of a name that fits alone.
        let two = octets("00008180 00020000 00000000") + longest + [0, 1, 0, 1] + label
        #expect(throws: WireError.self) {
            try Message(decoding: two + [0xC0, 12, 0, 1, 0, 1])
        }
    }

    @Test func `a name of the record's data may not run past that data`() throws {
        // CNAME data of 3 octets, "01 61 01", then "62 00" as if the name went on.
        let wire = octets(Self.answer + "0005 0001 00000000 0003 0161 01 6200")
        #expect(throws: WireError(.recordTooShort, atOctet: 25)) { try Message(decoding: wire) }
    }

    @Test func `a message longer than 65535 octets is refused before it is read`() {
        let wire = [UInt8](repeating: 0, count: 65_536)
        #expect(throws: WireError(.messageTooLong, atOctet: 65_535)) {
            try Message(decoding: wire)
        }
    }

    @Test func `every beginning of a message is an error and never a trap`() {
        for wire in GoldenMessages.all {
            for count in wire.indices {
                #expect(throws: WireError.self) { try Message(decoding: Array(wire[..<count])) }
            }
        }
    }

    @Test func `any one octet may be changed without a trap`() throws {
        for wire in GoldenMessages.all {
            for index in wire.indices {
                for value in [0, 1, 0x3F, 0x40, 0x7F, 0x80, 0xC0, 0xFF] as [UInt8] {
                    var changed = wire
                    changed[index] = value
                    guard let message = try? Message(decoding: changed) else { continue }
                    let encoded = try message.encode()
                    #expect(try Message(decoding: encoded) == message)
                }
            }
        }
    }
}

@Suite struct DecodingCostTests {
    /// A record whose data is a chain of pointers, and one whose owner is `count` pointers long.
    static func pointerChain(_ count: Int) -> [UInt8] {
        var wire = octets("00008180 00000002 00000000 00 ff00 0001 00000000")
        let length = 2 * (count - 1)
        wire += [UInt8(length >> 8), UInt8(length & 0xFF)]
        // The first points at the counts in the header, where a zero octet stands for the root.
        var previous = 4
        for _ in 1..<count {
            let start = wire.count
            wire += [0xC0 | UInt8(previous >> 8), UInt8(previous & 0xFF)]
            previous = start
        }
        return wire + [0xC0 | UInt8(previous >> 8), UInt8(previous & 0xFF)]
            + octets("ff00 0001 00000000 0000")
    }

    @Test func `a chain of 127 pointers is read, a longer one refused`() throws {
        #expect(try Message(decoding: Self.pointerChain(127)).answers[1].name == .root)
        let error = #expect(throws: WireError.self) {
            try Message(decoding: Self.pointerChain(128))
        }
        #expect(error?.fault == .tooMuchCompression)
    }

    @Test(arguments: [1_000, 2_000, 4_000, 8_000])
    func `the steps grow with the length of the message, whatever it says`(count: Int) {
        // Each record points at a name of 127 labels whose beginning differs from all before it.
        let name = [UInt8](repeating: 1, count: 254) + [0]
        var wire = octets("00008180 00010000 00000000") + name + [0, 1, 0, 1]
        wire[6] = UInt8(count >> 8)
        wire[7] = UInt8(count & 0xFF)
        for index in 0..<count where wire.count < 65_000 {
            wire += [1, UInt8(index & 0xFF), 0xC0, 14] + octets("ff00 0001 00000000 0000")
        }
        var reader = WireReader(wire)
        #expect(throws: WireError.self) { try Message(reading: &reader) }
        #expect(reader.steps <= 1_024 + 4 * wire.count + 1)
    }

    @Test func `a bare pointer to the question costs one step`() throws {
        var reader = WireReader(GoldenMessages.aliasAnswer)
        _ = try Message(reading: &reader)
        // The question's 4, three bare pointers, and "cdn" with its pointer and two labels left.
        #expect(reader.steps == 4 + 3 + 5)
    }
}
