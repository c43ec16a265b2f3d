public import HTTPDNSNames

/// Which hosts a set of pins is for.
///
/// - `api.example.com` or an address: that host alone.
/// - `*.example.com`: one label under it, not `example.com` itself.
/// - `**.example.com`: `example.com` itself and everything under it.
///
/// Source: the three forms of OkHttp's `CertificatePinner`.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    enum Form: Sendable, Hashable {
        case exact(Host)
        case oneLabelUnder(HostName)
        case under(HostName)
    }

    let form: Form

    /// Only this host.
    public init(exactly host: Host) { form = .exact(host) }

    /// - Throws: ``HostPatternError``.
    public init(_ text: String) throws(HostPatternError) {
        if text.hasPrefix("**.") {
            form = .under(try HostPattern.name(text.dropFirst(3)))
        } else if text.hasPrefix("*.") {
            form = .oneLabelUnder(try HostPattern.name(text.dropFirst(2)))
        } else if let address = try? IPAddress(text) {
            form = .exact(.address(address))
        } else {
            form = .exact(.name(try HostPattern.name(text[...])))
        }
    }

    /// True when this pattern speaks of `host`; an address is only ever matched by itself.
    public func matches(_ host: Host) -> Bool {
        switch (form, host) {
        case (.exact(let expected), _): expected == host
        case (.oneLabelUnder(let suffix), .name(let name)):
            name.isSameOrUnder(suffix) && name.labels.count == suffix.labels.count + 1
        case (.under(let suffix), .name(let name)): name.isSameOrUnder(suffix)
        case (_, .address): false
        }
    }

    public var description: String {
        switch form {
        case .exact(let host): host.description
        case .oneLabelUnder(let suffix): "*." + suffix.text
        case .under(let suffix): "**." + suffix.text
        }
    }

    /// Of two patterns that match one host, the more specific one has the greater value: exact,
    /// then the longer suffix, then one label before any depth.
    var specificity: (Int, Int) {
        switch form {
        case .exact: (.max, 2)
        case .oneLabelUnder(let suffix): (suffix.text.utf8.count, 1)
        case .under(let suffix): (suffix.text.utf8.count, 0)
        }
    }

    private static func name(_ text: Substring) throws(HostPatternError) -> HostName {
        guard !text.utf8.contains(0x2A) else { throw .wildcardPosition(String(text)) }
        do { return try HostName(String(text)) } catch { throw .name(String(text), error) }
    }
}

/// Why a text is not a host pattern.
public enum HostPatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// `*` stands elsewhere than alone in the first label.
    case wildcardPosition(String)
    case name(String, NameError)

    public var description: String {
        switch self {
        case .wildcardPosition(let text):
            "'*' in \"\(text)\": a pattern is 'host', '*.host' or '**.host'"
        case .name(let text, let error): "\"\(text)\" is not a host name: \(error)"
        }
    }
}
