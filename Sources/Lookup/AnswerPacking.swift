internal import HTTPDNSNames
internal import HTTPDNSWire

/// An answer as octets, without its question and its source.
///
/// Two forms. *Compact*, for addresses of one TTL at the question's own name: 4 or 16 octets each, and
/// the TTL where it is not the entry's life. *General*, for everything else: first the addresses at the
/// chain's end, so that they are found without reading the rest, then the records, each name once.
struct PackedAnswer: Sendable {
    let octets: [UInt8]
    let form: Form

    /// Bits that say how to read the octets.
    struct Form: OptionSet, Sendable {
        let rawValue: UInt8

        static let isCompact = Form(rawValue: 0x01)
        /// Four octets of TTL lead, because it is not the entry's life.
        static let hasTTL = Form(rawValue: 0x02)
        static let isAuthentic = Form(rawValue: 0x04)
        /// One octet of count and the addresses lead.
        static let hasAddresses = Form(rawValue: 0x08)
        /// The answer names another question than the key does.
        static let hasQuestion = Form(rawValue: 0x10)
        /// Extended errors follow the records.
        static let hasErrors = Form(rawValue: 0x20)
    }

    init(octets: [UInt8], form: Form) {
        self.octets = octets
        self.form = form
    }

    init(_ testimony: Testimony, for question: Question, lifeSeconds: UInt32) {
        let authentic: Form = testimony.isAuthenticData ? .isAuthentic : []
        if let compact = PackedAnswer.compact(testimony, for: question, lifeSeconds: lifeSeconds) {
            self.init(octets: compact.octets, form: compact.form.union(authentic))
            return
        }
        var form = authentic
        var writer = PackingWriter()
        let addresses =
            testimony.question == question ? PackedAnswer.endAddresses(testimony) : []
        if !addresses.isEmpty, addresses.count <= Int(UInt8.max) {
            form.insert(.hasAddresses)
            writer.append(UInt8(addresses.count))
            for address in addresses { writer.append(address) }
        }
        if testimony.question != question {
            form.insert(.hasQuestion)
            writer.append(testimony.question)
        }
        writer.learn(WireName(question.name))
        writer.append(number: UInt64(testimony.code.rawValue))
        writer.append(number: testimony.negativeTTLSeconds.map { UInt64($0) + 1 } ?? 0)
        writer.append(number: UInt64(testimony.answers.count))
        for record in testimony.answers { writer.append(record) }
        if !testimony.extendedErrors.isEmpty {
            form.insert(.hasErrors)
            writer.append(number: UInt64(testimony.extendedErrors.count))
            for error in testimony.extendedErrors {
                writer.append(number: UInt64(error.code))
                writer.append(contentsOf: Array(error.text.utf8))
            }
        }
        self.init(octets: writer.octets, form: form)
    }

    private static func compact(
        _ testimony: Testimony, for question: Question, lifeSeconds: UInt32
    ) -> PackedAnswer? {
        guard testimony.code == .noError, testimony.negativeTTLSeconds == nil,
            testimony.question == question, testimony.extendedErrors.isEmpty,
            let family = PackedAnswer.family(question.type),
            let ttl = testimony.answers.first?.ttlSeconds
        else { return nil }
        let name = WireName(question.name).octets
        var writer = PackingWriter()
        var form: Form = [.isCompact]
        if ttl != lifeSeconds {
            form.insert(.hasTTL)
            for shift in [24, 16, 8, 0] {
                writer.append(UInt8(truncatingIfNeeded: ttl >> UInt32(shift)))
            }
        }
        for record in testimony.answers {
            guard case .address(let address) = record.data, address.family == family,
                address.zone == nil, record.type == question.type, record.recordClass == 1,
                record.ttlSeconds == ttl, record.name.octets == name
            else { return nil }
            writer.append(address)
        }
        return PackedAnswer(octets: writer.octets, form: form)
    }

    /// The addresses that a reader of addresses alone may have; none where one has a zone.
    private static func endAddresses(_ testimony: Testimony) -> [IPAddress] {
        guard testimony.code == .noError, let family = family(testimony.question.type) else {
            return []
        }
        let addresses = AliasChain(testimony).addresses
        return addresses.allSatisfy { $0.family == family && $0.zone == nil } ? addresses : []
    }

