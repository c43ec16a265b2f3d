extension Message {
    /// Reads a whole message.
    ///
    /// Costs time and memory linear in `octets`, whatever they say. A TTL with its top bit set
    /// becomes 0 (RFC 2181 §8). Octets after the last record are an error: over UDP, TCP and HTTPS the
    /// message's length is known, so they are not part of what the sender counted.
    ///
    /// - Throws: ``WireError``: what was wrong, at which octet.
    public init(decoding octets: [UInt8]) throws(WireError) {
        var reader = WireReader(octets)
        try self.init(reading: &reader)
    }

    package init(reading reader: inout WireReader) throws(WireError) {
        guard reader.remaining <= Message.maximumOctets else {
            throw WireError(.messageTooLong, atOctet: Message.maximumOctets)
        }
        let header = try MessageHeader(reading: &reader)
        self.init(
            id: header.id, flags: header.flags,
            code: ResponseCode(rawValue: UInt16(header.codeBits)))
        for _ in 0..<header.questions { questions.append(try Question(reading: &reader)) }
        for _ in 0..<header.answers { answers.append(try Message.record(&reader)) }
        for _ in 0..<header.authorities { authorities.append(try Message.record(&reader)) }
        for _ in 0..<header.additionals { try readAdditional(&reader) }
        guard reader.remaining == 0 else {
            throw WireError(.trailingOctets, atOctet: reader.position)
        }
    }

    private static func record(_ reader: inout WireReader) throws(WireError) -> ResourceRecord {
        let start = reader.position
        let head = try RecordHead(reading: &reader)
        guard head.type != .opt else { throw WireError(.misplacedEDNS, atOctet: start) }
        return try ResourceRecord(head, reading: &reader)
    }

    private mutating func readAdditional(_ reader: inout WireReader) throws(WireError) {
        let start = reader.position
        let head = try RecordHead(reading: &reader)
        guard head.type == .opt else {
            additionals.append(try ResourceRecord(head, reading: &reader))
            return
        }
        guard head.name == .root else { throw WireError(.misplacedEDNS, atOctet: start) }
        guard edns == nil else { throw WireError(.duplicateEDNS, atOctet: start) }
        edns = try EDNS(head, reading: &reader)
        // Source: RFC 6891 §6.1.3: eight bits above the header's four.
        code = ResponseCode(rawValue: UInt16(head.ttl >> 24) << 4 | code.rawValue)
    }
}

extension Message.Question {
    package init(reading reader: inout WireReader) throws(WireError) {
        name = try reader.name()
        type = RecordType(rawValue: try reader.uint16())
        recordClass = try reader.uint16()
    }
}

/// What stands before a record's data. Source: RFC 1035 §4.1.3.
package struct RecordHead {
    package let name: WireName
    package let type: RecordType
    package let recordClass: UInt16
    /// As sent: OPT gives these bits another meaning.
    package let ttl: UInt32
    package let dataOctets: Int

    package init(reading reader: inout WireReader) throws(WireError) {
        name = try reader.name()
        type = RecordType(rawValue: try reader.uint16())
        recordClass = try reader.uint16()
        ttl = try reader.uint32()
        dataOctets = Int(try reader.uint16())
    }

    /// Source: RFC 2181 §8: a TTL with the top bit set is zero.
    package var ttlSeconds: UInt32 { ttl & 0x8000_0000 == 0 ? ttl : 0 }
}

extension EDNS {
    init(_ head: RecordHead, reading reader: inout WireReader) throws(WireError) {
        udpPayloadOctets = head.recordClass
        version = UInt8(head.ttl >> 16 & 0xFF)
        isDNSSECOK = head.ttl & 0x8000 != 0
        options = try reader.within(head.dataOctets) { reader throws(WireError) in
            var options: [Option] = []
            while reader.remaining > 0 {
                let code = try reader.uint16()
                let count = Int(try reader.uint16())
                options.append(Option(code: code, octets: try reader.take(count)))
            }
            return options
        }
    }
}
