internal import CHTTPDNSOpenSSL

/// What a TLS client asks for in its first message, which nothing encrypts.
package enum ClientHello: Sendable, Hashable {
    /// The octets are no whole message yet.
    case incomplete
    /// As it came: not yet a host name.
    case naming(String)
    case unnamed
    /// Not the beginning of TLS, or a server name that breaks its form.
    case foreign

    /// Reads the first octets of a connection. Source: RFC 8446 §4.1.2, RFC 6066 §3.
    package init(_ octets: [UInt8]) {
        let capacity = ClientHello.longestName + 1
        self = withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { name in
            guard let base = name.baseAddress else { return .foreign }
            let outcome = octets.withUnsafeBufferPointer { octets in
                octets.baseAddress.map {
                    chttpdns_hello_server_name($0, octets.count, base, capacity)
                } ?? Int32(CHTTPDNS_HELLO_MORE)
            }
            switch outcome {
            case Int32(CHTTPDNS_HELLO_MORE): return .incomplete
            case Int32(CHTTPDNS_HELLO_NAMED): return .naming(String(cString: base))
            case Int32(CHTTPDNS_HELLO_UNNAMED): return .unnamed
            default: return .foreign
            }
        }
    }

    /// Source: RFC 1035 §2.3.4: a name has 255 octets at most.
    private static let longestName = 255
}