    static func family(_ type: RecordType) -> IPAddress.Family? {
        switch type {
        case .a: .ipv4
        case .aaaa: .ipv6
        default: nil
        }
    }
}

/// Writes numbers in sevens of bits, lengths before octets, and each name once.
struct PackingWriter {
    private(set) var octets: [UInt8] = []
    /// Compared with case, so that a name comes back as it was.
    private var names: [[UInt8]: Int] = [:]

    mutating func append(_ octet: UInt8) { octets.append(octet) }

    mutating func append(number: UInt64) {
        var left = number
        while left >= 0x80 {
            octets.append(UInt8(truncatingIfNeeded: left) | 0x80)
            left >>= 7
        }
        octets.append(UInt8(truncatingIfNeeded: left))
    }

    /// A length, and as many octets.
    mutating func append(contentsOf part: [UInt8]) {
        append(number: UInt64(part.count))
        octets += part
    }

    /// The octets of an address alone.
    mutating func append(_ address: IPAddress) { octets += address.octets }

    /// A name that the reader knows, too, and that stands nowhere.
    mutating func learn(_ name: WireName) { names[name.octets] = names.count + 1 }

    mutating func append(_ name: WireName) {
        if let number = names[name.octets] {
            append(number: UInt64(number))
        } else {
            append(number: 0)
            append(contentsOf: name.octets)
            learn(name)
        }
    }

    mutating func append(_ question: Question) {
        append(contentsOf: Array(question.name.text.utf8))
        append(number: UInt64(question.type.rawValue))
        append(question.wantsDNSSEC ? 1 : 0)
        append(question.wantsRecursion ? 1 : 0)
        append(contentsOf: question.clientSubnet?.address.octets ?? [])
        if let subnet = question.clientSubnet { append(number: UInt64(subnet.prefixBits)) }
        append(number: UInt64(question.serviceParameters.entries.count))
        for entry in question.serviceParameters.entries {
            append(contentsOf: Array(entry.key.utf8))
            append(contentsOf: Array(entry.value.utf8))
        }
    }

    mutating func append(_ record: ResourceRecord) {
        append(record.name)
        append(number: UInt64(record.type.rawValue))
        append(number: UInt64(record.recordClass))
        append(number: UInt64(record.ttlSeconds))
        append(record.data)
    }

    private mutating func append(_ data: RecordData) {
        switch data {
        case .address(let address):
            append(PackedData.address.rawValue)
            append(contentsOf: address.zone == nil ? address.octets : [])
            if address.zone != nil { append(contentsOf: Array(address.description.utf8)) }
        case .name(let name):
            append(PackedData.name.rawValue)
            append(name)
        case .soa(let soa): append(soa)
        case .mx(let preference, let exchange):
            append(PackedData.mx.rawValue)
            append(number: UInt64(preference))
            append(exchange)
        case .txt(let strings):
            append(PackedData.txt.rawValue)
            append(number: UInt64(strings.count))
            for string in strings { append(contentsOf: string) }
        case .srv(let priority, let weight, let port, let target):
            append(PackedData.srv.rawValue)
            for number in [priority, weight, port] { append(number: UInt64(number)) }
            append(target)
        case .caa(let flags, let tag, let value):
            append(PackedData.caa.rawValue)
            append(flags)
            append(contentsOf: tag)
            append(contentsOf: value)
        case .service(let binding): append(binding)
        case .opaque(let octets):
            append(PackedData.opaque.rawValue)
            append(contentsOf: octets)
        }
    }

    private mutating func append(_ soa: StartOfAuthority) {
        append(PackedData.soa.rawValue)
        append(soa.primary)
        append(soa.mailbox)
        for number in [
            soa.serial, soa.refreshSeconds, soa.retrySeconds, soa.expireSeconds,
            soa.minimumSeconds,
        ] {
            append(number: UInt64(number))
        }
    }

    private mutating func append(_ binding: ServiceBinding) {
        append(PackedData.service.rawValue)
        append(number: UInt64(binding.priority))
        append(binding.target)
        append(number: UInt64(binding.parameters.count))
        for parameter in binding.parameters {
            append(number: UInt64(parameter.key))
            append(contentsOf: parameter.value)
        }
    }
}

/// Which data a packed record has.
enum PackedData: UInt8 {
    case address, name, soa, mx, txt, srv, caa, service, opaque
}
