internal import HTTPDNSNames
internal import HTTPDNSWire

/// SVCB and HTTPS data in presentation form: `1 . alpn="h2,h3" ipv4hint=192.0.2.1`.
///
/// Source: RFC 9460 §2.1, appendix A.
enum ServiceBindingText {
    /// Nil when the fields are not such data; the wire reader holds it to the rules of each key.
    static func binding(_ fields: [Substring]) -> ServiceBinding? {
        guard fields.count >= 2, let priority = UInt16(fields[0]),
            let target = RecordText.name(fields[1])
        else { return nil }
        var parameters: [ServiceBinding.Parameter] = []
        for field in fields.dropFirst(2) {
            guard let parameter = parameter(field) else { return nil }
            parameters.append(parameter)
        }
        parameters.sort { $0.key < $1.key }
        var octets = WireRecord.octets(priority)
        for label in target.labels { octets += [UInt8(label.count)] + label }
        octets.append(0)
        for parameter in parameters {
            guard let count = UInt16(exactly: parameter.value.count) else { return nil }
            octets += WireRecord.octets(parameter.key) + WireRecord.octets(count)
            octets += parameter.value
        }
        guard case .service(let binding) = WireRecord.data(octets, of: .https) else { return nil }
        return binding
    }

    private static func parameter(_ field: Substring) -> ServiceBinding.Parameter? {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        var text = parts.count == 2 ? parts[1] : ""
        if text.count >= 2, text.first == "\"", text.last == "\"" {
            text = text.dropFirst().dropLast()
        }
        guard let key = parts.first.flatMap(key), !text.contains("\""), !text.contains("\\"),
            let value = value(text, of: key)
        else { return nil }
        return ServiceBinding.Parameter(key: key, value: value)
    }

    /// Source: RFC 9460 §14.3.2, RFC 9461 §5, RFC 9540 §4.
    private static let names: [Substring: UInt16] = [
        "mandatory": 0, "alpn": 1, "no-default-alpn": 2, "port": 3, "ipv4hint": 4, "ech": 5,
        "ipv6hint": 6, "dohpath": 7, "ohttp": 8,
    ]

    private static func key(_ name: Substring) -> UInt16? {
        names[name] ?? (name.hasPrefix("key") ? UInt16(name.dropFirst(3)) : nil)
    }

    private static func value(_ text: Substring, of key: UInt16) -> [UInt8]? {
        let items = text.split(separator: ",")
        switch key {
        case 0: return joined(items.map { item in Self.key(item).map(WireRecord.octets) })
        case 1:
            return joined(
                items.map { item in
                    UInt8(exactly: item.utf8.count).map { [$0] + Array(item.utf8) }
                })
        case 3: return UInt16(text).map(WireRecord.octets)
        case 4: return joined(items.map { address($0, .ipv4) })
        case 5: return Base64.decoded(text)
        case 6: return joined(items.map { address($0, .ipv6) })
        default: return Array(text.utf8)
        }
    }

    private static func address(_ text: Substring, _ family: IPAddress.Family) -> [UInt8]? {
        guard let address = try? IPAddress(String(text)), address.family == family,
            address.zone == nil
        else { return nil }
        return address.octets
    }

    /// Nil when one is nil.
    private static func joined(_ parts: [[UInt8]?]) -> [UInt8]? {
        let known = parts.compactMap { $0 }
        return known.count == parts.count ? known.flatMap { $0 } : nil
    }
}

/// Record data by way of the wire form, so that one reader holds it to the rules of its type.
enum WireRecord {
    /// Nil when the octets are not data of that type.
    static func data(_ octets: [UInt8], of type: RecordType) -> RecordData? {
        guard let count = UInt16(exactly: octets.count) else { return nil }
        // Owner (the root), type, class IN, TTL, length. Source: RFC 1035 §4.1.3.
        let head: [UInt8] =
            [0] + Self.octets(type.rawValue) + [0, 1, 0, 0, 0, 0] + Self.octets(count)
        var reader = WireReader(head + octets)
        guard let head = try? RecordHead(reading: &reader),
            let record = try? ResourceRecord(head, reading: &reader)
        else { return nil }
        return record.data
    }

    /// In network byte order.
    static func octets(_ number: UInt16) -> [UInt8] {
        [UInt8(number >> 8), UInt8(number & 0xFF)]
    }
}
