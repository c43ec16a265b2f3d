public import HTTPDNSNames

/// A proxy that connections to origins go through.
///
/// TLS runs end to end through it: `Host`, server name and certificate are the origin's, and the proxy
/// sees octets. Plain `http` it can read and change, as any other machine on the way.
public struct Proxy: Sendable, Hashable {
    /// What it speaks.
    public enum Kind: String, Sendable, Hashable {
        /// `CONNECT` for `https`, requests in absolute form for `http`. Source: RFC 9110 §9.3.6,
        /// RFC 9112 §3.2.2.
        case http
        /// Source: RFC 1928.
        case socks5
    }

    /// What it is told of the origin.
    public enum Target: String, Sendable, Hashable {
        /// The name, which it resolves by itself: nothing here is rewritten.
        case name
        /// An address that the resolver gave.
        case address
    }

    /// A name and a password. Source: RFC 7617, RFC 1929.
    public struct Credentials: Sendable, Hashable {
        public let user: Secret
        public let password: Secret

        /// - Throws: ``ProxyFault/controlCharacter``: no control character may be in either. Source:
        ///   RFC 7617 §2.
        public init(user: Secret, password: Secret) throws(ProxyFault) {
            for octet in [user, password].lazy.flatMap({ $0.revealed.utf8 })
            where octet < 0x20 || octet == 0x7F {
                throw .controlCharacter
            }
            self.user = user
            self.password = password
        }

        /// Whoever reads them as `Basic` credentials ends the name at its first colon. Source: RFC 7617
        /// §2.
        package var isForHTTP: Bool { !user.revealed.utf8.contains(0x3A) }
    }

    public let kind: Kind
    public let host: Host
    public let port: Port
    public var target: Target
    public var credentials: Credentials?

    public init(
        _ kind: Kind, host: Host, port: Port, target: Target = .name,
        credentials: Credentials? = nil
    ) {
        self.kind = kind
        self.host = host
        self.port = port
        self.target = target
        self.credentials = credentials
    }

    /// Reads `[http|socks5|socks5h://][user:password@]host[:port]`; without a scheme it is `http`.
    ///
    /// `socks5` is told addresses and `socks5h` names, as curl has it; `http` is told names. Ports: 80,
    /// and 1080 of SOCKS (RFC 1928 §3).
    ///
    /// - Throws: ``ProxyFault``.
    public init(_ text: String) throws(ProxyFault) {
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let hasScheme = parts.count == 3 && parts[0].hasSuffix(":") && parts[1].isEmpty
        let scheme = hasScheme ? parts[0].dropLast().lowercased() : "http"
        let rest = hasScheme ? String(parts[2]) : text
        switch scheme {
        case "http": (kind, target) = (.http, .name)
        case "socks5": (kind, target) = (.socks5, .address)
        case "socks5h": (kind, target) = (.socks5, .name)
        default: throw .unknownScheme(scheme)
        }
        guard let url = try? HTTPURL("http://" + rest), let other = try? HTTPURL("https://" + rest),
            url.target == "/"
        else { throw .unreadable }
        host = url.origin.host
        // Two default ports that differ in the reading mean that none was written.
        let isWritten = url.origin.port == other.origin.port
        port = isWritten || kind == .http ? url.origin.port : Proxy.socksPort
        credentials = nil
        if let userinfo = url.userinfo {
            let given = try Proxy.credentials(userinfo)
            guard kind != .http || given.isForHTTP else { throw .colonInUser }
            credentials = given
        }
    }

    private static func credentials(_ userinfo: String) throws(ProxyFault) -> Credentials {
        let parts = userinfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decode = { (text: Substring) in
            Secret(String(decoding: PercentEncoding.decoded(text.utf8), as: UTF8.self))
        }
        return try Credentials(
            user: decode(parts[0]), password: parts.count > 1 ? decode(parts[1]) : Secret(""))
    }

