internal import HTTPDNSNames
internal import HTTPDNSWire

/// Record data in presentation form, as zone files and JSON answers write it.
///
/// Source: RFC 1035 §5.1, RFC 3597 §5 (`\# 4 01020304`), RFC 9460 §2.1, RFC 8659 §4.1.1.
enum RecordText {
    /// Nil when the text is not the data of that type.
    static func data(_ text: String, of type: RecordType) -> RecordData? {
        if text.hasPrefix("\\#") { return generic(text, of: type) }
        switch type {
        case .a, .aaaa: return address(text, of: type)
        case .cname, .ns, .ptr: return name(text).map { .name($0) }
        case .txt: return .txt(strings(text))
        case .soa: return soa(fields(text))
        case .mx: return mx(fields(text))
        case .srv: return srv(fields(text))
        case .caa: return caa(text)
        case .svcb, .https: return ServiceBindingText.binding(fields(text)).map { .service($0) }
        default: return nil
        }
    }

    private static func address(_ text: String, of type: RecordType) -> RecordData? {
        guard let address = try? IPAddress(text), address.family == type.addressFamily,
            address.zone == nil
        else { return nil }
        return .address(address)
    }

    static func name(_ text: some StringProtocol) -> WireName? {
        let text = String(text)
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        return WireName(text: text)
    }

    static func fields(_ text: String) -> [Substring] {
        text.split(whereSeparator: { $0 == " " || $0 == "\t" })
    }

    private static func soa(_ fields: [Substring]) -> RecordData? {
        let numbers = fields.dropFirst(2).compactMap { UInt32($0) }
        guard fields.count == 7, numbers.count == 5, let primary = name(fields[0]),
            let mailbox = name(fields[1])
        else { return nil }
        return .soa(
            StartOfAuthority(
                primary: primary, mailbox: mailbox, serial: numbers[0],
                refreshSeconds: numbers[1], retrySeconds: numbers[2],
                expireSeconds: numbers[3], minimumSeconds: numbers[4]))
    }

    private static func mx(_ fields: [Substring]) -> RecordData? {
        guard fields.count == 2, let preference = UInt16(fields[0]), let exchange = name(fields[1])
        else { return nil }
        return .mx(preference: preference, exchange: exchange)
    }

    private static func srv(_ fields: [Substring]) -> RecordData? {
        let numbers = fields.dropLast().compactMap { UInt16($0) }
        guard fields.count == 4, numbers.count == 3, let target = name(fields[3]) else {
            return nil
        }
        return .srv(priority: numbers[0], weight: numbers[1], port: numbers[2], target: target)
    }

    private static func caa(_ text: String) -> RecordData? {
        let fields = text.split(separator: " ", maxSplits: 2)
        guard fields.count == 3, let flags = UInt8(fields[0]) else { return nil }
        let value = CharacterStrings.read(String(fields[2])) ?? [Array(fields[2].utf8)]
        guard value.count == 1, (1...15).contains(fields[1].utf8.count) else { return nil }
        return .caa(flags: flags, tag: Array(fields[1].utf8), value: value[0])
    }

    /// Quoted strings; or, since Google sends TXT without quotes and Cloudflare has sent it with
    /// broken ones, the text as it is, in pieces that fit a character string.
    private static func strings(_ text: String) -> [[UInt8]] {
        if let strings = CharacterStrings.read(text), strings.allSatisfy({ $0.count <= 255 }) {
            return strings
        }
        let octets = Array(text.utf8)
        guard !octets.isEmpty else { return [[]] }
        return stride(from: 0, to: octets.count, by: 255).map {
            Array(octets[$0..<min($0 + 255, octets.count)])
        }
    }

    /// `\# length hex…`, read by way of the wire form. Source: RFC 3597 §5.
    private static func generic(_ text: String, of type: RecordType) -> RecordData? {
        let fields = fields(text)
        guard fields.count >= 2, fields[0] == "\\#", let length = UInt16(fields[1]),
            let octets = Hex.decoded(fields[2...].joined()), octets.count == Int(length)
        else { return nil }
        return WireRecord.data(octets, of: type)
    }
}

/// Quoted character strings. Source: RFC 1035 §5.1.
enum CharacterStrings {
    /// The strings of a text made of quoted strings and white space only; nil for any other text.
    static func read(_ text: String) -> [[UInt8]]? {
        var rest = Array(text.utf8)[...]
        var strings: [[UInt8]] = []
        while true {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
            guard let octet = rest.popFirst() else { return strings.isEmpty ? nil : strings }
            guard octet == 0x22, let string = string(&rest) else { return nil }
            strings.append(string)
        }
    }

    /// Reads up to the closing quote.
    private static func string(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        var string: [UInt8] = []
        while let octet = rest.popFirst() {
            switch octet {
            case 0x22: return string
            case 0x5C:
                guard let escaped = escaped(&rest) else { return nil }
                string.append(escaped)
            default: string.append(octet)
            }
        }
        return nil
    }

    /// What follows a backslash: three decimal digits, or the octet itself.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
        guard let first = rest.first else { return nil }
        guard (0x30...0x39).contains(first) else { return rest.popFirst() }
        let digits = rest.prefix(3)
        rest = rest.dropFirst(digits.count)
        return digits.count == 3 ? UInt8(String(decoding: digits, as: UTF8.self)) : nil
    }
}
