internal import HTTPDNSNames
internal import HTTPDNSWire

/// An answer as the cache gave it out: octets that can be read when its lock is free again.
package struct PackedHit: Sendable {
    let answer: PackedAnswer
    let lifeSeconds: UInt32
    let source: Testimony.Source
    let secondsLeft: UInt32
    let isStale: Bool
    let wantsRefresh: Bool

    /// Reads the answer; nil when the octets are none, which nothing but a fault of ours can cause.
    package func opened(for question: Question) -> CacheHit? {
        let testimony =
            answer.form.contains(.isCompact)
            ? compact(question) : general(question)
        guard let testimony else { return nil }
        return CacheHit(
            testimony: testimony, secondsLeft: secondsLeft, isStale: isStale,
            wantsRefresh: wantsRefresh)
    }

    private func compact(_ question: Question) -> Testimony? {
        var reader = PackingReader(answer.octets)
        var ttl = lifeSeconds
        if answer.form.contains(.hasTTL) {
            guard let octets = reader.read(4) else { return nil }
            ttl = octets.reduce(0) { $0 << 8 | UInt32($1) }
        }
        let name = WireName(question.name)
        var records: [ResourceRecord] = []
        let width = question.type == .a ? 4 : 16
        records.reserveCapacity(answer.octets.count / width)
        while !reader.isAtEnd {
            guard let octets = reader.read(width), let address = IPAddress(octets: octets) else {
                return nil
            }
            records.append(
                ResourceRecord(
                    name: name, type: question.type, ttlSeconds: ttl, data: .address(address)))
        }
        return Testimony(
            question: question, code: .noError, answers: records,
            isAuthenticData: answer.form.contains(.isAuthentic), source: source)
    }

    private func general(_ asked: Question) -> Testimony? {
        var reader = PackingReader(answer.octets)
        if answer.form.contains(.hasAddresses) {
            guard let count = reader.read(1)?.first,
                reader.read(Int(count) * (asked.type == .aaaa ? 16 : 4)) != nil
            else { return nil }
        }
        var question = asked
        if answer.form.contains(.hasQuestion) {
            guard let other = reader.readQuestion() else { return nil }
            question = other
        }
        reader.learn(WireName(asked.name))
        guard let code = reader.readNumber(), let negative = reader.readNumber(),
            let count = reader.readCount()
        else { return nil }
        var records: [ResourceRecord] = []
        for _ in 0..<count {
            guard let record = reader.readRecord() else { return nil }
            records.append(record)
        }
        var testimony = Testimony(
            question: question, code: ResponseCode(rawValue: UInt16(truncatingIfNeeded: code)),
            answers: records,
            negativeTTLSeconds: negative == 0 ? nil : UInt32(truncatingIfNeeded: negative - 1),
            isAuthenticData: answer.form.contains(.isAuthentic), source: source)
        guard answer.form.contains(.hasErrors) else { return testimony }
        guard let errors = reader.readErrors() else { return nil }
        testimony.extendedErrors = errors
        return testimony
    }
}

/// Reads what ``PackingWriter`` wrote; nil at the first octet that does not fit.
struct PackingReader {
    private let octets: [UInt8]
    private var position = 0
    private var names: [WireName] = []

    init(_ octets: [UInt8]) { self.octets = octets }

    var isAtEnd: Bool { position == octets.count }

    mutating func read(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= octets.count - position else { return nil }
        defer { position += count }
        return octets[position..<(position + count)]
    }