    /// Source: RFC 1928 §3.
    private static let socksPort = Port(1_080) ?? .http
}

extension Proxy: CustomStringConvertible {
    /// `http://192.0.2.1:8080`; never the credentials.
    public var description: String {
        let scheme =
            switch (kind, target) {
            case (.http, _): "http"
            case (.socks5, .address): "socks5"
            case (.socks5, .name): "socks5h"
            }
        return "\(scheme)://\(host.uriText):\(port)"
    }
}

/// Why a proxy cannot be used. The text given is not repeated: it may hold a password.
public enum ProxyFault: Error, Sendable, Hashable, CustomStringConvertible {
    case unknownScheme(String)
    case unreadable
    /// The name or the password has one.
    case controlCharacter
    /// Of a proxy that speaks HTTP.
    case colonInUser

    public var description: String {
        switch self {
        case .unknownScheme(let scheme):
            "\(RewriteFault.printable(scheme)) is not a kind of proxy that is known: http, socks5, "
                + "socks5h (a proxy that itself speaks TLS is not supported)"
        case .unreadable:
            "the proxy is not of the form [http|socks5|socks5h://][user:password@]host[:port]"
        case .controlCharacter:
            "the name or the password for the proxy holds a control character, which no proxy can be "
                + "sent"
        case .colonInUser:
            "the name for the proxy holds a colon, where an HTTP proxy takes it to end"
        }
    }
}

/// Which origins are reached through a proxy.
///
/// Nobody's environment decides by itself: unless an application says otherwise there is no proxy.
public struct ProxyPolicy: Sendable, Hashable {
    /// For `http` and `https` origins; nil: none.
    public var http: Proxy?
    public var https: Proxy?
    public var exceptions = ProxyExceptions()

    /// Every origin is connected to directly.
    public static let none = ProxyPolicy(nil)

    /// One proxy for all origins but the exceptions.
    public init(_ proxy: Proxy?, except exceptions: ProxyExceptions = ProxyExceptions()) {
        http = proxy
        https = proxy
        self.exceptions = exceptions
    }

    /// What the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say; also in capitals,
    /// but for `HTTP_PROXY`, which a CGI program gets from whoever sends it a `Proxy` field.
    ///
    /// - Parameters:
    ///   - variable: the value of a variable; nil where there is none.
    ///   - toASCII: for exceptions that are not ASCII.
    /// - Throws: ``ProxyFault``: a proxy that was meant and cannot be used must not be passed by. What
    ///   `no_proxy` has that cannot be read is in ``ProxyExceptions/unread``, and ends nothing.
    public init(
        environment variable: (String) -> String?,
        toASCII: DomainToASCII = HTTPURL.refusingUnicode
    ) throws(ProxyFault) {
        func word(_ names: [String]) -> String? {
            for name in names {
                if let text = variable(name), !text.isEmpty { return text }
            }
            return nil
        }
        let all = ["all_proxy", "ALL_PROXY"]
        func proxy(_ names: [String]) throws(ProxyFault) -> Proxy? {
            guard let text = word(names) else { return nil }
            return try Proxy(text)
        }
        http = try proxy(["http_proxy"] + all)
        https = try proxy(["https_proxy", "HTTPS_PROXY"] + all)
        exceptions = ProxyExceptions(
            word(["no_proxy", "NO_PROXY"]) ?? "", toASCII: toASCII)
    }

    /// The proxy of an origin.
    package func proxy(for origin: Origin) -> Proxy? {
        guard let proxy = origin.scheme == .https ? https : http,
            !exceptions.contain(origin.host, port: origin.port)
        else { return nil }
        return proxy
    }
}

/// How one transfer goes through a proxy.
package struct ProxyPath: Sendable, Hashable {
    package let proxy: Proxy
    /// What the proxy is told to connect to; nil: the origin's name.
    package let address: IPAddress?

    package init(proxy: Proxy, address: IPAddress?) {
        self.proxy = proxy
        self.address = address
    }
}
