public import HTTPDNSExchange
public import HTTPDNSNames

/// Which requests a rule is for. A value; it reads nothing but the request.
///
///     try RequestMatcher.host("**.example.com") && .path("/v1/**") && !.method(.get)
public struct RequestMatcher: Sendable, CustomStringConvertible {
    indirect enum Form: Sendable {
        case any
        case scheme(Scheme)
        case host(HostPattern)
        case port(Port)
        case path(TextPattern)
        case pathExtension([String])
        case query(String, TextPattern)
        case method([HTTPMethod])
        case field(String, TextPattern)
        case body(String, @Sendable ([UInt8]) -> Bool)
        case custom(String, @Sendable (RuledRequest) -> Bool)
        case all([RequestMatcher])
        case either([RequestMatcher])
        case not(RequestMatcher)
    }

    let form: Form

    init(_ form: Form) { self.form = form }

    /// Every request.
    public static let any = RequestMatcher(.any)

    /// `http` or `https`.
    public static func scheme(_ scheme: Scheme) -> RequestMatcher { .init(.scheme(scheme)) }

    /// A host, or what lies under one: see ``HostPattern``. Names are compared label by label, in
    /// their canonical form: case and a trailing dot make no difference, and look-alikes do.
    public static func host(_ pattern: HostPattern) -> RequestMatcher { .init(.host(pattern)) }

    /// The port, written in the URL or the scheme's own.
    public static func port(_ port: Port) -> RequestMatcher { .init(.port(port)) }

    /// The path without its query: a ``Glob``, `/v1/*/photo`. Octets that need no percent-encoding
    /// are compared decoded (RFC 3986 §6.2.2.2), so that `/%61dmin` is `/admin`; `%2F` is no slash.
    /// What stands in no path as it is, a blank say, may be written as it is, or as `%20`.
    ///
    /// - Throws: ``RuleFault``: a path begins with `/` or `*`.
    public static func path(_ glob: String) throws(RuleFault) -> RequestMatcher {
        guard glob.hasPrefix("/") || glob.hasPrefix("*") || glob.hasPrefix("?") else {
            throw RuleFault(
                "\"\(RuleText.plain(glob))\" fits no path: paths begin with '/'; write "
                    + "\"/\(RuleText.plain(glob))\" or \"**\(RuleText.plain(glob))\"")
        }
        return .init(.path(try .glob(PlainPath.text(of: glob[...]))))
    }

    /// The path's extension, without its dot and without regard to case: `png`, `tar.gz`.
    public static func pathExtension(_ extensions: String...) -> RequestMatcher {
        .pathExtension(extensions)
    }

    /// One of several extensions.
    public static func pathExtension(_ extensions: [String]) -> RequestMatcher {
        .init(
            .pathExtension(
                extensions.map { ($0.hasPrefix(".") ? $0.dropFirst() : $0[...]).lowercased() }))
    }

    /// A query item of that name with such a value; of several items of one name one is enough.
    public static func query(_ name: String, _ value: TextPattern = .any) -> RequestMatcher {
        .init(.query(name, value))
    }

    /// One of these methods.
    public static func method(_ methods: HTTPMethod...) -> RequestMatcher { .method(methods) }

    /// One of these methods.
    public static func method(_ methods: [HTTPMethod]) -> RequestMatcher {
        .init(.method(methods))
    }

    /// A header field of that name with such a value; of several fields one is enough. `Host` is
    /// that of the URL; what the cookie storage and the transport add later is not seen.
    public static func header(_ name: String, _ value: TextPattern = .any) -> RequestMatcher {
        .init(.field(name, value))
    }

    /// A body in memory for which this is true; never one that is a file or a stream.
    ///
    /// - Parameter what: says in messages what is looked for.
    public static func body(
        _ what: String, _ isMeant: @escaping @Sendable ([UInt8]) -> Bool
    ) -> RequestMatcher {
        .init(.body(what, isMeant))
    }

    /// A body in memory with this text in it.
    public static func body(containing text: String) -> RequestMatcher {
        let pattern = TextPattern.containing(text)
        return .body(pattern.description) {
            pattern.matches(String(decoding: $0, as: UTF8.self))
        }
    }

    /// Whatever the application says. Called on the task's work queue: must return at once.
    ///
    /// - Parameter what: says in messages what is looked for.
    public static func custom(
        _ what: String, _ isMeant: @escaping @Sendable (RuledRequest) -> Bool
    ) -> RequestMatcher {
        .init(.custom(what, isMeant))
    }

    /// All of them; true for none.
    public static func all(_ matchers: [RequestMatcher]) -> RequestMatcher { .init(.all(matchers)) }

    /// At least one of them; false for none.
    public static func either(_ matchers: [RequestMatcher]) -> RequestMatcher {
        .init(.either(matchers))
    }

    /// Not this.
    public static func not(_ matcher: RequestMatcher) -> RequestMatcher { .init(.not(matcher)) }

    /// Both.
    public static func && (left: RequestMatcher, right: RequestMatcher) -> RequestMatcher {
        .all(left.conjuncts + right.conjuncts)
    }

    /// One of them.
    public static func || (left: RequestMatcher, right: RequestMatcher) -> RequestMatcher {
        .either([left, right])
    }

    /// Not this.
    public static prefix func ! (matcher: RequestMatcher) -> RequestMatcher { .not(matcher) }

    private var conjuncts: [RequestMatcher] {
        if case .all(let matchers) = form { matchers } else { [self] }
    }

