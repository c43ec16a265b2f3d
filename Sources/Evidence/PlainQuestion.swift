internal import HTTPDNSDatagram
internal import HTTPDNSDiagnosis
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// One question to a name server as octets, and how its answers are read.
struct PlainQuestion: Sendable {
    let name: WireName
    let type: RecordType
    /// 1 for IN, 3 for CH.
    let recordClass: UInt16
    let octets: [UInt8]

    /// Nil when it has no wire form, which no host name lacks.
    init?(_ name: WireName, _ type: RecordType, recordClass: UInt16 = 1, hasEDNS: Bool = true) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
        var message = Message(
            id: .random(in: .min ... .max),
            questions: [.init(name: name, type: type, recordClass: recordClass)])
        message.flags.wantsRecursion = true
        message.flags.isAuthenticData = recordClass == 1
        if hasEDNS { message.edns = EDNS() }
        guard let octets = try? message.encode() else { return nil }
        self.octets = octets
    }

    init?(_ name: HostName, _ type: RecordType) { self.init(WireName(name), type) }

    /// The same without EDNS, for a server that does not know it.
    var plainer: PlainQuestion? {
        PlainQuestion(name, type, recordClass: recordClass, hasEDNS: false)
    }

    /// Whether a datagram is a reply to this.
    func isAnswered(by reply: [UInt8]) -> Bool {
        ReplyCheck.verdict(reply, to: octets, questionOctets: name.octets.count + 5) == .ours
    }

    /// Whether a server did not understand EDNS. Source: RFC 6891 §7.
    func isPuzzling(_ reply: [UInt8]) -> Bool {
        guard let header = try? MessageHeader(reply) else { return false }
        return (header.codeBits == 1 || header.codeBits == 4) && header.additionals == 0
    }

    /// What a reply says about `host`.
    func statement(
        _ reply: [UInt8], about host: HostName, from label: String
    ) -> Result<Statement, QueryFailure> {
        if let header = try? MessageHeader(reply), header.flags.isTruncated {
            return .failure(.malformed("it is cut short, the rest is had over TCP alone"))
        }
        let source = Testimony.Source(resolver: label, transport: .udp)
        do throws(QueryFailure) {
            let said = try testimony(
                fromWire: reply, for: Question(name: host, type: type), source: source)
            return .success(Statement(said))
        } catch { return .failure(error) }
    }

    /// The texts of a reply, for servers that say who they are.
    func texts(_ reply: [UInt8]) -> [String] {
        guard let message = try? Message(decoding: reply) else { return [] }
        return message.answers.prefix(PlainQuestion.mostTexts).flatMap { record -> [String] in
            guard case .txt(let strings) = record.data else { return [] }
            return strings.prefix(PlainQuestion.mostTexts).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    /// Because: a server has one name and one version; more is not about it.
    private static let mostTexts = 4
}

extension Statement {
    /// Because: more addresses than these are no honest answer, and all of them are looked at again
    /// and again.
    private static let mostAddresses = 64
    /// Because: honest chains have a handful.
    private static let mostAliases = 16

    /// What a testimony says, its first addresses and aliases where it has more than are honest.
    init(_ testimony: Testimony) {
        let answer = LookupAnswer(testimony: testimony, ttlSeconds: 0, isCached: false)
        let lives = testimony.answers.map(\.ttlSeconds)
        // A bad address must not hide behind a good one that is said 64 times.
        var seen: Set<IPAddress> = []
        let addresses = answer.addresses.filter { seen.insert($0).inserted }
        self.init(
            code: testimony.code,
            addresses: Array(addresses.prefix(Statement.mostAddresses)),
            aliases: Array(answer.aliases.prefix(Statement.mostAliases)),
            ttlSeconds: testimony.excessiveTTLSeconds ?? lives.min()
                ?? testimony.negativeTTLSeconds,
            isAuthenticData: testimony.isAuthenticData,
            extendedErrors: testimony.extendedErrors)
    }
}
