internal import HTTPDNSNames
internal import HTTPDNSWire

/// The DNS operations of the conformance adapter, over plain values: `dns.parse`, `doh.decode`,
/// `dns.encode`, `doh.encode64url`.
enum DNSOperations {
    /// The answer to `dns.parse`; nil where the message is not acceptable.
    struct ParsedMessage: Sendable, Equatable {
        /// The whole code, extended bits included.
        let rcode: Int
        let isTruncated: Bool
        let isResponse: Bool
        /// A, AAAA and CNAME of class IN in the answer section, sorted.
        let answers: [ParsedRecord]
    }

    /// `[name., type, class, ttl, value]`: names in lower case, with the trailing dot.
    struct ParsedRecord: Sendable, Equatable, Comparable {
        let name: String
        let type: Int
        let recordClass: Int
        let ttlSeconds: Int
        let value: String

        static func < (lhs: ParsedRecord, rhs: ParsedRecord) -> Bool {
            let left = (lhs.name, lhs.type, lhs.recordClass, lhs.ttlSeconds, lhs.value)
            return left < (rhs.name, rhs.type, rhs.recordClass, rhs.ttlSeconds, rhs.value)
        }
    }

    static func parse(wire: [UInt8]) -> ParsedMessage? {
        guard let message = try? Message(decoding: wire) else { return nil }
        return ParsedMessage(
            rcode: Int(message.code.rawValue), isTruncated: message.flags.isTruncated,
            isResponse: message.flags.isResponse,
            answers: message.answers.compactMap(ParsedRecord.init).sorted())
    }

    /// An answer's address and its TTL, as `doh.decode` reports it.
    struct AddressAnswer: Sendable, Equatable {
        let address: String
        let ttlSeconds: Int
    }

    /// The addresses that a DoH response gives for `qtype`; nil where it is not a usable answer.
    ///
    /// These vectors come from clients that read nothing but the records asked for: ID 0 and response
    /// code 0 are required, every other record is only framed, and the QR bit is not looked at.
    static func decodeDoH(wire: [UInt8], qtype: UInt16) -> [AddressAnswer]? {
        try? addresses(wire, type: RecordType(rawValue: qtype))
    }

    private static func addresses(
        _ wire: [UInt8], type: RecordType
    ) throws(WireError) -> [AddressAnswer]? {
        var reader = WireReader(wire)
        let header = try MessageHeader(reading: &reader)
        guard header.id == 0, header.codeBits == 0 else { return nil }
        for _ in 0..<header.questions { _ = try Message.Question(reading: &reader) }
        var found: [AddressAnswer] = []
        for _ in 0..<header.answers {
            let head = try RecordHead(reading: &reader)
            guard head.type == type else {
                _ = try reader.take(head.dataOctets)
                continue
            }
            let record = try ResourceRecord(head, reading: &reader)
            guard case .address(let address) = record.data else { continue }
            let ttl = min(record.ttlSeconds, maximumTTLSeconds)
            found.append(
                AddressAnswer(address: address.description, ttlSeconds: Int(ttl)))
        }
        for _ in 0..<(Int(header.authorities) + Int(header.additionals)) {
            _ = try reader.take(RecordHead(reading: &reader).dataOctets)
        }
        return reader.remaining == 0 ? found : nil
    }

    /// Source: the vectors, in which a TTL of 194 days comes back as one day.
    private static let maximumTTLSeconds: UInt32 = 86_400

    /// The query of `dns.encode`: ID 0, recursion desired, no EDNS; nil where `name` is not a name.
    static func encode(name: String, qtype: UInt16) -> [UInt8]? {
        guard let name = WireName(text: name) else { return nil }
        let query = Message.query(
            id: 0, name: name, type: RecordType(rawValue: qtype), options: QueryOptions(edns: nil))
        return try? query.encode()
    }

    /// The `dns` variable of a DoH GET for that query.
    static func encodeBase64URL(name: String, qtype: UInt16) -> String? {
        encode(name: name, qtype: qtype).map { Base64.urlEncoded($0) }
    }
}

extension DNSOperations.ParsedRecord {
    /// Nil for any type but A, AAAA and CNAME, and any class but IN.
    init?(_ record: ResourceRecord) {
        guard record.recordClass == 1, [.a, .aaaa, .cname].contains(record.type) else { return nil }
        name = record.name.absoluteText.lowercased()
        type = Int(record.type.rawValue)
        recordClass = 1
        ttlSeconds = Int(record.ttlSeconds)
        switch record.data {
        case .name(let target): value = target.absoluteText.lowercased()
        default: value = record.data.presentation(type: record.type)
        }
    }
}
