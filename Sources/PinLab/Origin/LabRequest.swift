/// One header field, as it was on the wire or will be.
public struct LabField: Sendable, Hashable {
    /// The name, in the case it was written in.
    public let name: String
    /// The value, without white space at its ends.
    public let value: String

    /// Nothing is checked: a test may send what it likes.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// One request as a ``LabServer`` received it.
public struct LabRequest: Sendable, Hashable {
    /// Which connection it came on, counted from 0.
    public let connection: Int
    /// The name the client asked for in the handshake; nil without one or without TLS.
    public let serverName: String?
    /// Whether it came over TLS.
    public let isSecure: Bool
    /// The method, as written.
    public let method: String
    /// The request target, as written.
    public let target: String
    /// The fields, in order.
    public let fields: [LabField]
    /// The body, after the chunked coding was taken off.
    public let body: [UInt8]

    /// The values of a field, in order; the name in any case.
    public func values(of name: String) -> [String] {
        let folded = name.lowercased()
        return fields.filter { $0.name.lowercased() == folded }.map(\.value)
    }

    /// The first value of a field, or nil.
    public func value(of name: String) -> String? { values(of: name).first }

    /// The `Host` field, or nil.
    public var host: String? { value(of: "Host") }

    /// The body as UTF-8, damaged octets replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The target up to its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The parameters of the query with percent-encoding and `+` taken off; of equal names the last
    /// one stands.
    public var query: [String: String] {
        Dictionary(queryParameters.map { ($0.name, $0.value) }) { $1 }
    }

    /// The parameters of the query, in order, with percent-encoding and `+` taken off.
    public var queryParameters: [LabField] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return LabRequest.parameters(target[target.index(after: mark)...])
    }

    /// The parameters of a body of the type `application/x-www-form-urlencoded`, in order.
    public var formParameters: [LabField] { LabRequest.parameters(text[...]) }

    private static func parameters(_ text: Substring) -> [LabField] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1] : ""
            return LabField(unescaped(parts[0]), unescaped(value))
        }
    }

    private static func unescaped(_ text: Substring) -> String {
        var octets: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            if octet == 0x25, rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                octets.append(value)
                rest = rest.dropFirst(2)
            } else {
                octets.append(octet == 0x2B ? 0x20 : octet)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
