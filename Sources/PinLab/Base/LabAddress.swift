public import HTTPDNSNames

/// Loopback addresses for servers and for answers. Many of 127.0.0.0/8 can be used at a time on
/// Linux: a lying resolver can point at one, the true origin live at another.
public enum LabAddress {
    /// 127.0.0.1.
    public static let ipv4 = ipv4(host: 1)

    /// ::1.
    public static let ipv6 = known([UInt8](repeating: 0, count: 15) + [1])

    /// 127.0.0.`host`.
    public static func ipv4(host: UInt8) -> IPAddress { known([127, 0, 0, host]) }

    private static func known(_ octets: [UInt8]) -> IPAddress {
        guard let address = IPAddress(octets: octets) else {
            preconditionFailure("4 or 16 octets are written above")
        }
        return address
    }
}
