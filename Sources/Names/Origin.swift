/// Who a URL names: a host name, or an address written out in the URL itself.
public enum Host: Sendable, Hashable, CustomStringConvertible {
    case name(HostName)
    case address(IPAddress)

    /// The canonical text without brackets: `api.example.com`, `192.0.2.1`, `2001:db8::1`.
    public var description: String {
        switch self {
        case .name(let name): name.text
        case .address(let address): address.description
        }
    }

    /// The text as it stands in a URL or a `Host` field: IPv6 in brackets. Source: RFC 3986 §3.2.2.
    public var uriText: String {
        switch self {
        case .name(let name): name.text
        case .address(let address): address.uriText
        }
    }
}

/// The two schemes this library sends.
public enum Scheme: String, Sendable, Hashable {
    case http
    case https

    /// Source: RFC 9110 §4.2.1, §4.2.2.
    public var defaultPort: Port {
        switch self {
        case .http: .http
        case .https: .https
        }
    }
}

/// A TCP or UDP port, 1...65535.
public struct Port: Sendable, Hashable, CustomStringConvertible {
    /// 1...65535
    public let number: UInt16

    /// Nil for 0, which cannot be connected to.
    public init?(_ number: UInt16) {
        guard number != 0 else { return nil }
        self.number = number
    }

    /// Parses 1...65535 in decimal digits; nil for anything else, signs and spaces included.
    public init?(_ text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.count <= 5,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(text)
        else { return nil }
        self.init(number)
    }

    private init(known number: UInt16) { self.number = number }

    /// Source: RFC 9110 §4.2.1.
    public static let http = Port(known: 80)
    /// Source: RFC 9110 §4.2.2.
    public static let https = Port(known: 443)
    /// Source: RFC 1035 §4.2.
    public static let dns = Port(known: 53)
    /// Source: RFC 7858 §3.1.
    public static let dnsOverTLS = Port(known: 853)

    public var description: String { String(number) }
}

/// Who we mean: the identity that certificates, cookies and `Host` are about.
///
/// It has no field for the address we connect to, and none may be added: see ``Route``.
/// Source: RFC 6454 §4, RFC 9110 §4.3.1.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    public let scheme: Scheme
    public let host: Host
    public let port: Port

    public init(scheme: Scheme, host: Host, port: Port? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
    }

    /// The value of the `Host` field: the port only when it is not the scheme's own.
    ///
    /// Source: RFC 9110 §7.2, §4.2.3.
    public var authority: String {
        port == scheme.defaultPort ? host.uriText : host.uriText + ":" + port.description
    }

    /// `https://api.example.com:8443`, without a path.
    public var description: String { scheme.rawValue + "://" + authority }
}

/// Where we connect: the addresses to try in order, and the port. Never who we mean.
public struct Route: Sendable, Hashable, CustomStringConvertible {
    /// At least one address, first to be tried first.
    public let addresses: [IPAddress]
    public let port: Port

    /// Nil when there is no address.
    public init?(addresses: [IPAddress], port: Port) {
        guard !addresses.isEmpty else { return nil }
        self.addresses = addresses
        self.port = port
    }

    public var description: String {
        addresses.map { $0.uriText + ":" + port.description }.joined(separator: ", ")
    }
}

/// One address and port, as a server is named in a configuration or a socket call.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    public let address: IPAddress
    public let port: Port

    public init(address: IPAddress, port: Port) {
        self.address = address
        self.port = port
    }

    /// `192.0.2.1:53`, `[2001:db8::1]:53`.
    public var description: String { address.uriText + ":" + port.description }
}