    mutating func readNumber() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 64, let octet = read(1)?.first {
            number |= UInt64(octet & 0x7F) << shift
            if octet & 0x80 == 0 { return number }
            shift += 7
        }
        return nil
    }

    /// A number of things that each take an octet at least, or of bits.
    mutating func readCount() -> Int? {
        readNumber().flatMap { Int(exactly: $0) }.flatMap { $0 <= octets.count + 128 ? $0 : nil }
    }

    mutating func readOctets() -> [UInt8]? {
        guard let count = readNumber().flatMap({ Int(exactly: $0) }) else { return nil }
        return read(count).map { Array($0) }
    }

    mutating func readText() -> String? {
        readOctets().map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func readUInt16() -> UInt16? { readNumber().flatMap { UInt16(exactly: $0) } }

    mutating func readUInt32() -> UInt32? { readNumber().flatMap { UInt32(exactly: $0) } }

    mutating func learn(_ name: WireName) { names.append(name) }

    mutating func readName() -> WireName? {
        guard let number = readNumber() else { return nil }
        if number > 0 {
            return Int(exactly: number).flatMap { $0 <= names.count ? names[$0 - 1] : nil }
        }
        guard let octets = readOctets(), let name = WireName(lengthsAndLabels: octets) else {
            return nil
        }
        learn(name)
        return name
    }

    mutating func readQuestion() -> Question? {
        guard let text = readText(), let name = HostName(asked: text), let type = readUInt16(),
            let wantsDNSSEC = read(1)?.first, let wantsRecursion = read(1)?.first
        else { return nil }
        var question = Question(name: name, type: RecordType(rawValue: type))
        question.wantsDNSSEC = wantsDNSSEC == 1
        question.wantsRecursion = wantsRecursion == 1
        return readExtras(into: &question) ? question : nil
    }

    mutating func readRecord() -> ResourceRecord? {
        guard let name = readName(), let type = readUInt16(), let recordClass = readUInt16(),
            let ttl = readUInt32(), let data = readData()
        else { return nil }
        return ResourceRecord(
            name: name, type: RecordType(rawValue: type), recordClass: recordClass,
            ttlSeconds: ttl, data: data)
    }

    mutating func readErrors() -> [ExtendedError]? {
        guard let count = readCount() else { return nil }
        var errors: [ExtendedError] = []
        for _ in 0..<count {
            guard let code = readUInt16(), let text = readText() else { return nil }
            errors.append(ExtendedError(code: code, text: text))
        }
        return errors
    }

    private mutating func readData() -> RecordData? {
        guard let kind = read(1)?.first.flatMap({ PackedData(rawValue: $0) }) else { return nil }
        switch kind {
        case .address: return readAddress().map { .address($0) }
        case .name: return readName().map { .name($0) }
        case .soa: return readAuthority().map { .soa($0) }
        case .mx:
            guard let preference = readUInt16(), let exchange = readName() else { return nil }
            return .mx(preference: preference, exchange: exchange)
        case .txt: return readStrings().map { .txt($0) }
        case .srv:
            guard let priority = readUInt16(), let weight = readUInt16(), let port = readUInt16(),
                let target = readName()
            else { return nil }
            return .srv(priority: priority, weight: weight, port: port, target: target)
        case .caa:
            guard let flags = read(1)?.first, let tag = readOctets(), let value = readOctets()
            else { return nil }
            return .caa(flags: flags, tag: tag, value: value)
        case .service: return readBinding().map { .service($0) }
        case .opaque: return readOctets().map { .opaque($0) }
        }
    }

    private mutating func readAddress() -> IPAddress? {
        guard let octets = readOctets() else { return nil }
        if !octets.isEmpty { return IPAddress(octets: octets) }
        return readText().flatMap { try? IPAddress($0) }
    }

    private mutating func readStrings() -> [[UInt8]]? {
        guard let count = readCount() else { return nil }
        var strings: [[UInt8]] = []
        for _ in 0..<count {
            guard let string = readOctets() else { return nil }
            strings.append(string)
        }
        return strings
    }

    private mutating func readAuthority() -> StartOfAuthority? {
        guard let primary = readName(), let mailbox = readName(), let serial = readUInt32(),
            let refresh = readUInt32(), let retry = readUInt32(), let expire = readUInt32(),
            let minimum = readUInt32()
        else { return nil }
        return StartOfAuthority(
            primary: primary, mailbox: mailbox, serial: serial, refreshSeconds: refresh,
            retrySeconds: retry, expireSeconds: expire, minimumSeconds: minimum)
    }

    private mutating func readBinding() -> ServiceBinding? {
        guard let priority = readUInt16(), let target = readName(), let count = readCount() else {
            return nil
        }
        var parameters: [ServiceBinding.Parameter] = []
        for _ in 0..<count {
            guard let key = readUInt16(), let value = readOctets() else { return nil }
            parameters.append(ServiceBinding.Parameter(key: key, value: value))
        }
        return ServiceBinding(priority: priority, target: target, parameters: parameters)
    }
}

extension WireName {
    /// A name from its labels, each after its length; nil when they are no name.
    fileprivate init?(lengthsAndLabels octets: [UInt8]) {
        var labels: [[UInt8]] = []
        var at = 0
        while at < octets.count {
            let end = at + 1 + Int(octets[at])
            guard end <= octets.count else { return nil }
            labels.append(Array(octets[(at + 1)..<end]))
            at = end
        }
        self.init(labels: labels)
    }
}
