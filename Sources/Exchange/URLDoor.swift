public import HTTPDNSNames

/// Turns a domain with non-ASCII text into A-labels; given by the caller, as a core calls no C.
public typealias DomainToASCII = @Sendable (String) throws(NameError) -> String

extension HTTPURL {
    /// Parses an absolute `http` or `https` URL that every reader understands alike.
    ///
    /// The target stays as written: percent-encoding is untouched; only octets that may not stand
    /// in a request target (blanks, quotes, non-ASCII text) are percent-encoded, and dot segments
    /// are removed. What the URL standard repairs and others read differently is refused: see
    /// ``URLOddity``.
    ///
    /// - Parameters:
    ///   - text: the URL.
    ///   - toASCII: turns non-ASCII hosts into A-labels; the default refuses them.
    /// - Throws: ``URLFault``.
    public init(
        _ text: String, toASCII: DomainToASCII = HTTPURL.refusingUnicode
    ) throws(URLFault) {
        try self.init(ParsedURL(text, toASCII: toASCII))
    }

    /// The URL that `reference` means when it stands in an answer to a request for this one.
    ///
    /// Without a fragment of its own the reference takes this URL's.
    /// Source: RFC 3986 §5, RFC 9110 §10.2.2.
    ///
    /// - Throws: ``URLFault``, as ``init(_:toASCII:)``.
    public func resolving(
        reference: String, toASCII: DomainToASCII = HTTPURL.refusingUnicode
    ) throws(URLFault) -> HTTPURL {
        try resolving(reference: FieldText(reference), toASCII: toASCII)
    }

    /// The same for octets that may be no UTF-8.
    ///
    /// Source: what browsers do with a `Location`: each octet that may not stand is percent-encoded.
    package func resolving(
        reference: FieldText, toASCII: DomainToASCII = HTTPURL.refusingUnicode
    ) throws(URLFault) -> HTTPURL {
        let parsed = try ParsedURL(reference, base: ParsedURL(self), toASCII: toASCII)
        let url = try HTTPURL(parsed)
        guard url.fragment == nil, let fragment else { return url }
        return HTTPURL(
            origin: url.origin, target: url.target, userinfo: url.userinfo, fragment: fragment)
    }

    /// Refuses every domain that is not ASCII.
    public static func refusingUnicode(_ domain: String) throws(NameError) -> String {
        guard let at = domain.utf8.enumerated().first(where: { $0.element >= 0x80 }) else {
            return domain
        }
        throw .notASCII(atOctet: at.offset)
    }

    /// The path: the target without its query.
    package var path: Substring { target.prefix { $0 != "?" } }

    /// Holds a parsed URL to the stricter rules.
    package init(_ parsed: ParsedURL) throws(URLFault) {
        let oddities = URLOddity.allCases.filter { parsed.oddities.contains($0) }
        if let oddity = oddities.first { throw .odd(oddity) }
        let host: Host
        switch parsed.host {
        case .address(let address): host = .address(address)
        case .domain(let text):
            do { host = .name(try HostName(text)) } catch { throw .badHost(error) }
        }
        guard let port = Port(parsed.portNumber) else { throw .badPort }
        self.init(
            origin: Origin(scheme: parsed.scheme, host: host, port: port),
            target: parsed.target, userinfo: parsed.userinfo, fragment: parsed.fragment)
    }
}
