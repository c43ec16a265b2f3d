import HTTPDNSNames
package import HTTPDNSWire

/// The world that the contract of back-ends is tested in: every server of the suite answers by it.
package enum ContractZone {
    package static let suffix = "contract.test"
    package static let addressTTLSeconds: UInt32 = 30
    package static let aliasTTLSeconds: UInt32 = 60
    /// The SOA's TTL and its minimum: the smaller one holds.
    package static let negativeTTLSeconds: UInt32 = 5

    package static let ipv4 = ["203.0.113.7", "203.0.113.8"]
    package static let ipv6 = ["2001:db8::7"]

    /// What a name of the zone does when it is asked for.
    package enum Behaviour: Sendable {
        case addresses([String])
        case alias(to: String, [String])
        case noSuchName
        case noData
        case code(ResponseCode)
        case silence
        /// Octets that are no answer: the server sends ``ContractZone/hostileReplies(to:)`` number n.
        case hostile(Int)
    }

    /// By the name's first label: `ok`, `alias`, `nx`, `nodata`, `servfail`, `refused`, `silent`,
    /// `hostile-N`, `many-N`.
    package static func behaviour(of name: String) -> Behaviour {
        let label = String(name.prefix { $0 != "." })
        switch label {
        case "ok": return .addresses(ipv4 + ipv6)
        case "alias": return .alias(to: "ok." + suffix, ipv4 + ipv6)
        case "nodata": return .noData
        case "servfail": return .code(.serverFailure)
        case "refused": return .code(.refused)
        case "silent": return .silence
        default: break
        }
        if label.hasPrefix("hostile-"), let number = Int(label.dropFirst(8)) {
            return .hostile(number)
        }
        if label.hasPrefix("many-"), let number = Int(label.dropFirst(5)), number < 65_536 {
            return .addresses(["198.51.\(number >> 8).\(number & 0xFF)"])
        }
        return .noSuchName
    }

    /// The reply to a query, whole; nil for silence and for hostile names.
    package static func reply(to query: Message) -> Message? {
        guard let question = query.questions.first else { return nil }
        var reply = Message(id: query.id, questions: query.questions)
        reply.flags.isResponse = true
        reply.flags.wantsRecursion = query.flags.wantsRecursion
        reply.flags.offersRecursion = true
        if query.edns != nil { reply.edns = EDNS() }
        switch behaviour(of: question.name.description) {
        case .addresses(let texts):
            reply.answers = records(texts, question.name, question.type)
        case .alias(let target, let texts):
            guard let target = wireName(target) else { return nil }
            reply.answers =
                [
                    ResourceRecord(
                        name: question.name, type: .cname, ttlSeconds: aliasTTLSeconds,
                        data: .name(target))
                ] + records(texts, target, question.type)
        case .noSuchName:
            reply.code = .noSuchName
            reply.authorities = [authority].compactMap { $0 }
        case .noData: reply.authorities = [authority].compactMap { $0 }
        case .code(let code): reply.code = code
        case .silence, .hostile: return nil
        }
        return reply
    }

    /// Replies that must neither trap nor pass for an answer: the query's own octets, bent.
    package static func hostileReplies(to query: [UInt8]) -> [[UInt8]] {
        guard query.count >= 12 else { return [] }
        var response = query
        response[2] |= 0x80
        // Answers are announced, none is there.
        var promises = response
        promises[6] = 0xFF
        promises[7] = 0xFF
        // A name that points at itself.
        var loop = response
        loop[7] = 1
        loop += [0xC0, UInt8(loop.count & 0xFF), 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4]
        // Data that is longer than the message.
        var long = response
        long[7] = 1
        long += [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0xFF, 0xFF, 1, 2, 3, 4]
        // The query itself, and a message that ends in its first name.
        return [promises, loop, long, query, Array(response.prefix(13))]
    }

    /// What a plain server does about a query.
    package static func octets(answering query: [UInt8]) -> [UInt8]? {
        guard let message = try? Message(decoding: query), let question = message.questions.first
        else { return nil }
        if case .hostile(let number) = behaviour(of: question.name.description) {
            let replies = hostileReplies(to: query)
            return replies.isEmpty ? nil : replies[number % replies.count]
        }
        return try? reply(to: message)?.encode()
    }

    /// How many kinds of ``hostileReplies(to:)`` there are.
    package static let hostileKinds = 5

    private static func records(
        _ texts: [String], _ name: WireName, _ type: RecordType
    ) -> [ResourceRecord] {
        let family: IPAddress.Family
        switch type {
        case .a: family = .ipv4
        case .aaaa: family = .ipv6
        default: return []
        }
        return texts.compactMap { try? IPAddress($0) }.filter { $0.family == family }.map {
            ResourceRecord(
                name: name, type: type, ttlSeconds: addressTTLSeconds, data: .address($0))
        }
    }

    private static var authority: ResourceRecord? {
        guard let apex = wireName(suffix), let primary = wireName("ns." + suffix) else {
            return nil
        }
        return ResourceRecord(
            name: apex, type: .soa, ttlSeconds: 300,
            data: .soa(
                StartOfAuthority(
                    primary: primary, mailbox: primary, serial: 1, refreshSeconds: 1,
                    retrySeconds: 1, expireSeconds: 1, minimumSeconds: negativeTTLSeconds)))
    }

    private static func wireName(_ text: String) -> WireName? {
        (try? HostName(text)).map { WireName($0) }
    }
}