    /// True for a request that is meant.
    public func matches(_ request: RuledRequest) -> Bool {
        switch form {
        case .any: true
        case .scheme(let scheme): request.url.origin.scheme == scheme
        case .host(let pattern): pattern.matches(request.url.origin.host)
        case .port(let port): request.url.origin.port == port
        case .path(let pattern): pattern.matches(PlainPath.text(of: request.url.path))
        case .pathExtension(let extensions):
            PlainPath.hasExtension(request.url.path, of: extensions)
        case .query(let name, let value):
            request.queryItems.contains { $0.name == name && value.matches($0.value) }
        case .method(let methods): methods.contains(request.method)
        case .field(let name, let value):
            request.values(of: name).contains { value.matches($0) }
        case .body(_, let isMeant): request.body.map(isMeant) ?? false
        case .custom(_, let isMeant): isMeant(request)
        case .all(let matchers): matchers.allSatisfy { $0.matches(request) }
        case .either(let matchers): matchers.contains { $0.matches(request) }
        case .not(let matcher): !matcher.matches(request)
        }
    }
}

/// A path in the one form in which paths are compared.
enum PlainPath {
    /// Percent-encoding undone, of unreserved octets and of what is UTF-8 beyond ASCII; and done,
    /// of what stands in no path as it is.
    ///
    /// Source: RFC 3986 §3.3, §6.2.2.1, §6.2.2.2; RFC 3987 §3.2.
    static func text(of path: Substring) -> String {
        guard path.utf8.contains(where: { $0 == 0x25 || !mayStand($0) }) else {
            return String(path)
        }
        let octets = path.utf8.flatMap { mayStand($0) ? [$0] : encoded($0) }
        return String(validating: plain(octets) { isUnreserved($0) || $0 >= 0x80 }, as: UTF8.self)
            ?? String(decoding: plain(octets, decoding: isUnreserved), as: UTF8.self)
    }

    /// What a path is made of: slashes, `pchar`, and `?`, which stands for a character in a glob.
    ///
    /// Source: RFC 3986 §3.3.
    private static func mayStand(_ octet: UInt8) -> Bool {
        isUnreserved(octet) || octet >= 0x80 || reserved.contains(octet)
    }

    private static let reserved = Array("/?%!$&'()*+,;=:@".utf8)

    private static func encoded(_ octet: UInt8) -> [UInt8] {
        [0x25] + [octet >> 4, octet & 0xF].map { $0 < 10 ? 0x30 + $0 : 0x37 + $0 }
    }

    private static func plain(_ octets: [UInt8], decoding decodes: (UInt8) -> Bool) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(octets.count)
        var at = 0
        while at < octets.count {
            guard octets[at] == 0x25, at + 2 < octets.count,
                let decoded = PercentEncoding.decoded(octets[at...at + 2]).only
            else {
                plain.append(octets[at])
                at += 1
                continue
            }
            if decodes(decoded) {
                plain.append(decoded)
            } else {
                for octet in octets[at...at + 2] {
                    plain.append((0x61...0x66).contains(octet) ? octet - 0x20 : octet)
                }
            }
            at += 3
        }
        return plain
    }

    /// Whether the last segment is a name, a dot and one of the extensions, which are in lower case.
    static func hasExtension(_ path: Substring, of extensions: [String]) -> Bool {
        let name = lastSegment(of: path).lowercased()
        return extensions.contains { wanted in
            !wanted.isEmpty && name.hasSuffix("." + wanted)
                && name.utf8.count > wanted.utf8.count + 1
        }
    }

    private static func lastSegment(of path: Substring) -> Substring {
        let plain = text(of: path)
        return plain.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    }

    /// What follows the last dot of the last segment, in lower case; nil for none.
    static func fileExtension(of path: Substring) -> String? {
        let last = lastSegment(of: path)
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return nil }
        let text = last[last.index(after: dot)...]
        return text.isEmpty ? nil : text.lowercased()
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}

extension [UInt8] {
    /// The one element of an array of one.
    fileprivate var only: UInt8? { count == 1 ? self[0] : nil }
}

extension RequestMatcher {
    /// What is allowed, and hardly meant: for whoever checks rules.
    var remarks: [String] {
        switch form {
        case .path(let pattern):
            guard case .glob(let glob) = pattern.form,
                let mark = glob.pattern.firstIndex(of: "?"), glob.pattern[mark...].contains("=")
            else { return [] }
            return [
                "path \(pattern): a path has no query, and ? stands for one character; write "
                    + "\"query\" for what follows it"
            ]
        case .field(let name, _) where RuleFields.isAddedLater(name):
            return [
                "header \(RuleText.plain(name)): what goes out is added behind the rules; seen is "
                    + "one that the application sets itself, and none else"
            ]
        case .all(let matchers), .either(let matchers): return matchers.flatMap(\.remarks)
        case .not(let matcher): return matcher.remarks
        default: return []
        }
    }
}

extension RequestRule {
    /// What of it is allowed, and hardly meant.
    package var remarks: [String] {
        matcher.remarks
            + actions.flatMap { action -> [String] in
                guard case .removeFields(let names) = action else { return [] }
                return names.compactMap { name in
                    switch name.lowercased() {
                    case "cookie":
                        "removeHeaders Cookie: those that the application sets itself are left out; "
                            + "those that are kept of responses are added behind the rules"
                    case "authorization":
                        "removeHeaders Authorization: one that the application sets itself is left "
                            + "out; those of a URL, and of a challenge, are added behind the rules"
                    default: nil
                    }
                }
            }
    }
}
