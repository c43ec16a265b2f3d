internal import HTTPDNSNames

extension ResourceRecord {
    package init(_ head: RecordHead, reading reader: inout WireReader) throws(WireError) {
        let data = try reader.within(head.dataOctets) { reader throws(WireError) in
            try RecordData(head, reading: &reader)
        }
        self.init(
            name: head.name, type: head.type, recordClass: head.recordClass,
            ttlSeconds: head.ttlSeconds, data: data)
    }
}

extension RecordData {
    /// The layout a type has in a class.
    enum Layout {
        case address(octets: Int)
        case name
        case soa
        case mx
        case txt
        case srv
        case caa
        case service
        case opaque
    }

    /// Known layouts; the types defined for class IN alone are opaque in any other.
    ///
    /// Source: RFC 1035 §3.3 and §3.4, RFC 3596, RFC 2782, RFC 8659, RFC 9460.
    static func layout(_ type: RecordType, recordClass: UInt16) -> Layout {
        switch type {
        case .ns, .cname, .ptr: .name
        case .soa: .soa
        case .mx: .mx
        case .txt: .txt
        case .caa: .caa
        case .a where recordClass == 1: .address(octets: 4)
        case .aaaa where recordClass == 1: .address(octets: 16)
        case .srv where recordClass == 1: .srv
        case .svcb where recordClass == 1: .service
        case .https where recordClass == 1: .service
        default: .opaque
        }
    }

    /// Reads all that is left before the reader's limit, and may leave some: the caller checks.
    init(_ head: RecordHead, reading reader: inout WireReader) throws(WireError) {
        // Source: RFC 2136 §2.4 and §2.5: classes NONE (254) and ANY (255) go with empty data.
        if head.dataOctets == 0, head.recordClass == 254 || head.recordClass == 255 {
            self = .opaque([])
            return
        }
        switch RecordData.layout(head.type, recordClass: head.recordClass) {
        case .address(let count): self = try RecordData.address(count, &reader)
        case .name: self = .name(try reader.name())
        case .soa: self = .soa(try StartOfAuthority(reading: &reader))
        case .mx: self = .mx(preference: try reader.uint16(), exchange: try reader.name())
        case .txt: self = try RecordData.txt(&reader)
        case .srv:
            self = .srv(
                priority: try reader.uint16(), weight: try reader.uint16(),
                port: try reader.uint16(), target: try reader.name())
        case .caa: self = try RecordData.caa(&reader)
        case .service: self = .service(try ServiceBinding(reading: &reader))
        case .opaque: self = .opaque(Array(reader.rest()))
        }
    }

    private static func address(
        _ count: Int, _ reader: inout WireReader
    ) throws(WireError) -> RecordData {
        guard count == 4 else {
            let high = UInt64(try reader.uint32()) << 32 | UInt64(try reader.uint32())
            let low = UInt64(try reader.uint32()) << 32 | UInt64(try reader.uint32())
            return .address(IPAddress(family: .ipv6, high: high, low: low))
        }
        return .address(IPAddress(family: .ipv4, high: 0, low: UInt64(try reader.uint32())))
    }

    /// One or more character strings. Source: RFC 1035 §3.3.14.
    private static func txt(_ reader: inout WireReader) throws(WireError) -> RecordData {
        var strings: [[UInt8]] = []
        repeat {
            strings.append(Array(try reader.characterString()))
        } while reader.remaining > 0
        return .txt(strings)
    }

    /// Source: RFC 8659 §4.1: the tag has at least one octet.
    private static func caa(_ reader: inout WireReader) throws(WireError) -> RecordData {
        let flags = try reader.octet()
        let start = reader.position
        let tag = Array(try reader.characterString())
        guard !tag.isEmpty else { throw WireError(.malformedRecord, atOctet: start) }
        return .caa(flags: flags, tag: tag, value: Array(reader.rest()))
    }
}

extension StartOfAuthority {
    init(reading reader: inout WireReader) throws(WireError) {
        self.init(
            primary: try reader.name(), mailbox: try reader.name(), serial: try reader.uint32(),
            refreshSeconds: try reader.uint32(), retrySeconds: try reader.uint32(),
            expireSeconds: try reader.uint32(), minimumSeconds: try reader.uint32())
    }
}
