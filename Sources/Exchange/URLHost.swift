package import HTTPDNSNames

/// The host of a parsed URL, not yet held to the rules of ``HTTPDNSNames/HostName``.
package enum URLHost: Sendable, Hashable {
    /// ASCII, lower case.
    case domain(String)
    case address(IPAddress)

    /// The text as the URL standard writes it: IPv6 in brackets, never ending in dotted decimal.
    ///
    /// Source: WHATWG URL §3.6 "IPv6 serializer".
    package var text: String {
        switch self {
        case .domain(let text): text
        case .address(let address):
            if address.octets.count == 16, address.description.contains(".") {
                "[::ffff:" + hexWord(address.octets[12...13]) + ":"
                    + hexWord(address.octets[14...15]) + "]"
            } else {
                address.uriText
            }
        }
    }

    private func hexWord(_ octets: ArraySlice<UInt8>) -> String {
        String(octets.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }, radix: 16)
    }
}

/// The URL standard's host parser. Source: WHATWG URL §3.5.
package enum HostParser {
    static func parse(
        _ written: ArraySlice<UInt8>, oddities: inout Set<URLOddity>, toASCII: DomainToASCII
    ) throws(URLFault) -> URLHost {
        if written.first == 0x5B { return .address(try bracketed(written)) }
        if written.contains(0x25) { oddities.insert(.percentEncodedHost) }
        let domain = PercentEncoding.decoded(written)
        let ascii: [UInt8]
        if domain.allSatisfy({ $0 < 0x80 }) {
            ascii = domain.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        } else {
            do { ascii = Array(try toASCII(String(decoding: domain, as: UTF8.self)).utf8) } catch {
                throw .badHost(error)
            }
        }
        guard !ascii.isEmpty else { throw .noHost }
        for octet in ascii where isForbidden(octet) { throw .forbiddenOctet(octet) }
        let text = String(decoding: ascii, as: UTF8.self)
        guard endsInNumber(ascii) else { return .domain(text) }
        let address = try ipv4(ascii)
        if Array(address.description.utf8) != Array(written) { oddities.insert(.ipv4LookAlike) }
        return .address(address)
    }

    private static func bracketed(_ written: ArraySlice<UInt8>) throws(URLFault) -> IPAddress {
        guard written.last == 0x5D else { throw .badAddress("no ']' ends it") }
        let inner = written.dropFirst().dropLast()
        guard !inner.contains(0x25) else { throw .zone }
        guard inner.contains(0x3A) else { throw .badAddress("only IPv6 stands in brackets") }
        do { return try IPAddress(String(decoding: inner, as: UTF8.self)) } catch {
            throw .badAddress("\(error)")
        }
    }

    /// Forbidden domain code points. Source: WHATWG URL §3.2.
    package static func isForbidden(_ octet: UInt8) -> Bool {
        octet <= 0x20 || octet >= 0x7F || forbiddenOctets.contains(octet)
    }

    private static let forbiddenOctets = Array("#/:<>?@[\\]^|%".utf8)

    /// Source: WHATWG URL §3.5 "ends in a number checker".
    private static func endsInNumber(_ text: [UInt8]) -> Bool {
        var parts = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true {
            guard parts.count > 1 else { return false }
            parts.removeLast()
        }
        guard let last = parts.last, !last.isEmpty else { return false }
        return last.allSatisfy { (0x30...0x39).contains($0) } || number(last) != nil
    }

    /// Source: WHATWG URL §3.5 "IPv4 parser".
    private static func ipv4(_ text: [UInt8]) throws(URLFault) -> IPAddress {
        var parts = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true, parts.count > 1 { parts.removeLast() }
        guard parts.count <= 4 else { throw .badAddress("it has \(parts.count) parts") }
        var numbers: [UInt64] = []
        for part in parts {
            guard let value = number(part) else {
                throw .badAddress("its last part is a number, and another part is not")
            }
            numbers.append(value)
        }
        let last = numbers.removeLast()
        let lastOctets = 4 - numbers.count
        guard numbers.allSatisfy({ $0 <= 255 }), last >> UInt64(8 * lastOctets) == 0 else {
            throw .badAddress("a part is too large")
        }
        let tail = (0..<lastOctets).map {
            UInt8(truncatingIfNeeded: last >> UInt64(8 * (lastOctets - 1 - $0)))
        }
        let head = numbers.map { UInt8(truncatingIfNeeded: $0) }
        guard let address = IPAddress(octets: head + tail) else { throw .badAddress("malformed") }
        return address
    }

    /// A decimal, octal (`0…`) or hexadecimal (`0x…`) number; what is too large for 32 bits is kept
    /// as a value that is.
    ///
    /// Source: WHATWG URL §3.5 "IPv4 number parser".
    private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
        guard !text.isEmpty else { return nil }
        var digits = text
        var radix: UInt64 = 10
        if digits.count >= 2, digits.first == 0x30 {
            digits = digits.dropFirst()
            radix = 8
            if digits.first == 0x78 || digits.first == 0x58 {
                digits = digits.dropFirst()
                radix = 16
            }
        }
        var value: UInt64 = 0
        for octet in digits {
            guard let digit = Hex.value(octet), UInt64(digit) < radix else {
                return nil
            }
            value = min(value * radix + UInt64(digit), 1 << 40)
        }
        return value
    }
}
