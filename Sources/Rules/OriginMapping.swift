internal import HTTPDNSExchange
public import HTTPDNSNames

/// Another origin in the place of the one in the URL: staging for production, say.
///
/// It changes who is meant: name, certificate, cookies and `Host` follow the new origin, as if the
/// application had written it. Where to connect is another matter: see
/// ``RuleAction/addresses(_:)``.
public struct OriginMapping: Sendable, Hashable, CustomStringConvertible {
    /// Nil, here and below, for what stays as it is.
    public var scheme: Scheme?
    public var host: Host?
    /// Without one, a port that was the scheme's own becomes the new scheme's own.
    public var port: Port?

    /// What is to change.
    public init(scheme: Scheme? = nil, host: Host? = nil, port: Port? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Target, query and fragment stay. User and password of the URL stay behind: they were for the
    /// origin that they were written for.
    func mapped(_ url: HTTPURL) -> HTTPURL {
        let old = url.origin
        let scheme = scheme ?? old.scheme
        let isUsualPort = old.port == old.scheme.defaultPort
        let origin = Origin(
            scheme: scheme, host: host ?? old.host,
            port: port ?? (isUsualPort ? scheme.defaultPort : old.port))
        guard origin != old else { return url }
        return HTTPURL(origin: origin, target: url.target, fragment: url.fragment)
    }

    public var description: String {
        [
            scheme.map { "scheme \($0.rawValue)" }, host.map { "host \($0)" },
            port.map { "port \($0)" },
        ].compactMap { $0 }.joined(separator: ", ")
    }
}
