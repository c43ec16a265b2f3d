package import HTTPDNSLookup
internal import HTTPDNSNames

/// Reads the usual answer of Aliyun's single call in one pass over its octets, without a tree of
/// values and without texts.
///
/// It knows one shape: an object with `host`, `ips`, `ipsv6`, `ttl`, `origin_ttl` and `client_ip`, each
/// once at most, in plain ASCII without escapes, for one of the names asked. For every other body it
/// gives nil, and ``AliyunCodec/fullAnswers(in:)`` decides: so it can be wrong about nothing, only
/// slower.
package struct AliyunScan {
    private let octets: [UInt8]
    private var at = 0

    private init(_ octets: [UInt8]) { self.octets = octets }

    /// Nil when the body has another shape.
    package static func answers(
        in body: [UInt8], to questions: [Question]
    ) -> AddressAnswers? {
        var scan = AliyunScan(body)
        return scan.object(questions)
    }

    /// What has been read so far.
    private struct Found {
        var name: HostName?
        var ipv4: [IPAddress]?
        var ipv6: [IPAddress]?
        var seconds: UInt32?
        var client: IPAddress?
        var hasOrigin = false
    }

    private mutating func object(_ questions: [Question]) -> AddressAnswers? {
        var found = Found()
        skipSpace()
        guard take(0x7B) else { return nil }
        repeat {
            skipSpace()
            guard let key = key() else { return nil }
            skipSpace()
            guard take(0x3A) else { return nil }
            skipSpace()
            guard member(key, questions, &found) else { return nil }
            skipSpace()
        } while take(0x2C)
        guard take(0x7D) else { return nil }
        skipSpace()
        guard at == octets.count, let name = found.name else { return nil }
        var answer = NamedAnswer()
        answer.seconds = found.seconds
        answer.ipv4 = found.ipv4.map { FamilyAnswer(addresses: $0, seconds: found.seconds) }
        answer.ipv6 = found.ipv6.map { FamilyAnswer(addresses: $0, seconds: found.seconds) }
        var answers = AddressAnswers()
        answers.clientAddress = found.client
        answers.add(answer, for: name)
        return answers
    }

    /// False when the value is not what that member usually has, or has come before.
    private mutating func member(
        _ key: Key, _ questions: [Question], _ found: inout Found
    ) -> Bool {
        switch key {
        case .host:
            guard found.name == nil else { return false }
            found.name = name(questions)
            return found.name != nil
        case .ipv4:
            guard found.ipv4 == nil else { return false }
            found.ipv4 = addresses(.ipv4)
            return found.ipv4 != nil
        case .ipv6:
            guard found.ipv6 == nil else { return false }
            found.ipv6 = addresses(.ipv6)
            return found.ipv6 != nil
        case .seconds:
            guard found.seconds == nil, let number = number() else { return false }
            found.seconds = AnswerLifetime.seconds(number)
            return true
        case .originSeconds:
            guard !found.hasOrigin, number() != nil else { return false }
            found.hasOrigin = true
            return true
        case .client:
            guard found.client == nil else { return false }
            let start = at
            found.client = quoted(.ipv4)
            if found.client == nil {
                at = start
                found.client = quoted(.ipv6)
            }
            return found.client != nil
        }
    }

    private enum Key {
        case host, ipv4, ipv6, seconds, originSeconds, client
    }

    /// The name of a member, as the number that its letters spell.
    private mutating func key() -> Key? {
        guard take(0x22) else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        var count = 0
        while let octet = peek, octet != 0x22 {
            guard octet > 0x20, octet < 0x7F, octet != 0x5C, count < 16 else { return nil }
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(octet)
            count += 1
            at += 1
        }
        guard take(0x22) else { return nil }
        switch (high, low) {
        case (0, 0x686F_7374): return .host  // host
        case (0, 0x0069_7073): return .ipv4  // ips
        case (0, 0x69_7073_7636): return .ipv6  // ipsv6
        case (0, 0x0074_746C): return .seconds  // ttl
        case (0x6F72, 0x6967_696E_5F74_746C): return .originSeconds  // origin_ttl
        case (0x63, 0x6C69_656E_745F_6970): return .client  // client_ip
        default: return nil
        }
    }

    /// The name asked that stands there in its canonical form.
    private mutating func name(_ questions: [Question]) -> HostName? {
        guard take(0x22) else { return nil }
        for question in questions {
            let end = at + question.name.text.utf8.count
            guard end < octets.count, octets[end] == 0x22,
                isText(question.name.text.utf8)
            else { continue }
            at = end + 1
            return question.name
        }
        return nil
    }

    /// True when `text` stands here, before the end of the octets.
    private func isText(_ text: String.UTF8View) -> Bool {
        var place = at
        for octet in text {
            guard octets[place] == octet else { return false }
            place += 1
        }
        return true
    }

    /// A whole number of at most nine digits.
    private mutating func number() -> Int64? {
        let start = at
        var number: Int64 = 0
        while let octet = peek, (0x30...0x39).contains(octet), at - start < 10 {
            number = number * 10 + Int64(octet - 0x30)
            at += 1
        }
        let count = at - start
        guard (1...9).contains(count), count == 1 || octets[start] != 0x30 else { return nil }
        return number
    }

    /// Because: services give one to four; more cost one more allocation.
    private static var usualAddresses: Int { 4 }

    private mutating func addresses(_ family: IPAddress.Family) -> [IPAddress]? {
        guard take(0x5B) else { return nil }
        skipSpace()
        var addresses: [IPAddress] = []
        if take(0x5D) { return addresses }
        addresses.reserveCapacity(Self.usualAddresses)
        repeat {
            skipSpace()
            guard let address = quoted(family) else { return nil }
            addresses.append(address)
            skipSpace()
        } while take(0x2C)
        return take(0x5D) ? addresses : nil
    }

    private mutating func quoted(_ family: IPAddress.Family) -> IPAddress? {
        guard take(0x22), let address = family == .ipv4 ? ipv4() : ipv6(), take(0x22) else {
            return nil
        }
        return address
    }

    private var peek: UInt8? { at < octets.count ? octets[at] : nil }

    private mutating func take(_ octet: UInt8) -> Bool {
        guard peek == octet else { return false }
        at += 1
        return true
    }

    /// Source: RFC 8259 §2.
    private mutating func skipSpace() {
        while let octet = peek, octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 {
            at += 1
        }
    }
}

