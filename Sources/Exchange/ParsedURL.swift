package import HTTPDNSNames

/// An `http` or `https` URL as the URL standard reads it, with the repairs it made.
///
/// It is what browsers would see, not yet what we send: ``HTTPURL/init(_:toASCII:)`` is the door.
/// Source: WHATWG URL §4.4 "basic URL parser", for special schemes other than `file`.
package struct ParsedURL: Sendable, Hashable {
    package let scheme: Scheme
    package let host: URLHost
    /// Nil for the scheme's own; 0 is possible.
    package let port: UInt16?
    /// `user` or `user:password`, percent-encoded; nil when both are empty.
    package let userinfo: String?
    /// Begins with `/`, percent-encoded, without dot segments.
    package let path: String
    package let query: String?
    package let fragment: String?
    /// What other software reads differently.
    package let oddities: Set<URLOddity>

    /// Parses an absolute URL, or a reference relative to `base`.
    ///
    /// - Throws: ``URLFault`` where the standard says failure, and for other schemes.
    package init(
        _ text: String, base: ParsedURL? = nil, toASCII: DomainToASCII
    ) throws(URLFault) {
        try self.init(FieldText(text), base: base, toASCII: toASCII)
    }

    /// The same from octets that may be no UTF-8: in path, query and fragment each is encoded as it is.
    package init(
        _ text: FieldText, base: ParsedURL? = nil, toASCII: DomainToASCII
    ) throws(URLFault) {
        var reader = URLReader(text)
        guard let name = reader.takeScheme() else {
            guard let base else { throw .noScheme }
            self = try ParsedURL.relative(&reader, to: base, toASCII: toASCII)
            return
        }
        guard let scheme = Scheme(rawValue: name) else { throw .unsupportedScheme(name) }
        if let base, base.scheme == scheme, !reader.isAtTwoSlashes {
            reader.oddities.insert(.missingSlashes)
            self = try ParsedURL.relative(&reader, to: base, toASCII: toASCII)
            return
        }
        self = try ParsedURL.absolute(&reader, scheme: scheme, toASCII: toASCII)
    }

    private init(
        _ scheme: Scheme, _ authority: Authority, _ rest: (path: String, query: String?),
        fragment: String?, oddities: Set<URLOddity>
    ) {
        self.scheme = scheme
        host = authority.host
        port = authority.port == scheme.defaultPort.number ? nil : authority.port
        userinfo = authority.userinfo
        path = rest.path
        query = rest.query
        self.fragment = fragment
        self.oddities = oddities
    }

    package var portNumber: UInt16 { port ?? scheme.defaultPort.number }

    package var hostHeader: String { host.text + (port.map { ":" + String($0) } ?? "") }

    package var target: String { path + (query.map { "?" + $0 } ?? "") }
}

extension ParsedURL {
    struct Authority {
        var host: URLHost
        var port: UInt16?
        var userinfo: String?
    }

    /// From a URL that has passed the door.
    init(_ url: HTTPURL) {
        let parts = url.target.split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let host: URLHost
        switch url.origin.host {
        case .name(let name): host = .domain(name.text)
        case .address(let address): host = .address(address)
        }
        self.init(
            url.origin.scheme,
            Authority(host: host, port: url.origin.port.number, userinfo: url.userinfo),
            (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil),
            fragment: url.fragment, oddities: [])
    }

    private static func absolute(
        _ reader: inout URLReader, scheme: Scheme, toASCII: DomainToASCII
    ) throws(URLFault) -> ParsedURL {
        reader.skipSlashes()
        let authority = try reader.takeAuthority(toASCII)
        let path = reader.takePath(after: [])
        let query = reader.takeQuery()
        let fragment = reader.takeFragment()
        return ParsedURL(
            scheme, authority, (path, query), fragment: fragment, oddities: reader.oddities)
    }

    /// Source: WHATWG URL §4.4 "relative state", "relative slash state".
    private static func relative(
        _ reader: inout URLReader, to base: ParsedURL, toASCII: DomainToASCII
    ) throws(URLFault) -> ParsedURL {
        if reader.isAtTwoSlashes {
            return try absolute(&reader, scheme: base.scheme, toASCII: toASCII)
        }
        let authority = Authority(host: base.host, port: base.port, userinfo: base.userinfo)
        var path = base.path
        var query = base.query
        if reader.isAtSlash {
            path = reader.takePath(after: [])
            query = reader.takeQuery()
        } else if reader.isAtPath {
            path = reader.takePath(after: base.segments.dropLast())
            query = reader.takeQuery()
        } else if let newer = reader.takeQuery() {
            query = newer
        }
        let fragment = reader.takeFragment()
        return ParsedURL(
            base.scheme, authority, (path, query), fragment: fragment, oddities: reader.oddities)
    }

    private var segments: [[UInt8]] {
        path.utf8.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
            .map { Array($0) }
    }
}
