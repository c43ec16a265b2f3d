public import HTTPDNSNames

/// Parameter keys. Source: RFC 9460 §14.3.2.
enum ServiceKey {
    static let mandatory: UInt16 = 0
    static let alpn: UInt16 = 1
    static let noDefaultALPN: UInt16 = 2
    static let port: UInt16 = 3
    static let ipv4hint: UInt16 = 4
    static let ech: UInt16 = 5
    static let ipv6hint: UInt16 = 6

    /// `alpn`, `key667`.
    static func name(_ key: UInt16) -> String {
        switch key {
        case mandatory: "mandatory"
        case alpn: "alpn"
        case noDefaultALPN: "no-default-alpn"
        case port: "port"
        case ipv4hint: "ipv4hint"
        case ech: "ech"
        case ipv6hint: "ipv6hint"
        // Source: RFC 9461 §5, RFC 9540 §4.
        case 7: "dohpath"
        case 8: "ohttp"
        default: "key\(key)"
        }
    }
}

extension ServiceBinding {
    /// Reads an SVCB or HTTPS record's data and checks it. Source: RFC 9460 §2.2.
    ///
    /// Keys ascend strictly; in service mode every known key has its form, and each key that
    /// `mandatory` lists is there. In alias mode the values mean nothing and are only kept (§2.4.2).
    init(reading reader: inout WireReader) throws(WireError) {
        let priority = try reader.uint16()
        let target = try reader.name(mayPoint: false)
        var parameters: [Parameter] = []
        while reader.remaining > 0 {
            let start = reader.position
            let key = try reader.uint16()
            let count = Int(try reader.uint16())
            let value = try reader.take(count)
            guard parameters.last.map({ $0.key < key }) ?? true,
                priority == 0 || ServiceBinding.isWellFormed(key, value)
            else { throw WireError(.malformedParameter, atOctet: start) }
            parameters.append(Parameter(key: key, value: Array(value)))
        }
        self.init(priority: priority, target: target, parameters: parameters)
        guard priority == 0 || isConsistent else {
            throw WireError(.malformedParameter, atOctet: reader.position)
        }
    }

    /// The value of `key`, if there is one.
    public subscript(_ key: UInt16) -> [UInt8]? { parameters.first { $0.key == key }?.value }

    /// The addresses of `ipv4hint` and `ipv6hint`, in that order; none in alias mode, where values mean
    /// nothing (§2.4.2). Source: RFC 9460 §7.3.
    public var hintedAddresses: [IPAddress] {
        guard priority != 0 else { return [] }
        return ServiceBinding.addresses(self[ServiceKey.ipv4hint], octets: 4)
            + ServiceBinding.addresses(self[ServiceKey.ipv6hint], octets: 16)
    }

    private static func addresses(_ value: [UInt8]?, octets: Int) -> [IPAddress] {
        guard let value else { return [] }
        return stride(from: 0, to: value.count - octets + 1, by: octets).compactMap {
            IPAddress(octets: Array(value[$0..<$0 + octets]))
        }
    }

    /// Source: RFC 9460 §7.1.1 (alpn), §7.2 (port), §7.3 (hints), §8 (mandatory).
    private static func isWellFormed(_ key: UInt16, _ value: ArraySlice<UInt8>) -> Bool {
        switch key {
        case ServiceKey.mandatory:
            guard !value.isEmpty, value.count % 2 == 0 else { return false }
            let keys = [0] + listedKeys(value)
            return zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
        case ServiceKey.alpn: return protocols(value) != nil
        case ServiceKey.noDefaultALPN: return value.isEmpty
        case ServiceKey.port: return value.count == 2
        case ServiceKey.ipv4hint: return !value.isEmpty && value.count % 4 == 0
        case ServiceKey.ipv6hint: return !value.isEmpty && value.count % 16 == 0
        default: return true
        }
    }

    /// Each key that `mandatory` lists is present, and `no-default-alpn` goes with `alpn`.
    private var isConsistent: Bool {
        if self[ServiceKey.noDefaultALPN] != nil, self[ServiceKey.alpn] == nil {
            return false
        }
        guard let listed = self[ServiceKey.mandatory] else { return true }
        let present = Set(parameters.map(\.key))
        return ServiceBinding.listedKeys(listed[...]).allSatisfy(present.contains)
    }

    /// The keys in a `mandatory` value of even length.
    static func listedKeys(_ value: ArraySlice<UInt8>) -> [UInt16] {
        stride(from: value.startIndex, to: value.endIndex - 1, by: 2).map {
            UInt16(value[$0]) << 8 | UInt16(value[$0 + 1])
        }
    }

    /// The protocol identifiers in an `alpn` value: one or more, none empty; nil otherwise.
    static func protocols(_ value: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        var found: [ArraySlice<UInt8>] = []
        var rest = value
        while let length = rest.popFirst() {
            guard length > 0, Int(length) <= rest.count else { return nil }
            found.append(rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
        }
        return found.isEmpty ? nil : found
    }
}
