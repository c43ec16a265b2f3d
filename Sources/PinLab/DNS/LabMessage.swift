internal import HTTPDNSNames
internal import HTTPDNSWire

/// An option of EDNS.
struct LabOption: Hashable {
    let code: UInt16
    let data: [UInt8]
}

/// A DNS query as the laboratory reads it.
///
/// This codec is the laboratory's own, not the library's: two implementations that agree prove more
/// than one that agrees with itself. Source: RFC 1035 §4.1.
struct LabQuery {
    let number: UInt16
    let flags: UInt16
    let question: LabQuestion
    /// The question section as it came.
    let questionOctets: [UInt8]
    /// The largest answer the client takes over UDP; nil without EDNS. Source: RFC 6891 §6.2.3.
    let largestAnswer: Int?
    /// The options of EDNS, in order.
    let options: [LabOption]

    /// Nil for what is not a query with one question of class IN.
    init?(_ octets: [UInt8], isTCP: Bool) {
        guard octets.count >= 12, octets[2] & 0x80 == 0 else { return nil }
        number = LabQuery.word(octets, 0)
        flags = LabQuery.word(octets, 2)
        guard LabQuery.word(octets, 4) == 1 else { return nil }
        var index = 12
        guard let name = LabQuery.name(octets, &index), octets.count >= index + 4,
            LabQuery.word(octets, index + 2) == 1
        else { return nil }
        question = LabQuestion(
            name: name, type: RecordType(rawValue: LabQuery.word(octets, index)), isTCP: isTCP)
        index += 4
        questionOctets = Array(octets[12..<index])
        // The OPT record of a query follows its question: root name, type, size.
        largestAnswer =
            LabQuery.word(octets, 10) > 0 && octets.count >= index + 11 && octets[index] == 0
                && LabQuery.word(octets, index + 1) == RecordType.opt.rawValue
            ? Int(LabQuery.word(octets, index + 3)) : nil
        options = largestAnswer == nil ? [] : LabQuery.options(octets, index + 9)
    }

    /// The options of an OPT record whose data length stands at the index; those that run over its
    /// end are left out. Source: RFC 6891 §6.1.2.
    private static func options(_ octets: [UInt8], _ index: Int) -> [LabOption] {
        let end = min(octets.count, index + 2 + Int(word(octets, index)))
        var options: [LabOption] = []
        var start = index + 2
        while start + 4 <= end {
            let next = start + 4 + Int(word(octets, start + 2))
            guard next <= end else { break }
            options.append(
                LabOption(code: word(octets, start), data: Array(octets[(start + 4)..<next])))
            start = next
        }
        return options
    }

    private static func word(_ octets: [UInt8], _ index: Int) -> UInt16 {
        UInt16(octets[index]) << 8 | UInt16(octets[index + 1])
    }

    /// A question's name is never compressed: nothing comes before it.
    private static func name(_ octets: [UInt8], _ index: inout Int) -> WireName? {
        var labels: [[UInt8]] = []
        while index < octets.count {
            let count = Int(octets[index])
            index += 1
            if count == 0 { return WireName(labels: labels) }
            guard count < 64, octets.count >= index + count else { return nil }
            labels.append(Array(octets[index..<index + count]))
            index += count
        }
        return nil
    }
}

// What EDNS adds.
extension LabQuery {
    /// The client subnet as text, `192.0.2.0/24`; nil without one. Source: RFC 7871 §6.
    var clientSubnet: String? {
        guard let data = options.first(where: { $0.code == 8 })?.data, data.count >= 4 else {
            return nil
        }
        let width = LabQuery.word(data, 0) == 1 ? 4 : 16
        let known = Array(data.dropFirst(4).prefix(width))
        let octets = known + [UInt8](repeating: 0, count: width - known.count)
        return IPAddress(octets: octets).map { "\($0)/\(data[2])" }
    }

    /// A reply that ends in the OPT record of ``replies(_:)``, padded to a multiple of 468 octets when
    /// the query was padded. Source: RFC 7830 §4, RFC 8467 §4.1.
    func padded(_ reply: [UInt8]) -> [UInt8] {
        // Not behind another option.
        guard options.contains(where: { $0.code == 12 }), reply.count >= 23,
            reply.suffix(11).starts(with: [0, 0, 41])
        else { return reply }
        let filling = (468 - (reply.count + 4) % 468) % 468
        var octets = LabOctets(octets: Array(reply.dropLast(2)))
        octets.add(UInt16(filling + 4))
        octets.add(UInt16(12))
        octets.add(UInt16(filling))
        return octets.octets + [UInt8](repeating: 0, count: filling)
    }
}

