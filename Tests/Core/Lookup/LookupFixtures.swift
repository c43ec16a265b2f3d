import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire

/// Short ways to say what a source answered.
enum Said {
    static func question(_ name: String = "api.example.test", _ type: RecordType = .a) throws
        -> Question
    {
        Question(name: try HostName(name), type: type)
    }

    static func addresses(
        _ texts: [String], ttl: UInt32 = 60, to question: Question, by label: String = "one"
    ) throws -> Testimony {
        Testimony(
            question: question, code: .noError,
            answers: try texts.map { try record(question.name.text, ttl, $0) },
            source: Testimony.Source(resolver: label, transport: .udp))
    }

    static func nothing(
        _ code: ResponseCode, soa: UInt32? = nil, to question: Question, by label: String = "one"
    ) -> Testimony {
        Testimony(
            question: question, code: code, answers: [], negativeTTLSeconds: soa,
            source: Testimony.Source(resolver: label, transport: .udp))
    }

    static func record(_ name: String, _ ttl: UInt32, _ address: String) throws -> ResourceRecord {
        let address = try IPAddress(address)
        return ResourceRecord(
            name: WireName(try HostName(name)), type: address.family == .ipv4 ? .a : .aaaa,
            ttlSeconds: ttl, data: .address(address))
    }

    static func alias(_ name: String, _ ttl: UInt32, _ target: String) throws -> ResourceRecord {
        ResourceRecord(
            name: WireName(try HostName(name)), type: .cname, ttlSeconds: ttl,
            data: .name(WireName(try HostName(target))))
    }
}

extension Monotonic {
    static func at(_ milliseconds: Int64) -> Monotonic {
        Monotonic.zero.adding(milliseconds: milliseconds)
    }
}
