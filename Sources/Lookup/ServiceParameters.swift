/// Parameters that an HTTP-DNS service passes to a customer's own rules ("SDNS", software-defined
/// name resolution): the answer may depend on them.
///
/// Keys are letters, digits, `-` and `_`; values those and `=`; at most 1,000 octets in all, keys and
/// values together. Source: Aliyun EMAS HTTPDNS, "resolve a domain name" (2978980).
public struct ServiceParameters: Sendable, Hashable {
    /// Sorted by key, each key once.
    public let entries: [Entry]

    /// One parameter.
    public struct Entry: Sendable, Hashable {
        public let key: String
        public let value: String
    }

    /// No parameter.
    public static let none = ServiceParameters(entries: [])

    public var isEmpty: Bool { entries.isEmpty }

    /// Takes parameters in any order; the last of several with one key counts.
    ///
    /// - Throws: ``ServiceParameterError``.
    public init(_ pairs: [(key: String, value: String)]) throws(ServiceParameterError) {
        var values: [String: String] = [:]
        for (key, value) in pairs {
            guard !key.isEmpty, key.utf8.allSatisfy({ ServiceParameters.isPlain($0) }) else {
                throw .key(key)
            }
            guard value.utf8.allSatisfy({ ServiceParameters.isPlain($0) || $0 == 0x3D }) else {
                throw .value(key: key)
            }
            values[key] = value
        }
        let octets = values.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard octets <= ServiceParameters.maximumOctets else { throw .tooLong(octets: octets) }
        self.init(
            entries: values.sorted { $0.key < $1.key }.map { Entry(key: $0.key, value: $0.value) })
    }

    private init(entries: [Entry]) { self.entries = entries }

    /// Source: Aliyun EMAS HTTPDNS, "resolve a domain name" (2978980).
    package static let maximumOctets = 1_000

    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }
}

/// Why a parameter cannot be sent.
public enum ServiceParameterError: Error, Sendable, Hashable, CustomStringConvertible {
    case key(String)
    case value(key: String)
    case tooLong(octets: Int)

    public var description: String {
        switch self {
        case .key(let key):
            "\"\(key.unicodeScalars.prefix(40).map { $0.escaped(asASCII: true) }.joined())\" is no "
                + "key: letters, digits, \"-\" and \"_\" are allowed, and at least one is needed"
        case .value(let key):
            "the value of \"\(key)\" may have letters, digits, \"-\", \"_\" and \"=\" only"
        case .tooLong(let octets):
            "keys and values take \(octets) octets together; "
                + "\(ServiceParameters.maximumOctets) are allowed"
        }
    }
}
