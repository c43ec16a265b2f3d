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

    static func key(_ name: String, _ type: RecordType = .a, scope: UInt32 = 0) throws
        -> LookupKey
    {
        LookupKey(question: try question(name, type), scope: LookupScope(number: scope))
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

    static func binding(
        _ priority: UInt16, _ parameters: [ServiceBinding.Parameter], to question: Question
    ) throws -> Testimony {
        let binding = ServiceBinding(
            priority: priority, target: .root, parameters: parameters)
        return Testimony(
            question: question, code: .noError,
            answers: [
                ResourceRecord(
                    name: WireName(question.name), type: question.type, ttlSeconds: 60,
                    data: .service(binding))
            ],
            source: Testimony.Source(resolver: "one", transport: .udp))
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

extension AnswerCache {
    /// Stores an answer for the life that it says itself.
    mutating func keep(_ testimony: Testimony, for key: LookupKey, now: Monotonic) {
        store(testimony, for: key, lifeSeconds: AnswerLife.seconds(of: testimony), now: now)
    }
}

/// Numbers that are the same in every run.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Source: the SplitMix64 generator; Steele et al., OOPSLA 2014.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
