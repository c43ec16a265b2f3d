public import HTTPDNSNames

/// An `http` or `https` URL whose host is proven to be a host name or an address.
///
/// Made from a parsed URL at the door (``init(_:toASCII:)``); inside, no URL text is parsed again.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    public let origin: Origin
    /// What goes on the request line or in `:path`: begins with `/`, percent-encoding untouched,
    /// dot segments removed, no fragment. Source: RFC 9112 §3.2.1.
    public let target: String
    /// `user` or `user:password`, percent-encoded as written; never sent in a URL.
    public let userinfo: String?
    /// Without the `#`; never sent. Source: RFC 9110 §4.2.5.
    public let fragment: String?

    package init(origin: Origin, target: String, userinfo: String? = nil, fragment: String? = nil) {
        self.origin = origin
        self.target = target
        self.userinfo = userinfo
        self.fragment = fragment
    }

    /// The URL without its userinfo: safe to show and to log.
    public var description: String {
        origin.description + target + (fragment.map { "#" + $0 } ?? "")
    }
}
