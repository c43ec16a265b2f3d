/// What a message says about its sender through the OPT pseudo-record. Source: RFC 6891 §6.1.
///
/// The extended bits of the response code are not here: ``Message/code`` holds the whole code.
public struct EDNS: Sendable, Hashable {
    /// The largest UDP message the sender takes, in octets. Source: RFC 6891 §6.2.3.
    public var udpPayloadOctets: UInt16
    /// 0 is the only version there is.
    public var version: UInt8
    /// Send DNSSEC records (the DO bit). Source: RFC 3225.
    public var isDNSSECOK: Bool
    public var options: [Option]

    public init(
        udpPayloadOctets: UInt16 = EDNS.defaultPayloadOctets, version: UInt8 = 0,
        isDNSSECOK: Bool = false, options: [Option] = []
    ) {
        self.udpPayloadOctets = udpPayloadOctets
        self.version = version
        self.isDNSSECOK = isDNSSECOK
        self.options = options
    }

    /// Fits an IPv6 packet of minimum size. Source: DNS Flag Day 2020; RFC 9715 §3.
    public static let defaultPayloadOctets: UInt16 = 1_232

    /// One option. Source: IANA "DNS EDNS0 Option Codes (OPT)".
    public enum Option: Sendable, Hashable {
        /// So many octets that only make the message longer; at most 65,535. Source: RFC 7830.
        case padding(octets: Int)
        /// Family, prefix lengths and address, as sent. Source: RFC 7871 §6.
        case clientSubnet([UInt8])
        /// Why the server answers as it does. Source: RFC 8914 §2.
        case extendedError(code: UInt16, text: String)
        /// Any other option, as octets.
        case other(code: UInt16, [UInt8])
    }

    /// What the server's extended errors say: code and text, in order.
    public var extendedErrors: [(code: UInt16, text: String)] {
        options.compactMap { option in
            guard case .extendedError(let code, let text) = option else { return nil }
            return (code, text)
        }
    }
}

/// Option codes. Source: IANA "DNS EDNS0 Option Codes (OPT)".
enum EDNSOptionCode {
    static let clientSubnet: UInt16 = 8
    static let padding: UInt16 = 12
    static let extendedError: UInt16 = 15
}

extension EDNS.Option {
    init(code: UInt16, octets: ArraySlice<UInt8>) {
        switch code {
        case EDNSOptionCode.padding:
            self = .padding(octets: octets.count)
        case EDNSOptionCode.clientSubnet:
            self = .clientSubnet(Array(octets))
        // An error report too short for its code stays octets: it must not cost us the answer.
        case EDNSOptionCode.extendedError where octets.count >= 2:
            var text = octets.dropFirst(2)
            // Source: RFC 8914 §2: the text may end in zero octets, which are not part of it.
            while text.last == 0 { text = text.dropLast() }
            let high = UInt16(octets[octets.startIndex])
            self = .extendedError(
                code: high << 8 | UInt16(octets[octets.startIndex + 1]),
                text: String(decoding: text, as: UTF8.self))
        default:
            self = .other(code: code, Array(octets))
        }
    }

    var code: UInt16 {
        switch self {
        case .padding: EDNSOptionCode.padding
        case .clientSubnet: EDNSOptionCode.clientSubnet
        case .extendedError: EDNSOptionCode.extendedError
        case .other(let code, _): code
        }
    }

    func append(to writer: inout WireWriter) throws(WireError) {
        writer.append(code)
        try writer.sized { writer throws(WireError) in
            switch self {
            case .padding(let octets):
                guard (0...Int(UInt16.max)).contains(octets) else {
                    throw WireError(.malformedRecord, atOctet: writer.octets.count)
                }
                writer.append(contentsOf: repeatElement(0, count: octets))
            case .clientSubnet(let octets), .other(_, let octets):
                writer.append(contentsOf: octets)
            case .extendedError(let code, let text):
                writer.append(code)
                writer.append(contentsOf: text.utf8)
            }
        }
    }
}