// Addresses
extension AliyunScan {
    /// Four numbers without leading zeros. Source: RFC 6943 §3.1.1.
    private mutating func ipv4() -> IPAddress? {
        var low: UInt64 = 0
        for place in 0..<4 {
            if place > 0 { guard take(0x2E) else { return nil } }
            let start = at
            var number: UInt64 = 0
            while let octet = peek, (0x30...0x39).contains(octet), at - start < 3 {
                number = number * 10 + UInt64(octet - 0x30)
                at += 1
            }
            let count = at - start
            guard count > 0, number <= 255, count == 1 || octets[start] != 0x30 else { return nil }
            low = low << 8 | number
        }
        return IPAddress(family: .ipv4, high: 0, low: low)
    }

    /// Sixteen octets, filled up from the right.
    private struct Groups {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var count = 0

        mutating func push(_ group: UInt64) {
            high = high << 16 | low >> 48
            low = low << 16 | group
            count += 1
        }
    }

    /// Groups of hexadecimal digits, `::` once for two and more of them; other forms are left to the
    /// full reader. Source: RFC 4291 §2.2.
    private mutating func ipv6() -> IPAddress? {
        var head = Groups()
        var tail: Groups?
        if take(0x3A) {
            guard take(0x3A) else { return nil }
            tail = Groups()
        }
        while peek != 0x22 || head.count + (tail?.count ?? 0) == 0 && tail == nil {
            guard let group = group(), head.count + (tail?.count ?? 0) < 8 else { return nil }
            if tail == nil { head.push(group) } else { tail?.push(group) }
            guard peek != 0x22 else { break }
            guard take(0x3A) else { return nil }
            guard peek == 0x3A else {
                // A colon at the end stands for nothing.
                guard peek != 0x22 else { return nil }
                continue
            }
            guard tail == nil else { return nil }
            at += 1
            tail = Groups()
        }
        guard let tail else {
            return head.count == 8 ? IPAddress(family: .ipv6, high: head.high, low: head.low) : nil
        }
        guard head.count + tail.count <= 6 else { return nil }
        for _ in head.count..<8 { head.push(0) }
        return IPAddress(
            family: .ipv6, high: head.high | tail.high, low: head.low | tail.low)
    }

    /// One to four hexadecimal digits.
    private mutating func group() -> UInt64? {
        var group: UInt64 = 0
        var count = 0
        while count < 4, let octet = peek, let digit = Hex.value(octet) {
            group = group << 4 | UInt64(digit)
            count += 1
            at += 1
        }
        return count > 0 ? group : nil
    }
}
