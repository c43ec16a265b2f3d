internal import HTTPDNSNames

extension RecordData {
    /// The data as a zone file has it: `203.0.113.7`, `10 mail.example.`, `"text"`,
    /// `1 . alpn=h2`, `\# 3 010203`.
    ///
    /// Printable ASCII only, whatever the octets are. `type` is the record's own: data that is opaque
    /// to us is shown in its form where that is simple, else as RFC 3597 §5 octets.
    public func presentation(type: RecordType) -> String {
        switch self {
        case .address(let address): address.description
        case .name(let name): name.absoluteText
        case .soa(let soa): soa.presentation
        case .mx(let preference, let exchange): "\(preference) \(exchange.absoluteText)"
        case .txt(let strings): strings.map { WireText.quoted($0) }.joined(separator: " ")
        case .srv(let priority, let weight, let port, let target):
            "\(priority) \(weight) \(port) \(target.absoluteText)"
        case .caa(let flags, let tag, let value):
            "\(flags) \(WireText.bare(tag)) \(WireText.quoted(value))"
        case .service(let binding): binding.presentation
        case .opaque(let octets): RecordData.opaque(octets, type: type)
        }
    }

    /// DS and TLSA as their small fields and the rest in hexadecimal; all else as RFC 3597 §5 octets.
    ///
    /// Source: RFC 4034 §5.3, RFC 6698 §2.2.
    private static func opaque(_ octets: [UInt8], type: RecordType) -> String {
        switch type.rawValue {
        case 43 where octets.count > 4:
            "\(UInt16(octets[0]) << 8 | UInt16(octets[1])) \(octets[2]) \(octets[3]) "
                + Hex.encoded(octets[4...]).uppercased()
        case 52 where octets.count > 3:
            "\(octets[0]) \(octets[1]) \(octets[2]) "
                + Hex.encoded(octets[3...]).uppercased()
        default:
            octets.isEmpty
                ? "\\# 0" : "\\# \(octets.count) \(Hex.encoded(octets).uppercased())"
        }
    }
}

extension StartOfAuthority {
    fileprivate var presentation: String {
        "\(primary.absoluteText) \(mailbox.absoluteText) \(serial) \(refreshSeconds) "
            + "\(retrySeconds) \(expireSeconds) \(minimumSeconds)"
    }
}

extension WireText {
    /// A value without quotes where every octet allows it.
    fileprivate static func bare(_ octets: [UInt8]) -> String {
        let isSafe = octets.allSatisfy {
            (0x21...0x7E).contains($0) && ![0x22, 0x28, 0x29, 0x3B, 0x5C].contains($0)
        }
        return isSafe && !octets.isEmpty
            ? String(decoding: octets, as: UTF8.self) : quoted(octets)
    }
}

extension ServiceBinding {
    /// Source: RFC 9460 §2.1 and Appendix A.
    fileprivate var presentation: String {
        (["\(priority) \(target.absoluteText)"] + parameters.map(\.presentation))
            .joined(separator: " ")
    }
}

extension ServiceBinding.Parameter {
    /// `alpn=h2,h3`, `no-default-alpn`, `key667=hello`; a value that is not in its key's form (which
    /// only alias mode lets through) is shown as octets.
    fileprivate var presentation: String {
        let name = ServiceKey.name(key)
        return value.isEmpty ? name : "\(name)=\(valueText ?? WireText.bare(value))"
    }

    private var valueText: String? {
        switch key {
        case ServiceKey.mandatory where value.count % 2 == 0:
            ServiceBinding.listedKeys(value[...]).map(ServiceKey.name).joined(separator: ",")
        case ServiceKey.alpn:
            ServiceBinding.protocols(value[...]).map {
                WireText.bare(Array($0.map(Self.listItem).joined(separator: [0x2C])))
            }
        case ServiceKey.port where value.count == 2: "\(UInt16(value[0]) << 8 | UInt16(value[1]))"
        case ServiceKey.ipv4hint: addresses(each: 4)
        case ServiceKey.ipv6hint: addresses(each: 16)
        case ServiceKey.ech: Base64.encoded(value)
        default: nil
        }
    }

    /// An item of a comma-separated list: commas and backslashes of its own are escaped first, then
    /// the whole value once more. Source: RFC 9460 Appendix A.1.
    private static func listItem(_ item: ArraySlice<UInt8>) -> [UInt8] {
        item.flatMap { $0 == 0x2C || $0 == 0x5C ? [0x5C, $0] : [$0] }
    }

    private func addresses(each octets: Int) -> String? {
        guard value.count % octets == 0 else { return nil }
        return stride(from: 0, to: value.count, by: octets).compactMap {
            IPAddress(octets: value[$0..<($0 + octets)])?.description
        }.joined(separator: ",")
    }
}