// The answers' octets.
extension LabQuery {
    /// The messages to send for an answer, in order.
    func replies(_ answer: LabAnswer) -> [[UInt8]] {
        switch answer.conduct {
        case .answers: [fitted(answer)]
        case .drops, .hangsUp: []
        case .truncates: [question.isTCP ? message(answer) : truncated(answer)]
        case .mistakesNumber: [message(answer, number: number ^ 0x5555)]
        case .mistakesQuestion: [message(answer, questionOctets: LabQuery.otherQuestion)]
        case .writes(let octets): [octets]
        case .forgesFirst(let records): [message(LabAnswer(answers: records)), fitted(answer)]
        }
    }

    private func fitted(_ answer: LabAnswer) -> [UInt8] {
        let whole = message(answer)
        // 512 octets without EDNS. Source: RFC 1035 §4.2.1.
        guard !question.isTCP, whole.count > max(512, largestAnswer ?? 512) else { return whole }
        return truncated(answer)
    }

    private func truncated(_ answer: LabAnswer) -> [UInt8] {
        var octets = message(LabAnswer(code: answer.code))
        octets[2] |= 0x02
        return octets
    }

    private func message(
        _ answer: LabAnswer, number: UInt16? = nil, questionOctets: [UInt8]? = nil
    ) -> [UInt8] {
        var octets = LabOctets()
        octets.add(number ?? self.number)
        // QR and RA, the client's RD, the code. Source: RFC 1035 §4.1.1.
        octets.add(0x8080 | flags & 0x0100 | answer.code.rawValue & 0x000F)
        octets.add(UInt16(1))
        octets.add(UInt16(truncatingIfNeeded: answer.answers.count))
        octets.add(UInt16(truncatingIfNeeded: answer.authorities.count))
        octets.add(UInt16(largestAnswer == nil ? 0 : 1))
        octets.octets += questionOctets ?? self.questionOctets
        for record in answer.answers + answer.authorities { octets.add(record) }
        if largestAnswer != nil {
            // Root name, OPT, 1232 octets, no flags. Source: RFC 6891 §6.1.2.
            octets.octets += [0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0]
            let error = answer.extendedError
            octets.add(UInt16(error == nil ? 0 : 6))
            // Source: RFC 8914 §2.
            if let error { for word in [15, 2, error] { octets.add(word) } }
        }
        return octets.octets
    }

    /// `other.invalid` A IN.
    private static let otherQuestion: [UInt8] =
        [5] + Array("other".utf8) + [7] + Array("invalid".utf8) + [0, 0, 1, 0, 1]
}

/// Writes wire format, names uncompressed.
private struct LabOctets {
    var octets: [UInt8] = []

    mutating func add(_ word: UInt16) { octets += [UInt8(word >> 8), UInt8(word & 0xFF)] }

    mutating func add(_ number: UInt32) {
        add(UInt16(number >> 16))
        add(UInt16(number & 0xFFFF))
    }

    mutating func add(_ name: WireName) {
        for label in name.labels { addCounted(label) }
        octets.append(0)
    }

    mutating func add(_ record: ResourceRecord) {
        add(record.name)
        add(record.type.rawValue)
        add(record.recordClass)
        add(record.ttlSeconds)
        var data = LabOctets()
        data.add(record.data)
        add(UInt16(truncatingIfNeeded: data.octets.count))
        octets += data.octets
    }

    private mutating func add(_ data: RecordData) {
        switch data {
        case .address(let address): octets += address.octets
        case .name(let name): add(name)
        case .soa(let authority): add(authority)
        case .mx(let preference, let exchange):
            add(preference)
            add(exchange)
        case .txt(let strings): for string in strings { addCounted(string) }
        case .srv(let priority, let weight, let port, let target):
            for word in [priority, weight, port] { add(word) }
            add(target)
        case .caa(let flags, let tag, let value):
            octets.append(flags)
            addCounted(tag)
            octets += value
        case .service(let binding): add(binding)
        case .opaque(let raw): octets += raw
        }
    }

    private mutating func add(_ authority: StartOfAuthority) {
        add(authority.primary)
        add(authority.mailbox)
        for number in [
            authority.serial, authority.refreshSeconds, authority.retrySeconds,
            authority.expireSeconds, authority.minimumSeconds,
        ] { add(number) }
    }

    private mutating func add(_ binding: ServiceBinding) {
        add(binding.priority)
        add(binding.target)
        for parameter in binding.parameters {
            add(parameter.key)
            add(UInt16(truncatingIfNeeded: parameter.value.count))
            octets += parameter.value
        }
    }

    private mutating func addCounted(_ string: [UInt8]) {
        octets.append(UInt8(truncatingIfNeeded: string.count))
        octets += string
    }
}
